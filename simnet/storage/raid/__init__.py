"""Declustered RAID: tracks, disks, rebuilding, and the log of fast writes."""
