"""Paths of a network."""
