"""What a bond charges for, when copies leave, and how transmit load balancing keeps its books."""

import pytest

from simnet.net.bonding.bond import MODES, Slave
from tests.host.parts import MS, NS
from tests.net.bonding.bonds import BOND_MAC, BondLab

FRAME = 1538
PAYLOAD = FRAME - 24
# 10.0.0.11, 12 and 13 have entries of their own
ENTRIES = [10 ^ 11, 10 ^ 12, 10 ^ 13]


def loads(lab: BondLab) -> list[int]:
    return [slave.load for slave in lab.bond.slaves]


class TestCharge:
    @pytest.mark.parametrize("mode", MODES)
    @pytest.mark.parametrize("pulled", [None, 0, 1])
    def test_what_is_charged_is_the_slave_that_sends(self, mode: str, pulled: int | None) -> None:
        lab = BondLab(mode, slaves=3, clients=4, dirty_ns=10, queue_lines=1)
        if pulled is not None:
            lab.pull(pulled, 110 * MS)
        lab.run(450 * MS)
        for client in (0, 1, 2, 3, 0, 2, 3, 1):
            charged = lab.charged(client)
            before = lab.sent()
            lab.send(1, client=client)
            lab.run()
            sent = [
                number
                for number, (old, now) in enumerate(zip(before, lab.sent(), strict=True))
                if now > old
            ]
            # a client that has no slave yet is given one when it sends
            assert charged == sent or (not charged and mode in {"balance-tlb", "balance-alb"})
            assert pulled not in sent
        assert lab.bond.counters() == {"frames": 8, "dropped": 0}

    @pytest.mark.parametrize("mode", ["balance-tlb", "balance-alb"])
    def test_a_balanced_client_is_charged_for_its_slave(self, mode: str) -> None:
        lab = BondLab(mode, slaves=3, clients=3, dirty_ns=10, queue_lines=1)
        assert [lab.charged(client) for client in range(3)] == [[], [], []]
        for client in range(3):
            lab.send(1, client=client)
        assert [lab.charged(client) for client in range(3)] == [[0], [1], [2]]

    @pytest.mark.parametrize("mode", [mode for mode in MODES if "lb" not in mode])
    def test_without_a_slave_the_bond_alone_is_charged_and_the_frame_dropped(
        self, mode: str
    ) -> None:
        lab = BondLab(mode, slaves=2, costs={"bond_tx": 100, "skb_alloc": 40})
        for slave in range(2):
            lab.pull(slave, 10 * MS)
        lab.run(350 * MS)
        lab.send(3)
        cost = lab.clients[0].route.transmit_cost_ps(lab.machine.cpus[0])
        assert cost == 100 * NS
        assert lab.bond.counters() == {"frames": 3, "dropped": 3}
        assert lab.sent() == [0, 0]

    @pytest.mark.parametrize(("mode", "copies"), [("balance-xor", 0), ("broadcast", 2)])
    def test_it_is_booked_where_it_belongs(self, mode: str, copies: int) -> None:
        lab = BondLab(mode, slaves=3, costs={"bond_tx": 100, "skb_alloc": 40}, dirty_ns=50)
        route = lab.clients[0].route
        first, second = lab.machine.cpus
        cost = route.transmit_cost_ps(first) + route.transmit_cost_ps(second)
        ledger = lab.machine.costs.ledger.work()
        assert ledger["tcp_send"] == 2 * (100 + copies * 40) * NS
        assert ledger["socket_lines"] == 50 * NS
        assert cost == sum(ledger.values())


