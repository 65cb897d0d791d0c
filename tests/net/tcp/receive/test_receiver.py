"""Delayed ACK, quickack, window and buffer of a receiver, rule by rule (net/ipv4 of Linux 2.6.18).

Times are jiffies of 4 ms: TCP_ATO_MIN is 10, half of it 5, TCP_DELACK_MAX 50.
"""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.net.tcp.receive.receiver import TcpReceiver
from tests.host.parts import MS
from tests.house.examples import examples
from tests.net.parts import make_receiver

MSS = 1448
RTO = 750


def make(**options: Any) -> TcpReceiver:
    """A receiver on a tg3: 1904 bytes of memory for each frame."""
    return make_receiver(**({"advmss": MSS, "truesize_overhead": 1904 - MSS} | options))


def take(
    receiver: TcpReceiver,
    length: int = MSS,
    jiffy: int = 0,
    *,
    push: bool = False,
    direct: bool = True,
) -> bool:
    """Receive the next `length` bytes."""
    return bool(
        receiver.segment(receiver.seq.rcv_nxt, receiver.seq.rcv_nxt + length, push, direct, jiffy)
    )


def settle(receiver: TcpReceiver, jiffy: int = 0) -> TcpReceiver:
    """Receive and acknowledge until the window is wide and no quick ACK is left."""
    for _ in range(200):
        take(receiver, MSS, jiffy)
        receiver.ack_sent()
    while receiver.delack.quick:
        receiver.ack_sent()
    return receiver


class TestQuickAck:
    def test_first_segments_are_acknowledged_at_once(self) -> None:
        receiver = make(moderate_rcvbuf=False)
        answers = []
        for _ in range(12):
            answers.append(take(receiver))
            if answers[-1]:
                receiver.ack_sent()
        # the window of 4 segments allows 2, and its growth keeps one more quick as long as it lasts
        assert answers[:2] == [True, True]

    @pytest.mark.parametrize(
        ("window_bytes", "expected"),
        [(4 * MSS, 2), (5 * MSS, 2), (6 * MSS, 3), (20 * MSS, 10), (44 * MSS, 16)],
    )
    def test_half_a_window_of_quick_acks_at_most_16(self, window_bytes: int, expected: int) -> None:
        buffer = 4 * window_bytes // 3 + 4
        # the window keeps room for one segment back
        buffer += 4 * MSS // 3
        receiver = make(
            rmem_default=buffer, window_scaling=False, moderate_rcvbuf=False, rcvbuf_locked=True
        )
        settle(receiver)
        assert receiver.seq.rcv_wnd == window_bytes
        take(receiver, MSS, RTO + 1)
        assert receiver.delack.quick == expected

    def test_pause_longer_than_rto_renews_them(self) -> None:
        receiver = settle(make())
        assert not take(receiver, MSS, RTO)
        receiver.ack_sent()
        assert take(receiver, MSS, RTO + RTO + 1)
        assert receiver.delack.quick == 16

    def test_the_last_one_resets_ato(self) -> None:
        receiver = settle(make(), 0)
        take(receiver, MSS, 7)
        assert receiver.delack.ato == 12
        take(receiver, MSS, 7 + RTO + 1)
        for _ in range(16):
            receiver.ack_sent()
        assert (receiver.delack.quick, receiver.delack.ato) == (0, 10)

    def test_sending_data_in_time_ends_it(self) -> None:
        receiver = make()
        take(receiver, MSS, 0)
        receiver.ack_sent()
        receiver.delack.data_sent(9)
        assert receiver.delack.pingpong
        assert not take(receiver, MSS, 9)

    def test_sending_data_late_does_not(self) -> None:
        receiver = make()
        take(receiver, MSS, 0)
        receiver.delack.data_sent(10)
        assert not receiver.delack.pingpong


