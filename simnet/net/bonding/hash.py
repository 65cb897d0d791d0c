"""Which slave a connection's frames leave by: the transmit hash policies of Linux bonding.

Source: drivers/net/bonding/bond_main.c of Linux 2.6.18 (`bond_xmit_hash_policy_l2`, `_l34`) and
of 2.6.32 (`_l23`), Documentation/networking/bonding.txt. The caller takes the hash modulo the
number of slaves. All frames here are unfragmented TCP over IPv4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simnet.net.link.skb import Header

__all__ = ["POLICIES", "simple_hash", "transmit_hash"]

POLICIES = ("layer2", "layer2+3", "layer3+4")

_LAST_OCTET = 0xFF
_LOW_HALF = 0xFFFF


def transmit_hash(policy: str, header: Header, bond_mac: int) -> int:
    """The hash of a frame that a bond with the address `bond_mac` sends.

    Raises:
        ValueError: no such policy.
    """
    layer2 = (header.destination.mac ^ bond_mac) & _LAST_OCTET
    layer3 = (header.source_ip ^ header.destination_ip) & _LOW_HALF
    if policy == "layer2":
        return layer2
    if policy == "layer2+3":
        return layer3 ^ layer2
    if policy == "layer3+4":
        return layer3 ^ header.source_port ^ header.destination_port
    raise ValueError(policy)


def simple_hash(address: int) -> int:
    """Return the exclusive or of the octets of an IPv4 address (`_simple_hash`, bond_alb.c)."""
    return (address ^ address >> 8 ^ address >> 16 ^ address >> 24) & 0xFF
