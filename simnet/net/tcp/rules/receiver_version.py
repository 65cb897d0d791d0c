"""What Linux changed in its TCP receiver, and with which version.

Each rule is a constant of a connection; `receiver_rules` looks up those of a kernel. Source:
net/ipv4/tcp_input.c, tcp_output.c, tcp_timer.c and tcp.c of 2.6.9, 2.6.18, 2.6.3x, 3.10, 6.x.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import cython

from simnet.host.release import values_in

#: `tcp_rcv_space_adjust`: twice what was read, counted in segments
RIGHT_SIZING_SEGMENTS: Final = 0
#: copied twice plus 16 segments, more while the rate grows
RIGHT_SIZING_CUSHION: Final = 1
#: copied twice, more while the rate grows, counted by the memory that payload takes
RIGHT_SIZING_RATIO: Final = 2


@cython.final
@cython.cclass
@dataclass(frozen=True)
class ReceiverRules:
    """Which rules hold; the defaults are those of 2.6.18."""

    # a second small segment is acknowledged at the read in interactive mode, too
    pushed_twice: bool = False
    pushed_full: bool = False  # PSH on a full segment has it acknowledged at the read
    mss_clamped: bool = False  # `rcv_mss` is never above the advertised one
    measures_reordered: bool = False  # segments ahead of a hole count for `rcv_mss`
    quick_on_reorder: bool = True  # a segment ahead of a hole starts quick ACKs
    # ACKs for segments ahead of a hole are put together, from the fourth on
    compresses: bool = False
    compress_max_ps: int = 1_000_000_000  # `tcp_comp_sack_delay_ns`
    compress_slack_ps: int = 100_000_000  # `tcp_comp_sack_slack_ns`
    compress_most: int = 44  # `tcp_comp_sack_nr`
    # a filled hole is acknowledged at once; else interactive mode just ends
    filled_at_once: bool = False
    counts_scheduled: bool = False  # only an ACK of data uses up a quick ACK
    pingpong_threshold: int = 1  # answers within `ato` that make a connection interactive
    defers_timer: bool = False  # a timer that finds the socket owned runs when it is released
    # a timer that finds the socket owned has the next chance send the ACK
    blocks_timer: bool = True
    timer_rounds_up: bool = False  # timers never run early, so up to a jiffy late
    adv_win_scale: int = 2  # share of a buffer for the window; 0: by the memory that payload takes
    initial_ratio: int = 0  # that share for a connection without data, in 1/256
    first_window_segments: int = 4  # limit of the first offer at an MSS up to 1460; 0 for none
    locked_limits_scale: bool = False  # SO_RCVBUF limits the window scale
    opens_small: bool = False  # a buffer below a segment offers more as soon as half of it is free
    zero_window_early: bool = False  # no window is offered below 1/16 of the buffer
    rounds_current: bool = False  # a window that must not shrink is rounded up to the scale
    grows_reordered: bool = False  # segments ahead of a hole open the window
    grows_twice_length: bool = False  # growth is at least twice the segment
    right_sizing: int = RIGHT_SIZING_SEGMENTS  # one of the `RIGHT_SIZING` constants
    clock_us: bool = False  # round-trip times are in microseconds, else in jiffies
    strict_window: bool = False  # data beyond the window are dropped while others wait to be read
    coalesces: bool = False  # a small segment goes into free room behind the one before
    # a segment goes into the one before in the backlog (`tcp_add_backlog`)
    coalesces_backlog: bool = False
    # received segments, of whatever size, after which an ACK goes out at once; 0: by
    # `rcv_mss` and quick ACKs. Only with it: a read sends nothing but window updates.
    segments_per_ack: int = 0
    # period of the scan of all connections that sends delayed ACKs; 0: each connection has a
    # timer of its own
    scan_jiffies: int = 0
    # the window is what is free of the buffer, from the first segment on
    whole_buffer: bool = False
    # when memory has run out, all segments are copied together if full ones waste theirs;
    # else (from 3.5 on, which puts small segments together before) from the first on that
    # does (`tcp_collapse`)
    collapses: bool = True
    # how segments ahead of a hole are dropped when that was not enough: 0: all; 1: the
    # highest, one after the other; 2: so much at once as an eighth of the buffer
    prune_batches: int = 0
    keeps_lower: bool = False  # those before the segment that has come are kept
    # a segment in order for which there is no memory, while none waits to be read, is 0:
    # refused; 1: taken; 2: taken, but the window closes
    first_segment: int = 0


#: Versions from which on a rule has a value, in order.
_CHANGES: Final[tuple[tuple[tuple[int, ...], dict[str, Any]], ...]] = (
    ((2, 6, 20), {"pushed_twice": True}),
    ((2, 6, 24), {"opens_small": True}),
    ((2, 6, 37), {"locked_limits_scale": True}),
    ((2, 6, 39), {"first_window_segments": 10}),
    ((3, 1), {"grows_twice_length": True}),
    ((3, 4), {"adv_win_scale": 1}),
    ((3, 5), {"coalesces": True, "collapses": False}),
    ((3, 7), {"defers_timer": True}),
    ((3, 9), {"rounds_current": True}),
    ((3, 15), {"right_sizing": RIGHT_SIZING_CUSHION, "zero_window_early": True}),
    ((4, 2), {"first_segment": 1}),
    ((4, 8), {"mss_clamped": True, "timer_rounds_up": True}),
    ((4, 9), {"prune_batches": 1}),
    ((4, 13), {"clock_us": True}),
    ((4, 18), {"quick_on_reorder": False, "compresses": True, "prune_batches": 2}),
    ((4, 19), {"filled_at_once": True}),
    ((4, 20), {"first_window_segments": 0}),
    ((5, 0), {"coalesces_backlog": True}),
    ((5, 1), {"pingpong_threshold": 3}),
    ((5, 9), {"grows_reordered": True}),
    ((5, 10), {"blocks_timer": False}),
    ((6, 2), {"keeps_lower": True}),
    (
        (6, 6),
        {
            "first_segment": 2,
            "pushed_full": True,
            "counts_scheduled": True,
            "adv_win_scale": 0,
            "initial_ratio": 65,
        },
    ),
    ((6, 7), {"pingpong_threshold": 1}),
    ((6, 9), {"initial_ratio": 128}),
    ((6, 15), {"right_sizing": RIGHT_SIZING_RATIO}),
    ((6, 17), {"strict_window": True, "measures_reordered": True}),
)


@cache
def receiver_rules(version: str) -> ReceiverRules:
    """The receiver of Linux `version`, as in "2.6.16" or "6.18.44-amd64".

    Raises:
        InputError: that is not a version.
    """
    return ReceiverRules(**values_in(version, _CHANGES))
