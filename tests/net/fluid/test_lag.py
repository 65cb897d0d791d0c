"""Ports that are one link: where connections go, and what happens when a port goes."""

from collections import Counter

import pytest

from simnet.kernel.random import stream
from simnet.kernel.simulator import Simulator
from simnet.net.fluid.lag import Address, Lag

PORTS = 3
CLIENTS = 4


def lag(mode: str, seed: int = 1, policy: str = "layer3+4") -> Lag:
    luck = stream(seed, "ports")
    ends = [
        Address(0x100 * (n + 1), 0x0A010001 + n, 32768 + luck.below(32768)) for n in range(CLIENTS)
    ]
    server = Address(0x1000, 0x0A010065, 1191)
    return Lag(Simulator(), "bond", mode, policy, PORTS, server, ends)


def loads(ports: list[int]) -> list[int]:
    """How many clients each port has, most first."""
    return sorted(Counter(ports).values(), reverse=True)


def test_hashes_collide_as_dice_do_and_each_way_on_its_own() -> None:
    """Four flows on three ports are 81 placements; the server and the switch hash apart."""
    seeds = 250
    same = 0
    worst = {"transmit": Counter[int](), "receive": Counter[int]()}
    empty = Counter[str]()
    for seed in range(seeds):
        bond = lag("802.3ad", seed)
        placed = {
            "transmit": [bond.transmit_port(client) for client in range(CLIENTS)],
            "receive": [bond.receive_port(client) for client in range(CLIENTS)],
        }
        same += placed["transmit"][0] == placed["receive"][0]
        for way, ports in placed.items():
            worst[way][max(loads(ports))] += 1
            empty[way] += len(loads(ports)) < PORTS
    for way, most in worst.items():
        assert most[2] / seeds == pytest.approx(54 / 81, abs=0.08)
        assert (most[3] + most[4]) / seeds == pytest.approx(27 / 81, abs=0.08)
        assert empty[way] / seeds == pytest.approx(45 / 81, abs=0.08)
    assert same / seeds == pytest.approx(1 / PORTS, abs=0.08)


def test_balance_alb_is_even_both_ways_for_every_seed() -> None:
    for seed in range(20):
        bond = lag("balance-alb", seed)
        assert loads([bond.transmit_port(client) for client in range(CLIENTS)]) == [2, 1, 1]
        assert loads([bond.receive_port(client) for client in range(CLIENTS)]) == [2, 1, 1]


def test_rebalancing_goes_by_what_was_sent() -> None:
    bond = lag("balance-alb")
    bond.rebalance([9000, 1000, 1000, 1000])
    ports = [bond.transmit_port(client) for client in range(CLIENTS)]
    assert ports.count(ports[0]) == 1


def test_one_port_carries_all_in_active_backup() -> None:
    bond = lag("active-backup")
    assert {bond.transmit_port(client) for client in range(CLIENTS)} == {0}
    assert {bond.receive_port(client) for client in range(CLIENTS)} == {0}


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="'balance-xor' is not one of active-backup"):
        lag("balance-xor")
