"""Transmit hash policies, computed by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.net.bonding.hash import POLICIES, SINCE, simple_hash, transmit_hash
from simnet.net.link.skb import Header, Station

# last octets 0a and 1c: 0a ^ 1c = 16 (hexadecimal) = 22
BOND_MAC = 0x00_0D_60_12_34_0A
PEER_MAC = 0x00_09_6B_56_78_1C
# 10.0.0.1 and 10.0.0.12: 1 ^ 12 = 13
HERE, THERE = 0x0A000001, 0x0A00000C
# 12865 = 3241, 40001 = 9c41: ae00 = 44544
PORTS = (12865, 40001)


def header(
    *, here: int = HERE, there: int = THERE, mac: int = PEER_MAC, ports: tuple[int, int] = PORTS
) -> Header:
    return Header(Station(BOND_MAC), Station(mac), here, there, *ports)


@pytest.mark.parametrize(
    ("policy", "value"), [("layer2", 22), ("layer2+3", 13 ^ 22), ("layer3+4", 44544 ^ 13)]
)
def test_value(policy: str, value: int) -> None:
    assert transmit_hash(policy, header(), BOND_MAC) == value


# commit 49aefd131739 of Linux prints these for two addresses that end in a0 and a1
ORACLE = {0xA0: 522133332, 0xA1: 522133333}


@pytest.mark.parametrize("last", ORACLE)
def test_layer_2_and_3_are_what_a_commit_of_the_kernel_prints(last: int) -> None:
    # 192.168.122.30 and 192.168.122.1 as its author has them, little-endian
    frame = header(here=0xC0A87A1E, there=0xC0A87A01, mac=PEER_MAC & ~0xFF | last)
    found = transmit_hash("layer2+3", frame, BOND_MAC & ~0xFF | 0xE3, (5, 14))
    assert found == ORACLE[last] >> 1


@pytest.mark.parametrize(
    ("version", "policy", "value"),
    [
        ((2, 6, 32), "layer2+3", 13 ^ 22),
        ((3, 13), "layer2", 22),
        ((5, 4), "layer2", 22 ^ 0x0008),
        ((6, 12), "layer2", 22 ^ 0x0800),
        # the bytes of ports and of both addresses, one below the other
        ((3, 13), "layer3+4", 0x32 ^ 0x41 ^ 0x9C ^ 0x41 ^ 10 ^ 10 ^ 1 ^ 12),
        ((6, 12), "layer3+4", (0x32 ^ 0x41 ^ 0x9C ^ 0x41 ^ 10 ^ 10 ^ 1 ^ 12) >> 1),
        ((5, 14), "layer2+3", (22 ^ 0x0008 ^ 10 ^ 10 ^ 1 ^ 12) >> 1),
        ((6, 12), "layer2+3", 22 ^ 0x08 ^ 10 ^ 10 ^ 1 ^ 12),
    ],
)
def test_the_formula_of_each_version_by_its_lowest_bits(
    version: tuple[int, ...], policy: str, value: int
) -> None:
    found = transmit_hash(policy, header(), BOND_MAC, version)
    bits = 0x7F if version >= (4, 15) else 0xFF
    if policy == "layer2":
        assert found == value
    else:
        assert found & bits == value & bits


OLD = 13 ^ 22
# the frame's last octets and the addresses, then less the lowest bit
DISSECTED = 22 ^ 10 ^ 10 ^ 1 ^ 12


@pytest.mark.parametrize(
    ("version", "layer2", "both"),
    [
        ((3, 12), 22, OLD),
        ((3, 13), 22, DISSECTED),
        ((3, 16), 22, DISSECTED),
        ((3, 17), 22 ^ 0x0008, DISSECTED ^ 0x0008),
        ((4, 14), 22 ^ 0x0008, DISSECTED ^ 0x0008),
        ((4, 15), 22 ^ 0x0008, (DISSECTED ^ 0x0008) >> 1),
        ((5, 14), 22 ^ 0x0008, (DISSECTED ^ 0x0008) >> 1),
        # ETH_P_IP in the host's order: its upper octet, 8, comes down when the hash is folded
        ((5, 15), 22 ^ 0x0800, (DISSECTED ^ 0x08) >> 1),
        ((5, 17), 22 ^ 0x0800, (DISSECTED ^ 0x08) >> 1),
        ((5, 18), 22 ^ 0x0800, DISSECTED ^ 0x08),
        ((5, 19), 22 ^ 0x0800, DISSECTED ^ 0x08),
    ],
)
def test_the_last_before_and_the_first_with_each_change(
    version: tuple[int, ...], layer2: int, both: int
) -> None:
    assert transmit_hash("layer2", header(), BOND_MAC, version) == layer2
    bits = 0x7F if version >= (4, 15) else 0xFF
    found = transmit_hash("layer2+3", header(), BOND_MAC, version)
    assert found & bits == both & bits
    # with ports the bit stays dropped
    ports = transmit_hash("layer3+4", header(), BOND_MAC, version)
    folded = 0x32 ^ 0x41 ^ 0x9C ^ 0x41 ^ 10 ^ 10 ^ 1 ^ 12
    if version >= (3, 13):
        assert ports & 0x7F == (folded >> (version >= (4, 15))) & 0x7F


def test_when_each_policy_came() -> None:
    """bonding.rst and the commits: 2.6.24's layer2+3, 3.13's dissector, 5.12's vlan+srcmac."""
    assert SINCE == {
        "layer2": (2, 6),
        "layer2+3": (2, 6, 24),
        "layer3+4": (2, 6),
        "encap2+3": (3, 13),
        "encap3+4": (3, 13),
        "vlan+srcmac": (5, 12),
    }


