"""What holds a scenario back."""
