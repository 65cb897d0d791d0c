"""F-RTO with SACK before Linux 4.18: whether a timeout was needless, from the two ACKs after it.

Source: `tcp_process_frto` of net/ipv4/tcp_input.c; RFC 4138. Only the first segment is sent again
at the timeout, and two new ones if that helps. Later kernels do it within Loss (`SackRecovery`).
"""

from __future__ import annotations

import cython

from simnet.net.tcp.congestion.control import Congestion
from simnet.net.tcp.recovery.scoreboard import Scoreboard

# what an ACK says
NEEDLESS: cython.int = -1
WAITS: cython.int = 0
ANSWERED: cython.int = 1


@cython.final
@cython.no_gc
@cython.cclass
class Frto:
    """The search for the cause of one connection's timeout."""

    board: Scoreboard = None  # its segments
    congestion: Congestion = None  # its window
    high: cython.longlong = 0  # what was sent before that timeout ends there

    def __init__(self, board: Scoreboard, congestion: Congestion) -> None:
        self.board = board
        self.congestion = congestion

    def begin(self, high: cython.longlong) -> cython.int:
        """The timer has expired; what was sent before ends at `high`."""
        self.high = high
        return 0

    def judge(
        self,
        step: cython.int,
        acked: cython.longlong,
        newly: cython.longlong,
        beyond: cython.bint,
        duplicate: cython.bint,
        may_send: cython.bint,
    ) -> cython.int:
        """`tcp_process_frto`: what an ACK says.

        Args:
            step: 1: nothing has come since the timeout; 2: the first segment has.
            acked: segments that it acknowledged.
            newly: segments that SACK reports for the first time.
            beyond: what was sent after the timeout is among them.
            duplicate: no data, no window update, nothing acknowledged.
            may_send: there is something new to be sent that window and Nagle let go.

        Returns:
            `NEEDLESS`: the timeout was. `WAITS`: the next ACK will say it. `ANSWERED`: the first
            segment has come. Above: something is lost, and so many segments may be sent.
        """
        flight: cython.longlong
        if self.board.seq.snd_una >= self.high:
            return 2 if step == 1 else 3
        if step > 1:
            if not beyond and acked + newly > 0:
                return NEEDLESS
            return 3 if duplicate or beyond else WAITS
        flight = self.board.in_flight()
        if acked > 0:
            self.congestion.set_window(flight + 2)
            return ANSWERED if may_send else 2
        if flight == 0:
            return 2
        self.congestion.limit_window(flight)
        return WAITS
