"""From knobs to what is typed on a real machine, and back."""
