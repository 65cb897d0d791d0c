"""ACKs for segments ahead of a hole, put together from the fourth on.

Source: net/ipv4/tcp_input.c of Linux from 4.18 on (`__tcp_ack_snd_check`: `compressed_ack`,
`tcp_comp_sack_delay_ns`, `tcp_comp_sack_slack_ns`, `tcp_comp_sack_nr`).
"""

from __future__ import annotations

import cython

from simnet.kernel.compiled import Public
from simnet.net.tcp.rules.receiver_version import ReceiverRules

_NOWHERE: cython.longlong = -1
_FAST_RETRANSMIT: cython.int = 3


@cython.final
@cython.no_gc
@cython.cclass
class AckCompression:
    """Which ACKs of one connection wait for a timer of their own.

    Args:
        rules: of the kernel's version.
        sack: the connection uses SACK; without it no ACK waits.
        srtt_us: the sender's smoothed round-trip time, in eighths of a microsecond; 0: not known.
    """

    compressed: cython.int = 0  # ACKs that wait
    # the last segment's ACK waits: a timer must send it after `delay_ps`
    started: Public[cython.bint] = False
    duplicate_acks: cython.int = 0
    compressed_at: cython.longlong = 0
    most: cython.int = 0
    max_ps: cython.longlong = 0
    slack_ps: cython.longlong = 0
    srtt_us: cython.longlong = 0

    def __init__(
        self,
        rules: ReceiverRules,
        sack: cython.bint,
        srtt_us: cython.longlong,
    ) -> None:
        self.most = rules.compress_most if rules.compresses and sack else 0
        self.max_ps = rules.compress_max_ps
        self.slack_ps = rules.compress_slack_ps
        self.srtt_us = srtt_us
        self.compressed_at = _NOWHERE

    @cython.cfunc
    def holds(self, rcv_nxt: cython.longlong) -> cython.bint:
        """Whether an ACK for a segment ahead of the hole at `rcv_nxt` waits."""
        if self.compressed >= self.most:
            return False
        if self.compressed_at != rcv_nxt:
            self.compressed_at = rcv_nxt
            self.duplicate_acks = 0
        if self.duplicate_acks < _FAST_RETRANSMIT:
            self.duplicate_acks += 1
            return False
        self.compressed += 1
        self.started = True
        return True

    @cython.cfunc
    def sent(self) -> cython.int:
        """An ACK has covered what waited."""
        self.compressed = 0
        return 0

    def delay_ps(self, rtt: cython.longlong) -> cython.longlong:
        """How long they wait: 5 % of the round trip, which is in eighths of a microsecond."""
        delay: cython.longlong
        if 0 < self.srtt_us < rtt:
            rtt = self.srtt_us
        delay = rtt * 1_000_000 // 8 // 20
        if delay > self.max_ps:
            delay = self.max_ps
        return delay + self.slack_ps
