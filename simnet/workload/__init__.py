"""Workloads that drive the mechanisms."""
