"""What each version of a kernel made of TCP, as tables."""
