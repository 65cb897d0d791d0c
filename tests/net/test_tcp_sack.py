"""SACK's part of a sender: reordering, and recoveries that are undone."""

from __future__ import annotations

from typing import Any

import pytest

from simnet.net.congestion import make_congestion
from simnet.net.tcp_sack import MAX_REORDERING, SackScore
from simnet.net.tcp_sender import TcpSender
from tests.host.parts import MS

MSS = 1000
WINDOW = 1 << 20


def tag(score: SackScore, *segments: int, una: int = 0, dsack: bool = False) -> None:
    """The receiver has got these segments, the last one last."""
    held = len(set(segments))
    highest = (max(segments) + 1) * MSS if segments else 0
    recent = segments[-1] * MSS if segments else 0
    score.tag(una * MSS, MSS, una * MSS, held, highest, recent, dsack)


class TestReordering:
    def test_in_order_behind_a_hole_is_none(self) -> None:
        score = SackScore(3)
        for last in range(1, 9):
            tag(score, *range(1, last + 1))
        assert (score.reordering, score.raised) == (3, 0)
        assert score.fackets_out(0, MSS) == 9

    def test_a_late_segment_in_a_hole_is_tolerated_from_then_on(self) -> None:
        score = SackScore(3)
        tag(score, 1)
        tag(score, 1, 7)
        assert score.reordering == 3
        # segment 2, the third, after segment 7, the eighth
        tag(score, 1, 7, 2)
        assert score.reordering == 8 + 1 - 3

    def test_copies_of_an_ack_show_nothing(self) -> None:
        score = SackScore(3)
        tag(score, 1)
        tag(score, 1, 7)
        for _ in range(3):
            tag(score, 1, 7, 1)
        assert score.reordering == 3

    def test_a_segment_that_was_sent_again_shows_nothing(self) -> None:
        score = SackScore(3)
        tag(score, 1)
        tag(score, 1, 9)
        score.entered(0, 10, 10)
        score.retransmitted()
        tag(score, 1, 9, 2)
        assert score.reordering == 3

    def test_there_is_a_limit(self) -> None:
        score = SackScore(3)
        score.update_reordering(500)
        assert score.reordering == MAX_REORDERING
        score.update_reordering(5)
        assert score.reordering == MAX_REORDERING


def started(segments: int, **options: Any) -> TcpSender:
    """A sender with so many segments on their way."""
    usual: dict[str, Any] = {
        "mss": MSS,
        "congestion": make_congestion("reno", segments),
        "wmem_default": 1 << 20,
        "wmem_max": 1 << 20,
        "segment_truesize": 1250,
        "jiffy_ps": 4 * MS,
        "rto_min_ps": 200 * MS,
        "rto_init_ps": 3000 * MS,
        "rto_max_ps": 120_000 * MS,
        "tso": False,
        "tso_win_divisor": 3,
        "reordering": 3,
        "sack": True,
    }
    sender = TcpSender(**(usual | options))
    sender.open_window(WINDOW)
    sender.write(100 * MSS, end_of_send=True)
    while length := sender.next_segment(0):
        sender.sent(length, 0)
    return sender


def ack(sender: TcpSender, una: int, *held: int, dsack: bool = False) -> int:
    """An ACK; return the length of what has to be sent again."""
    count = len(set(held))
    if count or dsack:
        highest = (max(held) + 1) * MSS if held else 0
        recent = held[-1] * MSS if held else 0
        sender.sack_option(una * MSS, count, highest, recent, dsack)
    sender.acknowledge(una * MSS, WINDOW, 0, count)
    return sender.retransmission()


class TestRecovery:
    def test_three_segments_behind_a_hole(self) -> None:
        sender = started(10)
        assert [ack(sender, 0, *range(1, n)) for n in (2, 3, 4)] == [0, 0, MSS]
        assert sender.recovering

    def test_distance_counts_as_much_as_number(self) -> None:
        """FACK: of two segments lost, the second one counts too."""
        sender = started(10)
        assert [ack(sender, 0, 2), ack(sender, 0, 2, 3)] == [0, MSS]

    @pytest.mark.parametrize("sack", [True, False])
    def test_copies_of_an_ack(self, sack: bool) -> None:  # noqa: FBT001
        sender = started(10, sack=sack)
        for _ in range(8):
            ack(sender, 0)
        assert sender.recovering is not sack

    def test_an_ack_that_was_overtaken_is_ignored(self) -> None:
        sender = started(10)
        ack(sender, 5)
        sender.acknowledge(3 * MSS, WINDOW // 2, 0, 0)
        assert (sender.snd_una, sender.snd_wnd) == (5 * MSS, WINDOW)

    def test_a_loss_is_not_undone(self) -> None:
        sender = started(20)
        for n in (2, 3, 4):
            ack(sender, 0, *range(1, n))
        ack(sender, 20)
        assert sender.congestion.cwnd == 10
        ack(sender, 20)
        assert (sender.congestion.cwnd, sender.score.undone) == (10, 0)


class TestUndo:
    def late(self) -> TcpSender:
        """The first segment comes after the fourth; it has been sent again for nothing."""
        sender = started(20)
        for n in (2, 3, 4):
            ack(sender, 0, *range(1, n))
        assert sender.recovering
        assert sender.congestion.cwnd == 10
        return sender

    def test_duplicates_for_all_that_was_sent_again_restore_the_window(self) -> None:
        sender = self.late()
        ack(sender, 20)
        assert not sender.recovering
        assert sender.congestion.cwnd == 10
        sender.write(0, end_of_send=True)
        while length := sender.next_segment(0):
            sender.sent(length, 0)
        ack(sender, 20, dsack=True)
        # 20 again, but no more than three beyond what is on its way
        assert sender.score.undone == 1
        assert sender.congestion.cwnd == 13
        assert sender.congestion.ssthresh >= 15

    def test_a_partial_ack_then_raises_what_is_tolerated(self) -> None:
        sender = started(20)
        for n in (2, 3, 4):
            ack(sender, 0, *range(1, n))
        # the duplicate is reported while the sixth segment is still missing
        ack(sender, 0, 1, 2, 3, dsack=True)
        assert ack(sender, 5, 6, 7) == 0
        assert sender.reordering > 3
        assert sender.recovering

    def test_a_timeout_leaves_nothing_to_undo(self) -> None:
        sender = self.late()
        sender.timer_expired(1000)
        ack(sender, 20, dsack=True)
        assert sender.score.undone == 0
