"""What the receivers of connections that are alike have in common, such as those by one port."""

from __future__ import annotations

from typing import Any

import cython

from simnet.net.tcp.receive.queue import SkbSizes
from simnet.net.tcp.receive.timing import AckTiming
from simnet.net.tcp.rules.receiver_version import ReceiverRules, receiver_rules


@cython.final
@cython.cclass
class ReceiverSettings:
    """Constants of receivers. There may be ten thousand connections, so these are worked out once.

    Args:
        advmss: payload of a full segment, timestamps taken off.
        rmem_default, rmem_max: tcp_rmem[1] and [2].
        timing: how long ACKs may wait.
        max_quickacks: TCP_MAX_QUICKACKS.
        min_rcvmss: TCP_MIN_RCVMSS.
        truesize_overhead: bytes that a full frame's buffer and `sk_buff` take beyond its payload.
        moderate_rcvbuf: tcp_moderate_rcvbuf.
        window_scaling: tcp_window_scaling.
        rules: of the kernel's version.
        sizes: what a segment is charged with, in place of `truesize_overhead`.
        option_bytes: TCP options of a data segment.
        timestamps: data carry timestamps, from which the round-trip time is measured.
        sack: the connections use SACK.
        rcvbuf_locked: SO_RCVBUF has been set (to `rmem_default`).
        quickack: `ip route ... quickack 1`.
    """

    rules: ReceiverRules = None
    sizes: SkbSizes = None
    timing: Any = None
    advmss: cython.longlong = 0
    rmem_default: cython.longlong = 0
    rmem_max: cython.longlong = 0
    srtt_us: cython.longlong = 0
    max_quickacks: cython.int = 0
    min_rcvmss: cython.longlong = 0
    option_bytes: cython.int = 0
    moderate_rcvbuf: cython.bint = False
    window_scaling: cython.bint = False
    timestamps: cython.bint = False
    sack: cython.bint = False
    rcvbuf_locked: cython.bint = False
    quickack: cython.bint = False

    def __init__(
        self,
        *,
        advmss: int,
        rmem_default: int,
        rmem_max: int,
        timing: AckTiming,
        max_quickacks: int,
        min_rcvmss: int,
        truesize_overhead: int,
        moderate_rcvbuf: bool,
        window_scaling: bool,
        rules: ReceiverRules | None = None,
        sizes: SkbSizes | None = None,
        option_bytes: int = 12,
        timestamps: bool = True,
        sack: bool = True,
        rcvbuf_locked: bool = False,
        quickack: bool = False,
    ) -> None:
        self.advmss = advmss
        self.rmem_default = rmem_default
        self.rmem_max = rmem_max
        self.timing = timing
        self.srtt_us = max(8 * timing.srtt_ps // 1_000_000, 1) if timing.srtt_ps else 0
        self.max_quickacks = max_quickacks
        self.min_rcvmss = min_rcvmss
        self.moderate_rcvbuf = moderate_rcvbuf
        self.window_scaling = window_scaling
        self.rules = rules or receiver_rules("2.6.18")
        self.sizes = sizes or SkbSizes(advmss + truesize_overhead, part_bytes=advmss)
        self.option_bytes = option_bytes
        self.timestamps = timestamps
        self.sack = sack
        self.rcvbuf_locked = rcvbuf_locked
        self.quickack = quickack
