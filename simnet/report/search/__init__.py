"""Searches of tunings and knobs, for reading."""