class TestAckCheck:
    def test_one_full_segment_waits_two_do_not(self) -> None:
        receiver = settle(make())
        answers = []
        for _ in range(6):
            answers.append(take(receiver))
            if answers[-1]:
                receiver.ack_sent()
        assert answers == [False, True] * 3

    @pytest.mark.parametrize(("second", "at_once"), [(1, True), (700, True)])
    def test_strictly_more_than_one_segment(self, second: int, at_once: bool) -> None:  # noqa: FBT001
        receiver = settle(make())
        assert not take(receiver)
        assert take(receiver, second) == at_once

    def test_less_than_a_segment_in_all_waits(self) -> None:
        receiver = settle(make())
        assert [take(receiver, 700, push=True), take(receiver, 748, push=True)] == [False, False]
        assert take(receiver, 1, push=True)

    def test_not_from_softirq_when_the_window_would_shrink(self) -> None:
        receiver = settle(make())
        answers = [take(receiver, direct=False) for _ in range(20)]
        # as long as the queue grows no window update beats the last one
        assert not any(answers[3:])
        assert receiver.seq.rcv_nxt - receiver.seq.rcv_wup > receiver.delack.rcv_mss
        assert receiver.delack.due_after_copy(1)

    def test_a_hole_is_reported_at_once(self) -> None:
        receiver = settle(make())
        start = receiver.seq.rcv_nxt
        assert receiver.segment(start + MSS, start + 2 * MSS, False, False, 0)  # noqa: FBT003
        assert (receiver.seq.rcv_nxt, receiver.out_of_order_segments) == (start, 1)
        receiver.ack_sent()
        # so is the segment that fills it
        assert receiver.segment(start, start + MSS, False, False, 0)  # noqa: FBT003
        assert receiver.seq.rcv_nxt == start + 2 * MSS

    def test_old_data_are_answered_at_once_and_change_nothing(self) -> None:
        receiver = settle(make())
        before = receiver.seq.rcv_nxt
        assert receiver.segment(before - MSS, before, False, False, 0)  # noqa: FBT003
        assert (receiver.seq.rcv_nxt, receiver.duplicates) == (before, 1)


class TestDelayedAck:
    @pytest.mark.parametrize(
        ("gaps", "expected"),
        [
            ([], 10),
            ([1], 10),
            ([5], 10),
            ([6], 11),
            ([9], 14),
            ([10], 10),  # neither short enough to count nor longer than RTO
            ([6, 9], 14),
            ([9, 9, 9], 17),
            ([9, 9, 9, 5, 5], 11),
        ],
    )
    def test_ato_follows_the_gaps(self, gaps: list[int], expected: int) -> None:
        receiver = make()
        now = 100
        take(receiver, MSS, now)
        for gap in gaps:
            now += gap
            receiver.ack_sent()
            take(receiver, MSS, now)
        assert receiver.delack.ato == expected

    def test_timer_runs_after_ato(self) -> None:
        receiver = settle(make())
        take(receiver)
        assert receiver.delack.schedule_timer(0) == 10

    def test_pending_timer_is_not_put_off(self) -> None:
        receiver = settle(make())
        take(receiver, 100, push=True)
        assert receiver.delack.schedule_timer(0) == 10
        take(receiver, 100, 4, push=True)
        assert receiver.delack.schedule_timer(4) == 10

    @pytest.mark.parametrize(("jiffy", "expected"), [(7, 10), (8, 0), (9, 0)])
    def test_nearly_due_means_now(self, jiffy: int, expected: int) -> None:
        receiver = settle(make())
        take(receiver, 100, push=True)
        receiver.delack.schedule_timer(0)
        # a quarter of an ato of 10 is 2
        assert receiver.delack.schedule_timer(jiffy) == expected

    def test_blocked_timer_means_now(self) -> None:
        receiver = settle(make())
        take(receiver, 100, push=True)
        receiver.delack.schedule_timer(0)
        receiver.delack.blocked = True
        assert receiver.delack.schedule_timer(0) == 0

    @pytest.mark.parametrize(("push", "expected"), [(True, 50), (False, 125)])
    def test_ato_is_capped(self, push: bool, expected: int) -> None:  # noqa: FBT001
        receiver = settle(make())
        take(receiver, MSS)
        for _ in range(10):
            receiver.delack.expired()
        assert receiver.delack.ato == RTO
        if push:
            take(receiver, 100, RTO - 1, push=True)
        assert receiver.delack.schedule_timer(1000) == 1000 + expected

    @pytest.mark.parametrize(("least_ms", "expected"), [(4, 1), (12, 3), (40, 10), (100, 10)])
    def test_a_short_round_trip_bounds_it_by_delack_min(self, least_ms: int, expected: int) -> None:
        receiver = settle(make(delack_min_ps=least_ms * MS, srtt_ps=4 * MS))
        # ato itself stays TCP_ATO_MIN
        take(receiver, MSS, 1000)
        assert receiver.delack.ato == 10
        assert receiver.delack.schedule_timer(1000) == 1000 + expected

    def test_expiry_doubles_ato(self) -> None:
        receiver = settle(make())
        take(receiver)
        assert receiver.delack.expired()
        assert receiver.delack.ato == 20

    def test_expiry_ends_interactive_mode(self) -> None:
        receiver = settle(make())
        take(receiver)
        receiver.delack.data_sent(0)
        assert receiver.delack.expired()
        assert (receiver.delack.pingpong, receiver.delack.ato) == (False, 10)

    def test_expiry_after_the_ack_sends_nothing(self) -> None:
        receiver = settle(make())
        take(receiver)
        receiver.ack_sent()
        assert not receiver.delack.expired()


