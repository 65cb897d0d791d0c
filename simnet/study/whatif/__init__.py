"""What a tuning would do, and whether it is worth it."""
