"""Bonding: which slave sends, what the switch makes of it, and what follows from a pulled cable."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.net.bonding.bond import MODES
from simnet.net.link.skb import Header, new_skb
from simnet.net.remote.link import RemoteLink
from simnet.net.remote.receiver import RemoteReceiver
from tests.host.parts import MS, NS, US
from tests.house.examples import examples
from tests.net.bonding.bonds import BOND_MAC, BondLab, client_ip
from tests.net.parts import make_socket

S = 1000 * MS
BALANCED = ("balance-xor", "802.3ad")


def where(lab: BondLab) -> object:
    """Return where the switch thinks that the bond's address is."""
    return lab.bond.station.outlet


class TestRoundRobin:
    def test_each_frame_leaves_by_the_next_slave(self) -> None:
        lab = BondLab("balance-rr")
        lab.send(6)
        assert lab.sent() == [2, 2, 1, 1]

    def test_the_turn_goes_on_between_bursts_and_connections(self) -> None:
        lab = BondLab("balance-rr", clients=2)
        lab.send(3, client=0)
        lab.send(2, client=1)
        assert lab.sent() == [2, 1, 1, 1]

    def test_a_busy_slave_delays_its_frame_so_that_it_comes_out_of_order(self) -> None:
        lab = BondLab("balance-rr", slaves=2, clients=2)
        # eth0 is busy with two long frames, eth1 is not
        for _ in range(2):
            lab.send(1, client=1)
            lab.send(1, client=1, wire_bytes=84)
        lab.send(2, client=0)
        lab.run()
        assert [skb.seq for skb in lab.clients[0].frames()] == [1, 0]

    def test_idle_slaves_keep_the_order(self) -> None:
        lab = BondLab("balance-rr")
        lab.send(12)
        lab.run()
        assert [skb.seq for skb in lab.clients[0].frames()] == list(range(12))

    def test_a_slave_without_carrier_is_passed_over_before_any_look_at_the_links(self) -> None:
        lab = BondLab("balance-rr", miimon_ms=0)
        lab.pull(1, 1 * MS)
        lab.run(2 * MS)
        lab.send(6)
        assert lab.sent() == [2, 0, 2, 2]
        assert lab.bond.dropped == 0


class TestHashed:
    @pytest.mark.parametrize("mode", BALANCED)
    def test_layer2_chooses_by_the_last_octets(self, mode: str) -> None:
        lab = BondLab(mode, slaves=4, clients=4)
        # clients 10, 11, 12, 13 and the bond's 0a: 1a, 1b, 18, 19
        for client in range(4):
            lab.send(client + 1, client=client)
        assert lab.sent() == [3, 4, 1, 2]

    @pytest.mark.parametrize("mode", BALANCED)
    def test_layer34_tells_connections_apart(self, mode: str) -> None:
        lab = BondLab(mode, slaves=4, clients=4, policy="layer3+4")
        # 1 ^ 11, 12, 13, 14 = 10, 13, 12, 15; 40000 ^ 5001 = 8fc9: 1 in the last two bits
        for client in range(4):
            lab.send(client + 1, client=client)
        expected = [0, 0, 0, 0]
        for client, low in enumerate((10, 13, 12, 15)):
            expected[(low ^ 0x8FC9) % 4] += client + 1
        assert lab.sent() == expected
        assert sorted(lab.sent()) == [1, 2, 3, 4]

    @pytest.mark.parametrize(
        ("mode", "sent"),
        [
            # the next slave: client 0 was on slave 2 and is on slave 3 now, the others stay
            ("balance-xor", [3, 4, 0, 3]),
            # dealt out anew, 1a, 1b, 18, 19 modulo three: 2, 0, 0, 1 among slaves 0, 1, 3
            ("802.3ad", [5, 4, 0, 1]),
        ],
    )
    def test_of_a_slave_without_a_link_the_others_take_the_clients(
        self, mode: str, sent: list[int]
    ) -> None:
        lab = BondLab(mode, slaves=4, clients=4)
        lab.pull(2, 1 * MS)
        lab.run(300 * MS)
        for client in range(4):
            lab.send(client + 1, client=client)
        assert lab.sent() == sent


