"""One simulation and what it measured."""
