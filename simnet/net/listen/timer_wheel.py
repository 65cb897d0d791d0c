"""When a timer of the kernel runs: later than asked for, and with others that were asked for later.

Source: kernel/time/timer.c (`calc_wheel_index`, `calc_index`) of Linux 4.8 to 6.18. The wheel has
levels of 64 buckets. From level to level a bucket is eight times as long, and a timer that is far
away is in a long one: one of a second has buckets of 8 jiffies with HZ = 250, of 64 with 1000. All
timers of a bucket run when it ends, so that segments which are sent again come in crowds.
"""

import cython

_BUCKETS: cython.longlong = 64
_SHIFT: cython.int = 3
_LEVELS: cython.int = 9


def runs_ps(
    now_ps: cython.longlong, after_ps: cython.longlong, jiffy_ps: cython.longlong
) -> cython.longlong:
    """When a timer runs that is set now.

    Args:
        now_ps: the time.
        after_ps: what it is set to.
        jiffy_ps: length of a jiffy.
    """
    jiffies: cython.longlong = (after_ps + jiffy_ps - 1) // jiffy_ps
    expires: cython.longlong = now_ps // jiffy_ps + jiffies
    level: cython.int = 0
    shift: cython.int
    while level + 1 < _LEVELS and jiffies >= (_BUCKETS - 1) << (level * _SHIFT):
        level += 1
    shift = level * _SHIFT
    return (((expires >> shift) + 1) << shift) * jiffy_ps
