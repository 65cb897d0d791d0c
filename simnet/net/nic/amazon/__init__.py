"""Cards of Amazon's instances."""