class TestBroadcast:
    def test_a_copy_by_every_slave(self) -> None:
        lab = BondLab("broadcast", slaves=3)
        lab.send(2)
        lab.run()
        assert lab.sent() == [2, 2, 2]
        assert sorted(skb.seq for skb in lab.clients[0].frames()) == [0, 0, 0, 1, 1, 1]


class TestTransmitLoadBalancing:
    def test_new_clients_go_to_slaves_that_have_none(self) -> None:
        lab = BondLab("balance-tlb", slaves=4, clients=4)
        for client in range(4):
            lab.send(1, client=client)
        assert lab.sent() == [1, 1, 1, 1]

    def test_a_client_stays_with_its_slave(self) -> None:
        lab = BondLab("balance-tlb", slaves=4, clients=4)
        for client in (2, 0, 2, 2):
            lab.send(1, client=client)
        assert lab.sent() == [3, 1, 0, 0]

    def test_after_ten_seconds_a_heavy_client_has_a_slave_for_itself(self) -> None:
        lab = BondLab("balance-tlb", slaves=2, clients=3)
        # what is sent in the first 10 s counts; the third client shares a slave with the first
        lab.run(200 * MS)
        for _ in range(4):
            lab.send(100, client=0)
            lab.send(1, client=1)
            lab.send(100, client=2)
            lab.run(20 * MS)
        before = lab.sent()
        lab.run(10 * S)
        lab.send(1, client=0)
        lab.send(2, client=2)
        lab.send(4, client=1)
        first, second = (after - old for after, old in zip(lab.sent(), before, strict=True))
        learning = 10 * 3
        # 800 frames against 1: the third client does not join the first
        assert sorted((first % learning, second % learning)) in ([1, 6], [2, 5])

    def test_load_history_is_bytes_a_second_plus_one(self) -> None:
        lab = BondLab("balance-tlb", slaves=2)
        lab.run(200 * MS)
        lab.send(10)
        entry = 10 ^ 11  # 10.0.0.11
        assert lab.bond.tlb_bytes[entry] == 10 * (1538 - 24)
        lab.run(10 * S)
        assert lab.bond.tlb_history[entry] == 1 + 10 * 1514 // 10
        assert lab.bond.tlb_slave[entry] == -1

    def test_frames_carry_the_address_of_their_slave(self) -> None:
        lab = BondLab("balance-tlb", slaves=2, clients=2)
        lab.send(1, client=0)
        lab.send(1, client=1)
        lab.run()
        macs = [client.frames()[0].header.source.mac for client in lab.clients]
        assert macs == [BOND_MAC, BOND_MAC + 1]

    def test_everything_comes_in_by_the_active_slave(self) -> None:
        lab = BondLab("balance-tlb", slaves=3, clients=3)
        for client in range(3):
            lab.come(client, 2)
        lab.run()
        assert lab.received() == [6, 0, 0]

    def test_a_slave_that_has_gone_loses_one_frame_of_each_client_and_then_the_client(self) -> None:
        lab = BondLab("balance-tlb", slaves=2, clients=2)
        for client in range(2):
            lab.send(1, client=client)
        lab.bond.slaves[1].active = False
        lab.send(1, client=1)
        assert (lab.sent(), lab.bond.dropped) == ([1, 1], 1)
        lab.send(2, client=1)
        assert (lab.sent(), lab.bond.dropped) == ([3, 1], 1)


