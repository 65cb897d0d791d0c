"""A port of a hypervisor's LAN: what it does is in the books; signals, steering, buffers."""

from typing import Any

import pytest

from simnet.host.cpu import Cpu
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Skb, new_skb
from simnet.net.steering.steering import Steering
from simnet.net.virtual_lan.ibmveth import HypervisorCalls, Ibmveth
from tests.host.parts import MS, NS, US, Agenda, make_costs, make_machine, make_memory
from tests.net.parts import Line, Sink, asserted_ps, make_device

BUFFERS = (4, 3, 2, 2, 2)
COSTS = {
    "hardirq": 2000,
    "softirq_entry": 40,
    "poll": 500,
    "driver_rx": 300,
    "ip_rx": 200,
    "skb_alloc": 60,
}
CALLS = {
    "call_cycles": 100,
    "interrupt_calls": 2,
    "send_cycles": 1000,
    "copy_line_cycles": 10,
    "add_buffer_cycles": 40,
    "map_cycles": 7,
    "signal_cycles": 30,
    "latency_ps": 1500 * NS,
}
SIGNAL, UNMAP, ADD = 130, 107, 140 + 107
HANDLER = 2000 + 2 * 100 + SIGNAL
FRAME = 300 + 200 + UNMAP
DIRTY = 410


class Steer(Steering):
    """Takes packets at a price."""

    def __init__(self) -> None:
        self.got: list[tuple[int, int]] = []

    def deliver(self, skb: Skb, cpu: Cpu) -> int:
        self.got.append((skb.seq, cpu.cpu_id))
        return 700 * NS


