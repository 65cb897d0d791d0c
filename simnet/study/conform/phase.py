"""Where the kernel's ticks fell in a recording: its timers run then, and count jiffies by them.

What a kernel does changes with the phase only where a segment or a call changes sides with a tick.
So between any two of these one phase is tried, and those at which a timer seems to have run. The
phase that explains the recorded times best is tried first.
"""

from itertools import pairwise
from typing import Final

from simnet.study.conform.recording import Recording
from simnet.time_units import PS_PER_US

# what is sent this long after a segment or a call is its answer
_ANSWER_PS: Final = 200 * PS_PER_US
# from a tick to the segment that its timer sends, and on to who records it
_AFTER_TICK_PS: Final = 20 * PS_PER_US
# how well a recorded phase is known
_KNOWN_PS: Final = 150 * PS_PER_US
# a script's times are round: phases within a jiffy
_SCRIPT_PHASES: Final = 8


def phases(recording: Recording) -> list[int]:
    """Phases of the first tick to be tried, in ps, the likeliest first."""
    jiffy = 10**12 // int(recording.connection.kernel["hz"])
    if recording.exact:
        # the middle first
        order = [0, *range(1, _SCRIPT_PHASES)]
        return [number * jiffy // _SCRIPT_PHASES for number in order]
    sent_by_timer = _sent_by_timer(recording)
    found = _between({step.time_ps % jiffy for step in recording.steps}, jiffy)
    found += [(time_ps - _AFTER_TICK_PS) % jiffy for time_ps in sent_by_timer]
    if recording.tick_ps is not None:
        known = recording.tick_ps
        near = [phase for phase in found if _apart(phase, known, jiffy) <= _KNOWN_PS]
        return [known % jiffy, *sorted(set(near), key=lambda phase: _apart(phase, known, jiffy))]
    return sorted(set(found), key=lambda phase: _cost(phase, sent_by_timer, jiffy))


def _sent_by_timer(recording: Recording) -> list[int]:
    """Times of segments that answer nothing."""
    causes = sorted(step.time_ps for step in recording.steps)
    found = []
    at = 0
    for segment in recording.expected:
        while at < len(causes) and causes[at] <= segment.time_ps:
            at += 1
        if at == 0 or segment.time_ps - causes[at - 1] > _ANSWER_PS:
            found.append(segment.time_ps)
    return found


def _between(marks: set[int], jiffy: int) -> list[int]:
    """The middles between any two neighbours of a circle."""
    if not marks:
        return [0]
    around = sorted(marks)
    return [(a + b) // 2 % jiffy for a, b in pairwise([*around, around[0] + jiffy])]


def _apart(one: int, other: int, jiffy: int) -> int:
    distance = (one - other) % jiffy
    return min(distance, jiffy - distance)


def _cost(phase: int, sent_by_timer: list[int], jiffy: int) -> int:
    """How long after a tick all of these were sent; those that no tick explains count less."""
    return sum(min((time_ps - phase) % jiffy, jiffy // 4) for time_ps in sent_by_timer)