def test_the_vendor_s_half_of_the_address_is_cut_off() -> None:
    found = transmit_hash("vlan+srcmac", header(), 0xFF_FF_FF_00_00_01, (6, 12))
    assert found == 0xFF_FF_FE


@pytest.mark.parametrize(("version", "slaves"), [((3, 13), 1), ((5, 4), 2), ((6, 12), 2)])
def test_even_ports_use_both_of_two_slaves_since_a_bit_is_dropped(
    version: tuple[int, ...], slaves: int
) -> None:
    ports = range(0x9C40, 0x9D00, 2)
    found = {
        transmit_hash("layer3+4", header(ports=(port, 5000)), BOND_MAC, version) % 2
        for port in ports
    }
    assert len(found) == slaves


@pytest.mark.parametrize("version", [(3, 13), (5, 4), (6, 12)])
def test_without_a_tunnel_its_policies_are_those_of_the_frame(version: tuple[int, ...]) -> None:
    for layers in ("2+3", "3+4"):
        found = {
            transmit_hash(f"{kind}{layers}", header(), BOND_MAC, version)
            for kind in ("layer", "encap")
        }
        assert len(found) == 1


def test_vlan_and_source_address_do_not_look_at_the_connection() -> None:
    found = {
        transmit_hash("vlan+srcmac", header(ports=(n, 5001)), BOND_MAC, (6, 12)) for n in range(9)
    }
    assert found == {0x000D60 ^ 0x12340A}


def test_only_the_low_half_of_the_addresses_counts() -> None:
    # 10.7.1.1 and 10.0.2.1: the third octets differ by 3
    assert transmit_hash("layer3+4", header(here=0x0A070101, there=0x0A000201), BOND_MAC) == (
        44544 ^ 0x0300
    )


def test_layer2_is_the_same_for_all_connections_of_a_station() -> None:
    values = {
        transmit_hash("layer2", header(there=THERE + n, ports=(n, 2 * n)), BOND_MAC)
        for n in range(50)
    }
    assert values == {22}


def test_unknown_policy() -> None:
    with pytest.raises(ValueError, match="layer4"):
        transmit_hash("layer4", header(), BOND_MAC)


@pytest.mark.parametrize(
    ("address", "value"), [(0x0A00000C, 10 ^ 12), (0xC0A80103, 0xC0 ^ 0xA8 ^ 1 ^ 3), (0, 0)]
)
def test_simple_hash_is_the_exclusive_or_of_the_octets(address: int, value: int) -> None:
    assert simple_hash(address) == value


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1), st.integers(0, 2**16 - 1))
def test_both_directions_have_the_same_layer3_and_4(here: int, there: int, port: int) -> None:
    out = header(here=here, there=there, ports=(port, 5001))
    back = header(here=there, there=here, ports=(5001, port))
    for policy in POLICIES:
        assert transmit_hash(policy, out, BOND_MAC) == transmit_hash(policy, back, BOND_MAC)
