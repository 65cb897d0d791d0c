"""Clients of a parallel file system."""
