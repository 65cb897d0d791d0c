"""Two guests, their devices and vhost workers: kicks, interrupts, batches, buffers, drops."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.host.fair.rules import fair_rules
from simnet.host.kvm.host_cpu import HostCpu
from simnet.host.softirq.version import softirq_rules
from simnet.kernel.simulator import Simulator
from simnet.net.link.gro import Gro, gro_rules
from simnet.net.link.skb import Header, Skb, Station, new_skb
from simnet.net.virtio.tap import Tap
from simnet.net.virtio.vhost import VhostCosts, VhostWorker
from simnet.net.virtio.virtio_net import VirtioNet
from tests.host.parts import MS, NS, US, make_costs, make_machine
from tests.net.parts import Line, Sink, asserted_ps, make_device

MSS = 1448
# headers, preamble, FCS and gap
OVERHEAD = 66 + 24
KICK = 2 * US
LATENCY = 500 * NS


@dataclass
class Guests:
    """Two guests of one machine each, joined; `sinks` log what each receives."""

    per_frame: int = US
    per_line: int = 10 * NS
    busy_poll: int = 0
    one_cpu: bool = False
    rx: int = 256
    tso: bool = True
    work: int = 0
    tap_limit: int = 1000
    nodes: tuple[int, int] = (0, 0)
    sim: Simulator = field(default_factory=Simulator)
    nics: list[VirtioNet] = field(default_factory=list)
    workers: list[VhostWorker] = field(default_factory=list)
    sinks: list[Sink] = field(default_factory=list)

    def __post_init__(self) -> None:
        costs = VhostCosts(
            tx_frame_ps=self.per_frame,
            rx_frame_ps=self.per_frame,
            buffer_ps=0,
            bridge_ps=100 * NS,
            signal_ps=100 * NS,
            wakeup_ps=0,
            copy_line_ps=self.per_line,
            far_line_ps=5 * NS,
            line_bytes=64,
        )
        taps = (Tap(), Tap())
        cpus = [self._host_cpu(0)] * 2 if self.one_cpu else [self._host_cpu(n) for n in range(2)]
        for number in range(2):
            path, costs_of_guest = f"guest{number}", make_costs(poll=100)
            machine = make_machine(self.sim, path, costs_of_guest, rules=softirq_rules("6.6"))
            sink = Sink(self.sim, f"sink{number}", self.work)
            device = make_device(self.sim, machine, rx_buffers=self.rx, tx_ring=self.rx - 19)
            gro = Gro(gro_rules("6.6"), enabled=True)
            nic = VirtioNet(device, gro, tso=self.tso, ring_size=self.rx)
            nic.line = Line(self.sim, 24, "eth0", machine.cpus, 1)
            worker = VhostWorker(
                cpus[number],
                f"vhost{number}",
                nic,
                *(taps if number == 0 else taps[::-1]),
                costs,
                guest_node=0,
                busy_poll_ps=self.busy_poll,
                tap_limit=self.tap_limit,
            )
            nic.attach(worker, KICK, 0, LATENCY)
            self.nics.append(nic)
            self.workers.append(worker)
            self.sinks.append(sink)

    def _host_cpu(self, number: int) -> HostCpu:
        return HostCpu(
            self.sim,
            f"host.cpu{number}",
            node=self.nodes[number],
            rules=fair_rules("6.6"),
            switch_ps=US,
            idle_states=None,
        )

    def send(self, segments: int, first: int = 0, length: int = MSS) -> int:
        """Have guest 0 send segments as one burst; return what `start_xmit` cost."""
        nic = self.nics[0]
        cost = nic.transmit_cost_ps(nic.line.current_target())
        for number in range(first, first + segments):
            nic.transmit(self.segment(number * length, length))
        nic.flush()
        return cost

    def segment(self, seq: int, length: int) -> Skb:
        """A segment for guest 1."""
        return new_skb(self.sinks[1], seq, seq + length, 0, 0, length + OVERHEAD, push=False)

    def run(self, until: int = 10 * MS) -> list[tuple[int, int, int]]:
        """Simulate; return what guest 1 has received."""
        self.sim.run_until(until)
        return list(self.sinks[1].log)


def test_segments_of_a_burst_cross_as_one_frame_of_64_kib() -> None:
    guests = Guests()
    guests.send(90)
    received = guests.run()
    # 45 segments of 1448 bytes are less than 65536
    assert [seq for _, _, seq in received] == [0, 45 * MSS]
    assert guests.nics[0].tx_packets == guests.workers[0].frames_tx == 2
    assert guests.nics[1].rx_bytes == 2 * (45 * MSS + OVERHEAD)


def test_without_tso_each_segment_is_a_frame_that_the_receiver_merges() -> None:
    guests = Guests(tso=False)
    guests.send(10)
    assert [seq for _, _, seq in guests.run()] == [0]
    assert guests.workers[1].frames_rx == 10
    assert guests.nics[1].gro.merged == 9


def test_a_frame_kicks_once_and_not_while_the_worker_is_at_work() -> None:
    guests = Guests()
    costs = [guests.send(1), guests.send(1, 1)]
    guests.run()
    assert costs == [KICK, 0]
    assert guests.nics[0].kicks == 1
    # it asks for kicks again when it has found nothing more
    assert guests.send(1, 2) == KICK
    assert guests.nics[0].kicks == 2


def test_a_kick_for_what_has_waited_for_the_ring_is_paid_by_the_next_frame() -> None:
    guests = Guests(rx=24, tso=False)
    cost = guests.send(40)
    guests.run()
    assert guests.nics[0].kicks > 1
    cost += guests.send(1, 40)
    assert cost == guests.nics[0].kicks * KICK == guests.nics[0].costs.ledger.hypervisor


def test_what_a_frame_takes_from_kick_to_interrupt() -> None:
    guests = Guests()
    guests.send(1)
    guests.run()
    length = MSS + 66
    copy = -(-length // 64) * 10 * NS
    sent = US + US + copy + 100 * NS + 100 * NS  # switch, frame, copy, bridge, signal of completion
    given = US + US + copy + 100 * NS  # switch, frame, copy, signal
    assert asserted_ps(guests.nics[0]) == [sent + LATENCY]
    assert asserted_ps(guests.nics[1]) == [sent + given + LATENCY]


def test_small_frames_go_to_the_bridge_together() -> None:
    guests = Guests(tso=False)
    guests.send(100)
    guests.sim.run_until(64 * US)
    assert guests.workers[1].tap.count == 0
    assert guests.workers[1].frames_rx == 0
    guests.sim.run_until(100 * US)
    # the batch of 64 has come, its last frames still wait
    assert 0 < guests.workers[1].frames_rx + guests.workers[1].tap.count <= 64
    guests.run()
    assert guests.workers[1].frames_rx == 100


def test_frames_wait_for_buffers_which_the_poll_posts_with_a_kick() -> None:
    # 30 frames of 64 KiB need 43 buffers each, of 1518 bytes at first
    guests = Guests(per_line=0, work=100 * US)
    guests.send(30 * 45)
    received = guests.run()
    assert len(received) == 30
    assert guests.workers[1].starved > 0
    assert guests.nics[1].kicks > 0
    larger = Guests(per_line=0, work=100 * US, rx=1024)
    larger.send(30 * 45)
    larger.run()
    assert larger.workers[1].starved < guests.workers[1].starved


def test_received_frames_are_reported_when_they_have_taken_64_buffers() -> None:
    guests = Guests(per_line=0)
    worker, nic = guests.workers[1], guests.nics[1]
    for number in range(5):
        # 43 buffers each
        frame = guests.segment(number, 45 * MSS)
        frame.segment_bytes = MSS
        worker.enqueue(frame)
    counts = []
    for microseconds in range(1, 8):
        guests.sim.run_until(microseconds * US + 200 * NS)
        counts.append(nic.rx_packets)
    # a switch, then a frame each microsecond; the fifth is the last there is
    assert counts == [0, 0, 2, 2, 4, 4, 5]


@pytest.mark.parametrize(("taken", "left"), [(32, 224), (33, 256)])
def test_the_poll_posts_buffers_when_more_than_half_a_budget_is_missing(
    taken: int, left: int
) -> None:
    guests = Guests(tso=False)
    for number in range(taken):
        guests.workers[1].enqueue(guests.segment(number, 100))
    guests.run()
    small = guests.segment(0, 100)
    assert sum(guests.nics[1].claim(small) for _ in range(300)) == left


def test_sent_frames_interrupt_after_three_quarters_of_those_before_the_last() -> None:
    guests = Guests()
    guests.send(8 * 45)
    guests.run()
    length = 45 * MSS + 66
    each = US + -(-length // 64) * 10 * NS + 100 * NS
    # 7 * 3 / 4 are 5: the sixth
    assert asserted_ps(guests.nics[0])[0] == US + 6 * each + 100 * NS + LATENCY


def test_a_full_tap_drops() -> None:
    guests = Guests(per_line=0, work=MS, tap_limit=5)
    guests.send(30 * 45)
    guests.run(100 * MS)
    worker = guests.workers[1]
    assert worker.drops > 0
    assert worker.frames_rx + worker.drops == guests.workers[0].frames_tx == 30


def test_a_worker_that_polls_busily_needs_no_kick() -> None:
    guests = Guests(busy_poll=50 * US)
    guests.send(1)
    guests.sim.run_until(20 * US)
    assert guests.send(1, 1) == 0
    guests.run()
    assert guests.nics[0].kicks == 1
    assert guests.workers[1].frames_rx == 2
    # it has polled for 50 us after each
    assert guests.workers[0].busy_ps() > 70 * US
    assert guests.send(1, 2) == KICK


@pytest.mark.parametrize("nodes", [(0, 1), (1, 0), (1, 1)])
def test_a_worker_of_another_node_copies_slower(nodes: tuple[int, int]) -> None:
    ends = []
    for where in ((0, 0), nodes):
        guests = Guests(nodes=where)
        guests.send(45)
        ends.append(guests.run()[0][0])
    assert ends[1] > ends[0]


def test_a_flow_comes_by_the_queue_that_its_guest_last_sent_of_it_by() -> None:
    guests = Guests()
    taps = [Tap(), Tap()]
    costs = VhostCosts(**dict.fromkeys(VhostCosts.__slots__, 0))
    workers = [
        VhostWorker(
            guests.workers[0].host,
            f"queue{number}",
            guests.nics[0],
            taps[0],
            taps[1],
            costs,
            guest_node=0,
            busy_poll_ps=0,
            tap_limit=1,
        )
        for number in range(4)
    ]
    ends = Station(1), Station(2)

    def frame(port: int, *, back: bool = False) -> Skb:
        skb = new_skb(guests.sinks[0], 0, 1, 0, 0, 100, push=False)
        addresses = (1, 2, port, 5001) if back else (2, 1, 5001, port)
        skb.header = Header(*ends, *addresses)
        return skb

    unknown = {taps[0].worker(frame(port)).path for port in range(32768, 32800)}
    assert unknown == {worker.path for worker in workers}
    for worker in workers:
        taps[0].learn(frame(40000, back=True), worker)
        assert taps[0].worker(frame(40000)) is worker


@given(
    bursts=st.lists(st.tuples(st.integers(0, 50), st.integers(1, 60)), min_size=1, max_size=12),
    settings=st.fixed_dictionaries(
        {
            "tso": st.booleans(),
            "one_cpu": st.booleans(),
            "busy_poll": st.sampled_from((0, 30 * US)),
            "work": st.sampled_from((0, 20 * US)),
            "tap_limit": st.sampled_from((3, 1000)),
        }
    ),
)
def test_every_byte_comes_once_and_in_order_or_was_dropped(
    bursts: list[tuple[int, int]], settings: dict[str, Any]
) -> None:
    guests = Guests(**settings)
    number = time = 0
    for gap, segments in bursts:
        time += gap * US
        guests.sim.run_until(time)
        guests.send(segments, number)
        number += segments
    received = [seq for _, _, seq in guests.run(time + 100 * MS)]
    sender, receiver = guests.workers
    assert received == sorted(set(received))
    assert sender.frames_tx == receiver.frames_rx + receiver.drops
    if not receiver.drops:
        assert guests.nics[1].rx_bytes == number * MSS + sender.frames_tx * OVERHEAD
    assert guests.nics[1].rx_packets == receiver.frames_rx
    assert guests.nics[0].qdisc.count == guests.nics[0].avail.count == 0
    assert receiver.tap.count == 0


@given(extra=st.integers(0, 40), one_cpu=st.booleans())
def test_a_slower_copy_is_never_faster(extra: int, one_cpu: bool) -> None:  # noqa: FBT001
    ends = []
    for per_line in (5 * NS, (5 + extra) * NS):
        guests = Guests(per_line=per_line, one_cpu=one_cpu)
        guests.send(10 * 45)
        ends.append(guests.run(50 * MS)[-1][0])
    assert ends[0] <= ends[1]