class TestCopies:
    def test_each_leaves_when_the_one_before_is_cloned_and_queued(self) -> None:
        lab = BondLab("broadcast", slaves=4, costs={"bond_tx": 100, "skb_alloc": 40})
        lab.pull(2, 110 * MS)
        lab.run(300 * MS)
        lab.send(1)
        seen = [lab.sent()]
        for step_ps in (140 * NS - 1, 1, 140 * NS - 1, 1, MS):
            lab.run(step_ps)
            seen.append(lab.sent())
        assert seen == [
            [1, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0],
            [1, 1, 0, 0], [1, 1, 0, 1], [1, 1, 0, 1],
        ]  # fmt: skip

    def test_a_link_that_the_monitor_has_not_missed_yet_takes_no_copy(self) -> None:
        lab = BondLab("broadcast", slaves=3, miimon_ms=0)
        lab.pull(1, 1 * MS)
        lab.run(2 * MS)
        lab.send(1)
        lab.run()
        assert (lab.sent(), lab.bond.dropped) == ([1, 0, 1], 0)

    def test_a_slave_that_is_down_takes_no_copy_though_it_has_a_carrier(self) -> None:
        lab = BondLab("broadcast", slaves=3)
        lab.bond.slaves[0].active = False
        lab.send(1)
        lab.run()
        assert lab.sent() == [0, 1, 1]

    def test_a_copy_whose_link_goes_meanwhile_is_dropped(self) -> None:
        lab = BondLab("broadcast", slaves=2, miimon_ms=0, costs={"bond_tx": 100})
        lab.pull(1, 50 * NS)
        lab.send(1)
        lab.run()
        assert (lab.sent(), lab.bond.dropped) == ([1, 0], 1)


class TestAggregator:
    @pytest.mark.parametrize(
        ("aggregated", "expected"),
        [
            # 1a, 1b, 18, 19 modulo four: 2, 3, 0, 1; modulo three: 2, 0, 0, 1
            ((True, True, True, True), [3, 4, 1, 2]),
            ((False, True, True, True), [0, 2 + 3, 4, 1]),
            ((False, False, True, False), [0, 0, 1 + 2 + 3 + 4, 0]),
        ],
    )
    def test_the_hash_counts_its_ports(
        self, aggregated: tuple[bool, ...], expected: list[int]
    ) -> None:
        lab = BondLab("802.3ad", slaves=4, clients=4)
        for slave, inside in zip(lab.bond.slaves, aggregated, strict=True):
            slave.aggregated = inside
        for client in range(4):
            lab.send(client + 1, client=client)
        assert lab.sent() == expected

    def test_a_port_that_is_down_passes_its_frames_to_the_next(self) -> None:
        lab = BondLab("802.3ad", slaves=4, clients=4)
        lab.bond.slaves[3].active = False
        for client in range(4):
            lab.send(client + 1, client=client)
        # client 1, on slave 3, goes round to slave 0
        assert lab.sent() == [3 + 2, 4, 1, 0]

    def test_ports_that_are_all_down_send_nothing(self) -> None:
        lab = BondLab("802.3ad", slaves=2)
        for slave in lab.bond.slaves:
            slave.active = False
        lab.send(2)
        assert (lab.sent(), lab.bond.dropped) == ([0, 0], 2)


