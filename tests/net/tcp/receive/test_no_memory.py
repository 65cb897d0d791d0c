"""A receiver whose window or memory has run out, and marks (ECN): what is taken, what answered.

Where not said, each segment is charged 1000 bytes and all of a buffer of 10000 is offered.
"""

from typing import Any

import pytest

from simnet.net.link.skb import CE, CWR, ECT
from simnet.net.tcp.receive.queue import SkbSizes
from simnet.net.tcp.receive.receiver import TcpReceiver
from simnet.net.tcp.rules.ecn import Ecn
from simnet.net.tcp.rules.receiver_version import ReceiverRules
from tests.net.tcp.receive.test_acknowledgements import comes
from tests.net.tcp.receive.test_receiver import MSS, make, settle, take
from tests.net.tcp.receive.test_versions import make as make_version
from tests.net.tcp.receive.test_versions import settled


def whole(*, memory: int = 1000, buffer: int = 10_000, **rules: Any) -> TcpReceiver:
    """A receiver that offers all of its buffer."""
    return make(
        rules=ReceiverRules(adv_win_scale=62, whole_buffer=True, **rules),
        sizes=SkbSizes(memory, part_bytes=max(memory, 1000) if memory > 1 else 1),
        advmss=max(memory, 1000),
        rmem_default=buffer,
        window_scaling=False,
        rcvbuf_locked=True,
    )


def fill(receiver: TcpReceiver, most: int = 100) -> int:
    """Receive segments of 100 bytes until one is not taken; return how many were."""
    for count in range(most):
        seq = receiver.seq.rcv_nxt
        comes(receiver, seq, seq + 100)
        if receiver.seq.rcv_nxt == seq:
            return count
    return most


class TestClosedWindow:
    def test_nothing_more_is_taken_but_all_is_answered(self) -> None:
        receiver = whole(memory=1)
        comes(receiver, 0, 10_000)
        assert receiver.ack_sent() == 0
        while receiver.delack.quick:
            receiver.ack_sent()
        # a window probe, and quick ACKs begin again
        assert comes(receiver, 10_000, 10_001)
        assert (receiver.seq.rcv_nxt, receiver.delack.quick, receiver.delack.scheduled) == (
            10_000,
            2,
            True,
        )

    def test_what_went_beyond_it_leaves_none(self) -> None:
        receiver = whole(memory=1)
        comes(receiver, 0, 10_500)
        assert receiver.seq.rcv_nxt == 10_500
        comes(receiver, 10_500, 10_501)
        comes(receiver, 10_600, 10_700)
        assert (receiver.seq.rcv_nxt, receiver.out_of_order) == (10_500, [])

    def test_the_last_byte_of_it_is_taken(self) -> None:
        receiver = whole(memory=1)
        comes(receiver, 0, 9999)
        comes(receiver, 9999, 10_000)
        assert receiver.seq.rcv_nxt == 10_000
        receiver = whole(memory=1)
        comes(receiver, 9999, 10_000)
        assert receiver.out_of_order == [(9999, 10_000)]
        comes(receiver, 10_000, 10_001)
        assert receiver.out_of_order == [(9999, 10_000)]

    def test_a_window_that_shrinks_to_nothing_ends_quick_acks(self) -> None:
        receiver = whole()
        fill(receiver, 4)
        assert receiver.delack.quick > 0
        fill(receiver, 4)
        assert receiver.delack.quick == 0


