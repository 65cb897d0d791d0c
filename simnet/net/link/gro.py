"""Generic receive offload: a NAPI instance merges segments that continue each other.

Source: net/core/dev.c, from 5.17 on net/core/gro.c (`dev_gro_receive`, `napi_gro_flush`,
`gro_flush_oldest`, `gro_normal_one`), net/core/skbuff.c (`skb_gro_receive`) and
net/ipv4/tcp_offload.c (`tcp_gro_receive`), by version of the kernel:

| from | what changed |
| --- | --- |
| 2.6.29 | eight flows are held; what comes of a ninth goes up as it is |
| 3.14 | the flow that is held longest makes room for a ninth |
| 4.19 | eight buckets by the packet's hash, each of eight flows |
| 5.4 | what goes up is collected, `gro_normal_batch` packets at a time |
| 5.12 | a merged packet counts for as many as its segments |

A held packet goes up when something else of its flow comes, also one with other bits of ECN, PSH is
set, a segment is shorter than the first, 65535 bytes of IP packet are full, or the poll ends. What
comes as one packet of several segments already is not added to, and not held. Timestamps are not
compared: the kernel ends a packet where they change, once in a millisecond.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import cython

from simnet.host.release import values_in
from simnet.net.link.skb import CWR, Skb, SkbQueue

# MAX_GRO_SKBS; the largest IP packet less its headers
_MAX_GRO_SKBS: cython.int = 8
_MAX_GRO_BYTES: cython.longlong = 65535 - 52


@dataclass(frozen=True)
class GroRules:
    """Which rules hold; the defaults are those of 2.6.29."""

    # a full bucket hands up what it holds longest; else what does not fit
    oldest_leaves: bool = False
    buckets: int = 1  # lists of held flows, a power of two (GRO_HASH_BUCKETS)
    normal_batch: int = 1  # packets that go up together (net.core.gro_normal_batch)
    counts_segments: bool = False  # each segment of a merged packet counts for that


#: Versions from which on a rule has a value, in order.
_CHANGES: Final[tuple[tuple[tuple[int, ...], dict[str, Any]], ...]] = (
    ((3, 14), {"oldest_leaves": True}),
    ((4, 19), {"buckets": 8}),
    ((5, 4), {"normal_batch": 8}),
    ((5, 12), {"counts_segments": True}),
)


@cache
def gro_rules(version: str) -> GroRules:
    """The receive offload of Linux `version`, as in "3.8" or "6.18.44-amd64".

    Raises:
        InputError: that is not a version.
    """
    return GroRules(**values_in(version, _CHANGES))


@cython.final
@cython.cclass
class Gro:
    """What one NAPI instance holds, and what it has to hand up.

    Call `receive` with each frame, `flush` at the end of a poll; then take what is to go up from
    `up`, if `due` says so or the poll ends.

    Args:
        rules: of the kernel's version.
        enabled: `ethtool -K gro`; without, frames only pass through `up`.
    """

    enabled: cython.bint = False
    oldest_leaves: cython.bint = False
    normal_batch: cython.int = 0
    counts_segments: cython.bint = False
    mask: cython.int = 0
    buckets: list[Any] = None
    held: cython.int = 0  # packets held back
    up: SkbQueue = None  # packets to hand up, in order
    collected: cython.longlong = 0
    merged: cython.longlong = 0  # segments that were added to an earlier one

    def __init__(self, rules: GroRules, *, enabled: bool) -> None:
        self.enabled = enabled
        self.oldest_leaves = rules.oldest_leaves
        self.normal_batch = rules.normal_batch
        self.counts_segments = rules.counts_segments
        self.mask = rules.buckets - 1
        self.buckets = [SkbQueue() for _ in range(rules.buckets)]
        self.up = SkbQueue()

    def absorbs(self, skb: Skb) -> cython.bint:
        """Whether a frame would change only what is held or collected: nothing goes up yet."""
        bucket: SkbQueue
        held: Skb
        holds: cython.bint
        weight: cython.longlong = 1
        if self.enabled:
            bucket = self._bucket(skb)
            held = _held_of(bucket, skb)
            holds = (
                skb.end_seq > skb.seq
                and skb.segment_bytes == 0
                and not skb.push
                and skb.sack is None
            )
            if held is None:
                if holds and bucket.count < _MAX_GRO_SKBS:
                    return True
                if holds and self.oldest_leaves:
                    weight = self._weight(bucket.head)
            elif _continues(held, skb):
                if holds and skb.end_seq - skb.seq == held.segment_bytes:
                    return True
                weight = self._weight(held) + self.counts_segments
            else:
                weight = self._weight(held) + (not holds)
        return self.collected + weight < self.normal_batch

    def receive(self, skb: Skb, jiffy: cython.longlong) -> cython.int:
        """`dev_gro_receive`: hold a frame, add it to what is held, or let it go up."""
        bucket: SkbQueue
        held: Skb
        if not self.enabled:
            return self._collect(skb)
        bucket = self._bucket(skb)
        held = _held_of(bucket, skb)
        if held is not None and _continues(held, skb):
            held.end_seq = skb.end_seq
            held.window = skb.window
            held.push = held.push or skb.push
            self.merged += 1
            if skb.push or skb.end_seq - skb.seq < held.segment_bytes:
                self._release(bucket, held)
            return 0
        if held is not None:
            self._release(bucket, held)
        if skb.end_seq == skb.seq or skb.segment_bytes > 0 or skb.push or skb.sack is not None:
            return self._collect(skb)
        if bucket.count == _MAX_GRO_SKBS:
            if not self.oldest_leaves:
                return self._collect(skb)
            self._release(bucket, bucket.head)
        skb.segment_bytes = skb.end_seq - skb.seq
        skb.held_jiffy = jiffy
        bucket.append(skb)
        self.held += 1
        return 0

    def flush(self, jiffy: cython.longlong) -> cython.int:
        """`napi_gro_flush`: let go what is held since before `jiffy`; -1: all."""
        bucket: SkbQueue
        if self.held == 0:
            return 0
        for bucket in self.buckets:
            while bucket.head is not None and (jiffy < 0 or bucket.head.held_jiffy != jiffy):
                self._release(bucket, bucket.head)
        return 0

    def due(self) -> cython.bint:
        """`gro_normal_one`: so many packets are collected that they go up."""
        return self.collected >= self.normal_batch

    def take(self) -> Skb:
        """Take the next packet that goes up; there is one."""
        skb: Skb = self.up.pop()
        if self.up.count == 0:
            self.collected = 0
        return skb

    def _bucket(self, skb: Skb) -> SkbQueue:
        """The list of a frame's flow, by the hash that the NIC has computed."""
        number: cython.longlong = 0
        if self.mask > 0 and skb.header is not None and skb.header.rss_hash > 0:
            number = skb.header.rss_hash & self.mask
        bucket: SkbQueue = self.buckets[number]
        return bucket

    def _release(self, bucket: SkbQueue, wanted: Skb) -> cython.int:
        """Collect what is held of one flow."""
        skb: Skb
        count: cython.int = bucket.count
        while count > 0:
            count -= 1
            skb = bucket.pop()
            if skb is wanted:
                self.held -= 1
                self._collect(skb)
            else:
                bucket.append(skb)
        return 0

    def _collect(self, skb: Skb) -> cython.int:
        """Add a packet to those that go up."""
        self.up.append(skb)
        self.collected += self._weight(skb)
        return 0

    def _weight(self, skb: Skb) -> cython.longlong:
        """What a packet counts for `normal_batch`."""
        if not self.counts_segments or skb.segment_bytes == 0:
            return 1
        return (skb.end_seq - skb.seq + skb.segment_bytes - 1) // skb.segment_bytes


@cython.cfunc
def _held_of(bucket: SkbQueue, skb: Skb) -> Skb:
    """What is held of a frame's flow, or None."""
    held: Skb = bucket.head
    while held is not None and held.endpoint is not skb.endpoint:
        held = held.next
    return held


def _continues(held: Skb, skb: Skb) -> cython.bint:
    """Whether a segment can be added to what is held (`tcp_gro_receive`)."""
    length: cython.longlong = skb.end_seq - skb.seq
    return (
        0 < length <= held.segment_bytes
        and skb.seq == held.end_seq
        and skb.ack == held.ack
        and skb.ecn == held.ecn & ~CWR
        and skb.sack is None
        and skb.end_seq - held.seq <= _MAX_GRO_BYTES
    )
