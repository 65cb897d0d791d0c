"""Chelsio T5: interrupt holdoff, the ring, reclaiming by transmission, receive offload (GRO)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.host.softirq.softirq import SoftirqNetRx
from simnet.net.link.skb import Skb, new_skb
from tests.host.parts import MS, NS, US, Agenda
from tests.net.nic.chelsio import SEGMENT, Bench, Log
from tests.net.parts import Sink, frame


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
        ("asked_us", "timer_us"),
        [(1, 5), (7, 5), (8, 10), (15, 10), (16, 20), (35, 20), (36, 50), (75, 50), (76, 100),
         (150, 100), (151, 200), (1000, 200)],
    )  # fmt: skip
    def test_the_nearest_of_the_chips_timers_is_taken(self, asked_us: int, timer_us: int) -> None:
        bench = Bench(holdoff_ps=asked_us * US)
        assert bench.nic.holdoff_ps == timer_us * US
        bench.feed((100 * US, bench.segment(0)))
        assert bench.line.asserted_ps == [(100 + timer_us) * US]

    @pytest.mark.parametrize(
        ("asked", "count"), [(1, 1), (2, 1), (3, 4), (6, 4), (7, 8), (12, 8), (13, 16), (1000, 16)]
    )
    def test_the_nearest_of_the_chips_counts_is_taken(self, asked: int, count: int) -> None:
        bench = Bench(holdoff_ps=200 * US, frames=asked)
        bench.feed(*((100 * US + n * US, bench.segment(n)) for n in range(20)))
        assert bench.line.asserted_ps[0] == (100 + count - 1) * US

    def test_the_timer_that_runs_out_first_ends_it(self) -> None:
        bench = Bench(frames=4)
        bench.feed(*((at * US, bench.segment(n)) for n, at in enumerate((100, 102, 104, 110))))
        assert bench.line.asserted_ps == [105 * US, 115 * US]

    def test_a_look_at_the_queue_in_between_changes_nothing(self) -> None:
        bench = Bench(frames=4)
        agenda = Agenda(bench.sim)
        for at in (100, 101, 102, 103):
            agenda.at(at * US + NS, bench.nic.advance, at * US + NS)
        bench.feed(*((100 * US + n * US, bench.segment(n)) for n in range(4)))
        assert bench.line.asserted_ps == [103 * US]

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
        # its poll's last piece, 200 ns of the stack's work, is over at 106.0
        assert second == 111 * US

    def test_arming_with_as_many_frames_as_the_count_interrupts_at_once(self) -> None:
        bench = Bench(gro=False, frames=1)
        bench.feed((100 * US, bench.segment(0)), (100 * US + 900 * NS, bench.segment(1)))
        assert bench.line.asserted_ps == [100 * US, 101 * US]
        assert bench.log.ranges == [(0, 1), (1, 2)]

    def test_arming_without_a_timer_waits_for_the_count(self) -> None:
        bench = Bench(gro=False, holdoff_ps=0, frames=4)
        early = ((100 * US + n, bench.segment(n)) for n in range(4))
        # while the queue's index is written, from 102.0 to 102.2
        late = ((102 * US + 100 * NS, bench.segment(n)) for n in (4, 5))
        bench.feed(*early, *late, *((200 * US + n * US, bench.segment(6 + n)) for n in range(2)))
        assert bench.line.asserted_ps == [100 * US + 3, 201 * US]

    def test_no_frame_is_left_without_an_interrupt(self) -> None:
        bench = Bench(weight=4)
        bench.feed(*((100 * US + n * NS, bench.segment(n)) for n in range(40)))
        assert bench.log.ranges[-1][1] == 40


class TestTransmit:
    def test_transmission_reclaims_what_was_sent(self) -> None:
        bench = Bench()
        cpu = bench.machine.cpus[0]
        sink = Sink(bench.sim)
        for _ in range(20):
            bench.nic.transmit(frame(sink))
        bench.nic.flush()
        bench.sim.run_until(MS)
        assert [bench.nic.transmit_cost_ps(cpu) for _ in range(3)] == [16 * 70 * NS, 4 * 70 * NS, 0]
        assert bench.line.asserted_ps == []

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

    @pytest.mark.parametrize(("more", "reclaimed"), [(0, 1), (1, 2)])
    def test_the_chip_cuts_at_most_64_kib(self, more: int, reclaimed: int) -> None:
        bench = Bench(tso=True)
        sizes = [1024] * 64 + [1] * more
        for number, size in enumerate(sizes):
            skb = new_skb(bench.log, number * 1024, number * 1024 + size, 0, 0, 1114, push=False)
            bench.nic.transmit(skb)
        bench.nic.flush()
        bench.sim.run_until(MS)
        assert bench.nic.transmit_cost_ps(bench.machine.cpus[0]) == reclaimed * 70 * NS

    def test_acks_holes_and_other_connections_are_not_cut_from_the_same(self) -> None:
        bench = Bench(tso=True)
        other = Log(bench.sim, "other")
        skbs = [bench.segment(0), bench.segment(1), bench.segment(3), bench.segment(4, other)]
        for skb in (*skbs, bench.segment(5, other, length=0), bench.segment(5, other)):
            bench.nic.transmit(skb)
        bench.nic.flush()
        bench.sim.run_until(MS)
        # the second is part of the first
        assert bench.nic.transmit_cost_ps(bench.machine.cpus[0]) == 5 * 70 * NS

    def test_what_was_sent_is_reclaimed_from_the_end_of_its_last_bit(self) -> None:
        bench = Bench()
        cpu = bench.machine.cpus[0]
        # 1250 bytes take 1 us
        bench.nic.transmit(frame(Sink(bench.sim), wire_bytes=1250))
        bench.nic.flush()
        bench.sim.run_until(US - 1)
        assert bench.nic.transmit_cost_ps(cpu) == 0
        bench.sim.run_until(US)
        assert bench.nic.transmit_cost_ps(cpu) == 70 * NS

    def test_a_full_ring_reports_that_it_has_drained(self) -> None:
        bench = Bench(tx_ring=16)
        sink = Sink(bench.sim)
        for _ in range(40):
            bench.nic.transmit(frame(sink))
        bench.nic.flush()
        assert bench.nic.qdisc.count == 24
        bench.sim.run_until(10 * MS)
        assert bench.nic.tx.sent == 40
        # 16 frames of 0.1 us; the interrupt waits 5; the poll reclaims with its first 100 ns
        assert bench.line.asserted_ps == [6600 * NS, (6600 + 500 + 1600 + 5000) * NS]

    def test_one_frame_that_waits_is_enough(self) -> None:
        bench = Bench(tx_ring=16)
        sink = Sink(bench.sim)
        for _ in range(17):
            bench.nic.transmit(frame(sink))
        bench.nic.flush()
        bench.sim.run_until(10 * MS)
        assert (bench.nic.tx.sent, bench.line.asserted_ps) == (17, [6600 * NS])

    def test_a_look_at_the_ring_does_not_change_when_it_reports(self) -> None:
        bench = Bench(tx_ring=16)
        sink = Sink(bench.sim)
        agenda = Agenda(bench.sim)
        for _ in range(17):
            bench.nic.transmit(frame(sink))
        bench.nic.flush()
        agenda.at(1600 * NS, bench.nic.advance, 1600 * NS)
        agenda.at(1700 * NS, bench.nic.arm)
        bench.sim.run_until(10 * MS)
        assert bench.line.asserted_ps == [6600 * NS]


class TestRing:
    def test_each_frame_is_counted_once_as_received_or_dropped(self) -> None:
        bench = Bench(rx_buffers=4)
        bench.feed(*((100 * US, bench.segment(n)) for n in range(6)))
        assert (bench.nic.rx_packets, bench.nic.drops) == (4, 2)
        assert bench.nic.rx_bytes == 4 * (SEGMENT + 90)
        assert bench.log.ranges == [(0, 4)]
        bench.feed(*((50 * MS, bench.segment(n)) for n in range(6, 11)))
        assert (bench.nic.rx_packets, bench.nic.drops) == (8, 3)

    def test_buffers_come_back_when_the_poll_ends(self) -> None:
        bench = Bench(rx_buffers=2, gro=False, frames=1)
        # the first poll ends at 101.0: handler, poll, frame, stack, index
        early = 100 * US + 999 * NS
        bench.feed(*((at, bench.segment(n)) for n, at in enumerate(
            (100 * US, 100 * US + 990 * NS, early, 102 * US))))  # fmt: skip
        assert bench.log.ranges == [(0, 1), (1, 2), (3, 4)]
        assert bench.nic.drops == 1


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

    @pytest.mark.parametrize("length", [1, 100])
    def test_a_shorter_segment_is_the_last(self, length: int) -> None:
        bench = Bench()
        after = SEGMENT + length
        last = new_skb(bench.log, after, after + SEGMENT, 0, 0, 1538, push=False)
        self.burst(bench, bench.segment(0), bench.segment(1, length=length), last)
        assert bench.log.bytes == [(0, after), (after, after + SEGMENT)]

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
        assert bench.log.bytes == [(0, 65_483), (65_483, 65_484)]

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
