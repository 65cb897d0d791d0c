"""Intel's 700 and 800 series."""
