"""Receive packet steering."""
