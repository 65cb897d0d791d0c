"""Ports of a host's bridge, as what sends to them sees them.

A bridge passes a frame on where it was sent, on the sender's CPU. Source: net/bridge of Linux 5.4
to 6.12 (`br_handle_frame`, `br_dev_queue_push_xmit`).
"""

import cython

from simnet.net.link.skb import Header, Skb
from simnet.net.steering.flow_hash import connection_hash


@cython.cclass
class BridgePort:
    """Where frames go."""

    def sleeps(self, skb: Skb) -> cython.bint:
        """Whether a frame wakes a thread there."""
        raise NotImplementedError

    def enqueue(self, skb: Skb) -> cython.int:
        """A frame goes there."""
        raise NotImplementedError


def hash_of(header: Header) -> cython.longlong:
    """`__skb_get_hash_symmetric`: the same for both directions."""
    return connection_hash(
        header.source_ip,
        header.destination_ip,
        header.source_port,
        header.destination_port,
        0,
        True,
        True,
    )
