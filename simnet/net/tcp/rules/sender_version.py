"""What Linux changed in its TCP sender, and with which version.

Each rule is a constant of a connection; `sender_rules` looks up those of a kernel. Sources:
net/ipv4/tcp_input.c, tcp_output.c, tcp_timer.c and tcp_cubic.c of 2.6.18, of 2.6.32 (RHEL 6) and,
for what came later, the releases named. RACK and TLP hold from 4.18 on, where nothing else
detects losses: 3.10 to 4.17 are kernels with net.ipv4.tcp_recovery and tcp_early_retrans set to 0.
What is queued below TCP is bounded from 5.0 on; what did so since 3.6 has no rules here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

import cython

from simnet.host.release import release_in, values_in

#: `tcp_cwnd_down`: one segment less for every second ACK
RATE_HALVING: Final = 0
#: RFC 6937 with the slow-start reduction bound
PRR: Final = 1
#: RFC 6937, slow start only while recovery makes progress
PRR_CONSERVATIVE: Final = 2


@cython.final
@cython.cclass
@dataclass(frozen=True)
class SenderRules:
    """Which rules hold; the defaults are those of 2.6.18."""

    # `tcp_fack`: the highest segment that SACK reports decides what is lost, until reordering
    # has been seen
    fack: bool = True
    # without FACK, segments are lost that enough later ones have overtaken (RFC 3517); else
    # only the first
    counts_sacked: bool = False
    # a first segment that is older than the timeout counts as lost on any ACK
    head_timeout: bool = True
    head_timeout_fack: bool = False  # that holds only with FACK
    # a hole that a plain ACK fills shows reordering as SACK does
    ack_shows_reordering: bool = False
    # where the first block is a D-SACK, the others are taken for one, too
    dsack_goes_for_all: bool = True
    # holes that are not known to be lost are filled when there is nothing else to send
    forward_retransmit: bool = True
    reduction: int = RATE_HALVING  # how the window shrinks in recovery
    newreno: bool = False  # without SACK, loss recovery is that of `NewReno`
    # with SACK, it is that of `SackRecovery`: RACK, TLP and F-RTO (RFC 8985, 5682)
    rack: bool = False
    # what is added to the times of RACK's timer and of loss probes, because a timer may run
    # early; 0: two jiffies
    rack_margin_us: int = 0
    # round-trip times are in microseconds, timestamps in milliseconds; else jiffies
    clock_us: bool = False
    # `tcp_moderate_cwnd` after every dubious ACK, in the open state too
    moderates_open: bool = True
    # F-RTO (RFC 4138 with SACK): whether a timeout was spurious is found out first
    frto: bool = False
    near_limit: bool = False  # a window that is used up to three segments counts as used up
    defers_two_ticks: bool = False  # TSO waits for two jiffies at most
    # TSO waits only if something was sent less than a millisecond ago, and not if the next
    # ACK is more than half of a round trip away
    defers_briefly: bool = False
    max_reordering: int = 127  # largest degree of reordering that is tolerated, segments
    bic_start: bool = True  # a BIC or CUBIC connection begins with a slow-start threshold of 100
    delayed_ack: bool = True  # BIC and CUBIC allow for ACKs that acknowledge several segments
    # CUBIC leaves slow start by HyStart and reduces to 717/1024; else 819/1024
    hystart: bool = False
    # Nagle's algorithm holds a small segment back for another small one only; else for
    # anything that is outstanding
    minshall: bool = True
    # `tcp_bound_to_half_wnd`: no segment is longer than half of the largest window that the
    # peer has offered, so that two are on their way where the MSS is large
    half_window: bool = True
    whole_window_bytes: int = 0  # a largest window below that may be filled by one segment
    # slow start grows by the segments that an ACK acknowledges; else by one
    counts_slow_start: bool = False
    # so does congestion avoidance, up to several segments for one ACK
    counts_segments: bool = False
    slow_start_below: bool = False  # slow start ends at the threshold; else one segment above
    # whether the window limits is noted when segments are sent, for a round trip; else an ACK
    # compares what was in flight
    limited_when_sent: bool = False
    keeps_limit: bool = False  # once noted, it holds for the round trip, whatever is sent later
    always_gso: bool = False  # TCP makes large segments, whether or not the device cuts them
    # the handshake's round trip counts without timestamps, too; else the first timeout is
    # TCP_TIMEOUT_INIT then (`tcp_init_metrics`)
    keeps_handshake: bool = False
    dctcp_halves: bool = False  # DCTCP halves its window for a loss; else it shrinks as for marks
    # tcp_limit_output_bytes: `SmallQueue` bounds what is queued below TCP; 0: nothing does
    limit_output_bytes: int = 0
    # tcp_tso_rtt_log: large segments for near hosts are full ones; 0: by the rate
    tso_rtt_log: int = 0
    min_tso_segs: int = 0  # tcp_min_tso_segs: segments that a large one may always have
    # tcp_autocorking: a small segment waits while the device holds others
    autocorking: bool = False
    # tcp_pacing_ss_ratio and _ca_ratio: the pacing rate in percent of a window each round
    # trip, in slow start and in congestion avoidance
    pacing_ss_ratio: int = 0
    pacing_ca_ratio: int = 0
    # large segments that may be out with the next one never waiting for them
    single_passes: int = 0


#: Versions from which on a rule has a value, in order.
_CHANGES: Final[tuple[tuple[tuple[int, ...], dict[str, int]], ...]] = (
    ((2, 6, 0), {"bic_start": False, "delayed_ack": False}),
    ((2, 6, 15), {"bic_start": True, "delayed_ack": True}),
    (
        (2, 6, 24),
        {
            "counts_sacked": True,
            "head_timeout_fack": True,
            "ack_shows_reordering": True,
            "dsack_goes_for_all": False,
            "moderates_open": False,
            "frto": True,
            "near_limit": True,
            "defers_two_ticks": True,
        },
    ),
    ((2, 6, 29), {"hystart": True, "bic_start": False}),
    ((2, 6, 36), {"whole_window_bytes": 512}),
    ((3, 1), {"keeps_handshake": True}),
    ((3, 2), {"reduction": PRR}),
    ((3, 10), {"head_timeout": False}),
    ((3, 13), {"counts_slow_start": True}),
    ((3, 16), {"limited_when_sent": True}),
    ((3, 18), {"max_reordering": 300}),
    ((4, 0), {"counts_segments": True}),
    ((4, 3), {"reduction": PRR_CONSERVATIVE, "slow_start_below": True}),
    ((4, 11), {"forward_retransmit": False}),
    ((4, 13), {"clock_us": True}),
    ((4, 15), {"fack": False}),
    ((4, 17), {"always_gso": True}),
    ((4, 18), {"newreno": True, "rack": True}),
    (
        (5, 0),
        {
            "limit_output_bytes": 1 << 20,
            "min_tso_segs": 2,
            "autocorking": True,
            "pacing_ss_ratio": 200,
            "pacing_ca_ratio": 120,
        },
    ),
    ((5, 1), {"defers_briefly": True, "dctcp_halves": True}),
    ((5, 18), {"tso_rtt_log": 9}),
    ((6, 1), {"keeps_limit": True}),
    ((6, 6), {"rack_margin_us": 2000}),
    ((6, 7), {"single_passes": 1}),
    ((6, 16), {"limit_output_bytes": 4 << 20}),
)

#: First version that has each algorithm.
_ALGORITHMS: Final[tuple[tuple[str, tuple[int, ...]], ...]] = (
    ("reno", (2, 6)),
    ("bic", (2, 6, 6)),
    ("cubic", (2, 6, 15)),
    # 3.18; what marks do is that of 4.18
    ("dctcp", (4, 18)),
    # 4.9; what it makes of bursts of ACKs is that of 5.1
    ("bbr", (5, 1)),
)


@cache
def sender_rules(version: str) -> SenderRules:
    """The sender of Linux `version`, as in "2.6.16" or "6.18.44-amd64".

    Raises:
        InputError: that is not a version.
    """
    return SenderRules(**values_in(version, _CHANGES))


def congestion_controls(version: str) -> tuple[str, ...]:
    """What `tcp_available_congestion_control` offers of what is modelled.

    Raises:
        InputError: that is not a version.
    """
    numbers = release_in(version)
    return tuple(name for name, since in _ALGORITHMS if numbers >= since)
