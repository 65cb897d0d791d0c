"""Transmit hash policies, computed by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.net.bonding.hash import POLICIES, simple_hash, transmit_hash
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
