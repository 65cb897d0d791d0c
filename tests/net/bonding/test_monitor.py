"""The monitor's looks one by one: what it makes of each link, and whom it tells."""

import pytest

from tests.host.parts import MS, NS, US
from tests.net.bonding.bonds import BOND_MAC, BondLab

S = 1000 * MS
UP, FAIL, DOWN, BACK = range(4)
EVERYONE = 0xFFFFFFFFFFFF
# of a short frame's last bit from a NIC to a client: two links, two cables, the switch
ON_ITS_WAY = 2 * (672 + 50) * NS + 4 * US


def at(lab: BondLab, time_ps: int) -> BondLab:
    return lab.run(time_ps - lab.sim.now)


def states(lab: BondLab) -> list[tuple[int, int, bool]]:
    return [(slave.link, slave.delay, slave.active) for slave in lab.bond.slaves]


class TestLooks:
    def test_one_after_the_other(self) -> None:
        lab = BondLab("active-backup", slaves=2, updelay=2, downdelay=1)
        lab.pull(0, 110 * MS)
        lab.plug(0, 350 * MS)
        seen = [(at(lab, look * 100 * MS), states(lab)[0], lab.bond.current)[1:]
                for look in range(1, 8)]  # fmt: skip
        assert seen == [
            ((UP, 0, True), 0),
            ((FAIL, 0, True), 0),  # one look more
            ((DOWN, 0, False), 1),
            ((BACK, 1, False), 1),  # two looks more
            ((BACK, 0, False), 1),
            ((UP, 0, False), 1),
            ((UP, 0, False), 1),
        ]
        assert states(lab)[1] == (UP, 0, True)
        assert lab.monitor.counters() == {"failovers": 1}

    def test_a_link_that_goes_again_while_it_is_coming_back_is_down(self) -> None:
        lab = BondLab("active-backup", slaves=2, updelay=5)
        lab.pull(0, 110 * MS)
        lab.plug(0, 250 * MS)
        lab.pull(0, 350 * MS)
        assert states(at(lab, 300 * MS))[0] == (BACK, 4, False)
        assert states(at(lab, 400 * MS))[0][0] == DOWN
        lab.plug(0, 450 * MS)
        # the delay begins anew
        assert states(at(lab, 500 * MS))[0] == (BACK, 4, False)

    def test_the_primary_is_active_again_and_the_other_one_rests(self) -> None:
        lab = BondLab("active-backup", slaves=3, primary=1)
        assert [slave.active for slave in lab.bond.slaves] == [False, True, False]
        lab.pull(1, 110 * MS)
        at(lab, 200 * MS)
        # the search goes on from the primary
        assert lab.bond.current == 2
        assert [slave.active for slave in lab.bond.slaves] == [False, False, True]
        lab.plug(1, 250 * MS)
        at(lab, 300 * MS)
        assert lab.bond.current == 1
        assert [slave.active for slave in lab.bond.slaves] == [False, True, False]
        assert lab.monitor.failovers == 2

    def test_with_no_link_left_the_next_that_is_back_for_good_is_taken(self) -> None:
        lab = BondLab("active-backup", slaves=2, updelay=1)
        lab.pull(0, 110 * MS)
        lab.pull(1, 120 * MS)
        lab.plug(1, 350 * MS)
        at(lab, 200 * MS)
        assert (lab.bond.current, lab.monitor.failovers) == (-1, 1)
        lab.send(2)
        assert lab.bond.dropped == 2
        assert at(lab, 400 * MS).bond.current == -1
        assert at(lab, 500 * MS).bond.current == 1
        assert states(lab) == [(DOWN, 0, False), (UP, 0, True)]
        assert lab.monitor.failovers == 2

    def test_of_links_that_are_coming_back_that_with_the_least_delay_is_taken_at_once(self) -> None:
        lab = BondLab("active-backup", slaves=4, updelay=9)
        for slave, back in ((1, 350), (2, 250), (3, 250)):
            lab.pull(slave, 110 * MS)
            lab.plug(slave, back * MS)
        lab.pull(0, 450 * MS)
        waiting = [(BACK, 8, False), (BACK, 7, False), (BACK, 7, False)]
        assert states(at(lab, 400 * MS))[1:] == waiting
        at(lab, 500 * MS)
        assert lab.bond.current == 2
        assert states(lab)[2] == (UP, 0, True)


