"""Congestion control: Reno and BIC.

Sources: RFC 5681; net/ipv4/tcp_bic.c of Linux 2.6.18 (beta 819/1024, max_increment 16,
low_window 14, smooth_part 20, B = 4), in 2.6.9 the same algorithm inside tcp_input.c. Windows
are in segments; slow start adds one segment per ACK (no appropriate byte counting).
"""

from __future__ import annotations

import cython

__all__ = ["Bic", "Congestion", "make_congestion"]

INFINITE_SSTHRESH = 0x7FFFFFFF
_INFINITE = cython.declare(cython.longlong, 0x7FFFFFFF)


@cython.cclass
class Congestion:
    """Reno.

    Args:
        initial_cwnd: segments.
    """

    cwnd: cython.longlong
    ssthresh: cython.longlong
    cwnd_count: cython.longlong
    clamp: cython.longlong

    def __init__(self, initial_cwnd: int) -> None:
        self.cwnd = initial_cwnd
        self.ssthresh = INFINITE_SSTHRESH
        self.cwnd_count = 0
        self.clamp = 65535

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def acked(self) -> cython.int:
        """An ACK for data arrived while the window was in full use."""
        if self.cwnd <= self.ssthresh:
            self.cwnd += 1
        elif self.cwnd_count >= self.acks_for_increase():
            self.cwnd += 1
            self.cwnd_count = 0
        else:
            self.cwnd_count += 1
        if self.cwnd > self.clamp:
            self.cwnd = self.clamp
        return 0

    @cython.ccall
    @cython.exceptval(-1)
    def acks_for_increase(self) -> cython.longlong:
        """How many ACKs raise the window by one segment in congestion avoidance."""
        return self.cwnd

    @cython.ccall
    @cython.exceptval(-1)
    def reduced(self) -> cython.longlong:
        """Slow-start threshold after a loss."""
        half: cython.longlong = self.cwnd >> 1
        return half if half > 2 else 2

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def loss(self, flight: cython.longlong) -> cython.int:
        """Fast retransmit: `flight` segments are outstanding."""
        self.ssthresh = self.reduced()
        self.cwnd = self.ssthresh
        self.cwnd_count = 0
        return 0

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def timeout(self, flight: cython.longlong) -> cython.int:
        """Retransmission timeout."""
        self.ssthresh = self.reduced()
        self.cwnd = 1
        self.cwnd_count = 0
        return 0

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def set_cwnd(self, cwnd: cython.longlong) -> cython.int:
        """Set the window (restart after idle, end of recovery)."""
        self.cwnd = cwnd
        return 0

    @cython.ccall
    @cython.exceptval(-1)
    def undo_cwnd(self) -> cython.longlong:
        """The window as it was before the last loss, which was none."""
        double: cython.longlong = self.ssthresh << 1
        return double if double > self.cwnd else self.cwnd

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def undo(self, prior_ssthresh: cython.longlong, flight: cython.longlong) -> cython.int:
        """`tcp_undo_cwr` and `tcp_moderate_cwnd`: at most three segments more than `flight`."""
        self.cwnd = self.undo_cwnd()
        if prior_ssthresh > self.ssthresh:
            self.ssthresh = prior_ssthresh
        if self.cwnd > flight + 3:
            self.cwnd = flight + 3
        return 0


@cython.cclass
class Bic(Congestion):
    """BIC, the default of Linux 2.6.8 to 2.6.18."""

    last_cwnd: cython.longlong
    last_max_cwnd: cython.longlong

    def __init__(self, initial_cwnd: int) -> None:
        super().__init__(initial_cwnd)
        self.last_cwnd = 0
        self.last_max_cwnd = 0

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def timeout(self, flight: cython.longlong) -> cython.int:
        """Retransmission timeout: `bictcp_state` forgets the past."""
        Congestion.timeout(self, flight)
        self.last_max_cwnd = 0
        return 0

    @cython.ccall
    @cython.exceptval(-1)
    def undo_cwnd(self) -> cython.longlong:
        """`bictcp_undo_cwnd`."""
        return self.cwnd if self.cwnd > self.last_max_cwnd else self.last_max_cwnd

    @cython.ccall
    @cython.exceptval(-1)
    def acks_for_increase(self) -> cython.longlong:
        """`bictcp_update`."""
        cwnd: cython.longlong = self.cwnd
        distance: cython.longlong
        count: cython.longlong
        self.last_cwnd = cwnd
        if cwnd <= 14:
            return cwnd
        if cwnd < self.last_max_cwnd:
            distance = (self.last_max_cwnd - cwnd) // 4
            if distance > 16:
                count = cwnd // 16
            elif distance <= 1:
                count = cwnd * 20 // 4
            else:
                count = cwnd // distance
        elif cwnd < self.last_max_cwnd + 4:
            count = cwnd * 20 // 4
        elif cwnd < self.last_max_cwnd + 16 * 3:
            count = cwnd * 3 // (cwnd - self.last_max_cwnd)
        else:
            count = cwnd // 16
        if self.last_max_cwnd == 0 and count > 20:
            count = 20
        return count if count > 0 else 1

    @cython.ccall
    @cython.exceptval(-1)
    def reduced(self) -> cython.longlong:
        """`bictcp_recalc_ssthresh`: fast convergence, beta 819/1024."""
        cwnd: cython.longlong = self.cwnd
        if cwnd < self.last_max_cwnd:
            self.last_max_cwnd = cwnd * (1024 + 819) // 2048
        else:
            self.last_max_cwnd = cwnd
        if cwnd <= 14:
            return cwnd >> 1 if cwnd >> 1 > 2 else 2
        return cwnd * 819 // 1024 if cwnd * 819 // 1024 > 2 else 2


def make_congestion(name: str, initial_cwnd: int) -> Congestion:
    """Make the algorithm called `name` (``net.ipv4.tcp_congestion_control``).

    Raises:
        KeyError: no such algorithm.
    """
    return {"reno": Congestion, "bic": Bic}[name](initial_cwnd)
