"""What tools printed on a real host, as numbers by metric: one module a format, found by name."""
