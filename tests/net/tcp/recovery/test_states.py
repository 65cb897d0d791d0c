"""What begins and ends with each state of congestion control, segment by segment.

net/ipv4/tcp_input.c (`tcp_process_frto`, `tcp_current_ssthresh`,
`tcp_enter_recovery`). Windows are Reno's: a loss halves them.
"""

import pytest

from simnet.net.tcp.recovery.frto import ANSWERED, NEEDLESS, WAITS, Frto
from simnet.net.tcp.recovery.recovery import DISORDER, OPEN, RECOVERY
from tests.net.tcp.recovery.test_recovery import COUNTING, FIRST, LATER, LATEST, PRR, ack, started
from tests.net.tcp.send.test_sender import MSS

VERSIONS = (FIRST, LATER, PRR, COUNTING, LATEST)
INFINITE = 0x7FFFFFFF


@pytest.mark.parametrize(
    ("step", "una", "acked", "newly", "flags", "verdict", "cwnd"),
    [
        # 10 segments, of which 8 were sent before the timeout; the window is 6
        # all of those have come: two after the first answer, else three
        (1, 8, 8, 0, (False, False, True), 2, 6),
        (2, 8, 1, 0, (False, False, True), 3, 6),
        (1, 9, 9, 0, (False, False, True), 2, 6),
        # the first answer: two new ones may go, if there are any
        (1, 1, 1, 0, (False, False, True), ANSWERED, 9 + 2),
        (1, 7, 7, 0, (False, False, True), ANSWERED, 3 + 2),
        (1, 1, 1, 0, (False, False, False), 2, 9 + 2),
        # nothing new: nothing more than what is on its way
        (1, 0, 0, 0, (False, True, True), WAITS, 6),
        (1, 0, 0, 3, (False, True, True), WAITS, 6),
        # the second one: more of what was sent before has come, by ACK or by SACK
        (2, 2, 1, 0, (False, False, True), NEEDLESS, 6),
        (2, 1, 0, 1, (False, True, True), NEEDLESS, 6),
        # something sent since has come, and what came before did not
        (2, 1, 0, 1, (True, True, True), 3, 6),
        (2, 2, 1, 0, (True, False, True), 3, 6),
        # a duplicate that tells nothing, and what is none
        (2, 1, 0, 0, (False, True, True), 3, 6),
        (2, 1, 0, 0, (False, False, True), WAITS, 6),
    ],
)
def test_what_an_ack_says_of_a_timeout(
    step: int,
    una: int,
    acked: int,
    newly: int,
    flags: tuple[bool, bool, bool],
    *,
    verdict: int,
    cwnd: int,
) -> None:
    """`flags`: SACK reports what was sent since; a duplicate; there is something new to send."""
    sender = started(10, LATER)
    search = Frto(sender.board, sender.congestion)
    search.begin(8 * MSS)
    sender.congestion.set_window(6)
    sender.seq.acknowledge(una * MSS, 1 << 20)
    sender.board.clean(una * MSS, 0)
    assert search.judge(step, acked, newly, *flags) == verdict
    assert sender.congestion.cwnd == cwnd


def test_with_nothing_on_its_way_two_may_be_sent() -> None:
    sender = started(4, LATER)
    search = Frto(sender.board, sender.congestion)
    search.begin(4 * MSS)
    sender.board.all_lost(False)  # noqa: FBT003 - what is held
    assert search.judge(1, 0, 0, False, True, True) == 2  # noqa: FBT003 - as the kernel's flags


@pytest.mark.parametrize("version", VERSIONS)
class TestRecovery:
    def test_it_begins_with_what_was_there(self, version: str) -> None:
        sender = started(20, version)
        recovery = sender.recovery
        for last in (1, 2):
            ack(sender, 0, (1, last))
            assert (recovery.state, recovery.entered) == (DISORDER, 0)
        ack(sender, 0, (1, 3))
        assert (recovery.state, recovery.entered, recovery.undone) == (RECOVERY, 1, 0)
        assert (recovery.high_seq, recovery.prior_cwnd) == (20 * MSS, 20)
        assert (sender.congestion.ssthresh, sender.board.lost_out) == (10, 1)
        # what the threshold was, three quarters of the window at least
        assert recovery.prior_ssthresh == INFINITE
        assert (sender.board.undo.marker, sender.board.undo.retrans) == (0, 1)
        # one was sent again, and of what has come that is the first that counts
        assert recovery.prr_out == 1
        assert not recovery.may_raise()

    def test_it_ends_when_all_that_was_there_has_come(self, version: str) -> None:
        sender = started(20, version)
        sender.seq.write(4 * MSS, end_of_send=True)
        sent = [number for last in (1, 2, 3) for number in ack(sender, 0, (1, last))]
        assert 0 in sent
        before = sender.recovery.high_seq // MSS
        assert before in {20, 22}
        ack(sender, before - 1)
        assert sender.recovery.state == RECOVERY
        ack(sender, before)
        # the first kept a mark of what might be undone, and with it Disorder
        assert sender.recovery.state == (DISORDER if version == FIRST else OPEN)
        assert sender.recovery.may_raise()
        assert (sender.recovery.entered, sender.recovery.undone) == (1, 0)


@pytest.mark.parametrize(
    ("state", "cwnd", "ssthresh", "expected"),
    [
        # three quarters of the window, or what the threshold is
        (OPEN, 20, 10, 15),
        (OPEN, 20, 16, 16),
        (OPEN, 7, 2, 3 + 1),
        (DISORDER, 20, 10, 15),
        (RECOVERY, 20, 10, 10),
    ],
)
def test_the_threshold_that_is_remembered(
    state: int, cwnd: int, ssthresh: int, expected: int
) -> None:
    sender = started(5, LATER)
    for last in range(1, {OPEN: 0, DISORDER: 1, RECOVERY: 3}[state] + 1):
        ack(sender, 0, (1, last))
    assert sender.recovery.state == state
    sender.congestion.set_window(cwnd)
    sender.congestion.set_threshold(ssthresh)
    assert sender.recovery.current_ssthresh() == expected
