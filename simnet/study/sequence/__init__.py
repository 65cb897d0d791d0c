"""Sequence numbers over time, from the frames of a capture."""
