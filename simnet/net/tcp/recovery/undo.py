"""What a reduction of the window may be undone by: all that was sent again came twice.

Source: net/ipv4/tcp_input.c of Linux (`tcp_init_undo`, `undo_marker`, `undo_retrans`); RFC 2883,
3708.
"""

from __future__ import annotations

import cython

from simnet.kernel.sentinel import NONE
from simnet.net.tcp.send.sequence import SendSequence


@cython.final
@cython.no_gc
@cython.cclass
class Undo:
    """Of one connection."""

    seq: SendSequence = None  # what is sent and acknowledged
    # `snd_una` when the window was reduced, -1 if there is nothing to undo
    marker: cython.longlong = 0
    retrans: cython.longlong = 0  # retransmissions since then that are not known to be needless

    def __init__(
        self,
        seq: SendSequence,
    ) -> None:
        self.seq = seq
        self.marker = NONE

    def mark(self, retrans: cython.longlong) -> cython.int:
        """`tcp_init_undo`: `retrans` segments sent again may turn out to have been needless."""
        self.marker = self.seq.snd_una
        self.retrans = retrans
        return 0

    def forget(self) -> cython.int:
        """There is nothing to undo."""
        self.marker = NONE
        return 0

    @cython.cfunc
    def resent(self) -> cython.int:
        """A segment has been sent again."""
        self.retrans += 1
        return 0

    def count_resent(self) -> cython.int:
        """A segment is sent again: from here on, they count."""
        self.retrans = max(self.retrans, 0)
        return 0

    @cython.cfunc
    def came_twice(self) -> cython.int:
        """A D-SACK reports one, before 4.18: below zero, too."""
        self.retrans -= 1
        return 0

    def found_needless(self, count: cython.longlong) -> cython.int:
        """As many segments were sent again needlessly."""
        self.retrans = max(0, self.retrans - count)
        return 0
