"""Ports that are one link, port by port: who is where."""

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


def transmits(bond: Lag) -> list[int]:
    return [bond.transmit_port(client) for client in range(len(bond.sent))]


def receives(bond: Lag) -> list[int]:
    return [bond.receive_port(client) for client in range(len(bond.sent))]


class TestAggregated:
    def test_the_server_deals_its_hash_out_to_its_ports(self) -> None:
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

    def test_the_switch_deals_its_own_out(self) -> None:
        bond = lag("802.3ad", clients=60)
        assert set(receives(bond)) == {0, 1, 2}
        assert receives(bond) != transmits(bond)


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
