"""Models of disks."""
