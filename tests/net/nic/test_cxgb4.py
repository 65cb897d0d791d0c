"""Chelsio T5: interrupt holdoff, receive offload, reclaiming by transmission."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.host.cpu import Cpu
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Endpoint, Skb, new_skb
from simnet.net.nic.cxgb4 import Cxgb4
from tests.host.parts import MS, NS, US, make_costs, make_machine
from tests.net.parts import Line, Sink, connect, frame, make_device

SEGMENT = 1448
COSTS = {"hardirq": 500, "poll": 100, "driver_rx": 200, "skb_alloc": 50, "ip_rx": 150}


class Log(Endpoint):
    """Logs (time, first byte, last plus one, PSH) of what is handed up."""

    def __init__(self, sim: Simulator, path: str = "log") -> None:
        super().__init__(sim, path)
        self.log: list[tuple[int, int, int, bool]] = []

    def receive(self, skb: Skb, cpu: Cpu) -> int:  # noqa: ARG002 - the interface of endpoints
        self.log.append((self.sim.now, skb.seq, skb.end_seq, skb.push))
        return 0

    @property
    def ranges(self) -> list[tuple[int, int]]:
        return [(first // SEGMENT, last // SEGMENT) for _, first, last, _ in self.log]


class Bench:
    """A machine with one port."""

    def __init__(
        self,
        *,
        holdoff_ps: int = 5 * US,
        frames: int = 8,
        gro: bool = True,
        weight: int = 64,
        rx_buffers: int = 1023,
        tx_ring: int = 1023,
        tso: bool = False,
        per_frame: bool = False,
    ) -> None:
        self.sim = Simulator()
        self.machine = make_machine(
            self.sim, "host", make_costs(**COSTS, tx_completion=70), None, cores_per_socket=2
        )
        device = make_device(
            self.sim,
            self.machine,
            rate_bps=10**10,
            weight=weight,
            rx_buffers=rx_buffers,
            tx_ring=tx_ring,
        )
        self.nic = Cxgb4(
            device,
            holdoff_ps=holdoff_ps,
            frames=frames,
            gro=gro,
            tso=tso,
        )
        self.nic.per_frame = per_frame
        self.line = Line(self.sim, 50, "eth0", self.machine.cpus, 1)
        self.nic.line = self.line
        connect(self.nic, per_frame=False)
        self.log = Log(self.sim)

    def segment(self, number: int, log: Log | None = None, **options: Any) -> Skb:
        length = options.pop("length", SEGMENT)
        return new_skb(
            log or self.log,
            number * SEGMENT,
            number * SEGMENT + length,
            options.pop("ack", 0),
            0,
            length + 90,
            push=options.pop("push", False),
        )

    def feed(self, *arrivals: tuple[int, Skb]) -> None:
        """Announce frames that will arrive at the given times."""
        for time_ps, skb in arrivals:
            skb.arrival_ps = time_ps
            self.nic.incoming.append(skb)
            self.nic.frames_coming()
        self.sim.run_until(arrivals[-1][0] + 10 * MS if arrivals else 0)


class TestHoldoff:
    def test_a_lone_frame_waits_for_the_timer(self) -> None:
        bench = Bench()
        bench.feed((100 * US, bench.segment(0)))
        assert bench.line.asserted_ps == [105 * US]

    def test_the_timer_runs_from_the_first_frame(self) -> None:
        bench = Bench()
        bench.feed(*((100 * US + n * 2 * US, bench.segment(n)) for n in range(3)))
        assert bench.line.asserted_ps[0] == 105 * US

    def test_a_count_of_frames_ends_it(self) -> None:
        bench = Bench(frames=3)
        # the chip has no 3: it counts to 4
        bench.feed(*((100 * US + n * US, bench.segment(n)) for n in range(4)))
        assert bench.line.asserted_ps == [103 * US]

    def test_without_a_timer_only_the_count_interrupts(self) -> None:
        bench = Bench(holdoff_ps=0, frames=4)
        bench.feed(*((100 * US + n * 50 * US, bench.segment(n)) for n in range(3)))
        assert bench.line.asserted_ps == []
        bench.feed((50 * MS, bench.segment(3)))
        assert bench.line.asserted_ps == [50 * MS]

    @pytest.mark.parametrize(
        ("asked_us", "timer_us"), [(1, 5), (7, 5), (8, 10), (40, 50), (1000, 200)]
    )
    def test_the_nearest_of_the_chips_timers_is_taken(self, asked_us: int, timer_us: int) -> None:
        assert Bench(holdoff_ps=asked_us * US).nic.holdoff_ps == timer_us * US

    def test_without_holdoff_every_frame_interrupts(self) -> None:
        bench = Bench(holdoff_ps=0, frames=0)
        bench.feed(*((100 * US + n * 50 * US, bench.segment(n)) for n in range(3)))
        assert bench.line.asserted_ps == [100 * US, 150 * US, 200 * US]

    def test_frames_that_come_while_it_is_masked_wait_for_a_timer_from_arming(self) -> None:
        bench = Bench(gro=False)
        # the poll takes the first at 105.0 + 0.5 + 0.1 + 0.2 us, and goes on to what its stack
        # causes; a frame that comes during the last piece is left to the next interrupt
        bench.feed((100 * US, bench.segment(0)), (105 * US + 900 * NS, bench.segment(1)))
        (first, second) = bench.line.asserted_ps
        assert first == 105 * US
        assert second == pytest.approx(111 * US, abs=100 * NS)

    def test_no_frame_is_left_without_an_interrupt(self) -> None:
        bench = Bench(weight=4)
        bench.feed(*((100 * US + n * NS, bench.segment(n)) for n in range(40)))
        assert bench.log.ranges[-1][1] == 40


class TestGro:
    def burst(self, bench: Bench, *skbs: Skb) -> None:
        bench.feed(*((100 * US + n * NS, skb) for n, skb in enumerate(skbs)))

    def test_a_poll_hands_up_one_large_segment(self) -> None:
        bench = Bench(frames=0)
        self.burst(bench, *(bench.segment(n) for n in range(20)))
        assert bench.log.ranges == [(0, 20)]
        assert bench.nic.merged == 19
        # handed up when every frame has cost its driver's work
        assert bench.log.log[0][0] == (105 * US + (500 + 100 + 20 * 200) * NS)

    def test_without_it_each_goes_alone(self) -> None:
        bench = Bench(gro=False)
        self.burst(bench, *(bench.segment(n) for n in range(20)))
        assert bench.log.ranges == [(n, n + 1) for n in range(20)]

    def test_push_ends_it(self) -> None:
        bench = Bench()
        self.burst(bench, *(bench.segment(n, push=n == 2) for n in range(5)))
        assert bench.log.ranges == [(0, 3), (3, 5)]
        assert [push for *_, push in bench.log.log] == [True, False]

    def test_a_hole_ends_it(self) -> None:
        bench = Bench()
        self.burst(bench, *(bench.segment(n) for n in (0, 1, 3, 4)))
        assert bench.log.ranges == [(0, 2), (3, 5)]

    def test_a_shorter_segment_is_the_last(self) -> None:
        bench = Bench()
        after = SEGMENT + 100
        last = new_skb(bench.log, after, after + SEGMENT, 0, 0, 1538, push=False)
        self.burst(bench, bench.segment(0), bench.segment(1, length=100), last)
        assert [(first, last) for _, first, last, _ in bench.log.log] == [
            (0, after),
            (after, after + SEGMENT),
        ]

    def test_another_acknowledgement_ends_it(self) -> None:
        bench = Bench()
        self.burst(bench, *(bench.segment(n, ack=1 + n // 2) for n in range(4)))
        assert bench.log.ranges == [(0, 2), (2, 4)]

    def test_it_ends_before_64_kib(self) -> None:
        bench = Bench()
        self.burst(bench, *(bench.segment(n) for n in range(60)))
        assert bench.log.ranges == [(0, 45), (45, 60)]

    def test_a_pure_ack_is_not_held_back(self) -> None:
        bench = Bench()
        sink = Sink(bench.sim)
        ack = new_skb(sink, 0, 0, 5, 0, 90, push=False)
        self.burst(bench, bench.segment(0), ack, bench.segment(1))
        assert bench.log.ranges == [(0, 2)]
        assert len(sink.log) == 1
        assert sink.log[0][0] < bench.log.log[0][0]

    def test_eight_connections_are_held(self) -> None:
        bench = Bench()
        logs = [Log(bench.sim, f"log{n}") for n in range(9)]
        self.burst(bench, *(bench.segment(n, log) for n in range(2) for log in logs))
        assert [log.ranges for log in logs] == [[(0, 2)]] * 8 + [[(0, 1), (1, 2)]]


class TestTransmit:
    def test_transmission_reclaims_what_was_sent(self) -> None:
        bench = Bench()
        cpu = bench.machine.cpus[0]
        sink = Sink(bench.sim)
        for _ in range(20):
            bench.nic.transmit(frame(sink))
        bench.nic.flush()
        bench.sim.run_until(MS)
        assert bench.line.asserted_ps == []
        assert [bench.nic.transmit_cost_ps(cpu) for _ in range(3)] == [
            16 * 70 * NS,
            4 * 70 * NS,
            0,
        ]

    def test_what_the_chip_cut_is_reclaimed_as_one(self) -> None:
        bench = Bench(tso=True)
        cpu = bench.machine.cpus[0]
        # 45 segments fit into 64 KiB; a flush begins another
        for burst in (range(50), range(50, 60)):
            for number in burst:
                bench.nic.transmit(bench.segment(number))
            bench.nic.flush()
        bench.sim.run_until(MS)
        assert bench.nic.transmit_cost_ps(cpu) == 3 * 70 * NS
        assert bench.nic.transmit_cost_ps(cpu) == 0

    def test_a_full_ring_reports_that_it_has_drained(self) -> None:
        bench = Bench(tx_ring=16)
        sink = Sink(bench.sim)
        for _ in range(40):
            bench.nic.transmit(frame(sink))
        bench.nic.flush()
        assert bench.nic.qdisc.count == 24
        bench.sim.run_until(10 * MS)
        assert bench.nic.tx_packets == 40
        assert len(bench.line.asserted_ps) == 2


FRAMES = st.lists(
    st.tuples(
        st.integers(0, 3000),  # ns after the one before
        st.integers(0, 9),  # connection
        st.sampled_from([0, 0, 0, 0, 1, 2]),  # hole, push
        st.sampled_from([0, 700, SEGMENT, SEGMENT, SEGMENT]),
    ),
    max_size=60,
)


@given(FRAMES, st.sampled_from([4, 64]), st.sampled_from([6, 1023]))
def test_taking_frames_together_changes_nothing(
    frames: list[tuple[int, int, int, int]], weight: int, rx_buffers: int
) -> None:
    outcomes = []
    for per_frame in (False, True):
        bench = Bench(weight=weight, rx_buffers=rx_buffers, per_frame=per_frame)
        logs = [Log(bench.sim, f"log{n}") for n in range(10)]
        expected = [0] * 10
        total = [0] * 10
        time_ps = 10 * US
        arrivals = []
        for gap_ns, connection, oddity, length in frames:
            time_ps += gap_ns * NS
            if oddity == 1:
                expected[connection] += SEGMENT
            skb = new_skb(
                logs[connection],
                expected[connection],
                expected[connection] + length,
                0,
                0,
                length + 90,
                push=oddity == 2,
            )
            expected[connection] += length
            total[connection] += length
            arrivals.append((time_ps, skb))
        bench.feed(*arrivals)
        assert bench.nic.drops + bench.nic.rx_packets == len(frames)
        got = [sum(last - first for _, first, last, _ in log.log) for log in logs]
        if bench.nic.drops == 0:
            assert got == total
        for log in logs:
            starts = [first for _, first, _, _ in log.log]
            assert starts == sorted(starts)
        outcomes.append(([log.log for log in logs], bench.line.asserted_ps, bench.nic.drops))
    assert outcomes[0] == outcomes[1]
