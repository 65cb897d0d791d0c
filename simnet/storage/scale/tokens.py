"""Byte-range tokens: which node may read or write which blocks of a file without asking.

A node that wants a range asks the token manager once. It is given more than it needs, up to the
whole file, as long as no other node holds a conflicting token there; what others hold of the range
that it needs is revoked, and they write their dirty blocks first. Any number of nodes may read the
same range, one alone may write. After F. Schmuck and R. Haskin, "GPFS: A Shared-Disk File System
for Large Computing Clusters" (FAST 2002), section 3.2.
"""

from dataclasses import dataclass, field
from typing import Any, Final

EVERYTHING: Final = (0, 1 << 24)
"""All blocks that a file can have."""

_Range = tuple[int, int]


@dataclass(frozen=True)
class Grant:
    """What follows from asking for a token."""

    delay_ps: int  # until it is there, revocations included, what is to be flushed excluded
    # (node, first block, block after the last) of what others lost
    revoked: tuple[tuple[int, int, int], ...] = ()


@dataclass
class _Held:
    """Ranges of a file by node; all of one node's are of one mode where they overlap."""

    readers: dict[int, list[_Range]] = field(default_factory=dict)
    writers: dict[int, list[_Range]] = field(default_factory=dict)


class TokenManager:
    """Grants tokens for all nodes.

    Args:
        round_trip_ps: from a node to the manager and back; as much for each revocation.
    """

    def __init__(self, round_trip_ps: int) -> None:
        self.round_trip_ps = round_trip_ps
        self.clients: dict[int, Any] = {}  # by node, who has to flush what is revoked
        self.revocations = 0  # how often
        self._files: dict[int, _Held] = {}

    def acquire(self, node: int, file: int, needed: _Range, *, write: bool) -> Grant:
        """Give a node the right to blocks `needed[0]` to `needed[1]` - 1 of a file."""
        held = self._files.setdefault(file, _Held())
        mine = held.writers.get(node, []) + ([] if write else held.readers.get(node, []))
        if _covers(mine, needed):
            return Grant(0)
        conflicting = [held.writers, held.readers] if write else [held.writers]
        revoked = []
        for table in conflicting:
            for other in sorted(table):
                if other == node:
                    continue
                lost = [part for part in table[other] if _overlap(part, needed)]
                if lost:
                    table[other] = _without(table[other], needed)
                    revoked += [(other, *_cut(part, needed)) for part in lost]
        self.revocations += len(revoked)
        others = [
            part
            for table in conflicting
            for other, parts in table.items()
            if other != node
            for part in parts
        ]
        granted = _widest(needed, others)
        (held.writers if write else held.readers).setdefault(node, []).append(granted)
        holders = len({other for other, _, _ in revoked})
        return Grant(self.round_trip_ps * (1 + holders), tuple(dict.fromkeys(revoked)))

    def holders(self, file: int, block: int, *, write: bool) -> list[int]:
        """Return the nodes that may write, or that may read, a block."""
        held = self._files.get(file, _Held())
        tables = [held.writers] if write else [held.writers, held.readers]
        return sorted(
            {
                node
                for table in tables
                for node, parts in table.items()
                if any(first <= block < last for first, last in parts)
            }
        )

    def forget(self, file: int) -> None:
        """A file has been deleted."""
        self._files.pop(file, None)


def _overlap(one: _Range, other: _Range) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _cut(part: _Range, needed: _Range) -> _Range:
    return max(part[0], needed[0]), min(part[1], needed[1])


def _covers(parts: list[_Range], needed: _Range) -> bool:
    place = needed[0]
    for first, last in sorted(parts):
        if first > place:
            break
        place = max(place, last)
    return place >= needed[1]


def _without(parts: list[_Range], needed: _Range) -> list[_Range]:
    left = []
    for first, last in parts:
        pieces = ((first, min(last, needed[0])), (max(first, needed[1]), last))
        left += [piece for piece in pieces if piece[0] < piece[1]]
    return left


def _widest(needed: _Range, others: list[_Range]) -> _Range:
    """Return the range around the needed one that conflicts with no other."""
    first, last = EVERYTHING
    for start, end in others:
        if end <= needed[0]:
            first = max(first, end)
        if start >= needed[1]:
            last = min(last, start)
    return first, last
