"""What acknowledgements do to a sender that are not just the next one.

Source: net/ipv4/tcp_input.c (`tcp_ack`). What is lost and what that does to the window is in
`tcp_scoreboard` and `tcp_recovery`, from 4.18 on in `tcp_sack_recovery` and `tcp_newreno`.
"""

from __future__ import annotations

from typing import Any

import cython

from simnet.net.tcp.recovery.recovery import Recovery
from simnet.net.tcp.recovery.sack_recovery import SackRecovery
from simnet.net.tcp.recovery.scoreboard import Scoreboard
from simnet.net.tcp.send.window import SendWindow

__all__ = ["SendAcks"]

_NONE = cython.declare(cython.longlong, -1)
_OPEN = cython.declare(cython.int, 0)
_RECOVERY = cython.declare(cython.int, 3)
_LOSS = cython.declare(cython.int, 4)


@cython.no_gc
@cython.cclass
class SendAcks(SendWindow):
    """ACKs with SACK, late ones and duplicates, on top of `SendWindow`."""

    @cython.cfunc
    @cython.exceptval(-1)
    def _tag(
        self, blocks: list[Any], ack: cython.longlong, prior_una: cython.longlong
    ) -> cython.bint:
        if not self.sack:
            return False
        return self.board.tag_blocks(
            blocks,
            ack,
            prior_una,
            self.recovery.state == _RECOVERY,
            self.recovery.state == _LOSS,
        )

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _overtaken(
        self,
        blocks: list[Any],
        ack: cython.longlong,
        now_jiffy: cython.longlong,
        echo: cython.longlong,
    ) -> cython.int:
        """Of an ACK that comes late the blocks count."""
        if self.sacks is None:
            self._tag(blocks, ack, self.snd_una)
            return 0
        self._tell_recovery()
        self.sacks.overtaken(blocks, ack, echo, self.now_us)
        return self._set_timer(now_jiffy)

    @cython.cfunc
    @cython.exceptval(-1)
    def _acknowledge_with_sack(
        self,
        prior_una: cython.longlong,
        before: cython.longlong,
        now_jiffy: cython.longlong,
        blocks: list[Any] | None,
        echo: cython.longlong,
        news: cython.bint,
    ) -> cython.longlong:
        """The rest of `tcp_ack` in 4.18 and later."""
        sacks: SackRecovery = self.sacks
        flight: cython.longlong = self.board.in_flight()
        acked: cython.longlong
        # with each ACK: in place of a call
        self.recovery.snd_una = self.snd_una
        self.recovery.snd_nxt = self.snd_nxt
        acked = sacks.acknowledge(
            prior_una,
            blocks,
            echo,
            news,
            self.snd_nxt < min(self.write_seq, self.snd_una + self.snd_wnd),
            now_jiffy,
            self.now_us,
        )
        if before == 0:
            self.rto_jiffy = _NONE
            self.pending = 0
            return 0
        if sacks.rto != _NONE:
            self.rto = sacks.rto
            self.backoff = 0
        self._set_timer(now_jiffy)
        if sacks.raises and self._limited(flight):
            self.congestion.avoid(self.snd_una, self.snd_nxt, now_jiffy, sacks.tags.delivered)
        return acked

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _dubious(  # noqa: C901 - the kernel's order
        self,
        prior_una: cython.longlong,
        flight: cython.longlong,
        acked: cython.longlong,
        now_jiffy: cython.longlong,
        blocks: list[Any] | None,
        echo: cython.longlong,
        sacked: cython.bint,
        no_duplicate: cython.bint,
        may_send: cython.bint,
    ) -> cython.int:
        """What `tcp_ack` does with ACKs that are not just the next one."""
        board: Scoreboard = self.board
        recovery: Recovery = self.recovery
        settled: cython.bint = False
        data_lost: cython.bint = False
        beyond: cython.bint = False
        newly: cython.longlong = board.newly_sacked if sacked else 0
        duplicate: cython.bint = acked == 0 and not no_duplicate and self.snd_una == prior_una
        recovery.see(
            now_jiffy, self.rto, prior_una, self.snd_una, self.snd_nxt, acked + newly, echo
        )
        if not self.sack and duplicate:
            recovery.delivered = 1
        if self.congestion.abc > 0 and recovery.state == _LOSS:
            self.congestion.bytes_acked += min(self.snd_una - prior_una, self.mss)
        elif self.congestion.abc > 0 and recovery.may_raise():
            self.congestion.bytes_acked += self.snd_una - prior_una
        if self.newreno is not None:
            if (
                self.newreno.alert(duplicate, acked, self.snd_una - prior_una)
                and acked > 0
                and self._limited(flight)
            ):
                self.congestion.avoid(self.snd_una, self.snd_nxt, now_jiffy, self.newreno.delivered)
            return 0
        if blocks is not None:
            for block in blocks:
                if block[1] > recovery.high_seq:
                    data_lost = True
                if block[1] > recovery.frto_high:
                    beyond = True
        if recovery.frto > 0:
            settled = recovery.process_frto(
                acked,
                newly,
                beyond and newly > 0,
                board.retrans_acked and acked > 0,
                duplicate,
                may_send,
            )
        if acked > 0 and not settled and recovery.may_raise() and self._limited(flight):
            self.congestion.avoid(self.snd_una, self.snd_nxt, now_jiffy, acked)
        # tcp_ack_is_dubious
        if duplicate or sacked or recovery.state != _OPEN:
            recovery.alert(duplicate, data_lost, sacked, acked, may_send)
        return 0
