"""What the senders of connections that are alike have in common, such as those by one port."""

from __future__ import annotations

import cython

from simnet.kernel.sentinel import NEVER
from simnet.net.tcp.congestion.cubic import CongestionMaker
from simnet.net.tcp.rules.sender_version import SenderRules


@cython.final
@cython.cclass
class SenderSettings:
    """Constants of senders. There may be ten thousand connections, so these are worked out once.

    Args:
        mss: payload of a full segment.
        congestion: makes their algorithms.
        wmem_default, wmem_max: tcp_wmem[1] and [2].
        segment_truesize: send-buffer memory of one full segment.
        jiffy_ps: length of a jiffy.
        rto_min_ps, rto_init_ps, rto_max_ps: bounds of the retransmission timeout.
        tso: the NIC segments.
        tso_win_divisor: tcp_tso_win_divisor.
        reordering: tcp_reordering, the duplicate-ACK threshold.
        sack: the connections use SACK.
        rules: of the kernel's version; None for 2.6.18.
        restarts: tcp_slow_start_after_idle.
        timestamps: segments carry the timestamps option.
        nodelay: TCP_NODELAY.
        nagle_limit: Nagle's algorithm holds no longer segment back; None: it may hold any.
        paces: segments wait for their time in fq (SK_PACING_FQ).
    """

    congestion: CongestionMaker = None
    rules: SenderRules = None
    mss: cython.longlong = 0
    wmem_default: cython.longlong = 0
    wmem_max: cython.longlong = 0
    overhead_bytes: cython.longlong = 0
    jiffy_ps: cython.longlong = 0
    rto_min_ps: cython.longlong = 0
    rto_max_ps: cython.longlong = 0
    rto_init: cython.longlong = 0
    tso_win_divisor: cython.int = 0
    reordering: cython.longlong = 0
    nagle_limit: cython.longlong = 0
    tso: cython.bint = False
    sack: cython.bint = False
    restarts: cython.bint = False
    timestamps: cython.bint = False
    nodelay: cython.bint = False
    paces: cython.bint = False

    def __init__(
        self,
        *,
        mss: int,
        congestion: CongestionMaker,
        wmem_default: int,
        wmem_max: int,
        segment_truesize: int,
        jiffy_ps: int,
        rto_min_ps: int,
        rto_init_ps: int,
        rto_max_ps: int,
        tso: bool,
        tso_win_divisor: int,
        reordering: int,
        sack: bool = False,
        rules: SenderRules | None = None,
        restarts: bool = True,
        timestamps: bool = False,
        nodelay: bool = False,
        nagle_limit: int | None = None,
        paces: bool = False,
    ) -> None:
        self.mss = mss
        self.congestion = congestion
        self.wmem_default = wmem_default
        self.wmem_max = wmem_max
        self.overhead_bytes = segment_truesize - mss
        self.jiffy_ps = jiffy_ps
        self.rto_min_ps = rto_min_ps
        self.rto_max_ps = rto_max_ps
        self.rto_init = -(-rto_init_ps // jiffy_ps)
        self.tso = tso
        self.tso_win_divisor = tso_win_divisor
        self.reordering = reordering
        self.sack = sack
        self.rules = rules or SenderRules()
        self.restarts = restarts
        self.timestamps = timestamps
        self.nodelay = nodelay
        self.nagle_limit = NEVER if nagle_limit is None else nagle_limit
        self.paces = paces
