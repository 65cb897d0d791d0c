"""Partitions of a hypervisor."""
