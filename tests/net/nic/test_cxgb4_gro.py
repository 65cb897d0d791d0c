"""Chelsio T5: what receive offload (GRO) puts together, and when it hands it up."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from simnet.host.softirq.softirq import SoftirqNetRx
from simnet.net.link.skb import Skb, new_skb
from tests.host.parts import NS, US
from tests.net.nic.chelsio import SEGMENT, Bench, Log
from tests.net.parts import Sink


class TestGro:
    def burst(self, bench: Bench, *skbs: Skb) -> None:
        bench.feed(*((100 * US + n * NS, skb) for n, skb in enumerate(skbs)))

    def test_a_poll_hands_up_one_large_segment(self) -> None:
        bench = Bench(frames=0)
        self.burst(bench, *(bench.segment(n) for n in range(20)))
        assert bench.log.ranges == [(0, 20)]
        assert bench.nic.gro.merged == 19
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
        assert bench.log.bytes == [
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

    def test_it_takes_as_much_as_an_ip_packet_holds(self) -> None:
        bench = Bench(frames=0)
        # 65535 bytes less 52 of headers are eleven times 5953
        parts = [new_skb(bench.log, n * 5953, (n + 1) * 5953, 0, 0, 6043, push=False)
                 for n in range(11)]  # fmt: skip
        after = new_skb(bench.log, 65_483, 65_484, 0, 0, 91, push=False)
        self.burst(bench, *parts, after)
        assert bench.log.bytes == [
            (0, 65_483),
            (65_483, 65_484),
        ]

    def test_one_byte_is_added_and_is_the_last(self) -> None:
        bench = Bench()
        after = SEGMENT + 1
        last = new_skb(bench.log, after, after + SEGMENT, 0, 0, 1538, push=False)
        self.burst(bench, bench.segment(0), bench.segment(1, length=1), last)
        assert bench.log.bytes == [
            (0, after),
            (after, after + SEGMENT),
        ]

    def test_a_longer_segment_begins_another(self) -> None:
        bench = Bench()
        first = new_skb(bench.log, 0, 100, 0, 0, 190, push=False)
        second = new_skb(bench.log, 100, 201, 0, 0, 191, push=False)
        self.burst(bench, first, second)
        assert bench.log.bytes == [(0, 100), (100, 201)]

    def test_a_pure_ack_of_the_connection_lets_what_is_held_go_first(self) -> None:
        bench = Bench()
        ack = bench.segment(1, length=0)
        self.burst(bench, bench.segment(0), ack, bench.segment(1))
        assert bench.log.ranges == [(0, 1), (1, 1), (1, 2)]
        assert bench.nic.gro.merged == 0

    def test_what_tells_of_losses_goes_alone(self) -> None:
        bench = Bench(frames=0)
        loss = bench.segment(2)
        loss.sack = [(9, 10)]
        self.burst(bench, bench.segment(0), bench.segment(1), loss, bench.segment(3))
        assert bench.log.ranges == [(0, 2), (2, 3), (3, 4)]

    def test_the_last_window_is_that_of_all(self) -> None:
        bench = Bench(frames=0)
        windows: list[int] = []
        bench.log.seen = lambda skb: windows.append(skb.window)
        first, last = bench.segment(0), bench.segment(1, push=True)
        first.window, last.window = 1000, 2000
        self.burst(bench, first, last)
        assert windows == [2000]

    def test_each_frame_pays_the_driver_and_each_large_segment_the_stack(self) -> None:
        bench = Bench(frames=0)
        self.burst(bench, *(bench.segment(n, push=n == 2) for n in range(5)))
        assert bench.machine.costs.ledger.driver == (5 * 200 + 2 * (50 + 150)) * NS
        assert bench.nic.gro.merged == 3

    def test_a_poll_that_used_up_its_weight_holds_what_it_has_for_the_next(self) -> None:
        bench = Bench(frames=0, weight=4)
        self.burst(bench, *(bench.segment(n) for n in range(6)))
        assert bench.log.ranges == [(0, 6)]
        softirqs = bench.machine.cpus[0].softirqs
        assert isinstance(softirqs, SoftirqNetRx)
        assert softirqs.polls == 2
        # twice the poll, six frames and the index after the first poll
        assert bench.log.log[0][0] == (105 * US + (500 + 2 * 100 + 6 * 200) * NS)

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

    def test_from_5_4_on_what_is_collected_goes_up_with_the_end_of_the_poll(self) -> None:
        bench = Bench(gro=False, frames=0, kernel="5.4")
        self.burst(bench, *(bench.segment(n) for n in range(10)))
        first = 105 * US + (500 + 100) * NS
        assert [time - first for time, *_ in bench.log.log] == [8 * 200 * NS] * 8 + [
            (10 * 200 + 8 * (50 + 150)) * NS
        ] * 2

    def test_a_poll_that_used_up_its_weight_hands_up_what_is_collected(self) -> None:
        bench = Bench(gro=False, frames=0, weight=4, kernel="5.4")
        self.burst(bench, *(bench.segment(n) for n in range(4)))
        assert bench.log.ranges == [(n, n + 1) for n in range(4)]


FRAMES = st.lists(
    st.tuples(
        st.integers(0, 3000),  # ns after the one before
        st.integers(0, 9),  # connection
        st.sampled_from([0, 0, 0, 0, 1, 2]),  # hole, push
        st.sampled_from([0, 700, SEGMENT, SEGMENT, SEGMENT]),
    ),
    max_size=60,
)


@given(
    FRAMES, st.sampled_from([4, 64]), st.sampled_from([6, 1023]), st.sampled_from(["3.8", "5.4"])
)
def test_taking_frames_together_changes_nothing(
    frames: list[tuple[int, int, int, int]], weight: int, rx_buffers: int, kernel: str
) -> None:
    outcomes = []
    for per_frame in (False, True):
        bench = Bench(weight=weight, rx_buffers=rx_buffers, per_frame=per_frame, kernel=kernel)
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