class TestNoMemory:
    @pytest.mark.parametrize(
        ("memory", "taken"),
        # the first that goes beyond 10000 bytes, and what the page has room for
        [(1000, 12), (1024, 12), (1023, 12), (2000, 6), (2048, 6), (5000, 3), (10_000, 2)],
    )
    def test_the_last_page_is_filled(self, memory: int, taken: int) -> None:
        receiver = whole(memory=memory)
        assert fill(receiver) == taken
        assert receiver.window.allocated() == taken * memory
        assert (receiver.readable(), receiver.delack.quick) == (100 * taken, 0)

    def test_a_segment_that_is_refused_changes_nothing(self) -> None:
        receiver = whole()
        fill(receiver)
        receiver.ack_sent()
        assert not comes(receiver, 1200, 1300)
        assert (receiver.seq.rcv_nxt, receiver.window.allocated(), receiver.delack.scheduled) == (
            1200,
            12_000,
            False,
        )
        # when the reader has made room it is taken
        receiver.copied(300, 0)
        comes(receiver, 1200, 1300)
        assert (receiver.seq.rcv_nxt, receiver.window.allocated()) == (1300, 10_000)

    def test_then_the_page_does_not_count_until_there_is_room(self) -> None:
        receiver = whole()
        fill(receiver)
        # 11000 are more than the buffer has
        receiver.copied(100, 0)
        comes(receiver, 1200, 1300)
        assert receiver.seq.rcv_nxt == 1200

    @pytest.mark.parametrize(("strict", "window"), [(False, 8800), (True, 0)])
    def test_from_4_19_on_it_is_answered_from_6_17_on_with_a_closed_window(
        self,
        strict: bool,  # noqa: FBT001
        window: int,
    ) -> None:
        receiver = whole(filled_at_once=True, strict_window=strict, counts_scheduled=True)
        fill(receiver)
        assert (receiver.delack.ack_now, receiver.delack.scheduled) == (True, True)
        assert receiver.delack.no_memory == strict
        assert receiver.ack_sent() == window
        assert (receiver.delack.ack_now, receiver.delack.scheduled, receiver.delack.no_memory) == (
            False,
            False,
            False,
        )
        if strict:
            # the window is closed
            assert comes(receiver, 1200, 1300)
            assert (receiver.seq.rcv_nxt, receiver.delack.no_memory) == (1200, False)
        else:
            assert comes(receiver, 1200, 1300)
            assert receiver.delack.ack_now

    def test_what_is_ahead_of_a_hole_makes_room(self) -> None:
        receiver = whole()
        comes(receiver, 9000, 9100)
        # it takes the page's room, too: the fast path is left
        taken = fill(receiver, 11)
        assert (taken, receiver.window.allocated(), receiver.out_of_order) == (11, 11_000, [])
        assert receiver.seq.rcv_nxt == 1100

    @pytest.mark.parametrize(
        ("rules", "left"),
        [
            ({}, []),
            ({"prune_batches": 1}, [2000, 3000]),
            # an eighth of the buffer is two of them
            ({"prune_batches": 2}, [2000]),
            ({"prune_batches": 2, "keeps_lower": True}, [2000]),
        ],
    )
    def test_how_much_of_it_goes(self, rules: dict[str, Any], left: list[int]) -> None:
        receiver = whole(**rules)
        for first in (2000, 3000, 4000):
            comes(receiver, first, first + 100)
        for number in range(8):
            comes(receiver, 100 * number, 100 * number + 100)
        assert receiver.window.allocated() == 11_000
        comes(receiver, 800, 900)
        assert receiver.seq.rcv_nxt == 900
        assert receiver.out_of_order == [(first, first + 100) for first in left]
        # the SACK option says nothing of what was dropped
        assert receiver.sack_blocks() == []

    def test_of_segments_ahead_of_a_hole_the_one_that_comes_is_dropped(self) -> None:
        receiver = whole(prune_batches=1, keeps_lower=True)
        for number in range(11):
            comes(receiver, 1000 + 200 * number, 1100 + 200 * number)
        receiver.ack_sent()
        assert not comes(receiver, 5000, 5100)
        assert (len(receiver.out_of_order), receiver.window.allocated()) == (11, 11_000)
        assert (receiver.delack.scheduled, receiver.delack.quick) == (False, 0)
        # one that is lower takes the highest one's place
        assert comes(receiver, 500, 600)
        assert receiver.out_of_order[0] == (500, 600)
        assert receiver.out_of_order[-1] == (2800, 2900)

    def test_a_buffer_that_may_grow_grows(self) -> None:
        receiver = make(
            rules=ReceiverRules(adv_win_scale=62, whole_buffer=True),
            sizes=SkbSizes(5000, part_bytes=5000),
            advmss=5000,
            rmem_default=10_000,
            rmem_max=40_000,
            moderate_rcvbuf=False,
        )
        assert fill(receiver) == 9
        assert receiver.window.rcvbuf == 40_000

    @pytest.mark.parametrize(("overhead", "collapses"), [(900, True), (300, False)])
    def test_up_to_3_4_full_segments_must_waste_memory_to_be_copied_together(
        self,
        overhead: int,
        collapses: bool,  # noqa: FBT001
    ) -> None:
        receiver = make(
            truesize_overhead=overhead, rmem_default=12_000, rcvbuf_locked=True, max_quickacks=0
        )
        for number in range(20):
            comes(receiver, 100 * number, 100 * number + 100)
        assert (receiver.memory.collapsed > 0) == collapses


