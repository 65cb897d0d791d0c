"""SO_REUSEPORT: which of several sockets that share a port gets a flow.

Source: net/core/sock_reuseport.c (`reuseport_select_sock`, `reuseport_select_sock_by_hash`),
net/ipv4/udp.c (`udp_ehashfn`) and include/linux/jhash.h of Linux 6.12: `jhash_3words` of local
address, remote address and both ports, with a secret of the boot, scaled to the number of sockets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.net.steering.flow_hash import jhash3_3words

if TYPE_CHECKING:
    from simnet.net.link.skb import Header


def reciprocal_scale(word: int, count: int) -> int:
    """`reciprocal_scale`: a number below `count`, of 32 bits that are spread evenly."""
    return (word & 0xFFFFFFFF) * count >> 32


def chosen(header: Header, secret: int, sockets: int) -> int:
    """The number of the socket that gets the datagrams of a flow.

    Args:
        header: of the flow.
        secret: `udp_ehash_secret`, 32 bits, with what the network namespace adds.
        sockets: in the group.
    """
    word = jhash3_3words(
        _little_endian(header.destination_ip, 4),
        _little_endian(header.source_ip, 4),
        header.destination_port << 16 | _little_endian(header.source_port, 2),
        secret,
    )
    return reciprocal_scale(word, sockets)


def _little_endian(number: int, size: int) -> int:
    """What an x86 CPU reads of a field in network byte order."""
    return int.from_bytes(number.to_bytes(size, "big"), "little")
