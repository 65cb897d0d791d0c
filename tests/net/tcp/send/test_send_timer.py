"""The one timer of a sender: timeout, window probe, loss probe or RACK's, and who replaces whom.

`tcp_rearm_rto`, `tcp_reset_xmit_timer`, `tcp_retransmit_timer`, `tcp_probe_timer`. Jiffies are
4 ms: the first timeout is 750, the longest 30000.
"""

from typing import Any

import pytest

from simnet.net.tcp.rules.sender_version import sender_rules
from simnet.net.tcp.send.timer import SendTimer
from tests.host.parts import MS
from tests.net.tcp.send.test_sender import MSS, make

NOT = -1
NONE_PENDING, PROBE, REORDERING = 0, 1, 2
SET_AGAIN = (("handled", 9), ("look_again", 9, 4))


def timer_of(segments: int, *, sent_ms: int = 0) -> SendTimer:
    sender = make(rules=sender_rules("6.18"), sack=True)
    for number in range(segments):
        sender.board.append((number + 1) * MSS, 0, 1000 * sent_ms)
    return sender.timer


@pytest.mark.parametrize(
    ("segments", "calls", "jiffy", "pending"),
    [
        (1, [("start", 5)], 755, NONE_PENDING),
        (1, [("set_for", 5, 7)], 12, NONE_PENDING),
        (1, [("start", 5), ("stop",)], NOT, NONE_PENDING),
        (1, [("probe_after", 5, 3)], 8, PROBE),
        (1, [("look_again", 5, 3)], 8, REORDERING),
        # no longer than the timeout
        (1, [("look_again", 5, 800)], 755, REORDERING),
        (1, [("look_again", 5, 3), ("stop",)], NOT, NONE_PENDING),
        (1, [("probe_after", 5, 3), ("start", 6)], 756, NONE_PENDING),
        # a window is probed only if nothing else is waited for
        (0, [("await_window", 5)], 755, NONE_PENDING),
        (0, [("start", 5), ("await_window", 50)], 755, NONE_PENDING),
        # twice the time for each probe, to the longest
        (0, [("probe_window", True), ("await_window", 5)], 5 + 1500, NONE_PENDING),
        (0, [("probe_window", True), ("probe_window", False), ("await_window", 0)], 1500, 0),
        (0, [*[("probe_window", True)] * 6, ("await_window", 5)], 5 + 30_000, NONE_PENDING),
        # nothing is on its way; something is, and the timeout is on or not
        (0, [("start", 5), ("rearm", 9)], NOT, NONE_PENDING),
        (1, [("start", 5), ("rearm", 9)], 759, NONE_PENDING),
        # of the first segment 40 of 3000 ms have passed, and more than all
        (1, [("set_time", 40 * MS), ("probe_after", 5, 3), ("rearm", 9)], 9 + 740, NONE_PENDING),
        (1, [("set_time", 41 * MS), ("look_again", 5, 3), ("rearm", 9)], 9 + 740, NONE_PENDING),
        (1, [("set_time", 9000 * MS), ("probe_after", 5, 3), ("rearm", 9)], 10, NONE_PENDING),
        # new segments replace the probe by the timeout, but not RACK's timer
        (1, [("set_time", 40 * MS), ("probe_after", 5, 3), ("sent", False, 9)], 749, NONE_PENDING),
        (1, [("look_again", 5, 3), ("sent", False, 9)], 8, REORDERING),
        (1, [("start", 5), ("sent", False, 9)], 755, NONE_PENDING),
        (1, [("probe_after", 5, 3), ("sent", True, 9)], 8, NONE_PENDING),
        (1, [("look_again", 5, 3), ("sent", True, 9)], 8, NONE_PENDING),
        (1, [("probe_after", 5, 3), ("first_sent", 9)], 759, NONE_PENDING),
        # nor does the first segment, sent again
        (1, [("start", 5), ("head_resent", 9)], 759, NONE_PENDING),
        (1, [("probe_after", 5, 3), ("head_resent", 9)], 759, NONE_PENDING),
        (1, [("look_again", 5, 3), ("head_resent", 9)], 8, REORDERING),
        # timeouts double, to the longest
        (1, [("time_out", 5)], 5 + 1500, NONE_PENDING),
        (1, [("time_out", 5)] * 5, 5 + 24_000, NONE_PENDING),
        (1, [("time_out", 5)] * 6, 5 + 30_000, NONE_PENDING),
        (1, [("look_again", 5, 3), ("time_out", 8)], 8 + 1500, NONE_PENDING),
        (1, [("probe_after", 5, 3), ("probed", 8)], 758, NONE_PENDING),
        # RACK's timer that has expired gives way, one that has been set since does not
        (1, [("look_again", 5, 3), ("expire",), ("handled", 9)], 9 + 750, NONE_PENDING),
        (1, [("look_again", 5, 3), ("handled", 9)], 8, REORDERING),
        (1, [("probe_after", 5, 3), ("expire",), ("handled", 9)], 8, PROBE),
        (1, [("start", 5), ("expire",), ("handled", 9)], 755, NONE_PENDING),
        (1, [("look_again", 5, 3), ("expire",), *SET_AGAIN, ("handled", 10)], 13, REORDERING),
        (1, [("look_again", 5, 3), ("expire",), ("start", 9), ("handled", 9)], 759, NONE_PENDING),
    ],
)
def test_when_it_runs(
    segments: int, calls: list[tuple[Any, ...]], jiffy: int, pending: int
) -> None:
    timer = timer_of(segments)
    for name, *arguments in calls:
        getattr(timer, name)(*arguments)
    assert (timer.rto_jiffy, timer.pending) == (jiffy, pending)


