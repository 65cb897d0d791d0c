"""What a remote receiver counts: its CPU's work, latencies, frames; and what its ACKs carry."""

import pytest

from simnet.kernel.histogram import LogHistogram
from tests.host.parts import MS, NS, US
from tests.net.remote.receiving import (
    ACK_PS,
    COSTS,
    FRAME_PS,
    IRQ_PS,
    JIFFY,
    READ_PS,
    SOFTIRQ_PS,
    WAKE_PS,
    Remote,
)

BEGIN = 100 * US


def buckets(*latencies_ps: int) -> tuple[tuple[int, int], ...]:
    histogram = LogHistogram()
    for latency_ps in latencies_ps:
        histogram.add(latency_ps)
    return histogram.buckets()


def costly() -> Remote:
    return Remote(mmio_ps=50 * NS, **COSTS)


class TestWork:
    def test_at_first_it_has_done_nothing(self) -> None:
        remote = costly().remote
        assert (remote.busy_ps, remote.interrupts, remote.delivered) == (0, 0, 0)
        assert (remote.acks_sent, remote.unread_bytes, remote.latency_buckets()) == (0, 0, ())

    def test_a_lone_frame(self) -> None:
        remote = costly()
        remote.segments(0, start_ps=BEGIN)
        remote.run(MS)
        # the ACK that was sent last is counted with what comes next
        assert remote.remote.busy_ps == IRQ_PS + WAKE_PS + FRAME_PS
        assert remote.remote.acks_sent == 1
        remote.segments(1, start_ps=2 * MS)
        remote.run(3 * MS)
        assert remote.remote.busy_ps == 2 * (IRQ_PS + WAKE_PS + FRAME_PS) + ACK_PS

    def test_frames_of_one_poll(self) -> None:
        remote = costly()
        remote.segments(0, 1, 2, 3, start_ps=BEGIN, gap_ps=100 * NS)
        remote.run(MS)
        assert remote.remote.busy_ps == IRQ_PS + WAKE_PS + 4 * FRAME_PS + 2 * ACK_PS
        assert (remote.remote.acks_sent, remote.remote.interrupts) == (3, 1)

    @pytest.mark.parametrize("into_ps", [1, READ_PS // 2, READ_PS - 1, READ_PS])
    def test_a_reader_that_is_preempted_goes_on_with_what_was_left(self, into_ps: int) -> None:
        remote = costly()
        gap = IRQ_PS + 2 * SOFTIRQ_PS + WAKE_PS + into_ps
        remote.announce(
            remote.frame(BEGIN, 0), remote.frame(BEGIN, 1000), remote.frame(BEGIN + gap, 2000)
        )
        remote.run(MS)
        assert remote.remote.busy_ps == 2 * IRQ_PS + WAKE_PS + 3 * FRAME_PS + 2 * ACK_PS
        assert remote.remote.interrupts == 2

    def test_it_is_woken_once_for_each_time_that_it_slept(self) -> None:
        remote = costly()
        remote.segments(0, 1, 2, start_ps=BEGIN, gap_ps=100 * US)
        remote.run(MS)
        # two quick ACKs; the third segment waits for another
        assert remote.remote.busy_ps == 3 * (IRQ_PS + WAKE_PS + FRAME_PS) + 2 * ACK_PS

    @pytest.mark.parametrize(
        ("length", "lines"), [(1, 1), (127, 1), (128, 1), (129, 2), (256, 2), (257, 3), (1000, 8)]
    )
    def test_a_copy_takes_whole_lines(self, length: int, lines: int) -> None:
        remote = Remote(copy_line=1000)
        remote.announce(remote.frame(BEGIN, 0, length))
        remote.run(MS)
        assert remote.remote.busy_ps == lines * US


class TestLatency:
    def test_from_arrival_to_the_end_of_reading(self) -> None:
        remote = costly()
        remote.segments(0, 1, start_ps=BEGIN, gap_ps=100 * NS)
        remote.run(MS)
        first = IRQ_PS + 2 * SOFTIRQ_PS + WAKE_PS + READ_PS
        second = first + ACK_PS + READ_PS - 100 * NS
        assert remote.remote.latency_buckets() == buckets(first, second)

    def test_a_segment_counts_from_the_instant_at_which_its_work_is_done(self) -> None:
        remote = Remote(tcp_rx=10_000)
        remote.established(gap_ps=20 * US)
        begin = 5 * JIFFY
        # known together: the work of both is over before anything else happens
        remote.announce(
            remote.frame(begin, 2000), remote.frame(begin, 3000), remote.frame(begin + MS, 4000)
        )
        for at_us, count in ((9, 0), (10, 1), (19, 1), (20, 2)):
            remote.sim.run_until(begin + at_us * US)
            assert remote.remote.delivered == 2000 + count * 1000
            assert remote.remote.latency_buckets() == buckets(
                10 * US, 10 * US, *(10 * US, 20 * US)[:count]
            )

    def test_old_data_deliver_nothing(self) -> None:
        remote = Remote()
        remote.established()
        remote.segments(0, start_ps=5 * JIFFY)
        remote.run(6 * JIFFY)
        assert remote.remote.delivered == 2000
        assert sum(count for _, count in remote.remote.latency_buckets()) == 3


class TestTimer:
    @pytest.mark.parametrize(("later", "jiffy"), [(0, 15), (1, 16), (2, 17)])
    def test_a_timer_that_was_put_off_runs_when_its_jiffy_is_over(
        self, later: int, jiffy: int
    ) -> None:
        remote = Remote()
        remote.established()
        # the timer is set for jiffy 14; the third segment waits ten jiffies
        remote.announce(remote.frame(4 * JIFFY + US, 2000))
        remote.announce(
            remote.frame(4 * JIFFY + later * JIFFY + 2 * US, 3000),
            remote.frame(4 * JIFFY + later * JIFFY + 3 * US, 4000),
        )
        acks = remote.run(30 * JIFFY)
        assert [(ack.sent_ps, ack.number) for ack in acks] == [
            ((4 + later) * JIFFY + 2 * US, 4000),
            (jiffy * JIFFY, 5000),
        ]


class TestAcknowledgement:
    def test_it_is_a_short_frame_without_data(self) -> None:
        remote = Remote()
        remote.segments(0, start_ps=BEGIN)
        remote.sim.run_until(MS)
        skb = remote.far.incoming.pop()
        assert (skb.seq, skb.end_seq, skb.ack, skb.push) == (0, 0, 1000, False)
        assert (skb.wire_bytes, skb.sack) == (90, None)
        assert skb.endpoint is remote.remote.acknowledged
        assert remote.remote.path_out.destination is remote.far

    def test_no_frame_is_shorter_than_ethernet_has_them(self) -> None:
        remote = Remote(overhead_bytes=60)
        remote.segments(0, start_ps=BEGIN)
        remote.sim.run_until(MS)
        assert remote.far.incoming.pop().wire_bytes == 84

    def test_the_timestamp_that_is_echoed_is_the_one_of_the_last_acknowledged(self) -> None:
        remote = Remote()
        echoed = []
        # a hole, then what fills it, then an old segment with a later clock
        for number, (segment, stamp) in enumerate(((0, 7), (2, 9), (1, 8), (0, 20), (3, 30))):
            skb = remote.frame(BEGIN + number * MS, 1000 * segment)
            skb.tsval = stamp
            remote.announce(skb)
            remote.sim.run_until(BEGIN + number * MS + MS // 2)
            while remote.far.incoming.count > 0:
                echoed.append(remote.far.incoming.pop().tsecr)
        # RFC 7323: what lies beyond a hole does not count, nor what is wholly old
        assert echoed == [7, 7, 8, 8, 30]