class TestReceiveLoadBalancing:
    def test_clients_are_spread_round_robin(self) -> None:
        lab = BondLab("balance-alb", slaves=4, clients=8)
        for client in range(8):
            lab.come(client, client + 1)
        lab.run()
        assert lab.received() == [1 + 5, 2 + 6, 3 + 7, 4 + 8]

    def test_a_client_that_asks_again_gets_the_same_answer(self) -> None:
        lab = BondLab("balance-alb", slaves=4, clients=3)
        assert lab.rlb is not None
        slave = lab.rlb.reply_to(lab.clients[1].neighbour)
        assert slave is lab.bond.slaves[1]
        assert lab.rlb.next_index == 3
        # and is told it again
        stations = [each.station for each in lab.bond.slaves]
        lab.clients[1].back.destination = stations[3]
        lab.rlb.reply_to(lab.clients[1].neighbour)
        assert lab.clients[1].back.destination is stations[1]

    def test_two_clients_in_one_entry_move_the_first_to_the_active_slave(self) -> None:
        lab = BondLab("balance-alb", slaves=4, clients=3)
        assert lab.rlb is not None
        # 10.0.11.0 has the hash of 10.0.0.11
        other = lab.clients[2].neighbour
        other.ip = 0x0A000B00
        lab.rlb.reply_to(lab.clients[1].neighbour)
        taken = lab.clients[1].neighbour
        taken.ip, other.ip = other.ip, client_ip(1)
        lab.rlb.reply_to(other)
        lab.run(20 * MS)
        told = lab.clients[1].frames()
        assert {skb.header.source.mac for skb in told} == {BOND_MAC}

    def test_clients_of_a_dead_slave_are_told_another_address(self) -> None:
        lab = BondLab("balance-alb", slaves=4, clients=4)
        lab.run(1 * S)
        lab.pull(1, lab.sim.now + 10 * MS)
        lab.run(1 * S)
        lab.clients[1].frames()
        # no sooner than 20 ticks after the clients were told last
        lab.run(2 * S)
        told = lab.clients[1].frames()
        assert told
        for skb in told:
            lab.clients[1].neighbour.receive(skb, lab.machine.cpus[0])
        # whose turn it is after four clients on four slaves: the first
        assert lab.clients[1].back.destination.mac == BOND_MAC
        assert lab.clients[2].back.destination.mac != BOND_MAC

    def test_until_they_know_the_active_slave_takes_their_frames(self) -> None:
        lab = BondLab("balance-alb", slaves=4, clients=4)
        lab.run(1 * S)
        lab.pull(1, lab.sim.now + 10 * MS)
        lab.run(250 * MS)
        before = lab.received()
        lab.come(1, 3)
        lab.run()
        assert lab.received()[0] - before[0] == 3


def test_an_arp_reply_reaches_a_receiver_that_has_nothing_to_do() -> None:
    lab = BondLab("balance-alb", slaves=2)
    sim, client = lab.sim, lab.clients[0]
    socket = make_socket(sim, lab.machine, lab.nics[0])
    remote = RemoteReceiver(
        sim,
        "remote",
        receiver=socket.receiver,
        link=RemoteLink(10**9),
        costs=lab.machine.costs,
        mmio_ps=0,
        throttle_ps=0,
        jiffy_ps=4 * MS,
        overhead_bytes=90,
    )
    remote.neighbour = client.neighbour
    sim.run_until(5 * MS)
    skb = new_skb(client.neighbour, 0, 0, 0, 0, 84, push=False)
    skb.header = Header(lab.bond.slaves[1].station, client.station)
    skb.arrival_ps = sim.now
    remote.incoming.append(skb)
    remote.frames_added()
    lab.run()
    assert client.back.destination is lab.bond.slaves[1].station
    assert (remote.interrupts, remote.delivered) == (0, 0)


