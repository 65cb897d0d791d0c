"""Ports with several queues: what is received where, what leaves when, what a socket sends by."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Skb, new_skb
from simnet.net.nic.multiqueue import MultiqueuePort, XpsMap
from simnet.net.nic.port import Nic
from simnet.net.nic.rss import MICROSOFT_KEY, Rss, Toeplitz
from simnet.net.steering.flow_rules import flow_of
from tests.host.parts import MS, Agenda, make_costs, make_machine, make_memory
from tests.net.nic.queues import connection, make_port
from tests.net.parts import US, Line, Sink, make_tg3, on_wire


def wire(port: MultiqueuePort) -> list[Skb]:
    """Take all frames that have been put on the wire."""
    return on_wire(port.queues[0])


COSTS = {"hardirq": 900, "poll": 300, "driver_rx": 700, "tx_completion": 100}


def waiting(port: MultiqueuePort, queue: int) -> list[Skb]:
    """Frames that have been announced to a queue and have not arrived."""
    skb: Skb | None = port.queues[queue].incoming.head
    found = []
    while skb is not None:
        found.append(skb)
        skb = skb.next
    return found


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
            port.frames_added()

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
            port.frames_added()
        sim.run_until(arrival + 5 * MS)
        port.advance(sim.now)
        seen = (
            sorted(sink.log),
            [nic.line.counts for nic in port.queues],
            [(nic.rx_packets, nic.drops) for nic in port.queues],
            [cpu.times() for cpu in machine.cpus],
        )
        return port, seen


headers = [connection(number) for number in range(0, 200, 3)]
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
        assert [queue.drops for queue in port.queues] == [dropped for _, dropped in counts]

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
        port.frames_added()
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
        port.frames_added()
        sim.run_until(20 * US)
        assert port.drop_in_flight(sim.now) == 13
        sim.run_until(MS)
        assert sorted(seq for _, _, seq in sink.log) == list(range(11))


class TestCounters:
    def test_they_are_the_sums_of_the_queues(self) -> None:
        sim = Simulator()
        port = make_port(
            sim, make_machine(sim, cores_per_socket=4), rx_buffers=2, tx_ring=1, qdisc_limit=1
        )
        for queue, count in enumerate((1, 3, 0, 4)):
            nic = port.queues[queue]
            for number in range(count):
                nic.transmit(new_skb(Sink(sim, f"{queue}.{number}"), 0, 0, 0, 0, 90, push=False))
                skb = new_skb(Sink(sim, f"r{queue}.{number}"), 0, 0, 0, 0, 100, push=False)
                skb.arrival_ps = US
                nic.incoming.append(skb)
        port.advance(US)
        assert (port.tx_packets, port.tx_bytes, port.qdisc_drops) == (0, 0, 1 + 2)
        sim.run_until(2 * US)
        assert (port.tx_packets, port.tx_bytes) == (2, 180)
        sim.run_until(3 * US)
        assert (port.tx_packets, port.tx_bytes) == (3, 270)
        assert (port.rx_packets, port.rx_bytes, port.drops) == (1 + 2 + 2, 500, 1 + 2)
        assert [queue.drops for queue in port.queues] == [0, 1, 0, 2]
        assert port.out_of_order() == ()
        assert port.uncounted_bytes == 24
        assert port.lines == [nic.line for nic in port.queues]
        assert not port.per_frame


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
        for us in range(1, 8):
            sim.run_until(us * US)
            assert (port.tx_packets, port.tx_bytes) == (min(us, 6), 125 * min(us, 6))

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

    def test_a_port_of_200_queues(self) -> None:
        sim = Simulator()
        port, sink = make_port(sim, make_machine(sim), 200, tx_queues=200), Sink(sim)
        for header in headers:
            skb = new_skb(sink, 7, 8, 0, 0, 125, push=False)
            skb.arrival_ps = US
            skb.header = header
            port.incoming.append(skb)
        port.frames_added()
        sim.run_until(MS)
        sorted_to = Counter(port.rss.queue(header) for header in headers)
        assert (min(sorted_to) < 32, max(sorted_to) > 96) == (True, True)
        assert [nic.rx_packets for nic in port.queues] == [sorted_to[n] for n in range(200)]

    @pytest.mark.parametrize(("queues", "tx_queues"), [(0, 1), (4, 5), (4, 0)])
    def test_impossible_numbers_are_refused(self, queues: int, tx_queues: int) -> None:
        sim = Simulator()
        machine = make_machine(sim)
        rss = Rss(Toeplitz(MICROSOFT_KEY), [0])
        nics: list[Nic] = [make_tg3(sim, machine, name=f"eth0-{n}") for n in range(queues)]
        with pytest.raises(ValueError, match=f"{queues} queues, {tx_queues} of them"):
            MultiqueuePort(sim, "host.eth0", "eth0", nics, tx_queues=tx_queues, rss=rss)


class TestXpsMap:
    @pytest.mark.parametrize(
        ("cpu", "word", "queue"),
        [(0, 0, 1), (0, (1 << 31) - 1, 1), (0, 1 << 31, 3), (0, (1 << 32) - 1, 3),
         (1, 0, -1), (1, (1 << 32) - 1, -1), (2, 0, 0), (2, (1 << 32) - 1, 3), (3, 0, -1)],
    )  # fmt: skip
    def test_the_hash_chooses_among_the_queues_of_a_cpu(
        self, cpu: int, word: int, queue: int
    ) -> None:
        assert XpsMap(4, [[2], [0], [2], [0, 2]]).queue(cpu, word) == queue

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


def test_a_frame_of_no_socket_leaves_by_the_first_queue() -> None:
    sim = Simulator()
    port = make_port(sim, make_machine(sim))
    port.transmit(new_skb(Sink(sim), 7, 8, 0, 0, 90, push=False))
    assert [nic.tx.sent for nic in port.queues] == [1, 0, 0, 0]
    port.flush()
    assert [skb.seq for skb in wire(port)] == [7]


def test_the_first_queue_reports_what_no_socket_sent() -> None:
    sim = Simulator()
    machine = make_machine(sim, cores_per_socket=4)
    port = make_port(sim, machine, tx_frames=1)
    port.transmit(new_skb(Sink(sim), 7, 8, 0, 0, 125, push=False))
    port.flush()
    sim.run_until(MS)
    assert [line.counts for line in port.lines] == [[1, 0, 0, 0], *([[0, 0, 0, 0]] * 3)]


def test_a_frame_of_no_socket_uses_the_lines_of_the_first_queue() -> None:
    sim = Simulator()
    machine = make_machine(sim, memory=make_memory(same_bus_dirty_ps=50_000), cores_per_socket=4)
    port = make_port(sim, machine, queue_lines=3)
    first, second = machine.cpus[:2]
    assert port.transmit_cost_ps(first) == 0
    costs = [nic.transmit_cost_ps(second) for nic in port.queues]
    assert costs == [3 * 50_000, 0, 0, 0]


def test_a_frame_goes_by_a_rule_or_else_by_rss() -> None:
    sim = Simulator()
    port = make_port(sim, make_machine(sim, cores_per_socket=4))
    headers = [connection(number) for number in range(0, 200, 3)]
    hashed = [port.rss.queue(header) for header in headers]
    assert len(set(hashed)) > 2
    assert [port.rx_queue(header) for header in headers] == hashed
    rules = port.obey_rules()
    assert port.obey_rules() is rules
    assert [port.rx_queue(header) for header in headers] == hashed
    # queue 0 is one like the others
    for queue in range(4):
        rules.steered.update({flow_of(header): queue for header in headers[::2]})
        told = [port.rx_queue(header) for header in headers]
        assert told == [queue if place % 2 == 0 else to for place, to in enumerate(hashed)]
    assert port.rx_queue(None) == port.rss.queue(None)
