"""What the sender's timer is set for, and the round-trip times that tell for how long.

Source: net/ipv4/tcp_input.c (`tcp_rtt_estimator`, `tcp_set_rto`, `tcp_ack_update_rtt`,
`tcp_rearm_rto`, `tcp_set_xmit_timer`) and tcp_output.c (`tcp_schedule_loss_probe`). There is one
timer for the retransmission timeout, window probes, loss probes and RACK's reordering window.
"""

from __future__ import annotations

import cython

from simnet.net.tcp.recovery.sack_recovery import SackRecovery
from simnet.net.tcp.send.state import SendState

__all__ = ["SendTimer"]

_NONE = cython.declare(cython.longlong, -1)
# what the timer is set for: the retransmission timeout or a window probe, or
_PROBE = cython.declare(cython.int, 1)
_REORDERING = cython.declare(cython.int, 2)


@cython.no_gc
@cython.cclass
class SendTimer(SendState):
    """The timer of `SendState`."""

    def measured(self, rtt_us: int) -> None:
        """The handshake has told the round-trip time (`tcp_synack_rtt_meas`)."""
        if self.rtt is not None:
            self._take_rtt(rtt_us)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _sample_us(self, acked: cython.longlong, echo: cython.longlong) -> cython.int:
        """`tcp_ack_update_rtt`: timestamps count only for what has been sent again."""
        if not self.board.retrans_acked:
            self._take_rtt(self.now_us - self.board.sent_us_of(self.board.head - acked))
        elif echo != _NONE:
            self._take_rtt(self.rtt.of_echo(echo, self.now_us))
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _take_rtt(self, rtt_us: cython.longlong) -> cython.int:
        self.rtt.bound(rtt_us, self.now_us)
        self.rto = self.rtt.sample(rtt_us, self.snd_una, self.snd_nxt)
        self.backoff = 0
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _rtt_sample(self, rtt: cython.longlong) -> cython.int:
        """`tcp_rtt_estimator` and `tcp_set_rto`; srtt is kept times 8, mdev times 4."""
        error: cython.longlong
        if rtt == 0:
            rtt = 1
        if self.srtt != 0:
            error = rtt - (self.srtt >> 3)
            self.srtt += error
            if error < 0:
                error = -error - (self.mdev >> 2)
                # a round trip that gets shorter is no reason for a longer timeout
                if error > 0:
                    error >>= 3
            else:
                error -= self.mdev >> 2
            self.mdev += error
            if self.mdev > self.mdev_max:
                self.mdev_max = self.mdev
                if self.mdev_max > self.rttvar:
                    self.rttvar = self.mdev_max
            if self.snd_una > self.rtt_seq:
                if self.mdev_max < self.rttvar:
                    self.rttvar -= (self.rttvar - self.mdev_max) >> 2
                self.rtt_seq = self.snd_nxt
                self.mdev_max = self.rto_min
        else:
            self.srtt = rtt << 3
            self.mdev = rtt << 1
            self.rttvar = self.mdev if self.mdev > self.rto_min else self.rto_min
            self.mdev_max = self.rttvar
            self.rtt_seq = self.snd_nxt
        self.rto = (self.srtt >> 3) + self.rttvar
        if self.rto > self.rto_max:
            self.rto = self.rto_max
        self.backoff = 0
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _rto_left_us(self) -> cython.longlong:
        """`tcp_rto_delta_us`: until the first segment's timeout."""
        sent_us: cython.longlong = self.board.sent_us_of(self.board.head)
        return sent_us + self.rto * self.rtt.jiffy_us - self.now_us

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _rearm(self, now_jiffy: cython.longlong) -> cython.int:
        """`tcp_rearm_rto`."""
        if self.board.head == self.board.tail:
            self.rto_jiffy = _NONE
        elif self.pending != 0:
            self.rto_jiffy = now_jiffy + self.rtt.jiffies(max(self._rto_left_us(), 1))
        else:
            self.rto_jiffy = now_jiffy + self.rto
        self.pending = 0
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _schedule_loss_probe(
        self, now_jiffy: cython.longlong, rto_left_us: cython.longlong
    ) -> cython.bint:
        """`tcp_schedule_loss_probe`; return whether the timer is set for one."""
        jiffies: cython.longlong = self.sacks.probe.timeout_jiffies(
            self.recovery.state, self.board.tail - self.board.head, rto_left_us
        )
        if jiffies == _NONE:
            return False
        self.rto_jiffy = now_jiffy + jiffies
        self.pending = _PROBE
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _set_timer(self, now_jiffy: cython.longlong) -> cython.int:
        """The timer, after an ACK."""
        sacks: SackRecovery = self.sacks
        if sacks.look_again > 0:
            self.rto_jiffy = now_jiffy + min(sacks.look_again, self.rto)
            self.pending = _REORDERING
        elif sacks.renege > 0:
            self.rto_jiffy = now_jiffy + sacks.renege
            self.pending = 0
        elif sacks.rearms and not self._schedule_loss_probe(
            now_jiffy, self.rto * sacks.rtt.jiffy_us
        ):
            self._rearm(now_jiffy)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _set_timer_sent(self, alone: cython.bint, now_jiffy: cython.longlong) -> cython.int:
        """The timer, after new segments; `alone`: nothing had been on its way."""
        if alone:
            self.pending = 0
        elif self.pending == _PROBE:
            self._rearm(now_jiffy)
        self._schedule_loss_probe(now_jiffy, self._rto_left_us())
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _early_timer(self, now_jiffy: cython.longlong) -> cython.bint:
        """The timer was set for a loss probe, or for RACK to look for losses again."""
        self.expired = self.pending
        if self.pending == _PROBE:
            self.force_head = True
            return True
        self._tell_recovery()
        if self.sacks.reordering_timeout(self.now_us):
            return True
        self.expired = 0
        self._rearm(now_jiffy)
        return False
