"""Congestion control: how a window grows and shrinks."""