class Pair:
    """A port that sends and one that receives, the second on a machine of two CPUs."""

    def __init__(self, *, mtu: int = 1500, **options: Any) -> None:
        self.sim = Simulator()
        self.machine = make_machine(
            self.sim,
            "receiver",
            make_costs(**COSTS),
            make_memory(same_bus_dirty_ps=DIRTY * NS),
            cores_per_socket=2,
        )
        ports = []
        for name, machine in (("sender", make_machine(self.sim, "sender")),
                              ("receiver", self.machine)):  # fmt: skip
            device = make_device(self.sim, machine, **options)
            port = Ibmveth(device, buffers_by_pool=BUFFERS, mtu=mtu)
            port.line = Line(self.sim, 40, f"{name}.eth0", machine.cpus, 1)
            ports.append(port)
        self.near, self.far = ports
        calls = HypervisorCalls(clock_hz=10**9, **CALLS)
        self.near.attach(self.far, calls)
        self.far.attach(self.near, calls)
        self.sink = Sink(self.sim)
        self.agenda = Agenda(self.sim)

    def send(self, number: int, length: int = 1514) -> None:
        skb = new_skb(self.sink, number, number + 1, 0, 0, length + 24, push=False)
        self.near.transmit(skb)
        self.near.flush()

    def polls(self) -> int:
        softirqs: Any = self.machine.cpus[0].softirqs
        return int(softirqs.polls)

    def booked(self) -> dict[str, int]:
        """What is in the receiver's books, in ns; it is what its CPUs have done."""
        work = {n: ps // 1000 for n, ps in self.machine.costs.ledger.work().items() if ps}
        times = [cpu.times() for cpu in self.machine.cpus]
        assert sum(each["irq_ps"] + each["softirq_ps"] for each in times) == (
            sum(work.values()) * 1000
        )
        return work

    def booked_ps(self, mechanism: str) -> int:
        """Work of one mechanism."""
        return self.machine.costs.ledger.work()[mechanism]


class TestReceive:
    def test_at_first_nothing_has_happened(self) -> None:
        port = Pair().far
        assert port.copies
        assert port.buffers_queued() == BUFFERS[:2]
        assert (port.rx_packets, port.rx_bytes, port.tx_packets, port.tx_bytes) == (0, 0, 0, 0)
        assert (port.drops, port.qdisc_drops) == (0, 0)

    def test_one_frame(self) -> None:
        pair = Pair()
        pair.agenda.at(10 * US, pair.send, 0)
        pair.sim.run_until(MS)
        assert asserted_ps(pair.far) == [10 * US + 1500 * NS]
        done = 10_000 + 1500 + HANDLER + 540 + FRAME
        assert [at for at, *_ in pair.sink.log] == [done * NS]
        assert pair.booked() == {
            "hardirq": 2000,
            "softirq": 540,
            "driver": 300 + 200 + 60,
            "hypervisor": 2 * 100 + SIGNAL + UNMAP + ADD + SIGNAL,
        }

    def test_what_the_stack_does_is_part_of_the_next_piece(self) -> None:
        pair = Pair()
        pair.sink.work_ps = 700 * NS
        for number in range(2):
            pair.send(number)
        pair.sim.run_until(MS)
        first = 1500 + HANDLER + 540 + FRAME
        assert [at for at, *_ in pair.sink.log] == [first * NS, (first + 700 + FRAME) * NS]
        total = HANDLER + 540 + 2 * (FRAME + 700 + 60 + ADD) + SIGNAL
        times = pair.machine.cpus[0].times()
        assert times["irq_ps"] + times["softirq_ps"] == total * NS

    def test_a_steered_packet_pays_ip_elsewhere(self) -> None:
        pair = Pair()
        steer = pair.far.steering = Steer()
        for number in range(2):
            pair.send(number)
        pair.sim.run_until(MS)
        assert (steer.got, pair.sink.log) == ([(0, 0), (1, 0)], [])
        times = pair.machine.cpus[0].times()
        frames = 2 * (FRAME - 200 + 700 + 60 + ADD)
        assert times["irq_ps"] + times["softirq_ps"] == (HANDLER + 540 + frames + SIGNAL) * NS

    @pytest.mark.parametrize("freer", [None, 0, 1])
    def test_buffers_come_from_who_freed_them(self, freer: int | None) -> None:
        pair = Pair(skb_lines=3)
        if freer is not None:
            pair.sink.freer = pair.machine.cpus[freer]
        for number in range(2):
            pair.send(number)
        pair.sim.run_until(MS)
        assert pair.booked().get("skb_lines", 0) == (2 * 3 * DIRTY if freer == 1 else 0)

    def test_frames_that_come_while_interrupts_are_enabled_again_are_polled(self) -> None:
        pair = Pair()
        # the first poll's frame, its buffer; then H_VIO_SIGNAL
        signal = 1500 + HANDLER + 540 + FRAME + 60 + ADD
        pair.send(0)
        pair.agenda.at((signal + 1) * NS, pair.send, 1)
        # disabled again, by another call, and a frame comes while the second is worked on
        pair.agenda.at((signal + 2 * SIGNAL + 1) * NS, pair.send, 2)
        pair.sim.run_until(MS)
        assert [at // NS for at, *_ in pair.sink.log] == [
            signal - 60 - ADD,
            signal + 2 * SIGNAL + FRAME,
            signal + 2 * SIGNAL + 2 * FRAME,
        ]
        assert asserted_ps(pair.far) == [1500 * NS]
        work = pair.booked()
        assert work["hypervisor"] == 2 * 100 + SIGNAL + 3 * (UNMAP + ADD) + 3 * SIGNAL
        assert (work["softirq"], pair.polls()) == (540, 1)

    @pytest.mark.parametrize(
        ("weight", "frames", "polls"), [(2, 3, 2), (2, 2, 2), (3, 2, 1), (3, 3, 2), (4, 3, 1)]
    )
    def test_a_poll_of_its_whole_weight_is_not_the_last(
        self, weight: int, frames: int, polls: int
    ) -> None:
        pair = Pair(weight=weight)
        for number in range(frames):
            pair.send(number)
        pair.sim.run_until(MS)
        assert (pair.polls(), len(pair.sink.log)) == (polls, frames)
        assert pair.booked()["softirq"] == 40 + polls * 500
        assert len(asserted_ps(pair.far)) == 1


class TestBuffers:
    def test_each_goes_back_to_the_pool_that_it_is_of(self) -> None:
        pair = Pair(mtu=9000)
        assert pair.far.buffers_queued() == BUFFERS[:3]
        sent = 0
        for round_us, lengths, left in (
            (0, (60, 1514, 9014), (3, 2, 1)),
            (100, (1514, 1514, 60, 9014), (3, 1, 1)),
            (200, (60, 60, 60, 60, 60), (0, 2, 2)),
            (300, (1514,) * 4, (4, 0, 1)),
            # no buffer but of the last pool: two fit
            (400, (9014, 9014, 9014), (4, 3, 0)),
        ):
            pair.sim.run_until(round_us * US)
            assert pair.far.buffers_queued() == BUFFERS[:3]
            for length in lengths:
                pair.send(sent, length)
                sent += 1
            assert pair.far.buffers_queued() == left
        pair.sim.run_until(MS)
        assert pair.far.buffers_queued() == BUFFERS[:3]
        assert (pair.near.tx_packets, pair.far.rx_packets, pair.far.drops) == (sent, sent - 1, 1)
        assert len(pair.sink.log) == sent - 1

    def test_what_is_taken_is_missing_until_the_poll_has_filled_up(self) -> None:
        pair = Pair()
        for number in range(3):
            pair.send(number)
        pair.send(3)
        assert (pair.far.drops, pair.far.buffers_queued()) == (1, (4, 0))
        filled = 1500 + HANDLER + 540 + 3 * FRAME + 3 * (60 + ADD)
        pair.sim.run_until(filled * NS - 1)
        assert pair.far.buffers_queued() == (4, 0)
        pair.sim.run_until(filled * NS)
        assert pair.far.buffers_queued() == (4, 3)


class TestSend:
    @pytest.mark.parametrize(
        ("length", "lines", "pages"),
        [(1, 1, 0), (128, 1, 0), (129, 2, 0), (1514, 12, 0), (4095, 32, 0), (4096, 32, 1),
         (8191, 64, 1), (8192, 64, 2)],
    )  # fmt: skip
    def test_a_frame_is_copied_line_by_line_and_mapped_page_by_page(
        self, length: int, lines: int, pages: int
    ) -> None:
        pair = Pair()
        work = (lines * 10 + 2 * pages * 7) * NS
        assert pair.far.length_cost_ps(pair.machine.cpus[0], length + 24) == work
        assert pair.booked_ps("hypervisor") == work

    def test_the_queues_lines_travel_with_the_sender(self) -> None:
        pair = Pair(queue_lines=5)
        cpus = pair.machine.cpus
        call = (1100 + 2 * UNMAP) * NS
        costs = [pair.far.transmit_cost_ps(cpus[number]) for number in (0, 0, 1, 1)]
        assert costs == [call, call, call + 5 * DIRTY * NS, call]
        assert pair.booked_ps("hypervisor") == 4 * call
        assert pair.booked_ps("socket_lines") == 5 * DIRTY * NS
