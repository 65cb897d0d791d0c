"""Connections in a capture: what each end sent, what the other acknowledged, and pauses.

A segment whose bytes were seen before is sent again. One that fills a gap came out of order: it was
overtaken, or lost before the point of capture and sent again. Source: tcptrace(1), its time
sequence graph; RFC 9293 (sequence numbers), RFC 7323 (window scale), RFC 2018 (SACK).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from simnet.study.sequence.frames import End, Frame

SENT: Final = "sent"
AGAIN: Final = "sent again"
LATE: Final = "out of order"
_WRAP: Final = 1 << 32
_MOST_GAPS: Final = 1000
_MOST_DIRECTIONS: Final = 20_000
# of a pause: what came in its last part ended it
_LAST: Final = 0.2
_IDLE: Final = "finds all acknowledged"


@dataclass(frozen=True)
class Segment:
    """Payload of a frame; `start` and `end` are bytes from the connection's first one."""

    time_s: float
    start: int
    end: int
    kind: str


@dataclass(frozen=True)
class Acked:
    """What the receiver said: `ack` and the right `edge` of its window, and blocks beyond.

    `payload` is how many bytes its own frame carried.
    """

    time_s: float
    ack: int
    edge: int
    sack: tuple[tuple[int, int], ...]
    payload: int = 0


@dataclass(frozen=True)
class Pause:
    """The longest time without payload between two segments, and with what it ended."""

    start_s: float
    seconds: float
    ends: str


@dataclass
class Direction:
    """One way of a connection."""

    # of its payload
    source: End
    destination: End
    # with payload, in the order of the capture
    segments: list[Segment] = field(default_factory=list)
    acked: list[Acked] = field(default_factory=list)  # by frames that came back
    scaled: bool = False  # whether the capture says by which power of two windows are scaled

    @property
    def payload(self) -> int:
        """Bytes that it carried, those sent again counted again."""
        return sum(one.end - one.start for one in self.segments)

    @property
    def seconds(self) -> float:
        """From its first to its last segment."""
        return self.segments[-1].time_s - self.segments[0].time_s if self.segments else 0.0

    def count(self, kind: str) -> int:
        """How many segments are of a kind."""
        return sum(one.kind == kind for one in self.segments)

    def pause(self) -> Pause | None:
        """The longest pause; None for fewer than two segments."""
        pairs = zip(self.segments, self.segments[1:], strict=False)
        before, after = max(
            pairs, key=lambda pair: pair[1].time_s - pair[0].time_s, default=(None, None)
        )
        if before is None or after is None:
            return None
        seconds = after.time_s - before.time_s
        return Pause(before.time_s, seconds, self._ends(before, after, seconds))

    def _ends(self, before: Segment, after: Segment, seconds: float) -> str:
        if after.kind != SENT:
            return f"ends with a segment {after.kind}"
        highest = max(one.end for one in self.segments if one.time_s <= before.time_s)
        acked = max((one.ack for one in self.acked if one.time_s <= before.time_s), default=0)
        begin = after.time_s - _LAST * seconds
        late = [one for one in self.acked if begin <= one.time_s <= after.time_s]
        room = max((one.edge for one in self.acked if one.time_s < begin), default=after.end)
        if late and room < after.end and self.scaled:
            return "ends with a larger window"
        if any(one.payload for one in late):
            return "ends with data of the other end"
        if acked < highest and any(one.ack > acked for one in late):
            return "ends with an ACK"
        return _IDLE


def directions(frames: Iterable[Frame]) -> list[Direction]:
    """The ways that carried payload, the largest first."""
    ways: dict[tuple[End, End], _Way] = {}
    for frame in frames:
        key = (frame.source, frame.destination)
        back = (frame.destination, frame.source)
        for one in (key, back):
            if one not in ways:
                if len(ways) >= _MOST_DIRECTIONS:
                    break
                ways[one] = _Way(Direction(*one))
        if key in ways and back in ways:
            ways[key].sends(frame)
            ways[back].receives(frame, ways[key])
    found = [way.direction for way in ways.values() if way.direction.segments]
    return sorted(found, key=lambda one: (-one.payload, one.source, one.destination))


class _Way:
    """One way while it is read."""

    def __init__(self, direction: Direction) -> None:
        self.direction = direction
        self.scale: int | None = None
        self._last: int | None = None
        self._first = 0
        self._highest = 0
        self._begun = False
        self._gaps: list[tuple[int, int]] = []

    def _place(self, number: int) -> int:
        """The byte that a 32-bit number is, from the first one that was seen."""
        if self._last is None:
            self._last = self._first = number
        step = (number - self._last + _WRAP // 2) % _WRAP - _WRAP // 2
        self._last += step
        return self._last - self._first

    def sends(self, frame: Frame) -> None:
        """Take a frame of this way."""
        if frame.syn:
            self.scale = frame.scale
        start = self._place(frame.seq + frame.syn)
        if frame.payload:
            end = start + frame.payload
            kind = self._kind(start, end)
            self.direction.segments.append(Segment(frame.time_s, start, end, kind))

    def receives(self, frame: Frame, other: _Way) -> None:
        """Take a frame of the other way, which acknowledges this one."""
        if not frame.acks:
            return
        ack = self._place(frame.ack)
        both = self.scale is not None and other.scale is not None
        self.direction.scaled = both
        if frame.syn:
            return  # its window is not scaled
        shift = other.scale or 0 if both else 0
        blocks = tuple((self._place(one), self._place(two)) for one, two in frame.sack)
        edge = ack + (frame.window << shift)
        self.direction.acked.append(Acked(frame.time_s, ack, edge, blocks, frame.payload))

    def _kind(self, start: int, end: int) -> str:
        if not self._begun:
            self._begun = True
            self._highest = start
        if start >= self._highest:
            if start > self._highest:
                self._gaps = [*self._gaps, (self._highest, start)][-_MOST_GAPS:]
            self._highest = end
            return SENT
        left = list(self._without(start, end))
        filled = left != self._gaps
        self._gaps = left
        self._highest = max(self._highest, end)
        return LATE if filled else AGAIN

    def _without(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        for low, high in self._gaps:
            if end <= low or high <= start:
                yield low, high
            else:
                if low < start:
                    yield low, start
                if end < high:
                    yield end, high
