"""Grids of simulations."""
