"""Realtek's cards."""
