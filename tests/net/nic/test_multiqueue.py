"""Ports with several queues: what is received where, what leaves when, what a socket sends by."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Header, Skb, Station, new_skb
from simnet.net.nic.multiqueue import MultiqueuePort, XpsMap
from simnet.net.nic.port import Nic
from simnet.net.nic.rss import MICROSOFT_KEY, Rss, Toeplitz
from simnet.net.steering.socket_queue import SocketQueue, socket_hash
from simnet.net.steering.tx_queue_rules import TxQueueRules, tx_queue_rules
from simnet.net.tcp.socket import TcpSocket
from tests.host.parts import MS, Agenda, make_costs, make_machine
from tests.net.nic.queues import make_port
from tests.net.parts import (
    US,
    Line,
    Sink,
    ack,
    make_socket,
    make_tg3,
    on_wire,
)

HERE, THERE = Station(1), Station(2)
SERVER = 0x0A000001
COSTS = {"hardirq": 900, "poll": 300, "driver_rx": 700, "tx_completion": 100}


def connection(number: int) -> Header:
    """What comes from client `number`."""
    return Header(THERE, HERE, 0x0A010000 + number, SERVER, 40_000 + number, 80)


def wire(port: MultiqueuePort) -> list[Skb]:
    """Take all frames that have been put on the wire."""
    return on_wire(port.queues[0])


@dataclass
class Traffic:
    """Frames for a port: (gap before it in ns, connection); how many find buffers; costs."""

    frames: list[tuple[int, int]]
    buffers: int
    weight: int
    handler: int
    log: list[tuple[int, int, int]] = field(default_factory=list)

    def run(self, *, per_frame: bool) -> tuple[MultiqueuePort, Any]:
        """Receive them on four CPUs; return the port and all that can be seen."""
        sim = Simulator()
        costs = make_costs(**(COSTS | {"hardirq": self.handler}))
        machine = make_machine(sim, cores_per_socket=4, costs=costs)
        port = make_port(
            sim, machine, rx_buffers=self.buffers, weight=self.weight, per_frame=per_frame
        )
        sink = Sink(sim, work_ps=400_000)
        agenda = Agenda(sim)
        arrival = 0

        def arrive(skb: Skb) -> None:
            port.incoming.append(skb)
            port.frames_coming()

        for seq, (gap_ns, number) in enumerate(self.frames):
            arrival += gap_ns * 1000
            skb = new_skb(sink, seq, seq + 1, 0, 0, 90, push=False)
            skb.header = headers[number]
            skb.arrival_ps = arrival
            if per_frame:
                agenda.at(arrival, arrive, skb)
            else:
                port.incoming.append(skb)
        if not per_frame:
            port.frames_coming()
        sim.run_until(arrival + 5 * MS)
        port.advance(sim.now)
        seen = (
            sorted(sink.log),
            [nic.line.counts for nic in port.queues],
            [(nic.rx_packets, nic.drops) for nic in port.queues],
            [cpu.times() for cpu in machine.cpus],
        )
        return port, seen


headers = [connection(number) for number in range(24)]
traffic = st.builds(
    Traffic,
    frames=st.lists(
        st.tuples(st.sampled_from([720, 720, 3000, 12_000, 40_000]), st.integers(0, 23)),
        max_size=80,
    ),
    buffers=st.sampled_from([255, 1, 3]),
    weight=st.sampled_from([64, 2]),
    handler=st.sampled_from([500, 7000]),
)


class TestReceive:
    @given(traffic)
    @settings(max_examples=25)
    def test_a_frame_is_received_or_counted_as_dropped_by_its_queue(self, load: Traffic) -> None:
        port, (log, _, counts, _) = load.run(per_frame=False)
        offered = [0] * 4
        for _, number in load.frames:
            offered[port.rss.queue(headers[number])] += 1
        assert [received + dropped for received, dropped in counts] == offered
        assert len(log) == sum(received for received, _ in counts) == port.rx_packets
        assert port.drops_by_queue() == {f"eth0-{n}": counts[n][1] for n in range(4)}

    @given(traffic)
    @settings(max_examples=25)
    def test_one_event_a_frame_changes_nothing(self, load: Traffic) -> None:
        assert load.run(per_frame=False)[1] == load.run(per_frame=True)[1]

    @given(traffic)
    @settings(max_examples=25)
    def test_a_connection_stays_with_one_cpu_and_in_order(self, load: Traffic) -> None:
        _, (log, *_) = load.run(per_frame=False)
        for number in {number for _, number in load.frames}:
            mine = [(cpu, seq) for _, cpu, seq in log if load.frames[seq][1] == number]
            assert len({cpu for cpu, _ in mine}) <= 1
            assert mine == sorted(mine)

    def test_what_rss_does_not_sort_comes_to_the_ring_before_its_own(self) -> None:
        sim = Simulator()
        port = make_port(sim, make_machine(sim, cores_per_socket=4), first=1)
        sink = Sink(sim)
        for number in range(12):
            skb = new_skb(sink, number, 0, 0, 0, 90, push=False)
            skb.arrival_ps = (1 + number) * US
            if number % 4:
                skb.header = headers[number]
            port.incoming.append(skb)
        port.frames_coming()
        sim.run_until(MS)
        assert {seq for _, cpu, seq in sink.log if cpu == 0} == {0, 4, 8}
        assert len(sink.log) == 12

    def test_pulling_the_cable_loses_what_is_under_way_to_any_queue(self) -> None:
        sim = Simulator()
        port = make_port(sim, make_machine(sim, cores_per_socket=4))
        sink = Sink(sim)
        for number in range(24):
            skb = new_skb(sink, number, 0, 0, 0, 90, push=False)
            skb.arrival_ps = (10 + number) * US
            skb.header = headers[number]
            port.incoming.append(skb)
        port.frames_coming()
        sim.run_until(20 * US)
        assert port.lose_coming(sim.now) == 13
        sim.run_until(MS)
        assert sorted(seq for _, _, seq in sink.log) == list(range(11))


class TestSteering:
    def test_a_steered_flow_takes_along_what_has_not_arrived(self) -> None:
        sim = Simulator()
        machine = make_machine(sim, cores_per_socket=4)
        port = make_port(sim, machine)
        sink = Sink(sim)
        flow = headers[0]
        before = port.rss.queue(flow)
        after = (before + 1) % 4
        for number in range(20):
            skb = new_skb(sink, number, 0, 0, 0, 90, push=False)
            skb.arrival_ps = (10 + number) * US
            skb.header = headers[number % 3]
            port.incoming.append(skb)
        port.frames_coming()
        agenda = Agenda(sim)
        agenda.at(20 * US, port.steer_flow, flow, after)
        sim.run_until(MS)
        cpus = [cpu for _, cpu, seq in sorted(sink.log, key=lambda each: each[2]) if seq % 3 == 0]
        # seven arrive from 10 to 28 us, four of them by 20
        assert cpus == [before] * 4 + [after] * 3
        assert len(sink.log) == 20
        port.release_flow(flow)
        assert port.rss.queue(flow) == before


class TestTransmit:
    def test_the_rings_share_the_wire_in_the_order_posted(self) -> None:
        sim = Simulator()
        port = make_port(sim, make_machine(sim, cores_per_socket=4))
        sink = Sink(sim)
        for seq, queue in enumerate([2, 0, 3, 2, 1, 0]):
            port.queues[queue].transmit(new_skb(sink, seq, 0, 0, 0, 125, push=False))
        port.queues[0].flush()
        frames = wire(port)
        assert [skb.seq for skb in frames] == list(range(6))
        # each is serialised here and once more in the switch
        assert [skb.arrival_ps for skb in frames] == [(2 + number) * US for number in range(6)]
        assert (port.tx_packets, port.tx_bytes) == (6, 750)

    def test_each_ring_reports_what_it_has_sent_to_its_own_interrupt(self) -> None:
        sim = Simulator()
        port = make_port(sim, make_machine(sim, cores_per_socket=4), tx_frames=1)
        for queue in (1, 3):
            port.queues[queue].transmit(new_skb(Sink(sim, f"{queue}"), 0, 0, 0, 0, 125, push=False))
            port.queues[queue].flush()
        sim.run_until(MS)
        asserted = [line.asserted_ps for line in port.lines if isinstance(line, Line)]
        # the second waited for the first, though in another ring
        assert asserted == [[], [US], [], [2 * US]]

    @pytest.mark.parametrize(("queues", "tx_queues"), [(0, 1), (4, 5), (4, 0)])
    def test_impossible_numbers_are_refused(self, queues: int, tx_queues: int) -> None:
        sim = Simulator()
        machine = make_machine(sim)
        rss = Rss(Toeplitz(MICROSOFT_KEY), [0])
        nics: list[Nic] = [make_tg3(sim, machine, name=f"eth0-{n}") for n in range(queues)]
        with pytest.raises(ValueError, match=f"{queues} queues, {tx_queues} of them"):
            MultiqueuePort(sim, "host.eth0", "eth0", nics, tx_queues=tx_queues, rss=rss)


class TestXpsMap:
    @given(
        st.lists(st.lists(st.integers(0, 7), unique=True), max_size=9),
        st.integers(0, 7),
        st.integers(0, 2**32 - 1),
    )
    def test_a_cpu_sends_by_a_queue_whose_mask_it_is_in(
        self, masks: list[list[int]], cpu: int, word: int
    ) -> None:
        own = [queue for queue, mask in enumerate(masks) if cpu in mask]
        chosen = XpsMap(8, masks).queue(cpu, word)
        assert chosen == (own[word * len(own) >> 32] if own else -1)


RULES = TxQueueRules()


class Pair:
    """A socket on a machine of four CPUs, and the port that it sends by."""

    def __init__(self, rules: TxQueueRules = RULES, **options: Any) -> None:
        self.sim = Simulator()
        self.machine = make_machine(self.sim, cores_per_socket=4)
        self.port = make_port(self.sim, self.machine, **options)
        self.socket = make_socket(self.sim, self.machine, self.port.queues[0])
        word = socket_hash(connection(5), 1, 2)
        self.queue = SocketQueue("socket.queue", self.port, self.socket, rules, word)

    def write(self, cpu: int, length: int = 100) -> int:
        """Send a message from a CPU; return the queue that it goes by."""
        sent = [nic.tx_packets for nic in self.port.queues]
        self.socket.sender.write(length, end_of_send=True)
        self.socket.output(self.machine.cpus[cpu])
        changed = [
            number for number, nic in enumerate(self.port.queues) if nic.tx_packets != sent[number]
        ]
        assert len(changed) == 1
        return changed[0]

    def by_cpu(self) -> list[int]:
        """Send a message from each CPU, one at a time; return the queues that they go by."""
        queues = []
        for cpu in range(4):
            queues.append(self.write(cpu))
            self.acknowledge()
        return queues

    def acknowledge(self) -> None:
        """The far end has got everything."""
        everything = ack(self.socket, self.socket.sender.snd_nxt)
        self.socket.receive(everything, self.machine.cpus[0])


EACH_ITS_OWN = [[0], [1], [2], [3]]


class TestSocketQueue:
    @pytest.mark.parametrize(
        ("version", "several", "steers", "waits"),
        [
            ("2.6.18", False, False, False),
            ("2.6.32", True, False, False),
            ("2.6.38", True, True, False),
            ("3.10", True, True, True),
        ],
    )
    def test_rules_by_version(
        self, version: str, *, several: bool, steers: bool, waits: bool
    ) -> None:
        assert tx_queue_rules(version) == TxQueueRules(several, steers, waits)

    def test_without_several_queues_in_the_kernel_all_goes_by_the_first(self) -> None:
        pair = Pair(tx_queue_rules("2.6.18"), xps=EACH_ITS_OWN)
        assert pair.by_cpu() == [0, 0, 0, 0]

    def test_by_hash_the_sending_cpu_does_not_matter(self) -> None:
        pair = Pair(tx_queue_rules("2.6.32"), xps=EACH_ITS_OWN)
        assert pair.by_cpu() == [pair.queue.number] * 4

    def test_the_hash_uses_all_queues_for_sending_and_no_other(self) -> None:
        sim = Simulator()
        machine = make_machine(sim)
        port = make_port(sim, machine, 6, tx_queues=4)
        chosen = set()
        for number in range(60):
            socket = make_socket(sim, machine, port.queues[0], f"socket{number}")
            word = socket_hash(connection(number), 3, 4)
            queue = SocketQueue(f"queue{number}", port, socket, RULES, word)
            assert socket.nic is queue
            chosen.add(queue.number)
        assert chosen == {0, 1, 2, 3}

    def test_with_xps_the_sending_cpu_chooses(self) -> None:
        pair = Pair(xps=EACH_ITS_OWN)
        assert pair.by_cpu() == [0, 1, 2, 3]

    def test_while_anything_is_in_flight_the_socket_keeps_its_queue(self) -> None:
        pair = Pair(xps=EACH_ITS_OWN)
        assert pair.write(2) == 2
        assert pair.write(1, 1000) == 2
        pair.acknowledge()
        assert pair.write(1) == 1
        moves = pair.queue.moves
        pair.acknowledge()
        assert pair.write(1) == 1
        assert pair.queue.moves == moves

    def test_a_cpu_of_no_queue_sends_by_hash(self) -> None:
        pair = Pair(xps=[[0], [], [2], []])
        hashed = pair.queue.number
        assert pair.write(0) == 0
        pair.acknowledge()
        assert pair.write(3) == hashed

    def test_later_kernels_wait_until_the_ring_has_been_reclaimed(self) -> None:
        pair = Pair(tx_queue_rules("3.10"), xps=EACH_ITS_OWN)
        assert pair.write(2) == 2
        pair.acknowledge()
        # acknowledged, but the completion has not been seen
        assert pair.write(1) == 2
        pair.sim.run_until(MS)
        pair.acknowledge()
        assert pair.write(1) == 1

    def test_an_acknowledgement_goes_the_way_of_its_cpu(self) -> None:
        pair = Pair(xps=EACH_ITS_OWN)
        assert isinstance(pair.socket, TcpSocket)
        pair.socket.send_ack(pair.machine.cpus[3])
        assert pair.port.queues[3].tx_packets == 1


def test_a_frame_of_no_socket_leaves_by_the_first_queue() -> None:
    sim = Simulator()
    port = make_port(sim, make_machine(sim))
    port.transmit(new_skb(Sink(sim), 7, 8, 0, 0, 90, push=False))
    assert [nic.tx_packets for nic in port.queues] == [1, 0, 0, 0]
    port.flush()
    assert [skb.seq for skb in wire(port)] == [7]
