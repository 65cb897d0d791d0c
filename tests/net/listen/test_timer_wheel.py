"""When a timer of the kernel runs."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.net.listen.timer_wheel import runs_ps

MS = 10**9
JIFFY = 4 * MS


@pytest.mark.parametrize(
    ("jiffies", "bucket"),
    [(1, 1), (50, 1), (62, 1), (63, 8), (250, 8), (503, 8), (504, 64), (4031, 64), (4032, 512)],
)
def test_a_bucket_is_longer_the_farther_it_is(jiffies: int, bucket: int) -> None:
    now = 10_000_019
    ends = {runs_ps((now + k) * JIFFY, jiffies * JIFFY, JIFFY) // JIFFY for k in range(bucket)}
    assert len(ends) <= 2
    assert all(end % bucket == 0 for end in ends)
    every = {runs_ps((now + k) * JIFFY, jiffies * JIFFY, JIFFY) for k in range(10 * bucket)}
    assert len(every) in {10, 11}


@pytest.mark.parametrize(("hz", "crowd_ms"), [(250, 32), (1000, 64), (100, 80)])
def test_syns_of_a_second_ago_are_sent_again_together(hz: int, crowd_ms: int) -> None:
    jiffy = 1000 * MS // hz
    now = 7_000_000 * MS
    when = sorted({runs_ps(now + k * MS, 1000 * MS, jiffy) for k in range(10 * crowd_ms)})
    gaps = {late - soon for soon, late in itertools.pairwise(when)}
    assert gaps == {crowd_ms * MS}


@given(st.integers(0, 10**18), st.integers(1, 10**15), st.sampled_from([1, 4, 10]))
def test_no_timer_is_early_and_none_much_too_late(now: int, after: int, jiffy_ms: int) -> None:
    jiffy = jiffy_ms * MS
    late = runs_ps(now, after, jiffy) - (now + after)
    assert late > 0
    # an eighth of the time, and two jiffies
    assert late <= after // 7 + 2 * jiffy
