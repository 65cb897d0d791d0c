"""The daemon that places interrupts."""
