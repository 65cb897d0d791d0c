"""The block layer: the request queue and its I/O schedulers."""
