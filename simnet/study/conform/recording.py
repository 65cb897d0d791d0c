"""A scenario that a real kernel has run: what it was given, and what it sent."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from simnet.study.conform.connection import Connection
from simnet.study.conform.end import Endpoint, Segment
from simnet.study.conform.step import Step
from simnet.time_units import PS_PER_MS

# longer than any delayed ACK, after the last thing that happens
_REST_PS: Final = 1000 * PS_PER_MS
# how often a script looks whether what it waits for is out
_LOOK_PS: Final = PS_PER_MS // 10


@dataclass(frozen=True, slots=True)
class Expected:
    """A segment that the kernel sent; None is not compared."""

    time_ps: int  # when
    # as in `Segment`
    ack: int
    window: int | None = None
    sack: tuple[tuple[int, int], ...] | None = None
    # payload; None for "any segment with this acknowledgement"
    seq: int | None = None
    end_seq: int | None = None
    # how far off the model may be; None: by whether a timer sent it
    tolerance_ps: int | None = None
    line: int = 0
    # bits of `simnet.net.link.skb`, and which of them count
    ecn: int | None = None
    ecn_bits: int = 0


@dataclass(frozen=True, slots=True)
class Recording:
    """What a kernel was given, and what it sent."""

    # where it is from
    file: str
    line: int
    name: str  # of what is tried
    connection: Connection  # what the ends agreed on, and the kernel
    first: int  # first sequence number of the peer's data
    steps: tuple[Step, ...]  # in order
    expected: tuple[Expected, ...]  # what the kernel sent, in order
    # payload and window are compared as well, and a burst may be expected as one
    exact: bool = False
    tick_ps: int | None = None  # when a tick of the kernel fell, if that is known


def replay(recording: Recording, phase_ps: int = 0, late: Collection[int] = ()) -> Endpoint:
    """Have the model live through it; `sent` of the result is what it sent.

    `phase_ps` is when the kernel's first tick falls, less than a jiffy. Segments numbered `late`
    are those that a timer sends only when it has run a jiffy late.
    """
    end = Endpoint(recording.connection, recording.first, phase_ps, _waits(recording, late))
    last_ps = 0
    play = _in_turn(end, recording)
    for number, step in enumerate(recording.steps):
        end.at(step.time_ps, partial(play, number))
        last_ps = max(last_ps, step.time_ps)
    if recording.expected:
        last_ps = max(last_ps, recording.expected[-1].time_ps)
    end.run(last_ps + _REST_PS)
    return end


def _in_turn(end: Endpoint, recording: Recording) -> Callable[[int], None]:
    """Return what plays a step: after the steps before it, and what is to be out before it is.

    As packetdrill does it: where a segment that a script expects comes late, but in time, the
    script waits for it. What was recorded of a kernel has happened when it happened.
    """
    played = 0

    def play(number: int) -> None:
        nonlocal played
        step = recording.steps[number]
        awaited = recording.expected[step.after - 1] if step.after else None
        if number > played or (
            awaited is not None
            and end.sim.now < awaited.time_ps + (awaited.tolerance_ps or 0)
            and len(bursts(recording.expected, end.sent)) < step.after
        ):
            end.at(end.sim.now + _LOOK_PS, partial(play, number))
            return
        played += 1
        _call(end, step)()

    return play


def bursts(expected: Sequence[Expected], sent: Sequence[Segment]) -> list[Segment]:
    """Segments as a script has them: what TSO sends as one frame is one."""
    found: list[Segment] = []
    left = list(sent)
    while left:
        segment = left.pop(0)
        wanted = expected[len(found)] if len(found) < len(expected) else None
        while (
            wanted is not None
            and wanted.end_seq is not None
            and segment.seq == wanted.seq
            and segment.end_seq < wanted.end_seq
            and left
            and left[0].seq == segment.end_seq < left[0].end_seq
            and left[0].time_ps == segment.time_ps
        ):
            following = left.pop(0)
            segment = replace(segment, end_seq=following.end_seq, push=following.push)
        found.append(segment)
    return found


def _waits(recording: Recording, late: Collection[int]) -> Callable[[Endpoint], bool]:
    """Whether the kernel's timer, due now, ran a jiffy later, by what came next."""

    def waits(end: Endpoint) -> bool:
        number = len(end.sent)
        if recording.exact or number >= len(recording.expected):
            return False
        following = recording.expected[number]
        later_ps = following.time_ps - end.sim.now
        return (
            number in late
            or later_ps > end.jiffy_ps // 2
            or (later_ps > 0 and following.ack > end.receiver.seq.rcv_nxt)
        )

    return waits


def _call(end: Endpoint, step: Step) -> Callable[[], object]:
    if step.action == "receive":
        return lambda: end.receive(step)
    if step.action == "read":
        return lambda: end.read(step.end_seq, blocking=step.more)
    if step.action == "write":
        return lambda: end.write(step.end_seq, more=step.more)
    if step.action == "check":
        return lambda: end.check(step.code)
    return lambda: end.set_option(step.action, step.end_seq)