class TestHoles:
    def test_filled_they_end_interactive_mode_before_4_19(self) -> None:
        for version, stays in (("4.18", False), ("4.19", True)):
            receiver, number = settled(version)
            base = 1000 * number
            comes(receiver, base + 1000, base + 1100)
            receiver.ack_sent()
            receiver.delack.set_quickack(0)
            comes(receiver, base, base + 1000)
            assert receiver.delack.pingpong == stays
            assert receiver.delack.ack_now == stays

    def test_partly_filled_they_do_not(self) -> None:
        receiver, number = settled("6.18")
        base = 1000 * number
        for first in (1000, 3000):
            comes(receiver, base + first, base + first + 100)
        comes(receiver, base, base + 1000)
        assert (receiver.seq.rcv_nxt, receiver.delack.ack_now) == (base + 1100, False)
        assert receiver.out_of_order == [(base + 3000, base + 3100)]

    @pytest.mark.parametrize(("version", "opens"), [("5.8", False), ("5.9", True)])
    def test_what_is_ahead_of_them_opens_the_window_from_5_9_on(
        self,
        version: str,
        opens: bool,  # noqa: FBT001
    ) -> None:
        receiver = make_version(version, max_quickacks=0)
        receiver.window.limit(200_000, 0)
        before = receiver.window.rcv_ssthresh
        assert receiver.window.rcv_ssthresh == before
        comes(receiver, 1000, 2000)
        assert (receiver.window.rcv_ssthresh > before, receiver.delack.quick) == (opens, int(opens))

    def test_not_without_sack(self) -> None:
        receiver = make_version("5.9", max_quickacks=0, sack=False)
        receiver.window.limit(200_000, 0)
        before = receiver.window.rcv_ssthresh
        comes(receiver, 1000, 2000)
        assert (receiver.window.rcv_ssthresh, receiver.delack.quick) == (before, 0)

    def test_what_is_ahead_of_them_sizes_the_buffer_from_6_15_on(self) -> None:
        for version, grows in (("6.14", False), ("6.15", True)):
            receiver = make_version(version, rmem_default=20_000, min_rcvmss=100)
            before = receiver.window.rcvbuf
            edge = receiver.seq.rcv_wnd
            comes(receiver, edge - 100, edge)
            assert (receiver.window.rcvbuf > before) == grows


class TestRoundTrips:
    def test_timestamps_tell_no_less_than_a_jiffy(self) -> None:
        assert make().window.rtt == 8
        receiver = make()
        for now in (10, 40):
            take(receiver, MSS, now)
            receiver.ack_sent()
        assert receiver.window.rtt == 8

    @pytest.mark.parametrize(("version", "rtt"), [("4.12", 8 * 30), ("4.13", 8 * 500)])
    def test_without_them_a_window_of_data_does(self, version: str, rtt: int) -> None:
        receiver = make_version(version)
        receiver.now_us = 100
        take(receiver, 100, 10)
        receiver.now_us = 600
        receiver.segment(100, receiver.seq.rcv_wnd + 100, False, True, 40)  # noqa: FBT003
        assert receiver.window.rtt == rtt

    def test_from_4_13_on_it_is_measured_with_them_too(self) -> None:
        assert make_version("4.13", timestamps=True).window.rtt == 0
        assert make_version("4.12", timestamps=True).window.rtt == 8


class TestMarks:
    def marked(self, version: str) -> tuple[TcpReceiver, int]:
        receiver, number = settled(version)
        receiver.ecn = Ecn()
        return receiver, 1000 * number

    @pytest.mark.parametrize(("version", "quick"), [("4.17", 16), ("4.18", 2)])
    @pytest.mark.parametrize("ahead", [0, 2000])
    def test_a_mark_is_answered_at_once(self, version: str, quick: int, ahead: int) -> None:
        receiver, base = self.marked(version)
        if ahead and version == "4.17":
            return
        receiver.delack.set_quickack(0)
        receiver.marked(CE, True)  # noqa: FBT003
        assert comes(receiver, base + ahead, base + ahead + 100)
        assert (receiver.delack.quick, receiver.delack.pingpong) == (quick, False)

    def test_no_mark_is_not(self) -> None:
        receiver, base = self.marked("4.18")
        receiver.marked(ECT, True)  # noqa: FBT003
        assert not comes(receiver, base, base + 100)
        assert receiver.delack.quick == 0

    @pytest.mark.parametrize(
        ("version", "bits", "data", "at_once"),
        [
            ("4.17", CWR, True, False),
            ("4.18", CWR, True, True),
            ("4.18", CWR, False, False),
            ("4.18", ECT, True, False),
        ],
    )
    def test_an_answer_to_a_mark_is_acknowledged_at_once_from_4_18_on(
        self,
        version: str,
        bits: int,
        data: bool,  # noqa: FBT001
        at_once: bool,  # noqa: FBT001
    ) -> None:
        receiver, _ = self.marked(version)
        receiver.marked(bits, data)
        assert receiver.delack.ack_now == at_once


class TestQuickAcks:
    def test_two_where_the_window_is_less_than_two_segments(self) -> None:
        receiver = make(rmem_default=1930, rcvbuf_locked=True, window_scaling=False)
        take(receiver, MSS)
        assert receiver.delack.quick == 2

    def test_the_last_one_but_one_leaves_ato(self) -> None:
        receiver = settle(make(), 0)
        take(receiver, MSS, 7)
        assert receiver.delack.ato == 12
        take(receiver, MSS, 1000)
        assert (receiver.delack.quick, receiver.delack.ato) == (16, 12)
        for _ in range(15):
            receiver.ack_sent()
        assert (receiver.delack.quick, receiver.delack.ato) == (1, 12)
        receiver.ack_sent()
        assert (receiver.delack.quick, receiver.delack.ato) == (0, 10)

    def test_old_data_begin_ato_anew(self) -> None:
        receiver = settle(make(), 0)
        take(receiver, MSS, 7)
        receiver.ack_sent()
        assert receiver.delack.ato == 12
        comes(receiver, 0, 100)
        assert receiver.delack.ato == 10
