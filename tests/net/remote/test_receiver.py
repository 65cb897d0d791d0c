"""A remote host of which only the receiving counts: its acknowledgements, interrupts, timers."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.host.parts import MS, NS, US, Agenda
from tests.net.remote.receiving import (
    ACK_PS,
    COSTS,
    FRAME_PS,
    IRQ_PS,
    JIFFY,
    READ_PS,
    SOFTIRQ_PS,
    WAKE_PS,
    Ack,
    Remote,
)


class TestWhenItAcknowledges:
    def test_quickly_at_first_then_every_second_segment(self) -> None:
        remote = Remote()
        remote.segments(*range(8), start_ps=100 * US)
        acks = remote.run(MS)
        # rcv_wnd / (2 rcv_mss) segments are acknowledged one by one
        assert [ack.number for ack in acks] == [1000, 2000, 4000, 6000, 8000]
        assert [ack.sent_ps // US for ack in acks] == [100, 109, 127, 145, 163]
        assert {ack.window for ack in acks} == {4000}

    @pytest.mark.parametrize("into_jiffy_us", [1, 3999])
    def test_a_lone_segment_waits_for_the_timer(self, into_jiffy_us: int) -> None:
        remote = Remote()
        remote.established()
        remote.segments(2, start_ps=4 * JIFFY + into_jiffy_us * US)
        # 40 ms are ten jiffies, and the timer runs when they have passed
        assert remote.run(60 * MS) == [Ack(15 * JIFFY, 3000, 4000, 0)]

    def test_the_timer_is_put_off_by_what_is_acknowledged_meanwhile(self) -> None:
        remote = Remote()
        remote.established()
        remote.segments(2, 3, 4, start_ps=5 * JIFFY, gap_ps=3 * JIFFY)
        acks = remote.run(200 * MS)
        # the second of them is in jiffy 8, the third alone from jiffy 11 on
        assert [(ack.sent_ps // JIFFY, ack.number) for ack in acks] == [(8, 4000), (22, 5000)]

    def test_what_is_shorter_than_others_is_acknowledged_when_it_has_been_read(self) -> None:
        remote = Remote(copy_line=1000)
        remote.established()
        remote.announce(remote.frame(5 * JIFFY, 2000, 300))
        # 300 bytes are three lines
        assert remote.run(6 * JIFFY) == [Ack(5 * JIFFY + 3 * US, 2300, 4000, 0)]

    def test_a_reader_with_more_to_read_does_not_leave_recv_for_that(self) -> None:
        remote = Remote(copy_line=1000)
        remote.established()
        remote.announce(
            remote.frame(5 * JIFFY, 2000, 300), remote.frame(5 * JIFFY + 2 * US, 2300, 300)
        )
        assert remote.run(6 * JIFFY) == [Ack(5 * JIFFY + 6 * US, 2600, 4000, 0)]

    def test_a_hole_is_reported_at_once_until_it_is_filled(self) -> None:
        remote = Remote()
        remote.established()
        remote.segments(3, 4, 2, 5, 6, start_ps=5 * JIFFY)
        acks = remote.run(6 * JIFFY)
        assert [(ack.number, ack.held) for ack in acks] == [
            (2000, 1),
            (2000, 2),
            (5000, 0),
            (7000, 0),
        ]
        assert [(ack.sent_ps - 5 * JIFFY) // US for ack in acks] == [0, 9, 18, 36]
        assert remote.remote.delivered == 7000

    def test_without_a_timestamp_there_is_none_to_echo(self) -> None:
        remote = Remote()
        remote.segments(0, start_ps=US)
        remote.sim.run_until(MS)
        assert remote.far.incoming.pop().tsecr == -1

    def test_old_data_are_answered_at_once(self) -> None:
        remote = Remote()
        remote.established()
        remote.segments(0, start_ps=5 * JIFFY)
        assert [ack.number for ack in remote.run(6 * JIFFY)] == [2000]
        assert remote.remote.delivered == 2000

    def test_window_grows_to_the_buffer_and_its_edge_never_goes_back(self) -> None:
        remote = Remote(receiver={"rmem_default": 87_380, "rmem_max": 174_760})
        remote.segments(*range(60), start_ps=US)
        acks = remote.run(MS)
        assert acks[0].window == 6000
        assert acks[-1].window == (65_535 - 1000) // 1000 * 1000
        edges = [ack.number + ack.window for ack in acks]
        assert edges == sorted(edges)


class TestItsCpu:
    def test_interrupt_frame_and_acknowledgement_take_their_time(self) -> None:
        remote = Remote(mmio_ps=50 * NS, **COSTS)
        remote.segments(0, start_ps=100 * US)
        done = 100 * US + IRQ_PS + WAKE_PS + FRAME_PS
        remote.sim.run_until(done - 1)
        assert remote.remote.delivered == 0
        assert remote.run(MS) == [Ack(done, 1000, 4000, 0)]
        assert (remote.remote.delivered, remote.remote.interrupts) == (1000, 1)
        assert sum(count for _, count in remote.remote.latency_buckets()) == 1

    def test_acknowledgements_of_one_poll_leave_in_a_bunch(self) -> None:
        remote = Remote(mmio_ps=50 * NS, **COSTS)
        # two quick ACKs, then one for two
        remote.segments(0, 1, 2, 3, start_ps=100 * US, gap_ps=100 * NS)
        first = 100 * US + IRQ_PS + 4 * SOFTIRQ_PS + WAKE_PS + READ_PS
        second = first + ACK_PS + READ_PS
        third = second + ACK_PS + 2 * READ_PS
        assert [ack.sent_ps for ack in remote.run(MS)] == [first, second, third]
        assert remote.remote.interrupts == 1

    def test_a_frame_that_comes_during_a_poll_is_taken_by_it(self) -> None:
        remote = Remote(mmio_ps=50 * NS, **COSTS)
        remote.segments(0, 1, start_ps=100 * US, gap_ps=IRQ_PS + SOFTIRQ_PS)
        first = 100 * US + IRQ_PS + 2 * SOFTIRQ_PS + WAKE_PS + READ_PS
        assert [ack.sent_ps for ack in remote.run(MS)] == [first, first + ACK_PS + READ_PS]
        assert remote.remote.interrupts == 1

    def test_an_interrupt_preempts_the_reader(self) -> None:
        remote = Remote(mmio_ps=50 * NS, **COSTS)
        # the third comes while the first is read
        gap = IRQ_PS + 2 * SOFTIRQ_PS + WAKE_PS + READ_PS // 2
        remote.announce(
            remote.frame(100 * US, 0),
            remote.frame(100 * US, 1000),
            remote.frame(100 * US + gap, 2000),
        )
        first = 100 * US + IRQ_PS + 2 * SOFTIRQ_PS + WAKE_PS + READ_PS + IRQ_PS + SOFTIRQ_PS
        second = first + ACK_PS + READ_PS
        assert [ack.sent_ps for ack in remote.run(MS)] == [first, second]
        assert remote.remote.interrupts == 2

    def test_a_reader_who_is_awake_is_not_woken(self) -> None:
        remote = Remote(mmio_ps=50 * NS, **COSTS)
        first = 100 * US + IRQ_PS + WAKE_PS + FRAME_PS
        remote.segments(0, 1, start_ps=100 * US, gap_ps=first + ACK_PS - 100 * US)
        second = first + ACK_PS + IRQ_PS + FRAME_PS
        assert [ack.sent_ps for ack in remote.run(MS)] == [first, second]
        assert remote.remote.interrupts == 2

    def test_interrupts_keep_their_distance(self) -> None:
        remote = Remote(throttle_ps=125 * US, hardirq=1000, tcp_rx=1000)
        remote.segments(0, 1, 2, start_ps=100 * US, gap_ps=40 * US)
        # the second waits from 140 us for 225, and the third with it; it is the second quick ACK
        remote.segments(3, start_ps=400 * US)
        acks = remote.run(MS)
        assert [(ack.number, ack.sent_ps) for ack in acks] == [
            (1000, 102 * US),
            (2000, 227 * US),
            (4000, 402 * US),
        ]
        assert remote.remote.interrupts == 3

    def test_the_timer_finds_a_frame_whose_work_is_under_way(self) -> None:
        remote = Remote(tcp_rx=10_000)
        remote.established()
        remote.segments(2, start_ps=4 * JIFFY + 100 * US)
        remote.segments(3, start_ps=15 * JIFFY - US)
        # the reader has locked the socket, and acknowledges both when he is done
        assert remote.run(300 * MS) == [Ack(15 * JIFFY + 9 * US, 4000, 4000, 0)]

    def test_a_frame_that_is_known_but_comes_later_does_not_keep_the_timer_from_running(
        self,
    ) -> None:
        remote = Remote()
        remote.established()
        remote.segments(2, 3, start_ps=4 * JIFFY, gap_ps=12 * JIFFY)
        assert remote.run(20 * JIFFY) == [Ack(15 * JIFFY, 3000, 4000, 0)]

    @pytest.mark.parametrize(("arp_us", "taken_us"), [(1, 10), (15, 15)])
    def test_an_arp_reply_waits_for_the_frame_before_it(self, arp_us: int, taken_us: int) -> None:
        remote = Remote(tcp_rx=10_000)
        remote.established(gap_ps=20 * US)
        start = 5 * JIFFY
        arp = remote.frame(start + arp_us * US, 0, 0)
        remote.announce(remote.frame(start, 2000), arp, remote.frame(start + 50 * US, 3000))
        (ack,) = remote.run(6 * JIFFY)
        assert (ack.number, ack.sent_ps) == (4000, start + 60 * US)
        assert remote.neighbour.log == [start + taken_us * US]

    def test_an_arp_reply_waits_for_the_last_picosecond_of_waking_up(self) -> None:
        remote = Remote(wakeup=1)
        remote.established()
        last = 5 * JIFFY + NS - 1
        remote.announce(
            remote.frame(5 * JIFFY, 2000), remote.frame(last, 3000), remote.frame(last, 0, 0)
        )
        assert remote.remote.unread_bytes == 3
        remote.run(6 * JIFFY)
        assert remote.neighbour.log == [last + 1]
        assert remote.remote.unread_bytes == 0

    def test_an_arp_reply_alone_is_no_work(self) -> None:
        remote = Remote(**COSTS)
        remote.established()
        at = remote.sim.now + MS
        remote.announce(
            remote.frame(at, 0, 0), remote.frame(at + MS, 2000), remote.frame(at + MS, 3000)
        )
        assert [ack.number for ack in remote.run(100 * MS)] == [4000]
        assert remote.neighbour.log == [at]


# what comes: (gap to the one before in ns, number of the segment relative to the expected, bytes)
arrivals = st.lists(
    st.tuples(
        st.sampled_from([1, 8720, 9000, 100_000, 900_000, 5_000_001]) | st.integers(1, 3_000_000),
        st.sampled_from([0, 0, 0, 0, 1, 2, -1]),
        st.sampled_from([1000, 1000, 1000, 300, 1, 0]),
    ),
    min_size=1,
    max_size=30,
)
hosts = st.fixed_dictionaries(
    {
        "throttle_ps": st.sampled_from([0, 125 * US, 2 * MS]),
        "hardirq": st.sampled_from([1000, 0, 30_000]),
        "tcp_rx": st.sampled_from([1000, 10_000, 200_000, 3_000_000]),
        "ack_tx": st.sampled_from([1000, 0, 20_000]),
        "receiver": st.fixed_dictionaries(
            {"ato_min_ps": st.sampled_from([40 * MS, 1 * MS, 4 * MS])},
            optional={
                "rmem_default": st.just(87_380),
                "rmem_max": st.just(174_760),
                "moderate_rcvbuf": st.just(True),  # noqa: FBT003 - a value
            },
        ),
    }
)


@given(hosts, arrivals, st.lists(st.integers(1, 40 * MS), max_size=4), st.integers(1, 30))
def test_what_is_known_in_advance_changes_nothing(
    host: dict[str, Any], train: list[tuple[int, int, int]], looks_ps: list[int], lot: int
) -> None:
    """All frames known at the start, in lots, or each one when it arrives."""

    def simulate(lot: int) -> tuple[list[Ack], list[int], list[int], int]:
        remote = Remote(jiffy_ps=MS + 7 * NS, **host)
        frames, now, expected = [], 0, 0
        for gap_ns, ahead, length in train:
            now += gap_ns * NS + 1
            seq = max(0, expected + 1000 * ahead)
            frames.append(remote.frame(now, seq, length))
            expected = max(expected, seq + length) if not ahead else expected
        agenda = Agenda(remote.sim)
        for first in range(0, len(frames), lot):
            some = frames[first : first + lot]
            known_ps = frames[max(0, first - lot + 1)].arrival_ps if first or lot == 1 else 0
            agenda.at(known_ps, remote.announce, *some)
        delivered = []
        for look_ps in sorted(looks_ps):
            remote.sim.run_until(look_ps)
            delivered.append(int(remote.remote.delivered))
        acks = remote.run(now + 400 * MS)
        return acks, delivered, remote.neighbour.log, int(remote.remote.interrupts)

    reference = simulate(1)
    assert simulate(len(train)) == reference
    assert simulate(lot) == reference
