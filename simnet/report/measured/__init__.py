"""What was measured on a real host, beside predictions and as costs."""
