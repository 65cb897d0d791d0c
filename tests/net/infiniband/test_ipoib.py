"""An IPoIB interface: completions, arming, rings; and what its packets cost and weigh."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.host.machine import Machine
from simnet.kernel.random import stream
from simnet.kernel.simulator import Simulator
from simnet.net.infiniband.ipoib import FLUSHED, Ipoib
from simnet.net.infiniband.reorder_window import MessageNumbers, ReorderWindow
from simnet.net.link.skb import Skb, new_skb
from tests.host.parts import MS, Agenda, make_costs, make_machine
from tests.net.parts import (
    US,
    Line,
    Sink,
    connect,
    frame,
    make_device,
    make_socket,
    on_wire,
    segment,
)

# a packet of 1 us at 1 Gbit/s whose InfiniBand headers are a quarter of a microsecond
SIZE = 99
WAKES_AT = 4


def connected(**options: Any) -> dict[str, Any]:
    """Settings of an interface in connected mode that interrupts at once and loses nothing."""
    usual: dict[str, Any] = {
        "connected": True,
        "ib_mtu": 4096,
        "rx_usecs_ps": 0,
        "rx_frames": 0,
        "acknowledged_ps": 0,
        "page_bytes": 4096,
        "jiffy_ps": MS,
        "loss_ppm": 0,
        "luck": stream(1, "loss"),
    }
    return usual | options


def make(sim: Simulator, machine: Machine, **options: Any) -> Ipoib:
    """A connected interface with buffers for 256 packets."""
    settings = connected(**options)
    device = make_device(
        sim,
        machine,
        "ib0",
        weight=settings.pop("weight", 64),
        rx_buffers=settings.pop("rx_buffers", 256),
        tx_ring=settings.pop("tx_ring", 128),
        qdisc_limit=settings.pop("qdisc_limit", 256),
    )
    nic = Ipoib(device, **settings)
    nic.line = Line(sim, 40, "ib0", machine.cpus, 1)
    connect(nic)
    return nic


class Bed:
    """A node with an interface."""

    def __init__(self, costs: dict[str, int] | None = None, **options: Any) -> None:
        self.sim = Simulator()
        self.machine = make_machine(self.sim, costs=make_costs(**(costs or {})), tick_ps=MS)
        self.nic = make(self.sim, self.machine, **options)
        self.sink = Sink(self.sim)
        self.agenda = Agenda(self.sim)

    def arrive(self, times_us: list[int], size: int = 300) -> None:
        """Have packets, numbered from 0, arrive at these times."""
        for seq, at in enumerate(times_us):
            self.nic.incoming.append(frame(self.sink, seq, at * US, size))
        self.nic.frames_added()

    def send(self, count: int, size: int = SIZE) -> None:
        """Send packets back to back."""
        for _ in range(count):
            skb = new_skb(self.sink, 0, 0, 0, 0, size, push=False)
            skb.toucher = self.machine.cpus[0]
            self.nic.transmit(skb)
        self.nic.flush()

    def run(self, until_us: int = 5000) -> None:
        self.sim.run_until(until_us * US)

    @property
    def interrupts_us(self) -> list[int]:
        line = self.nic.line
        assert isinstance(line, Line)
        return [at // US for at in line.asserted_ps]

    @property
    def polls(self) -> int:
        softirqs: Any = self.machine.cpus[0].softirqs
        return int(softirqs.polls)

    @property
    def received(self) -> list[tuple[int, int]]:
        return [(at // US, seq) for at, _, seq in self.sink.log]


def test_a_completion_interrupts_once_until_the_queue_is_armed_again() -> None:
    bed = Bed({"driver_rx": 10_000})
    bed.arrive([10, 11, 12, 13, 14, 100])
    bed.run()
    assert bed.interrupts_us == [10, 100]
    assert bed.received == [(20, 0), (30, 1), (40, 2), (50, 3), (60, 4), (110, 5)]


def test_what_comes_between_the_last_look_and_arming_is_polled_without_an_interrupt() -> None:
    bed = Bed({"driver_rx": 10_000, "tcp_rx": 0})
    # the sink's work follows the packet, so that the second comes after the queue was found empty
    bed.sink.work_ps = 5 * US
    bed.arrive([10, 22])
    bed.run()
    assert bed.interrupts_us == [10]
    assert bed.nic.missed_events == 1
    assert bed.received == [(20, 0), (35, 1)]


def test_a_poll_ends_at_its_weight_without_arming() -> None:
    bed = Bed({"driver_rx": 10_000, "poll": 1_000}, weight=3)
    bed.arrive([10] * 7)
    bed.run()
    assert [at for at, _ in bed.received] == [21, 31, 41, 52, 62, 72, 83]
    assert bed.nic.rearms == 1
    assert bed.polls == 3


def test_a_poll_takes_its_whole_weight_whatever_is_left_of_the_budget() -> None:
    sim = Simulator()
    machine = make_machine(sim, costs=make_costs(driver_rx=1_000), netdev_budget=5)
    nic = make(sim, machine, weight=4)
    sink = Sink(sim)
    for seq in range(8):
        nic.incoming.append(frame(sink, seq, US, 300))
    nic.frames_added()
    sim.run_until(MS)
    softirq: Any = machine.cpus[0].softirqs
    assert (softirq.polls, softirq.rounds, softirq.time_squeezes) == (3, 2, 1)


def test_sends_of_a_connection_interrupt_and_do_not_count_for_the_weight() -> None:
    bed = Bed({"tx_completion": 1_000, "driver_rx": 1_000}, weight=1)
    bed.send(3)
    bed.arrive([1])
    bed.run()
    # 125 bytes with the headers: sends complete after 1, 2 and 3 us, all in the second poll
    assert bed.interrupts_us == [1]
    assert bed.polls == 2
    assert (bed.nic.tx.sent, bed.nic.rx_packets) == (3, 1)
    assert bed.machine.costs.ledger.completion == 3 * US


def test_a_send_completes_when_the_far_adapter_has_acknowledged_it() -> None:
    bed = Bed(acknowledged_ps=7 * US)
    bed.send(1)
    bed.run()
    assert bed.interrupts_us == [8]


def test_datagrams_are_reclaimed_by_the_sender_beyond_16_and_never_interrupt() -> None:
    bed = Bed({"tx_completion": 1_000}, connected=False)
    cpu = bed.machine.cpus[0]
    bed.send(17)
    bed.run()
    assert bed.interrupts_us == []
    assert bed.machine.costs.ledger.completion == 0
    assert bed.nic.transmit_cost_ps(cpu) == 17 * US
    assert bed.machine.costs.ledger.completion == 17 * US


@pytest.mark.parametrize("connected", [True, False])
def test_a_full_send_queue_stops_and_starts_again_when_half_is_free(*, connected: bool) -> None:
    bed = Bed({"driver_rx": 1_000}, connected=connected, tx_ring=2 * WAKES_AT)
    bed.send(3 * WAKES_AT)
    before = (bed.nic.stopped, bed.nic.tx.sent, bed.nic.qdisc.count)
    assert before == (True, 2 * WAKES_AT, WAKES_AT)
    bed.run()
    assert (bed.nic.stopped, bed.nic.qdisc.count) == (False, 0)
    assert (bed.nic.tx.sent, bed.nic.qdisc_drops) == (3 * WAKES_AT, 0)


def test_a_datagram_queue_that_is_full_is_drained_at_the_next_jiffy() -> None:
    bed = Bed(connected=False, tx_ring=4)
    bed.send(6)
    bed.run(999)
    assert bed.nic.tx.sent == 4
    bed.run(1001)
    assert bed.nic.tx.sent == 6


def test_what_the_queue_discipline_cannot_hold_is_dropped() -> None:
    bed = Bed(tx_ring=4, qdisc_limit=3)
    bed.send(10)
    assert (bed.nic.tx.sent, bed.nic.qdisc.count, bed.nic.qdisc_drops) == (4, 3, 3)


@pytest.mark.parametrize(
    ("connected", "size", "wire"),
    [(True, 60, 86), (True, 4096, 4122), (True, 4097, 4149), (True, 65524, 65940),
     (False, 60, 94), (False, 4096, 4130)],
)  # fmt: skip
def test_a_message_carries_the_headers_of_its_packets(
    *, connected: bool, size: int, wire: int
) -> None:
    bed = Bed(connected=connected)
    bed.send(1, size)
    sent = on_wire(bed.nic)[0]
    assert sent.wire_bytes == wire
    assert bed.nic.tx.sent_bytes == size
    far = Bed(connected=connected)
    sent.endpoint = far.sink
    far.nic.incoming.append(sent)
    far.nic.frames_added()
    far.run()
    assert far.nic.rx_bytes == size


@pytest.mark.parametrize(
    ("usecs", "frames", "expected"), [(0, 0, [10]), (30, 0, [40]), (30, 3, [25]), (30, 9, [40])]
)
def test_interrupts_wait_for_so_many_completions_or_so_long(
    usecs: int, frames: int, expected: list[int]
) -> None:
    bed = Bed({"driver_rx": 100_000}, rx_usecs_ps=usecs * US, rx_frames=frames)
    bed.arrive([10, 20, 25, 33])
    bed.run()
    assert bed.interrupts_us == expected


def test_a_packet_of_a_connection_takes_pages_unless_it_is_copied() -> None:
    bed = Bed({"driver_rx": 1_000, "rx_page": 2_000})
    bed.arrive([10], size=256 + 26)
    bed.arrive([100], size=9000)
    bed.run()
    assert [at for at, _ in bed.received] == [11, 107]


def test_without_a_posted_buffer_a_packet_is_lost() -> None:
    bed = Bed({"driver_rx": 50_000}, rx_buffers=2)
    bed.arrive([10, 11, 12, 13, 200])
    bed.run()
    assert [seq for _, seq in bed.received] == [0, 1, 4]
    assert bed.nic.drops == 2


def test_the_driver_drops_as_many_packets_as_asked_for_and_numbers_them() -> None:
    bed = Bed(loss_ppm=100_000, tx_ring=4096)
    bed.nic.numbers = MessageNumbers()
    bed.send(2000)
    sent = [skb.msg_id for skb in on_wire(bed.nic)]
    assert bed.nic.lost == 2000 - len(sent)
    assert 150 < bed.nic.lost < 250
    assert sent == sorted(set(sent))
    assert bed.nic.numbers.count == 2000


def _numbered(bed: Bed, ids: list[int]) -> None:
    for place, number in enumerate(ids):
        skb: Skb = frame(bed.sink, number, (10 + place) * US, 300)
        skb.msg_id = number
        bed.nic.incoming.append(skb)
    bed.nic.frames_added()


def test_a_reorder_window_hands_up_in_order() -> None:
    bed = Bed({"driver_rx": 1_000})
    bed.nic.window = ReorderWindow(bed.sim, "window", 4, owner=bed.nic, kind=FLUSHED)
    _numbered(bed, [0, 2, 3, 1, 4])
    bed.run()
    assert [seq for _, seq in bed.received] == [0, 1, 2, 3, 4]


def test_a_flush_timer_hands_up_what_waits_for_a_lost_packet() -> None:
    bed = Bed()
    bed.nic.window = ReorderWindow(
        bed.sim, "window", 4, flush_timeout_ps=100 * US, owner=bed.nic, kind=FLUSHED
    )
    _numbered(bed, [0, 2, 3])
    bed.run()
    assert bed.received == [(10, 0), (111, 2), (111, 3)]


@given(
    gaps=st.lists(st.sampled_from([0, 1, 3, 40]), max_size=40),
    bursts=st.lists(st.tuples(st.integers(1, 300), st.integers(1, 12)), max_size=6),
    weight=st.integers(1, 8),
    buffers=st.integers(1, 8),
    usecs=st.sampled_from([0, 0, 17]),
    connected=st.booleans(),
    window=st.sampled_from([0, 3]),
)
def test_every_packet_is_received_once_or_dropped_and_every_send_reclaimed(
    *,
    gaps: list[int],
    bursts: list[tuple[int, int]],
    weight: int,
    buffers: int,
    usecs: int,
    connected: bool,
    window: int,
) -> None:
    bed = Bed(
        {"driver_rx": 2_000, "hardirq": 1_000, "tx_completion": 500, "poll": 300},
        weight=weight,
        rx_buffers=buffers,
        rx_usecs_ps=usecs * US,
        connected=connected,
        tx_ring=8,
    )
    if window:
        bed.nic.window = ReorderWindow(bed.sim, "window", window)
    times = [10 + sum(gaps[:place]) for place in range(len(gaps))]
    _numbered(bed, [])
    for number, at in enumerate(times):
        skb = frame(bed.sink, number, at * US, 300)
        skb.msg_id = number
        bed.nic.incoming.append(skb)
    bed.nic.frames_added()
    for at, count in bursts:
        bed.agenda.at(at * US, bed.send, count)
    bed.run(20_000)
    got = [seq for _, seq in bed.received]
    held = bed.nic.window.held if window else 0
    assert len(set(got)) == len(got)
    assert len(got) + bed.nic.drops + held == len(times)
    assert window or got == sorted(got)
    assert bed.nic.tx.sent + bed.nic.qdisc_drops == sum(count for _, count in bursts)
    assert bed.nic.qdisc.count == 0
    assert len(bed.interrupts_us) <= bed.nic.rx_packets + bed.nic.tx.sent


@pytest.mark.parametrize(("by_cpu", "expected"), [(False, 0), (True, 8 * 7_000)])
def test_the_cpu_verifies_a_payload_where_the_device_does_not(
    *, by_cpu: bool, expected: int
) -> None:
    sim = Simulator()
    machine = make_machine(sim, costs=make_costs(csum_line=7))
    nic = make(sim, machine)
    socket = make_socket(sim, machine, nic, checksum_by_cpu=by_cpu)
    cpu = machine.cpus[0]
    assert socket.process_cost_ps(segment(socket, 0, 1000), cpu, copying=False) == expected
    assert socket.tx_costs.copy_ps(cpu, 1000) == expected
    assert machine.costs.ledger.checksum == 2 * expected


def test_a_look_at_the_queue_in_between_announces_nothing_early() -> None:
    bed = Bed({"driver_rx": 1_000}, rx_usecs_ps=20 * US, rx_frames=3)
    bed.arrive([10, 12, 100, 102, 104])
    bed.agenda.at(15 * US, bed.nic.advance, 15 * US)
    bed.run()
    # the time is over after two; the count begins anew and is reached by three
    assert bed.interrupts_us == [30, 104]


def test_completions_are_counted_anew_after_the_queue_was_armed() -> None:
    bed = Bed({"driver_rx": 1_000}, rx_usecs_ps=20 * US, rx_frames=2)
    bed.arrive([10, 12, 100, 102])
    bed.run()
    assert bed.interrupts_us == [12, 102]


@pytest.mark.parametrize("more", [0, 1])
def test_as_many_packets_of_a_million_are_lost_as_said(more: int) -> None:
    drawn = stream(1, "loss").below(10**6)
    bed = Bed(loss_ppm=drawn + more)
    bed.send(1)
    assert (bed.nic.lost, bed.nic.tx.sent) == (more, 1 - more)
