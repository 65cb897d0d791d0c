"""Threads of a host that runs virtual machines: who has a CPU, and virtual CPUs."""