class TestBalanced:
    def test_a_fresh_client_weighs_one_byte_a_second(self) -> None:
        lab = BondLab("balance-tlb", slaves=3, clients=2)
        assert loads(lab) == [0, 0, 0]
        lab.send(5, client=0)
        lab.send(2, client=1)
        assert loads(lab) == [1, 1, 0]
        bond = lab.bond
        assert [bond.tlb_slave[entry] for entry in ENTRIES] == [0, 1, -1]
        assert [bond.tlb_bytes[entry] for entry in ENTRIES] == [5 * PAYLOAD, 2 * PAYLOAD, 0]

    @pytest.mark.parametrize(
        ("given", "chosen"),
        [((3, 2, 1), 2), ((1, 1, 1), 0), ((2, 1, 1), 1), ((1 << 40, 1 << 41, (1 << 40) - 1), 2)],
    )
    def test_the_least_load_is_taken_the_first_of_equals(
        self, given: tuple[int, ...], chosen: int
    ) -> None:
        lab = BondLab("balance-tlb", slaves=3)
        for slave, load in zip(lab.bond.slaves, given, strict=True):
            slave.load = load
        assert lab.bond.least_loaded() is lab.bond.slaves[chosen]
        lab.bond.slaves[chosen].active = False
        assert lab.bond.least_loaded() is not lab.bond.slaves[chosen]

    def test_without_a_slave_there_is_no_least(self) -> None:
        lab = BondLab("balance-tlb", slaves=2)
        for slave in lab.bond.slaves:
            slave.active = False
        assert lab.bond.least_loaded() is None

    def test_balancing_turns_bytes_of_ten_seconds_into_the_load_to_come(self) -> None:
        lab = BondLab("balance-tlb", slaves=2, clients=3)
        for client, count in enumerate((20, 30)):
            lab.send(count, client=client)
        lab.bond.rebalance()
        bond = lab.bond
        assert [bond.tlb_slave[entry] for entry in ENTRIES] == [-1, -1, -1]
        assert [bond.tlb_bytes[entry] for entry in ENTRIES] == [0, 0, 0]
        history = [1 + 20 * PAYLOAD // 10, 1 + 30 * PAYLOAD // 10, 1]
        assert [bond.tlb_history[entry] for entry in ENTRIES] == history
        assert loads(lab) == [0, 0]
        for client in (1, 0, 2):
            lab.send(1, client=client)
        # the third joins the lighter one
        assert loads(lab) == [history[1], history[0] + history[2]]

    def test_a_slave_that_is_cleared_keeps_what_its_clients_sent(self) -> None:
        lab = BondLab("balance-tlb", slaves=2, clients=2)
        for client in range(2):
            lab.send(4, client=client)
        lab.bond.clear(1, save_load=False)
        bond = lab.bond
        assert [bond.tlb_slave[entry] for entry in ENTRIES[:2]] == [0, -1]
        assert [bond.tlb_bytes[entry] for entry in ENTRIES[:2]] == [4 * PAYLOAD] * 2
        assert [bond.tlb_history[entry] for entry in ENTRIES[:2]] == [1, 1]
        assert loads(lab) == [1, 0]

    def test_what_no_slave_could_take_is_the_load_of_the_active_one(self) -> None:
        lab = BondLab("balance-tlb", slaves=2, clients=2)
        for slave in lab.bond.slaves:
            slave.active = False
        lab.send(3)
        assert (lab.sent(), lab.bond.dropped) == ([0, 0], 3)
        lab.bond.current = 1
        lab.bond.rebalance()
        assert loads(lab) == [0, 3 * PAYLOAD // 10]
        lab.bond.rebalance()
        assert loads(lab) == [0, 0]

    def test_without_an_active_slave_nothing_is_counted(self) -> None:
        lab = BondLab("balance-tlb", slaves=2)
        for slave in lab.bond.slaves:
            slave.active = False
        lab.bond.current = -1
        lab.send(3)
        lab.bond.current = 0
        lab.bond.rebalance()
        assert (lab.bond.dropped, loads(lab)) == (3, [0, 0])

    def test_a_client_of_a_lost_slave_is_dropped_once_and_chooses_anew(self) -> None:
        lab = BondLab("balance-tlb", slaves=2, clients=2)
        for client in range(2):
            lab.send(1, client=client)
        lab.bond.slaves[1].active = False
        for client in (1, 1, 1):
            lab.send(1, client=client)
        assert (lab.sent(), lab.bond.dropped) == ([3, 1], 1)
        # what it sent was not turned into a history
        assert lab.bond.tlb_history[ENTRIES[1]] == 1
        assert lab.bond.tlb_bytes[ENTRIES[1]] == 4 * PAYLOAD

    def test_a_header_is_made_once_for_an_address(self) -> None:
        lab = BondLab("balance-tlb", slaves=2, clients=2)
        lab.send(1, client=0)
        lab.send(2, client=1)
        slave: Slave = lab.bond.slaves[1]
        other = lab.bond.slaves[0]
        slave.station, other.station = other.station, slave.station
        lab.send(1, client=1)
        lab.run()
        headers = [skb.header for skb in lab.clients[1].frames()]
        assert headers[0] is headers[1]
        assert [header.source.mac for header in headers] == [BOND_MAC + 1, BOND_MAC + 1, BOND_MAC]
