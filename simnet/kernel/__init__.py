"""The kernel: clock, event queue, components, SimPy environment, random streams, statistics."""
