"""What a socket does when the memory of what it keeps has outgrown its buffer.

Source: net/ipv4/tcp_input.c of Linux from 3.5 on: `tcp_prune_queue`, `tcp_collapse`,
`tcp_collapse_ofo_queue` and `tcp_prune_ofo_queue`. Segments are (first byte, last plus one, memory,
room behind). It is rare, and none of it is called per segment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from simnet.net.tcp.receive.window import ReceiveWindow

Segment = tuple[int, int, int, int]

_PAGE: Final = 4096
_SHARED_INFO: Final = 320
_SK_BUFF: Final = 256
# what a page holds besides `skb_shared_info`: SKB_MAX_ORDER
_LARGEST: Final = _PAGE - _SHARED_INFO
_SMALL_HEAD: Final = 576


def _copy(first: int, last: int) -> Segment:
    """A segment in a buffer of its own: `alloc_skb` of its length."""
    wanted = -(-(last - first) // 64) * 64 + _SHARED_INFO
    size = _SMALL_HEAD if wanted <= _SMALL_HEAD else 1024
    while size < wanted:
        size <<= 1
    return first, last, size + _SK_BUFF, size - _SHARED_INFO - (last - first)


def collapsed(segments: list[Segment], start: int, window: ReceiveWindow) -> list[Segment]:
    """Segments of one range, copied together from the first on that wastes memory.

    Args:
        segments: in order; they may overlap.
        start: what comes before has been read.
        window: whose buffer they take.
    """
    at = 0
    while at < len(segments):
        first, last, memory, _ = segments[at]
        overlaps = at + 1 < len(segments) and segments[at + 1][0] != last
        if window.from_space(memory) > last - first or first < start or overlaps:
            break
        start = last
        at += 1
    if at == len(segments):
        return segments
    found = segments[:at]
    end = max(segment[1] for segment in segments)
    while start < end:
        last = min(start + _LARGEST, end)
        found.append(_copy(start, last))
        start = last
    return found


def collapsed_ranges(segments: list[Segment], window: ReceiveWindow) -> list[Segment]:
    """Segments ahead of holes, each range without a hole by itself."""
    found: list[Segment] = []
    tiny = 0
    at = 0
    while at < len(segments):
        end = segments[at][1]
        after = at + 1
        while after < len(segments) and segments[after][0] <= end:
            end = max(end, segments[after][1])
            after += 1
        part = segments[at:after]
        if len(part) > 1 or end - part[0][0] >= _LARGEST:
            part = collapsed(part, part[0][0], window)
        else:
            tiny += part[0][2]
            if tiny > window.rcvbuf >> 3:
                return found + segments[at:]
        found += part
        at = after
    return found


def pruned(segments: list[Segment], seq: int, spare: int, batch: int) -> list[Segment]:
    """What is left when the highest are dropped until the memory suffices.

    Args:
        segments: ahead of holes, in order.
        seq: of the segment that has come; what is before it stays. -1: nothing need stay.
        spare: memory that they may take.
        batch: memory that is freed before it is looked again.
    """
    left = list(segments)
    memory = sum(segment[2] for segment in left)
    goal = batch
    while left and left[-1][0] >= seq:
        goal -= left[-1][2]
        memory -= left.pop()[2]
        if not left or goal <= 0:
            if memory <= spare:
                break
            goal = batch
    return left
