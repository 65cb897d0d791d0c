"""Which slave a connection's frames leave by: the transmit hash policies of Linux bonding.

Source: drivers/net/bonding/bond_main.c of Linux 2.6.18 (`bond_xmit_hash_policy_l2`, `_l34`), of
2.6.32 (`_l23`), and of 6.12 (`bond_eth_hash`, `bond_ip_hash`, `bond_vlan_srcmac_hash`,
`__bond_xmit_hash`); Documentation/networking/bonding.rst. Since 3.13 all bytes of the addresses
count, since 3.17 the type of the frame in layer 2. The lowest bit is dropped since 4.15, because
ports are even as a rule; since 5.18 with layer 3+4 only (commit 49aefd131739). The caller takes the
hash modulo the number of slaves. All frames here are unfragmented TCP over IPv4, in no tunnel and
without VLAN, and hosts since 3.13 are little-endian.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from simnet.net.link.skb import Header

_OLDEST: Final = (2, 6)
_DISSECTED: Final = (3, 13)
_TYPED: Final = (3, 17)
_HALVED: Final = (4, 15)
_HOST_ORDER: Final = (5, 15)
_HALVED_BY_PORTS: Final = (5, 18)
# versions of Linux from which on there is a policy
SINCE: Final = {
    "layer2": _OLDEST,
    "layer2+3": (2, 6, 24),
    "layer3+4": _OLDEST,
    "encap2+3": _DISSECTED,
    "encap3+4": _DISSECTED,
    "vlan+srcmac": (5, 12),
}
POLICIES: Final = tuple(SINCE)

_LAST_OCTET: Final = 0xFF
_LOW_HALF: Final = 0xFFFF
_LOW_MAC: Final = 0xFFFFFF
# ETH_P_IP, and as it stands in the frame, read by a little-endian host
_ETH_P_IP: Final = 0x0800
_ETH_P_IP_SWAPPED: Final = 0x0008


def transmit_hash(
    policy: str, header: Header, bond_mac: int, version: tuple[int, ...] = _OLDEST
) -> int:
    """The hash of a frame that a bond with the address `bond_mac` sends, in a version of Linux.

    Raises:
        ValueError: no such policy.
    """
    if policy not in SINCE:
        raise ValueError(policy)
    if version < _DISSECTED:
        return _before_dissection(policy, header, bond_mac)
    if policy == "vlan+srcmac":
        return bond_mac >> 24 ^ bond_mac & _LOW_MAC
    found = (header.destination.mac ^ bond_mac) & _LAST_OCTET
    if version >= _TYPED:
        found ^= _ETH_P_IP if version >= _HOST_ORDER else _ETH_P_IP_SWAPPED
    if policy == "layer2":
        return found
    by_ports = policy.endswith("3+4")
    if by_ports:
        found = _swapped(header.source_port << 16 | header.destination_port)
    found ^= _swapped(header.source_ip) ^ _swapped(header.destination_ip)
    found ^= found >> 16
    found ^= found >> 8
    halved = version >= _HALVED and (by_ports or version < _HALVED_BY_PORTS)
    return found >> 1 if halved else found


def _before_dissection(policy: str, header: Header, bond_mac: int) -> int:
    layer2 = (header.destination.mac ^ bond_mac) & _LAST_OCTET
    layer3 = (header.source_ip ^ header.destination_ip) & _LOW_HALF
    if policy == "layer2":
        return layer2
    if policy.endswith("3+4"):
        return layer3 ^ header.source_port ^ header.destination_port
    return layer3 ^ layer2


def _swapped(word: int) -> int:
    """Return 32 bits in network order as a little-endian host reads them."""
    return int.from_bytes(word.to_bytes(4, "big"), "little")


def simple_hash(address: int) -> int:
    """Return the exclusive or of the octets of an IPv4 address (`_simple_hash`, bond_alb.c)."""
    return (address ^ address >> 8 ^ address >> 16 ^ address >> 24) & 0xFF