class TestReaderSide:
    def test_more_than_a_segment_is_acknowledged(self) -> None:
        receiver = settle(make())
        take(receiver)
        assert not receiver.delack.due_after_copy(MSS)
        take(receiver, 1)
        assert receiver.delack.due_after_copy(1)

    def test_blocked_timer_is_made_good(self) -> None:
        receiver = settle(make())
        take(receiver)
        receiver.delack.blocked = True
        assert receiver.delack.due_after_copy(0)

    @pytest.mark.parametrize(
        ("copied", "interactive", "queued", "expected"),
        [
            (100, False, False, True),
            (0, False, False, False),
            (100, True, False, False),
            (100, False, True, False),
        ],
    )
    def test_short_segment_read_to_the_end_is_acknowledged(
        self,
        copied: int,
        interactive: bool,  # noqa: FBT001
        queued: bool,  # noqa: FBT001
        expected: bool,  # noqa: FBT001
    ) -> None:
        receiver = settle(make())
        take(receiver, 100, push=True)
        if interactive:
            receiver.delack.data_sent(0)
        if queued:
            take(receiver, 100, push=True, direct=False)
        assert receiver.delack.due_after_copy(copied) == expected

    def test_window_update_when_the_window_doubles(self) -> None:
        receiver = settle(make(moderate_rcvbuf=False))
        while receiver.seq.rcv_wnd > receiver.window.window_clamp // 4:
            take(receiver, direct=False)
            receiver.ack_sent()
        assert not receiver.delack.due_after_copy(1)
        receiver.copied(receiver.readable(), 0)
        assert receiver.delack.due_after_copy(1)
        # nothing was copied: nothing has changed
        assert not receiver.delack.due_after_copy(0)