class TestActiveBackup:
    def test_one_slave_does_it_all(self) -> None:
        lab = BondLab("active-backup", clients=2)
        lab.send(3, client=0)
        lab.come(1, 2)
        lab.run()
        assert lab.sent() == [3, 0, 0, 0]
        assert lab.received() == [2, 0, 0, 0]

    def test_primary_is_preferred(self) -> None:
        lab = BondLab("active-backup", primary=2)
        lab.send(3)
        assert lab.sent() == [0, 0, 3, 0]

    @pytest.mark.parametrize(
        ("miimon_ms", "downdelay", "takes_over_ms"),
        [(100, 0, 100), (100, 2, 300), (20, 0, 20), (40, 1, 80)],
    )
    def test_takes_over_when_the_monitor_has_seen_it(
        self, miimon_ms: int, downdelay: int, takes_over_ms: int
    ) -> None:
        lab = BondLab("active-backup", miimon_ms=miimon_ms, downdelay=downdelay)
        # pulled right after a look at the links
        lab.pull(0, 400 * MS + 1)
        lab.run((400 + takes_over_ms) * MS - 1)
        assert lab.bond.current == 0
        lab.run(1)
        assert lab.bond.current == 1
        assert lab.monitor.failovers == 1

    def test_a_link_that_comes_back_in_time_is_forgiven(self) -> None:
        lab = BondLab("active-backup", downdelay=2)
        lab.pull(0, 410 * MS)
        lab.plug(0, 650 * MS)
        lab.run(2 * S)
        assert lab.bond.current == 0

    def test_nobody_looks_without_miimon(self) -> None:
        lab = BondLab("active-backup", miimon_ms=0)
        lab.pull(0, 10 * MS)
        lab.run(2 * S)
        lab.send(1)
        assert lab.bond.current == 0
        assert lab.bond.dropped == 1

    def test_the_gratuitous_arp_moves_the_address_in_the_switch(self) -> None:
        lab = BondLab("active-backup")
        lab.pull(0, 410 * MS)
        lab.run(499 * MS)
        lab.come(0, 1)
        lab.run(500 * MS - lab.sim.now)
        # the switch has forgotten where the address was
        assert where(lab) is None
        # 84 bytes, a cable and the switch's latency later it knows again
        lab.run(672 * NS + 50 * NS + 4 * US)
        assert where(lab) is lab.bond.slaves[1].egress
        lab.come(0, 2)
        lab.run()
        assert lab.received() == [0, 2, 0, 0]

    def test_primary_comes_back_after_updelay(self) -> None:
        lab = BondLab("active-backup", primary=0, updelay=3)
        lab.pull(0, 410 * MS)
        lab.plug(0, 650 * MS)
        lab.run(700 * MS)
        assert lab.bond.current == 1
        # seen at 700, then three looks more
        lab.run(300 * MS - 1)
        assert lab.bond.current == 1
        lab.run(1)
        assert lab.bond.current == 0

    def test_without_a_primary_the_other_one_stays_active(self) -> None:
        lab = BondLab("active-backup")
        lab.pull(0, 410 * MS)
        lab.plug(0, 650 * MS)
        lab.run(2 * S)
        assert lab.bond.current == 1

    def test_the_last_link_goes_and_the_first_that_comes_back_is_taken(self) -> None:
        lab = BondLab("active-backup", slaves=2)
        lab.pull(0, 110 * MS)
        lab.pull(1, 310 * MS)
        lab.run(500 * MS)
        lab.send(1)
        assert (lab.bond.current, lab.bond.dropped) == (-1, 1)
        lab.plug(0, 510 * MS)
        lab.run(200 * MS)
        assert lab.bond.current == 0


class TestAddresses:
    def test_the_active_slave_has_the_address_of_the_bond(self) -> None:
        lab = BondLab("balance-alb", primary=2)
        assert [slave.station.mac - BOND_MAC for slave in lab.bond.slaves] == [2, 1, 0, 3]

    @pytest.mark.parametrize("mode", ["balance-tlb", "balance-alb"])
    def test_it_is_swapped_when_the_active_slave_goes(self, mode: str) -> None:
        lab = BondLab(mode)
        lab.pull(0, 110 * MS)
        lab.run(250 * MS)
        assert lab.bond.current == 1
        assert [slave.station.mac - BOND_MAC for slave in lab.bond.slaves] == [1, 0, 2, 3]
        assert lab.bond.station.outlet is lab.bond.slaves[1].egress


@settings(max_examples=examples(200))
@given(
    st.sampled_from(MODES),
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 5)), max_size=12),
    st.lists(st.integers(0, 3), max_size=4, unique=True),
    st.integers(3_000, 20_000),
)
def test_every_frame_sent_is_somewhere(
    mode: str, bursts: list[tuple[int, int]], pulled: list[int], buffer_bytes: int
) -> None:
    lab = BondLab(mode, slaves=4, clients=4, buffer_bytes=buffer_bytes)
    for slave in pulled:
        lab.pull(slave, (150 + slave) * MS)
    count = 0
    for client, frames in bursts:
        lab.send(frames, client=client)
        count += frames
        lab.run(37 * MS)
    lab.run(2 * MS)
    bond = lab.bond
    copies = 4 if mode == "broadcast" else 1
    came = [skb for client in lab.clients for skb in client.frames()]
    delivered = [skb for skb in came if skb.endpoint is lab.sink]
    dropped = sum(client.egress.dropped for client in lab.clients)
    lost = sum(slave.ingress.lost for slave in bond.slaves)
    assert lost == 0
    assert len(delivered) + dropped <= copies * count
    if mode != "broadcast":
        assert len(delivered) + dropped + bond.dropped == count
