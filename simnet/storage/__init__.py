"""Disks, the block layer above them and its schedulers."""
