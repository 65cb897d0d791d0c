"""Compiles the core modules. Part of the checkout and the source distribution, not of a wheel."""