class TestAnnouncements:
    def test_the_gratuitous_arp(self) -> None:
        lab = BondLab("active-backup", slaves=3)
        client = lab.clients[0]
        lab.bond.everyone.outlet = client.egress
        lab.pull(0, 110 * MS)
        at(lab, 200 * MS)
        assert lab.sent() == [0, 1, 0]
        lab.run()
        (skb,) = client.frames()
        assert skb.arrival_ps == 200 * MS + ON_ITS_WAY
        assert (skb.seq, skb.end_seq, skb.ack, skb.window, skb.push) == (0, 0, 0, 0, False)
        assert (skb.wire_bytes, skb.header.source) == (84, lab.bond.station)
        assert skb.header.destination.mac == lab.bond.everyone.mac == EVERYONE

    def test_learning_packets_go_out_every_second_three_by_each_slave(self) -> None:
        lab = BondLab("balance-tlb", slaves=2)
        assert at(lab, S - 1).sent() == [0, 0]
        assert at(lab, S).sent() == [3, 3]
        assert at(lab, 2 * S - 1).sent() == [3, 3]
        assert at(lab, 2 * S).sent() == [6, 6]
        for slave in lab.bond.slaves:
            slave.station.outlet = None
        lab.run()
        # the switch learns where each is; nothing has to be sent on
        for slave in lab.bond.slaves:
            assert slave.station.outlet is slave.egress
            assert slave.ingress.counters() == {"frames": 6, "lost": 0, "flooded": 0}

    def test_balancing_is_at_the_first_tick_and_then_every_ten_seconds(self) -> None:
        lab = BondLab("balance-tlb", slaves=2)
        entry = 10 ^ 11

        def assigned() -> bool:
            return bool(lab.bond.tlb_slave[entry] >= 0)

        seen = []
        for time_ps in (100 * MS, 10 * S + 100 * MS, 20 * S + 100 * MS):
            at(lab, time_ps - 1)
            lab.send(1)
            seen.append(assigned())
            at(lab, time_ps)
            seen.append(assigned())
        assert seen == [True, False] * 3

    def test_a_link_that_is_back_has_the_next_tick_balance(self) -> None:
        lab = BondLab("balance-tlb", slaves=3)
        lab.pull(2, 110 * MS)
        lab.plug(2, 350 * MS)
        at(lab, 390 * MS)
        lab.send(1)
        assert lab.bond.tlb_slave[10 ^ 11] == 0
        # look and tick are at 400
        at(lab, 500 * MS)
        assert lab.bond.tlb_slave[10 ^ 11] == -1

    def test_a_link_that_is_lost_frees_its_clients(self) -> None:
        lab = BondLab("balance-tlb", slaves=2, clients=2)
        at(lab, 150 * MS)
        for client in range(2):
            lab.send(1, client=client)
        lab.pull(1, 160 * MS)
        at(lab, 200 * MS)
        assert [lab.bond.tlb_slave[10 ^ ip] for ip in (11, 12)] == [0, -1]
        # what they sent is no history before all is balanced
        assert lab.bond.tlb_history[10 ^ 12] == 1
        assert [slave.load for slave in lab.bond.slaves] == [1, 0]

    @pytest.mark.parametrize("mode", ["balance-tlb", "balance-alb"])
    def test_who_becomes_active_takes_the_address_and_tells_the_switch(self, mode: str) -> None:
        lab = BondLab(mode, slaves=3, clients=0, primary=0)
        lab.pull(0, 110 * MS)
        at(lab, 200 * MS)
        first = lab.sent()
        # the address of the one that went is announced, too, where it is in use
        assert first == [0, 4 if mode == "balance-alb" else 3, 0]
        lab.plug(0, 250 * MS)
        at(lab, 300 * MS)
        assert lab.bond.current == 0
        # both have a link: three each
        assert [now - old for now, old in zip(lab.sent(), first, strict=True)] == [3, 3, 0]
        assert [slave.station.mac - BOND_MAC for slave in lab.bond.slaves] == [0, 1, 2]
        lab.run()
        assert [s.station.outlet for s in lab.bond.slaves] == [s.egress for s in lab.bond.slaves]

    def test_clients_of_both_are_told_when_addresses_are_exchanged(self) -> None:
        lab = BondLab("balance-alb", slaves=3, clients=3, primary=0)
        assert lab.rlb is not None
        at(lab, 3 * S)
        lab.pull(0, 3 * S + 10 * MS)
        at(lab, 6 * S)
        lab.plug(0, 6 * S + 10 * MS)
        at(lab, 20 * S)
        for client in lab.clients:
            for skb in client.frames():
                if skb.endpoint is client.neighbour:
                    client.neighbour.receive(skb, lab.machine.cpus[0])
        table = [entry.slave for entry in lab.rlb.entries.values()]
        assert {client.back.destination for client in lab.clients} == {
            slave.station for slave in table if slave is not None
        }
        assert not lab.rlb.ntt

    def test_a_primary_has_the_address_from_the_first(self) -> None:
        for mode, macs in (("balance-tlb", [2, 1, 0]), ("active-backup", [0, 1, 2])):
            lab = BondLab(mode, slaves=3, primary=2)
            assert [slave.station.mac - BOND_MAC for slave in lab.bond.slaves] == macs
            assert lab.bond.station.outlet is lab.bond.slaves[2].egress
            assert lab.bond.current == 2

    def test_a_channel_has_no_primary(self) -> None:
        lab = BondLab("balance-rr", slaves=3, primary=2)
        assert lab.bond.current == 0
        assert lab.bond.station.outlet is lab.channel


