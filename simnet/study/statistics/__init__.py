"""Estimates with intervals: fits, optima, and when a run is long enough."""
