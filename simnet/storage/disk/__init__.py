"""Disks: mechanical and solid state, with their caches."""