class TestCables:
    @pytest.mark.parametrize("mode", ["balance-rr", "active-backup"])
    def test_what_is_on_its_way_is_lost_with_the_cable(self, mode: str) -> None:
        lab = BondLab(mode, slaves=2)
        lab.pull(0, US)
        lab.send(1)
        lab.run()
        assert lab.bond.slaves[0].ingress.counters() == {"frames": 1, "lost": 1, "flooded": 0}
        lab.plug(0, lab.sim.now + US)
        lab.run(300 * MS)
        if mode == "active-backup":
            lab.bond.current = 0
        lab.send(1)
        lab.run()
        assert sum(len(client.frames()) for client in lab.clients) >= 1
        assert lab.bond.slaves[0].ingress.lost == 1

    def test_pulling_twice_is_pulling_once(self) -> None:
        lab = BondLab("balance-rr", slaves=4)
        for time_ps in (US, 2 * US):
            lab.pull(1, time_ps)
        lab.run()
        assert lab.channel is not None
        assert len(lab.channel.members) == 3

    @pytest.mark.parametrize("order", [(1, 2), (2, 1)])
    def test_ports_are_bundled_again_in_their_places(self, order: tuple[int, int]) -> None:
        lab = BondLab("balance-xor", slaves=4)
        assert lab.channel is not None
        egresses = [slave.egress for slave in lab.bond.slaves]
        assert lab.channel.members == egresses
        for slave in (1, 2):
            lab.pull(slave, US)
        at(lab, 10 * US)
        assert lab.channel.members == [egresses[0], egresses[3]]
        for number, slave in enumerate(order):
            lab.plug(slave, (20 + number) * US)
        at(lab, 20 * US)
        assert lab.channel.members == [egresses[0], egresses[order[0]], egresses[3]]
        at(lab, 30 * US)
        assert lab.channel.members == egresses


class TestAggregator:
    def test_a_port_leaves_at_the_next_tick_and_is_back_after_the_aggregate_wait(self) -> None:
        lab = BondLab("802.3ad", slaves=3)
        slave = lab.bond.slaves[1]
        lab.pull(1, 110 * MS)
        at(lab, 200 * MS)
        assert (slave.active, slave.aggregated) == (False, True)
        at(lab, 300 * MS - 1)
        assert slave.aggregated
        at(lab, 300 * MS)
        assert not slave.aggregated
        lab.plug(1, 350 * MS)
        at(lab, 400 * MS)
        assert (slave.link, slave.active) == (UP, False)
        at(lab, 2400 * MS - 1)
        assert not slave.aggregated
        assert lab.channel is not None
        assert len(lab.channel.members) == 2
        at(lab, 2400 * MS)
        assert (slave.aggregated, slave.active) == (True, True)
        assert lab.channel.members == [its.egress for its in lab.bond.slaves]

    def test_a_look_between_two_ticks_waits_for_the_second(self) -> None:
        lab = BondLab("802.3ad", slaves=2, miimon_ms=40)
        slave = lab.bond.slaves[1]
        # seen at 160
        lab.pull(1, 130 * MS)
        at(lab, 200 * MS - 1)
        assert slave.aggregated
        at(lab, 200 * MS)
        assert not slave.aggregated

    def test_a_port_that_goes_again_in_the_meantime_is_not_taken_back(self) -> None:
        lab = BondLab("802.3ad", slaves=2)
        slave = lab.bond.slaves[1]
        lab.pull(1, 110 * MS)
        lab.plug(1, 350 * MS)
        lab.pull(1, 1350 * MS)
        at(lab, 3 * S)
        assert (slave.aggregated, slave.active) == (False, False)
        # the wait begins anew with the last return
        lab.plug(1, 3 * S + 50 * MS)
        lab.pull(1, 4 * S)
        lab.plug(1, 4 * S + 250 * MS)
        at(lab, 6 * S + 300 * MS - 1)
        assert not slave.aggregated
        at(lab, 6 * S + 300 * MS)
        assert slave.aggregated

    def test_what_the_monitor_misses_the_switch_does_not(self) -> None:
        lab = BondLab("802.3ad", slaves=3)
        assert lab.channel is not None
        lab.pull(1, 110 * MS)
        lab.plug(1, 120 * MS)
        at(lab, 2120 * MS - 1)
        assert lab.bond.slaves[1].aggregated
        assert len(lab.channel.members) == 2
        at(lab, 2120 * MS)
        assert lab.channel.members == [its.egress for its in lab.bond.slaves]
