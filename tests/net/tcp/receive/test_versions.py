"""What versions of Linux changed in the receiver, and what reordering makes of it."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.net.tcp.receive.queue import SkbSizes
from simnet.net.tcp.receive.receiver import TcpReceiver
from simnet.net.tcp.rules.receiver_version import receiver_rules
from tests.host.parts import MS, US
from tests.house.examples import examples
from tests.net.parts import make_receiver

MSS = 1000
NO_TIMESTAMPS = {"option_bytes": 0, "timestamps": False}


def make(version: str = "6.18", **options: Any) -> TcpReceiver:
    """A receiver behind a device that allocates by length, as a TUN device does."""
    usual: dict[str, Any] = {
        "advmss": 1460,
        "rmem_default": 131_072,
        "rmem_max": 32 << 20,
        "rto_ps": 201 * MS,
        "truesize_overhead": 0,
        "rules": receiver_rules(version),
        "sizes": SkbSizes(0, 40),
        "srtt_ps": MS // 10,
    }
    receiver = make_receiver(**(usual | NO_TIMESTAMPS | options))
    receiver.start(0)
    return receiver


def take(
    receiver: TcpReceiver, first: int, last: int, *, push: bool = False, jiffy: int = 0
) -> bool:
    """Receive the segments `first` to `last` of MSS as one."""
    return bool(receiver.segment(first * MSS, last * MSS, push, False, jiffy))  # noqa: FBT003


def settled(version: str = "6.18", **options: Any) -> tuple[TcpReceiver, int]:
    """A receiver without quick ACKs, and the number of the next segment."""
    receiver = make(version, **options)
    number = 0
    while number < 40 or receiver.delack.quick:
        take(receiver, number, number + 1)
        receiver.copied(receiver.readable(), 0)
        receiver.ack_sent()
        number += 1
    return receiver, number


def blocks(receiver: TcpReceiver, base: int) -> list[tuple[int, int]]:
    """SACK blocks in segments after `base`."""
    return [(a // MSS - base, b // MSS - base) for a, b in receiver.sack_blocks()]


class TestReordering:
    def test_three_duplicate_acks_then_one_for_many(self) -> None:
        receiver, base = settled()
        answers = []
        for n in range(1, 8):
            answers.append(take(receiver, base + n, base + n + 1))
            if answers[-1]:
                receiver.ack_sent()
        assert answers == [True] * 3 + [False] * 4
        assert receiver.compression.compressed == 4
        assert receiver.compression.delay_ps(receiver.window.rtt) >= 100_000_000

    def test_at_most_44_are_held_back(self) -> None:
        receiver = make()
        answers = [take(receiver, n, n + 1) for n in range(1, 49)]
        assert answers == [True] * 3 + [False] * 44 + [True]

    def test_a_timer_is_started_for_the_segment_that_has_just_come(self) -> None:
        receiver, base = settled()
        for n in range(1, 5):
            take(receiver, base + n, base + n + 1)
        assert receiver.compression.started
        take(receiver, base, base + 1)
        assert not receiver.compression.started

    @pytest.mark.parametrize(
        ("srtt_us", "rtt_us", "held_us"),
        # 5 % of the shorter round trip, at most 1 ms, and 0.1 ms of slack
        [(100, 400, 105), (400, 100, 105), (40_000, 40_000, 1100)],
    )
    def test_held_back_for_a_twentieth(self, srtt_us: int, rtt_us: int, held_us: int) -> None:
        receiver = make(srtt_ps=srtt_us * US)
        receiver.window.rtt = 8 * rtt_us
        assert receiver.compression.delay_ps(receiver.window.rtt) == held_us * US

    def test_before_4_18_each_is_reported_at_once(self) -> None:
        receiver, base = settled("4.17")
        for n in range(1, 8):
            assert take(receiver, base + n, base + n + 1)
            receiver.ack_sent()

    @pytest.mark.parametrize(
        ("version", "quick"), [("2.6.32", True), ("4.17", True), ("4.18", False)]
    )
    def test_quick_acks_on_reordering(self, version: str, quick: bool) -> None:  # noqa: FBT001
        receiver, base = settled(version)
        take(receiver, base + 1, base + 2)
        assert (receiver.delack.quick > 0) == quick

    def test_a_third_hole_sends_the_acks_that_were_held_back_without_it(self) -> None:
        receiver, base = settled()
        for n in (1, 2, 3, 4, 6):
            if take(receiver, base + n, base + n + 1):
                receiver.ack_sent()
        assert receiver.compression.compressed == 2
        assert take(receiver, base + 8, base + 9)
        # what came last is told by the next ACK only
        assert blocks(receiver, base) == [(6, 7), (1, 5)]
        receiver.ack_sent()
        assert blocks(receiver, base) == [(8, 9), (6, 7), (1, 5)]

    @pytest.mark.parametrize(("version", "at_once"), [("4.18", False), ("4.19", True)])
    def test_a_filled_hole_is_acknowledged_at_once(self, version: str, at_once: bool) -> None:  # noqa: FBT001
        receiver, base = settled(version)
        # small segments: all of them are less than one that is full
        assert receiver.segment(base * MSS + 100, base * MSS + 200, True, False, 0)  # noqa: FBT003
        receiver.ack_sent()
        filled = receiver.segment(base * MSS, base * MSS + 100, True, False, 0)  # noqa: FBT003
        assert bool(filled) == at_once
        assert receiver.seq.rcv_nxt == base * MSS + 200

    def test_newest_block_first_and_four_at_most(self) -> None:
        receiver, base = settled("4.17")
        for n in (2, 4, 6, 8, 10):
            take(receiver, base + n, base + n + 1)
            receiver.ack_sent()
        assert blocks(receiver, base) == [(10, 11), (8, 9), (6, 7), (4, 5)]
        # one that joins two
        take(receiver, base + 7, base + 8)
        assert blocks(receiver, base) == [(6, 9), (10, 11), (4, 5)]

    def test_timestamps_leave_room_for_three(self) -> None:
        receiver, base = settled("4.17", option_bytes=12, timestamps=True)
        for n in (2, 4, 6, 8):
            take(receiver, base + n, base + n + 1)
        assert len(blocks(receiver, base)) == 3

    def test_a_block_goes_when_it_is_in_order(self) -> None:
        receiver, base = settled()
        for n in (1, 3):
            take(receiver, base + n, base + n + 1)
        take(receiver, base, base + 1)
        assert blocks(receiver, base) == [(3, 4)]
        assert receiver.seq.rcv_nxt == (base + 2) * MSS


class TestDuplicates:
    def test_old_data_are_reported_once(self) -> None:
        receiver, base = settled()
        assert take(receiver, base - 1, base)
        assert blocks(receiver, base) == [(-1, 0)]
        receiver.ack_sent()
        assert blocks(receiver, base) == []

    def test_the_old_part_of_a_segment(self) -> None:
        receiver, base = settled()
        take(receiver, base - 2, base + 1)
        assert blocks(receiver, base) == [(-2, 0)]
        assert receiver.seq.rcv_nxt == (base + 1) * MSS

    def test_what_is_kept_already(self) -> None:
        receiver, base = settled()
        take(receiver, base + 1, base + 3)
        take(receiver, base + 2, base + 3)
        assert blocks(receiver, base) == [(2, 3), (1, 3)]
        take(receiver, base + 2, base + 5)
        assert blocks(receiver, base) == [(2, 3), (1, 5)]

    def test_beyond_the_window_is_answered_but_not_kept(self) -> None:
        receiver, base = settled()
        edge = (receiver.seq.rcv_wup + receiver.seq.rcv_wnd) // MSS
        assert take(receiver, edge + 1, edge + 2)
        assert blocks(receiver, base) == []
        assert receiver.seq.rcv_nxt == base * MSS

    @pytest.mark.parametrize(("version", "taken"), [("6.16", True), ("6.17", False)])
    def test_partly_beyond_the_window(self, version: str, taken: bool) -> None:  # noqa: FBT001
        receiver, base = settled(version)
        take(receiver, base, base + 1)
        receiver.ack_sent()
        end = receiver.seq.rcv_wup + receiver.seq.rcv_wnd + 10
        receiver.segment(receiver.seq.rcv_nxt, end, False, False, 0)  # noqa: FBT003
        assert (receiver.seq.rcv_nxt == end) == taken


class TestDelay:
    @pytest.mark.parametrize(("version", "due"), [("6.5", False), ("6.6", True)])
    def test_push_on_a_full_segment(self, version: str, due: bool) -> None:  # noqa: FBT001
        receiver, base = settled(version)
        assert not take(receiver, base, base + 1, push=True)
        receiver.copied(MSS, 0)
        assert bool(receiver.delack.due_after_copy(MSS)) == due

    @pytest.mark.parametrize(("version", "answers"), [("4.20", 1), ("5.1", 3), ("6.7", 1)])
    def test_answers_that_make_a_connection_interactive(self, version: str, answers: int) -> None:
        receiver, base = settled(version)
        take(receiver, base, base + 1)
        for _ in range(answers):
            assert not receiver.delack.pingpong
            receiver.delack.data_sent(0)
        assert receiver.delack.pingpong

    @pytest.mark.parametrize(("limit_ms", "jiffies"), [(0, 10), (1, 1), (5, 2), (20, 5), (90, 10)])
    def test_delack_max(self, limit_ms: int, jiffies: int) -> None:
        receiver, base = settled(delack_limit_ps=limit_ms * MS)
        take(receiver, base, base + 1)
        assert receiver.delack.schedule_timer(100) == 100 + jiffies

    def test_a_known_round_trip_bounds_it(self) -> None:
        receiver, base = settled()
        take(receiver, base, base + 1)
        for _ in range(5):
            receiver.delack.expired()
        assert receiver.delack.ato == 51
        assert receiver.delack.schedule_timer(0) == 10

    def test_route_quickack(self) -> None:
        receiver, base = settled(quickack=True)
        assert take(receiver, base, base + 1)
        assert not receiver.delack.holds((base + 1) * MSS, (base + 2) * MSS)

    def test_quickack_option(self) -> None:
        receiver, base = settled()
        take(receiver, base, base + 1)
        assert not receiver.delack.set_quickack(0)
        assert receiver.delack.pingpong
        # what waits is acknowledged if it has been read
        receiver.copied(MSS, 0)
        assert receiver.delack.set_quickack(1)
        assert not receiver.delack.pingpong

    def test_an_even_quickack_option_is_for_one_ack(self) -> None:
        receiver, base = settled()
        take(receiver, base, base + 1)
        receiver.copied(MSS, 0)
        assert receiver.delack.set_quickack(2)
        assert receiver.delack.pingpong


class TestWindow:
    @pytest.mark.parametrize(
        ("version", "first"),
        [("2.6.18", 4 * 1460), ("2.6.39", 10 * 1460), ("3.4", 10 * 1460), ("6.18", 64_240)],
    )
    def test_first_offer(self, version: str, first: int) -> None:
        assert make(version).seq.rcv_wnd == first

    def test_share_follows_from_the_memory_of_segments(self) -> None:
        receiver = make()
        take(receiver, 0, 1)
        # 1000 bytes in a slab object of 2048 with an sk_buff of 256
        assert receiver.window.ratio == 1000 * 256 // 2304
        assert receiver.window.window_clamp == 131_072 * 111 // 256

    def test_no_window_below_a_sixteenth(self) -> None:
        receiver = make("6.18", rcvbuf_locked=True)
        number = 0
        while receiver.seq.rcv_wnd > 0 and number < 100:
            take(receiver, number, number + 1)
            receiver.ack_sent()
            number += 1
        assert receiver.delack.select_window() == 0
        assert receiver.delack.quick == 0
        # a probe is answered
        assert receiver.segment(receiver.seq.rcv_nxt, receiver.seq.rcv_nxt + 1, False, False, 0)  # noqa: FBT003

    @settings(max_examples=examples(200))
    @given(
        st.lists(st.tuples(st.integers(0, 12), st.integers(1, 4), st.integers(0, 3)), max_size=60),
        st.sampled_from(["2.6.18", "2.6.32", "3.10", "4.18", "6.18"]),
    )
    def test_nothing_is_lost_or_invented(
        self, steps: list[tuple[int, int, int]], version: str
    ) -> None:
        receiver = make(version)
        got: set[int] = set()
        for at, length, read in steps:
            first = receiver.seq.rcv_nxt // MSS + at - 3
            if first < 0 or (first + length) * MSS > receiver.seq.rcv_wup + receiver.seq.rcv_wnd:
                continue
            if receiver.segment(first * MSS, (first + length) * MSS, False, False, 0):  # noqa: FBT003
                receiver.ack_sent()
            got |= set(range(first, first + length))
            expected = next(n for n in range(10_000) if n not in got)
            assert receiver.seq.rcv_nxt == expected * MSS
            for first_byte, last_byte in receiver.held.blocks:
                assert set(range(first_byte // MSS, last_byte // MSS)) <= got
                assert first_byte > receiver.seq.rcv_nxt
            receiver.copied(min(read * MSS, receiver.readable()), 0)
            assert (receiver.window.queue.memory == 0) == (receiver.readable() == 0)
            assert (receiver.held.memory == 0) == (not receiver.out_of_order)


class TestMemory:
    def test_a_small_segment_goes_behind_the_one_before(self) -> None:
        receiver, base = settled()
        take(receiver, base, base + 1)
        before = receiver.window.allocated()
        receiver.segment((base + 1) * MSS, (base + 1) * MSS + 100, True, False, 0)  # noqa: FBT003
        assert receiver.window.allocated() == before
        receiver.copied(MSS, 0)
        # freed when the last byte has been read
        assert receiver.window.allocated() == before
        receiver.copied(100, 0)
        assert receiver.window.allocated() == 0


class TestBufferOfOnesOwn:
    """SO_RCVBUF has been set."""

    @pytest.mark.parametrize(
        ("version", "locked", "scale"),
        [("2.6.36", True, 10), ("6.18", True, 0), ("6.18", False, 10)],
    )
    def test_it_limits_the_window_scale(self, version: str, scale: int, *, locked: bool) -> None:
        receiver = make(version, rmem_default=60_000, rcvbuf_locked=locked)
        assert receiver.window.wscale == scale


class TestNoMemoryLeft:
    """The buffer takes 20,000 bytes; a segment of up to 152 bytes takes 832."""

    def crowded(self, version: str = "6.18") -> tuple[TcpReceiver, int]:
        receiver, base = settled(version, rmem_default=20_000, rcvbuf_locked=True)
        return receiver, base * MSS

    def test_small_segments_are_copied_together(self) -> None:
        receiver, start = self.crowded()
        copied = []
        for number in range(31):
            seq = start + number * 150
            receiver.segment(seq, seq + 150, True, False, 0)  # noqa: FBT003
            receiver.ack_sent()
            copied.append(receiver.memory.collapsed)
        assert receiver.seq.rcv_nxt == start + 31 * 150
        # the fast path looks at what is left of a page only, which takes four more
        assert (copied[28], copied[29]) == (0, 29 * 150)
        assert receiver.window.allocated() < 8000
        receiver.copied(31 * 150, 0)
        assert (receiver.readable(), receiver.window.allocated()) == (0, 0)

    @pytest.mark.parametrize(("version", "kept"), [("4.8", 0), ("4.9", 23), ("4.18", 20)])
    def test_the_highest_ahead_of_a_hole_are_dropped(self, version: str, kept: int) -> None:
        receiver, start = self.crowded(version)
        receiver.segment(start, start + 100, False, False, 0)  # noqa: FBT003
        for number in range(1, 25):
            seq = start + number * 160
            receiver.segment(seq, seq + 150, False, False, 0)  # noqa: FBT003
        assert receiver.window.allocated() == 25 * 832
        receiver.segment(start + 100, start + 120, False, False, 0)  # noqa: FBT003
        assert (receiver.seq.rcv_nxt, len(receiver.out_of_order)) == (start + 120, kept)
        assert receiver.held.blocks == []

    @pytest.mark.parametrize(("version", "kept"), [("6.1", 21), ("6.2", 25)])
    def test_the_highest_is_not_dropped_for_a_higher_one(self, version: str, kept: int) -> None:
        receiver, start = self.crowded(version)
        for number in range(1, 27):
            seq = start + number * 160
            receiver.segment(seq, seq + 150, False, False, 0)  # noqa: FBT003
        lowest = [first for first, _ in receiver.out_of_order if first < start + 26 * 160]
        assert len(lowest) == kept

    @pytest.mark.parametrize(("version", "kept"), [("4.1", 0), ("4.2", 25), ("6.18", 21)])
    def test_the_first_segment_is_always_taken(self, version: str, kept: int) -> None:
        receiver, start = self.crowded(version)
        for number in range(1, 26):
            seq = start + number * 160
            receiver.segment(seq, seq + 150, False, False, 0)  # noqa: FBT003
        receiver.segment(start, start + 150, False, False, 0)  # noqa: FBT003
        assert (receiver.seq.rcv_nxt, len(receiver.out_of_order)) == (start + 150, kept)


def test_what_was_there_before_does_not_open_the_window() -> None:
    receiver, base = settled()
    before = receiver.window.rcv_ssthresh
    take(receiver, base + 1, base + 2)
    grown = receiver.window.rcv_ssthresh
    take(receiver, base + 1, base + 2)
    assert receiver.window.rcv_ssthresh == grown >= before
