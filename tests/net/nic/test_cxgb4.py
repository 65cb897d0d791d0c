"""Chelsio T5: interrupt holdoff, the ring, reclaiming by transmission."""

from __future__ import annotations

import pytest

from simnet.net.link.skb import new_skb
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
        ("asked", "count"),
        [(1, 1), (2, 1), (3, 4), (6, 4), (7, 8), (12, 8), (13, 16), (1000, 16)],
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
        assert [bench.nic.transmit_cost_ps(cpu) for _ in range(3)] == [
            16 * 70 * NS,
            4 * 70 * NS,
            0,
        ]
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
