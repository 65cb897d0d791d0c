"""Servers of a parallel file system."""
