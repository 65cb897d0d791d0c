"""The buffer pools of the driver ibmveth, and the MTU that they have room for.

Source: drivers/net/ibmveth.c (`ibmveth_change_mtu`) and ibmveth.h of Linux 2.6.16 to 2.6.18.
"""

#: `pool_size`
POOL_BYTES = (512, 2048, 16384, 32768, 65536)
# IBMVETH_BUFF_OH: Ethernet header and opaque handle
_OVERHEAD_BYTES = 22
#: a full frame is smaller than the buffers of the last pool
LARGEST_MTU_BYTES = POOL_BYTES[-1] - _OVERHEAD_BYTES - 1
_ALWAYS_ACTIVE = 2


def _holding(mtu: int) -> int:
    """Number of the first pool whose buffers hold a frame of the MTU."""
    return next(n for n, size in enumerate(POOL_BYTES) if mtu + _OVERHEAD_BYTES < size)


def pool_bytes(mtu: int) -> int:
    """Size of the buffers that full frames of an MTU are received in."""
    return POOL_BYTES[_holding(mtu)]


def active_pools(mtu: int) -> int:
    """How many pools are active: those up to the one for full frames, two at least."""
    return max(_holding(mtu) + 1, _ALWAYS_ACTIVE)
