"""Daemons that place interrupts, by version, and a hand that does."""
