"""Pairs of virtual Ethernet devices, behind which containers are."""
