"""Explicit congestion notification (RFC 3168) of a connection that has agreed on it.

Source: net/ipv4/tcp_input.c (`__tcp_ecn_check_ce`, `tcp_ecn_accept_cwr`, `tcp_ecn_rcv_ecn_echo`,
`tcp_ecn_queue_cwr`, `tcp_ecn_withdraw_cwr`) and tcp_output.c (`tcp_ecn_send`) of Linux 6.x. A mark
on a segment is echoed on all that is sent until a segment with CWR comes; the sender takes an echo
for a loss of which nothing has to be sent again, and says so on the next new segment.
"""

from __future__ import annotations

import cython

#: bits of a segment: it may be marked, it has been, ECE and CWR of its TCP header
ECT, CE, ECE, CWR = 1, 2, 4, 8
_ECT: cython.int = 1
_CE: cython.int = 2
_ECE: cython.int = 4
_CWR: cython.int = 8


@cython.final
@cython.no_gc
@cython.cclass
class Ecn:
    """State of one end.

    Attributes:
        reduced: the window has shrunk, which the next new segment says (CWR).
        echoes: a mark has come, which all segments say (ECE) until the peer answers with CWR.
        seen: segments that may be marked have come.
        arriving: bits of the segment that is being handled.
        marks: marked segments that have come.
    """

    reduced: cython.bint = False
    echoes: cython.bint = False
    seen: cython.bint = False
    arriving: cython.int = 0
    marks: cython.longlong = 0

    def __init__(self) -> None:
        self.marks = 0

    def reduce(self) -> cython.int:
        """The window shrinks."""
        self.reduced = True
        return 0

    def restore(self) -> cython.int:
        """The reduction is undone."""
        self.reduced = False
        return 0

    def arrives(self, bits: cython.int) -> cython.bint:
        """A segment with these bits is handled next; return whether its sender has reduced.

        Its window may be very small then, so the segment is acknowledged at once.
        """
        self.arriving = bits
        if not bits & _CWR:
            return False
        self.echoes = False
        return True

    def checked(self) -> cython.bint:
        """`__tcp_ecn_check_ce` for data; return whether the next ACKs are not delayed."""
        first: cython.bint
        if self.arriving & _CE:
            first = not self.echoes
            self.echoes = self.seen = True
            self.marks += 1
            return first
        if self.arriving & _ECT:
            self.seen = True
            return False
        # probably a retransmission
        return self.seen

    def leaving(self, fresh: cython.bint) -> cython.int:
        """`tcp_ecn_send`: bits of a segment; `fresh`: its data are sent for the first time."""
        bits: cython.int = 0
        if fresh:
            bits = _ECT
            if self.reduced:
                self.reduced = False
                bits |= _CWR
        if self.echoes:
            bits |= _ECE
        return bits
