"""Recovery without SACK, as Linux 4.18 and later have it; segments and times as in the other's."""

from typing import Any

from simnet.net.tcp.recovery.recovery import DISORDER, LOSS, OPEN, RECOVERY
from simnet.net.tcp.send.sender import TcpSender
from tests.net.tcp.recovery.test_recovery import LATEST, ack, started
from tests.net.tcp.send.test_sender import MSS, numbers


def recovering(version: str = LATEST, segments: int = 10, **options: Any) -> TcpSender:
    """The first segment has been sent again in jiffy 10, on the third duplicate."""
    sender = started(segments, version, sack=False, timestamps=True, **options)
    assert [ack(sender, 0) for _ in range(3)] == [[], [], [0]]
    assert sender.recovery.state == RECOVERY
    return sender


def test_only_the_first_segment_is_lost() -> None:
    sender = recovering()
    assert [ack(sender, 0) for _ in range(5)] == [[]] * 5
    assert (sender.board.lost_out, sender.board.sacked_out) == (1, 8)


def test_a_partial_ack_for_a_retransmission_shows_the_next_loss() -> None:
    sender = recovering()
    # five others are still in flight, which is what the window is reduced to
    assert ack(sender, 4, jiffy=12, echo=10) == []
    assert (sender.recovery.state, sender.board.lost_out) == (RECOVERY, 1)
    assert ack(sender, 4, jiffy=13, echo=10) == [4]


def test_a_partial_ack_for_an_original_ends_recovery() -> None:
    sender = recovering()
    assert ack(sender, 6, jiffy=12, echo=5) == []
    assert sender.recovery.state == OPEN
    # and the same ACK raises the window
    assert (sender.congestion.cwnd, sender.recovery.undone) == (11, 1)
    assert sender.board.reordering == 6


def test_the_next_hole_begins_another_recovery() -> None:
    """Five of nine duplicates belong to the first hole, four to the next."""
    sender = recovering()
    for _ in range(6):
        ack(sender, 0)
    assert ack(sender, 6, jiffy=12, echo=5) == []
    assert (sender.recovery.state, sender.board.sacked_out) == (DISORDER, 3)


def test_an_undone_window_shrinks_again_while_the_state_is_kept() -> None:
    sender = recovering()
    ack(sender, 10, jiffy=12, echo=5)
    assert (sender.recovery.state, sender.recovery.undone) == (RECOVERY, 1)
    assert sender.congestion.ssthresh > 5
    # nothing is in flight, and ten segments have been delivered against one sent again
    assert sender.congestion.cwnd < 10


def test_what_was_sent_later_opens_again() -> None:
    sender = recovering()
    ack(sender, 10, jiffy=12, echo=5)
    kept = sender.congestion.cwnd
    sender.seq.write(2 * MSS, end_of_send=True)
    assert numbers(sender, 13) == [10, 11]
    ack(sender, 12, jiffy=14, echo=13)
    assert sender.recovery.state == OPEN
    assert sender.congestion.cwnd >= kept


def test_a_reduction_that_was_needed_stays() -> None:
    sender = recovering()
    ack(sender, 10, jiffy=12, echo=10)
    assert sender.recovery.undone == 0
    sender.seq.write(2 * MSS, end_of_send=True)
    numbers(sender, 13)
    ack(sender, 12, jiffy=14, echo=13)
    # two segments do not use a window of five
    assert (sender.recovery.state, sender.congestion.cwnd) == (OPEN, 5)


def test_duplicates_before_a_timeout_mean_nothing_once_more_is_acknowledged() -> None:
    sender = started(10, LATEST, sack=False)
    ack(sender, 0)
    ack(sender, 0)
    sender.timer_expired(800)
    assert numbers(sender, 800) == [0]
    ack(sender, 1, jiffy=810)
    assert (sender.recovery.state, sender.board.sacked_out) == (LOSS, 0)
    # nine are lost, of which two may be on their way in slow start
    assert (sender.board.lost_out, sender.board.in_flight()) == (9, 2)


def test_more_duplicates_than_segments_are_reordering() -> None:
    sender = recovering()
    for _ in range(8):
        ack(sender, 0)
    assert (sender.board.sacked_out, sender.board.reordering) == (9, 10)
