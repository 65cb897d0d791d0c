"""What `simnet import` reads: a module for each source, found by name."""
