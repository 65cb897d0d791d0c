"""Ports that are one link, port by port: who is where, and what a lost one changes."""

import pytest

from simnet.kernel.simulator import Simulator
from simnet.net.bonding.hash import transmit_hash
from simnet.net.fluid.lag import Address, Lag
from simnet.net.link.skb import Header

SERVER = Address(0x1000, 0x0A010065, 1191)
MAC = 0x1000


def lag(mode: str, clients: int = 4, ports: int = 3) -> Lag:
    """Clients 10.1.0.1 and so on: each has an entry of its own."""
    ends = [Address(0x100 * (n + 1), 0x0A010001 + n, 40_000 + 7 * n) for n in range(clients)]
    return Lag(Simulator(), "bond", mode, "layer3+4", ports, SERVER, ends)


def lose(bond: Lag, *ports: int) -> None:
    for port in ports:
        bond.slaves[port].carrier = False
    assert bond.look()


def back(bond: Lag, port: int) -> None:
    bond.slaves[port].carrier = True
    assert bond.look()


def transmits(bond: Lag) -> list[int]:
    return [bond.transmit_port(client) for client in range(len(bond.sent))]


def receives(bond: Lag) -> list[int]:
    return [bond.receive_port(client) for client in range(len(bond.sent))]


class TestActiveBackup:
    def test_the_first_that_is_left_takes_over_and_keeps_it(self) -> None:
        bond = lag("active-backup")
        lose(bond, 1)
        assert (bond.current, transmits(bond)) == (0, [0] * 4)
        lose(bond, 0)
        assert (bond.current, transmits(bond), receives(bond)) == (2, [2] * 4, [2] * 4)
        back(bond, 0)
        assert bond.current == 2

    def test_without_any_there_is_none_until_the_first_is_back(self) -> None:
        bond = lag("active-backup")
        lose(bond, 0, 1, 2)
        assert (bond.current, transmits(bond), receives(bond)) == (-1, [-1] * 4, [-1] * 4)
        assert [port.ok() for port in bond.slaves] == [False] * 3
        back(bond, 1)
        assert (bond.current, transmits(bond), receives(bond)) == (1, [1] * 4, [1] * 4)
        back(bond, 0)
        assert bond.current == 1

    def test_nothing_changes_unless_a_link_did(self) -> None:
        bond = lag("active-backup")
        assert not bond.look()
        assert not bond.tick()
        assert bond.rlb.updates == 0


class TestAggregated:
    def test_the_server_deals_its_hash_out_to_the_ports_it_takes_for_present(self) -> None:
        bond = lag("802.3ad")
        hashes = [
            transmit_hash(
                "layer3+4",
                Header(SERVER.station, its.destination, SERVER.ip, its.destination_ip, 1191, port),
                MAC,
            )
            for its, port in zip(bond.sent, (40_000, 40_007, 40_014, 40_021), strict=True)
        ]
        assert transmits(bond) == [number % 3 for number in hashes]
        bond.slaves[1].carrier = False
        # the server has not looked, the switch has seen it
        assert transmits(bond) == [number % 3 for number in hashes]
        assert 1 not in receives(bond)
        bond.look()
        assert transmits(bond) == [(0, 2)[number % 2] for number in hashes]
        lose(bond, 0, 2)
        assert (transmits(bond), receives(bond)) == ([-1] * 4, [-1] * 4)

    def test_the_switch_deals_its_own_out(self) -> None:
        bond = lag("802.3ad", clients=60)
        before = receives(bond)
        assert set(before) == {0, 1, 2}
        lose(bond, 2)
        after = receives(bond)
        assert set(after) == {0, 1}
        # two thirds of those that could have stayed are dealt out anew, or so
        assert before != after
        back(bond, 2)
        assert receives(bond) == before


class TestBalanced:
    def test_clients_are_told_ports_in_turn_and_assigned_the_least_loaded(self) -> None:
        bond = lag("balance-alb", clients=5)
        assert receives(bond) == [0, 1, 2, 0, 1]
        assert transmits(bond) == [0, 1, 2, 0, 1]
        assert [port.load for port in bond.slaves] == [2, 2, 1]
        # an assignment holds
        assert transmits(bond) == [0, 1, 2, 0, 1]
        assert [port.load for port in bond.slaves] == [2, 2, 1]

    def test_balancing_goes_by_bytes_of_ten_seconds(self) -> None:
        bond = lag("balance-alb")
        transmits(bond)
        bond.rebalance([9, 10, 1000, 50])
        assert [port.load for port in bond.slaves] == [0, 0, 0]
        assert transmits(bond) == [0, 1, 2, 0]
        # 9 bytes are none a second; one more each
        assert [port.load for port in bond.slaves] == [1 + 6, 2, 101]

    def test_a_lost_port_frees_its_clients_and_begins_anew(self) -> None:
        bond = lag("balance-alb")
        transmits(bond)
        lose(bond, 0)
        assert [port.load for port in bond.slaves] == [0, 1, 1]
        # clients 0 and 3 choose among the others
        assert transmits(bond) == [1, 1, 2, 2]
        assert [port.load for port in bond.slaves] == [0, 2, 2]
        assert bond.current == 1

    def test_frames_to_a_lost_port_come_by_the_active_one_until_the_clients_know(self) -> None:
        bond = lag("balance-alb")
        lose(bond, 1)
        # at once, by what the switch has learnt
        assert receives(bond) == [0, 0, 2, 0]
        ticks = 0
        while bond.tick():
            ticks += 1
        # client 1 has been told port 2, whose turn it was
        assert receives(bond) == [0, 2, 2, 0]
        assert ticks > 20

    def test_a_port_that_is_back_has_all_dealt_out_anew(self) -> None:
        bond = lag("balance-alb")
        lose(bond, 1)
        while bond.tick():
            pass
        ordered = [bond.rlb.rebalance_ordered]
        back(bond, 1)
        assert [*ordered, bond.rlb.rebalance_ordered] == [False, True]
        assert bond.tick()
        while bond.tick():
            pass
        assert sorted(set(receives(bond))) == [0, 1, 2]

    @pytest.mark.parametrize("mode", ["802.3ad", "active-backup"])
    def test_others_balance_nothing(self, mode: str) -> None:
        bond = lag(mode)
        lose(bond, 1)
        back(bond, 1)
        assert not bond.rlb.rebalance_ordered
        assert not bond.tick()
        assert bond.rlb.entries == {}
