"""What Linux changed in veth, and with which version.

Source: drivers/net/veth.c of Linux 4.10, 5.12, 5.13 and 6.12 (`veth_xmit`, `veth_open`,
`veth_skb_is_eligible_for_gro`, `VETH_RING_SIZE`). Since 5.13 an end whose receive offload is on has
a NAPI instance and a ring. What comes goes by them only if it may be aggregated: of packets that
the host passes on that is taken to be so where the host's end does not cut segments itself.
"""

from typing import Final

from simnet.host.release import release

NAPI_SINCE: Final = "5.13"
RING_SIZE: Final = 256
"""Packets that wait at an end with a NAPI instance (`VETH_RING_SIZE`)."""


def uses_napi(version: str, *, gro: bool, tso: bool) -> bool:
    """Whether packets that a host passes on go by the NAPI instance of the container's end.

    Args:
        version: of the kernel, as in 6.12.
        gro: `ethtool -K` of the container's end has generic-receive-offload on.
        tso: that of the host's end has tcp-segmentation-offload on.

    Raises:
        InputError: `version` is no version.
    """
    return gro and not tso and release(version) >= release(NAPI_SINCE)
