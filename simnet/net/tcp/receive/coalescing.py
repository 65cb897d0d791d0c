"""Segments of a backlog that are joined: `tcp_add_backlog` of tcp_ipv4.c, from Linux 5.0."""

from __future__ import annotations

import cython

from simnet.net.link.skb import Skb

_PAGE_BYTES: cython.longlong = 4096
_MAX_SKB_FRAGS: cython.longlong = 17


@cython.cfunc
def joins(tail: Skb, skb: Skb) -> cython.bint:
    """Put a segment into the last one of the backlog, if it continues it."""
    if (
        tail.end_seq != skb.seq
        or tail.endpoint is not skb.endpoint
        or tail.sack is not None
        or skb.sack is not None
        or tail.tsval != skb.tsval
        or tail.tsecr != skb.tsecr
        or tail.ecn != skb.ecn
        or _fragments(tail) + _fragments(skb) > _MAX_SKB_FRAGS
    ):
        return False
    if tail.segment_bytes == 0:
        tail.segment_bytes = tail.end_seq - tail.seq
    tail.end_seq = skb.end_seq
    tail.window = skb.window
    tail.push = tail.push or skb.push
    tail.ack = max(tail.ack, skb.ack)
    return True


def _fragments(skb: Skb) -> cython.longlong:
    """Fragments of pages that a segment consists of: each frame begins one of its own."""
    length: cython.longlong = skb.end_seq - skb.seq
    each: cython.longlong = skb.segment_bytes if skb.segment_bytes > 0 else length
    if length == 0:
        return 0
    return (length + each - 1) // each * ((each + _PAGE_BYTES - 1) // _PAGE_BYTES)
