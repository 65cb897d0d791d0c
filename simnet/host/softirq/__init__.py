"""Soft interrupts: NET_RX, ksoftirqd, and what Linux changed in both."""
