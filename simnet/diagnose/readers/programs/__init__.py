"""What programs print that test or watch paths."""
