"""What lessons are made of."""
