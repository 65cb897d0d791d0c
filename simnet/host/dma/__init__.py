"""What lies between devices and the memory that they use."""
