"""What delivers and places interrupts."""
