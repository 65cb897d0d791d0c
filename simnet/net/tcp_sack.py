"""What a sender makes of SACK: reordering, and retransmissions that were needless.

Source: net/ipv4/tcp_input.c of Linux 2.6.18 (`tcp_sacktag_write_queue`, `tcp_update_reordering`,
`tcp_may_undo`, `tcp_undo_cwr`). Of the map of holes three numbers are kept, which the option's
blocks tell: how many segments the receiver holds, up to where, and which of them came last
(RFC 2018: the first block). A segment that comes late into a hole and was not sent again shows
reordering: its distance from the highest is what is tolerated from then on. Duplicates that the
receiver reports (D-SACK) for all that was sent again show that nothing was lost: then the
window is what it was before.

Undoing by timestamps is left out: a round trip in a LAN is shorter than the jiffies that they
count.
"""

from __future__ import annotations

import cython

__all__ = ["MAX_REORDERING", "SackScore"]

MAX_REORDERING = 127
_MAX_REORDERING = cython.declare(cython.longlong, 127)
_NONE = cython.declare(cython.longlong, -1)


@cython.final
@cython.cclass
class SackScore:
    """The sender's view of one connection.

    Args:
        reordering: `tcp_reordering`, segments.

    Attributes:
        reordering: how far segments may be out of order before that means loss.
        held: `sacked_out`.
        highest: end of the highest segment that the receiver holds.
        undo_retrans: retransmissions of this recovery that are not known to be needless.
        prior_ssthresh: before this recovery, segments.
        raised: how often `reordering` grew.
        undone: how often the window was restored.
    """

    reordering: cython.int
    held: cython.int
    highest: cython.longlong
    marker: cython.longlong
    undo_retrans: cython.int
    prior_ssthresh: cython.longlong
    raised: cython.longlong
    undone: cython.longlong

    def __init__(self, reordering: int) -> None:
        self.reordering = reordering
        self.held = 0
        self.highest = 0
        self.marker = _NONE
        self.undo_retrans = 0
        self.prior_ssthresh = 0
        self.raised = 0
        self.undone = 0

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def tag(
        self,
        snd_una: cython.longlong,
        mss: cython.longlong,
        ack: cython.longlong,
        held: cython.int,
        highest: cython.longlong,
        recent: cython.longlong,
        dsack: cython.bint,
    ) -> cython.int:
        """`tcp_sacktag_write_queue`: what an ACK's option says, before `snd_una` moves.

        `recent` is the first byte of the segment that the receiver got last, if it holds it.
        """
        before: cython.longlong = self.fackets_out(snd_una, mss)
        position: cython.longlong = (recent - snd_una) // mss + 1
        if dsack and self.marker != _NONE and self.undo_retrans > 0:
            self.undo_retrans -= 1
        if ack == snd_una and held > self.held and position < before and self.undo_retrans == 0:
            # came late into a hole, and was not sent again
            self.update_reordering(before + 1 - position)
        if highest > self.highest:
            self.highest = highest
        self.held = held
        return 0

    @cython.ccall
    @cython.exceptval(-1)
    def fackets_out(self, snd_una: cython.longlong, mss: cython.longlong) -> cython.longlong:
        """Segments from the first unacknowledged one to the highest that the receiver holds."""
        if self.highest <= snd_una or self.held == 0:
            return 0
        return (self.highest - snd_una + mss - 1) // mss

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def update_reordering(self, metric: cython.longlong) -> cython.int:
        """Tolerate more from now on."""
        if metric > _MAX_REORDERING:
            metric = _MAX_REORDERING
        if metric > self.reordering:
            self.reordering = metric
            self.raised += 1
        return 0

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def entered(
        self, snd_una: cython.longlong, ssthresh: cython.longlong, cwnd: cython.longlong
    ) -> cython.int:
        """Recovery begins: remember `tcp_current_ssthresh`."""
        cwnd = (cwnd >> 1) + (cwnd >> 2)
        self.prior_ssthresh = ssthresh if ssthresh > cwnd else cwnd
        self.marker = snd_una
        self.undo_retrans = 0
        return 0

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def retransmitted(self) -> cython.int:
        """A segment has been sent again."""
        if self.marker != _NONE:
            self.undo_retrans += 1
        return 0

    @cython.ccall
    @cython.exceptval(-1)
    def may_undo(self) -> cython.bint:
        """`tcp_may_undo`: in recovery or after it, and nothing that was sent again was missing."""
        return self.marker != _NONE and self.undo_retrans == 0

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def forget(self) -> cython.int:
        """There is nothing to undo any more."""
        self.marker = _NONE
        return 0

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def reset(self) -> cython.int:
        """A timeout: everything is sent again."""
        self.marker = _NONE
        self.held = 0
        self.highest = 0
        return 0
