"""Explicit congestion notification (RFC 3168) of a connection that has agreed on it.

Source: net/ipv4/tcp_input.c (`__tcp_ecn_check_ce`, `tcp_ecn_accept_cwr`, `tcp_ecn_rcv_ecn_echo`,
`tcp_ecn_queue_cwr`, `tcp_ecn_withdraw_cwr`) and tcp_output.c (`tcp_ecn_send`) of Linux 6.x. A mark
on a segment is echoed on all that is sent until a segment with CWR comes; the sender takes an echo
for a loss of which nothing has to be sent again, and says so on the next new segment.

An end whose congestion control is DCTCP (net/ipv4/tcp_dctcp.h, `dctcp_ece_ack_update`) echoes each
mark by itself: where what comes begins or ceases to be marked, an ACK that is due later goes out at
once for what was there before, and another one for the segment. All that it sends may be marked.
"""

from __future__ import annotations

import cython

from simnet.kernel.sentinel import NONE
from simnet.net.link.skb import CE, CWR, ECE, ECT


@cython.final
@cython.no_gc
@cython.cclass
class Ecn:
    """State of one end."""

    each: cython.bint = False  # each mark is echoed by itself (DCTCP)
    reduced: cython.bint = False  # the window has shrunk, which the next new segment says (CWR)
    # a mark has come, which all segments say (ECE) until the peer answers with CWR
    echoes: cython.bint = False
    seen: cython.bint = False  # segments that may be marked have come
    arriving: cython.int = 0  # bits of the segment that is being handled
    marks: cython.longlong = 0  # marked segments that have come
    # up to where what had come goes out at once (DCTCP); -1: nothing does
    before: cython.longlong = 0
    prior: cython.longlong = 0
    follows_mark: cython.bint = False
    # frames with data that have come, and those with a mark (`IpExtInCEPkts`)
    frames: cython.longlong = 0
    marked: cython.longlong = 0
    # segments that have come (`TcpExtTCPDelivered`), and those whose ACKs said that there was
    # a mark (`TcpExtTCPDeliveredCE`)
    delivered: cython.longlong = 0
    delivered_ce: cython.longlong = 0

    def __init__(self, each: bool = False) -> None:  # noqa: FBT001, FBT002 - of a C object
        self.each = each
        self.before = NONE

    def reduce(self) -> cython.int:
        """The window shrinks."""
        self.reduced = True
        return 0

    def restore(self) -> cython.int:
        """The reduction is undone."""
        self.reduced = False
        return 0

    def counts(self, bits: cython.int, frames: cython.longlong) -> cython.int:
        """As many frames with data and these bits have come."""
        self.frames += frames
        if bits & CE:
            self.marked += frames
        return 0

    def arrives(self, bits: cython.int) -> cython.bint:
        """A segment with these bits is handled next; return whether its sender has reduced.

        Its window may be very small then, so the segment is acknowledged at once.
        """
        self.arriving = bits
        if not bits & CWR:
            return False
        self.echoes = False
        return True

    def checked(self) -> cython.bint:
        """`__tcp_ecn_check_ce` for data; return whether the next ACKs are not delayed."""
        first: cython.bint
        if self.arriving & CE:
            first = not self.echoes
            self.echoes = self.seen = True
            self.marks += 1
            return first
        if self.arriving & ECT:
            self.seen = True
            return False
        # probably a retransmission
        return self.seen

    def follows(self, rcv_nxt: cython.longlong, delayed: cython.bint) -> cython.bint:
        """`dctcp_ece_ack_update`; return whether an ACK goes out now.

        Args:
            rcv_nxt: the segment has moved it.
            delayed: an ACK is due, but later.
        """
        mark: cython.bint = (self.arriving & CE) != 0
        changed: cython.bint = mark != self.follows_mark
        if not self.arriving & (CE | ECT):
            return False
        if changed and delayed:
            self.before = self.prior
        self.prior = rcv_nxt
        self.follows_mark = self.echoes = mark
        return changed

    def take_before(self) -> cython.longlong:
        """Up to where an ACK goes out for what came before the segment; -1: none does."""
        before: cython.longlong = self.before
        self.before = NONE
        return before

    def may_be_marked(self, fresh: cython.bint) -> cython.int:
        """`tcp_ecn_send`: bits of what is sent but ECE; `fresh`: data for the first time."""
        bits: cython.int = ECT if fresh or self.each else 0
        if fresh and self.reduced:
            self.reduced = False
            bits |= CWR
        return bits

    def echo(self) -> cython.int:
        """The bit that echoes a mark, if one is to be echoed."""
        return ECE if self.echoes else 0

    def leaving(self, fresh: cython.bint) -> cython.int:
        """All bits of a segment."""
        return self.may_be_marked(fresh) | self.echo()