@pytest.mark.parametrize(
    ("calls", "head", "probe"),
    [
        ([("expire",)], False, False),
        ([("time_out", 5)], True, False),
        ([("time_out", 5), ("handled", 6)], False, False),
        ([("look_again", 5, 3), ("expire",)], False, False),
        # a loss probe is taken before the first segment would be
        ([("probe_after", 5, 3), ("expire",)], False, True),
        ([("probe_after", 5, 3), ("expire",), ("handled", 6)], False, False),
    ],
)
def test_what_it_asks_for_is_done_once(
    calls: list[tuple[Any, ...]], *, head: bool, probe: bool
) -> None:
    timer = timer_of(1)
    assert (timer.take_head(), timer.take_loss_probe()) == (False, False)
    for name, *arguments in calls:
        getattr(timer, name)(*arguments)
    assert (timer.take_loss_probe(), timer.take_head()) == (probe, head)
    assert (timer.take_loss_probe(), timer.take_head()) == (False, False)


def test_window_probes_are_counted_to_the_fifteenth() -> None:
    timer = timer_of(0)
    for number in range(1, 20):
        assert timer.probe_window(True)  # noqa: FBT003 - what is unsent
        assert (timer.rto_jiffy, timer.backoff) == (NOT, min(number, 15))
        assert (timer.take_probe(), timer.take_probe()) == (True, False)
    assert not timer.probe_window(False)  # noqa: FBT003 - what is unsent
    assert (timer.backoff, timer.take_probe()) == (15, False)
    timer.probe_window(True)  # noqa: FBT003 - what is unsent
    timer.first_sent(7)
    assert (timer.backoff, timer.take_probe(), timer.rto_jiffy) == (0, False, 757)


@pytest.mark.parametrize(("jiffy", "overdue"), [(754, False), (755, False), (756, True)])
def test_it_is_overdue_when_its_time_has_passed(jiffy: int, *, overdue: bool) -> None:
    timer = timer_of(1)
    assert not timer.overdue(jiffy)
    timer.start(5)
    assert timer.overdue(jiffy) == overdue


def test_what_is_left_of_the_first_segment_s_timeout() -> None:
    timer = timer_of(2, sent_ms=20)
    timer.set_time(50 * MS)
    assert timer.now_us == 50_000
    assert timer.left_us() == 3_000_000 - 30_000


def test_a_measurement_ends_the_backoff() -> None:
    timer = timer_of(1)
    timer.time_out(5)
    assert (timer.rto, timer.backoff) == (1500, 1)
    # 100 ms and, since half of that is less, the least deviation of 200 ms
    timer.measured(100_000, 90_000)
    assert (timer.rto, timer.backoff, timer.rtt.least_us) == ((100 + 200) // 4, 0, 90_000)
