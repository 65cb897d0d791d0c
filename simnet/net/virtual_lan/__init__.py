"""The virtual LAN of a hypervisor: the driver ibmveth and its buffer pools."""
