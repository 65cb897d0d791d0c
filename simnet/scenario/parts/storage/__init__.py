"""Disks of a host, and virtual SCSI."""
