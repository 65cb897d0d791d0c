"""What to change on a system, and why."""