class TestWindow:
    @pytest.mark.parametrize(
        ("mss", "segments"), [(536, 4), (1448, 4), (1460, 4), (1461, 3), (4380, 3), (4381, 2)]
    )
    def test_first_offer(self, mss: int, segments: int) -> None:
        assert make(advmss=mss).seq.rcv_wnd == segments * mss

    @pytest.mark.parametrize(
        ("rmem_max", "scale"), [(65_535, 0), (65_536, 1), (174_760, 2), (4 << 20, 7)]
    )
    def test_scale_lets_the_largest_buffer_be_offered(self, rmem_max: int, scale: int) -> None:
        assert make(rmem_max=rmem_max).window.wscale == scale
        assert make(rmem_max=rmem_max, window_scaling=False).window.wscale == 0

    def test_default_buffer_offers_65535_less_a_segment(self) -> None:
        assert make().window.from_space(87_380) == 65_535
        receiver = make(moderate_rcvbuf=False)
        settle(receiver)
        # room for one segment is kept back; rounded up to a multiple of the scale
        assert receiver.window.window_clamp == 65_535 - MSS
        assert receiver.seq.rcv_wnd == 64_088

    def test_grows_by_two_segments_where_memory_is_used_well(self) -> None:
        # 3/4 of 1904 is 1428, not more than 1448
        receiver = make()
        before = receiver.window.rcv_ssthresh
        take(receiver)
        assert receiver.window.rcv_ssthresh == before + 2 * MSS
        assert receiver.delack.quick & 1

    def test_grows_no_more_for_small_segments_once_half_is_reached(self) -> None:
        receiver = make()
        grown = []
        for _ in range(60):
            before = receiver.window.rcv_ssthresh
            take(receiver, 200, push=True)
            grown.append(receiver.window.rcv_ssthresh - before)
            receiver.ack_sent()
        # 1428 halved three times is below 200: 1/8 of the largest buffer's window is the limit
        largest = receiver.window.from_space(174_760)
        assert receiver.window.rcv_ssthresh >= largest >> 3
        assert receiver.window.rcv_ssthresh < (largest >> 3) + 2 * MSS
        assert grown[-1] == 0

    def test_tiny_segments_never_grow_it(self) -> None:
        receiver = make()
        before = receiver.window.rcv_ssthresh
        take(receiver, 127)
        assert receiver.window.rcv_ssthresh == before

    def test_full_buffer_offers_nothing_and_ends_quick_acks(self) -> None:
        receiver = settle(make(moderate_rcvbuf=False))
        while receiver.seq.rcv_wnd > 0:
            assert receiver.seq.rcv_nxt <= receiver.seq.rcv_wup + receiver.seq.rcv_wnd
            take(receiver, min(MSS, receiver.seq.rcv_wnd), direct=False)
            receiver.ack_sent()
        assert receiver.delack.quick == 0
        assert receiver.delack.select_window() == 0

    def test_without_scaling_it_is_whole_segments(self) -> None:
        receiver = settle(make(window_scaling=False, moderate_rcvbuf=False))
        assert receiver.seq.rcv_wnd == (65_535 - MSS) // MSS * MSS

    @settings(max_examples=examples(200))
    @given(
        st.lists(
            st.tuples(st.integers(1, 3000), st.booleans(), st.booleans(), st.integers(0, 5000)),
            max_size=120,
        ),
        st.sampled_from([4096, 20_000, 87_380]),
        st.booleans(),
        st.booleans(),
    )
    def test_right_edge_never_moves_left(
        self,
        steps: list[tuple[int, bool, bool, int]],
        rmem: int,
        scaling: bool,  # noqa: FBT001
        moderate: bool,  # noqa: FBT001
    ) -> None:
        receiver = make(rmem_default=rmem, window_scaling=scaling, moderate_rcvbuf=moderate)
        edge = receiver.seq.rcv_wup + receiver.seq.rcv_wnd
        for number, (length, direct, acknowledge, copy) in enumerate(steps):
            fits = min(length, edge - receiver.seq.rcv_nxt)
            if fits > 0:
                take(receiver, fits, number // 4, direct=direct and not receiver.readable())
            count = min(copy, receiver.readable())
            if count:
                receiver.copied(count, number // 4)
            if acknowledge:
                offered = receiver.ack_sent()
                assert receiver.seq.rcv_nxt + offered >= edge
                edge = receiver.seq.rcv_nxt + offered
            assert receiver.readable() >= 0
            assert receiver.window.allocated() >= 0
            assert (receiver.window.allocated() == 0) == (receiver.readable() == 0)


class TestSegmentSize:
    @pytest.mark.parametrize(
        ("lengths", "push", "expected"),
        [
            ([1448], False, 1448),
            ([1448, 1000], False, 1448),
            ([1448, 1000, 1000], False, 1000),
            ([1448, 1000, 900, 1000], False, 1448),
            ([1448, 1000, 1000], True, 1000),
            ([1448, 300, 300], True, 1448),
            ([1448, 300, 300], False, 300),
        ],
    )
    def test_smaller_size_is_believed_the_second_time(
        self,
        lengths: list[int],
        push: bool,  # noqa: FBT001
        expected: int,
    ) -> None:
        receiver = make()
        for length in lengths:
            take(receiver, length, push=push)
        assert receiver.delack.rcv_mss == expected


class TestRightSizing:
    """`tcp_rcv_space_adjust`: twice what was read in a round trip, counted in memory."""

    def test_buffer_follows_what_is_read(self) -> None:
        receiver = make()
        receiver.space_adjust(0)
        for _ in range(40):
            take(receiver)
            receiver.ack_sent()
        receiver.space_adjust(8)
        # 2 * 40 segments of 1904 bytes, raised by 128 until 3/4 of it hold a segment
        assert receiver.window.rcvbuf == 2 * 40 * 2032
        assert receiver.window.window_clamp == 2 * 40 * MSS

    @pytest.mark.parametrize(
        ("moderate", "segments", "jiffy", "rcvbuf"),
        [
            pytest.param(True, 40, 0, 87_380, id="once in a round trip"),
            pytest.param(True, 400, 8, 174_760, id="up to the largest buffer"),
            pytest.param(False, 40, 8, 87_380, id="not if switched off"),
        ],
    )
    def test_no_sooner_and_no_further(
        self, *, moderate: bool, segments: int, jiffy: int, rcvbuf: int
    ) -> None:
        receiver = make(moderate_rcvbuf=moderate)
        receiver.space_adjust(0)
        for _ in range(segments):
            take(receiver)
            receiver.ack_sent()
        receiver.space_adjust(jiffy)
        assert receiver.window.rcvbuf == rcvbuf

    def test_never_down(self) -> None:
        receiver = make()
        receiver.space_adjust(0)
        take(receiver)
        receiver.space_adjust(8)
        assert receiver.window.rcvbuf == 87_380
