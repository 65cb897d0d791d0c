"""DCTCP: the window shrinks by the share of segments that were marked.

Source: net/ipv4/tcp_dctcp.c of Linux 4.18 to 6.14 (`dctcp_update_alpha`, `dctcp_ssthresh`,
`dctcp_react_to_loss`: from 5.1 on a loss halves the window); RFC 8257. It grows as Reno does. What
its receiver echoes is the matter of `simnet.net.tcp.rules.ecn`. Without marks at either end it is
Reno (`dctcp_reno`).
"""

from __future__ import annotations

import cython

from simnet.net.tcp.congestion.control import Congestion
from simnet.net.tcp.rules.sender_version import SenderRules

_MOST: cython.longlong = 1024
# g is 1/16
_SHIFT_G: cython.int = 4


@cython.final
@cython.cclass
class Dctcp(Congestion):
    """DCTCP."""

    alpha: cython.longlong = 0  # share of the segments that were marked, smoothed, of 1024
    next_seq: cython.longlong = 0
    old_delivered: cython.longlong = 0
    old_delivered_ce: cython.longlong = 0
    halves: cython.bint = False

    def start(
        self,
        initial_cwnd: cython.longlong,
        mss: cython.longlong,
        abc: cython.int,
        hz: cython.longlong,
        rules: SenderRules,
    ) -> cython.int:
        """See `Congestion`."""
        Congestion.start(self, initial_cwnd, mss, abc, hz, rules)
        self.alpha = _MOST
        self.halves = rules.dctcp_halves
        return 0

    def ack_event(
        self,
        snd_una: cython.longlong,
        snd_nxt: cython.longlong,
        delivered: cython.longlong,
        delivered_ce: cython.longlong,
    ) -> cython.int:
        """`dctcp_update_alpha`, once a round trip."""
        marked: cython.longlong
        if snd_una < self.next_seq:
            return 0
        marked = delivered_ce - self.old_delivered_ce
        self.alpha -= self.alpha >> _SHIFT_G if self.alpha >> _SHIFT_G > 0 else self.alpha
        if marked > 0:
            marked = (marked << 10 - _SHIFT_G) // max(1, delivered - self.old_delivered)
            self.alpha = min(self.alpha + marked, _MOST)
        self.next_seq = snd_nxt
        self.old_delivered = delivered
        self.old_delivered_ce = delivered_ce
        return 0

    def reduced(self) -> cython.longlong:
        """`dctcp_ssthresh`."""
        return max(self.cwnd - (self.cwnd * self.alpha >> 11), 2)

    def recovers(self) -> cython.int:
        """`dctcp_react_to_loss`."""
        if self.halves:
            self.ssthresh = max(self.cwnd >> 1, 2)
        return 0

    def forget(self) -> cython.int:
        """A timeout is a loss."""
        return self.recovers()
