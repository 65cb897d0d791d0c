"""Disks between partitions: virtual SCSI, and the adapter behind it."""
