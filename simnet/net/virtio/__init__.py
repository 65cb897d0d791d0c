"""Virtio network devices: the driver of the guest, and vhost-net in the host."""
