"""Proportional rate reduction as Linux 4.3 and later have it (RFC 6937, 9937).

Source: net/ipv4/tcp_input.c of 6.x, `tcp_cwnd_reduction`. What may be sent in a reduction follows
from what arrives: in proportion as long as more is in flight than the threshold, else as much as
has come, and one segment more where that has brought progress and nothing new was lost.
"""

from __future__ import annotations

import cython

from simnet.net.tcp.recovery.recovery import Recovery

__all__ = ["reduce_window"]


@cython.ccall
@cython.exceptval(-1, check=False)
def reduce_window(
    recovery: Recovery, delivered: cython.longlong, lost: cython.longlong, advanced: cython.bint
) -> cython.int:
    """Set the window for an ACK in a reduction.

    Args:
        recovery: with `prior_cwnd`, and how much has come and been sent since.
        delivered: segments that the ACK says have come.
        lost: segments that it showed to be lost.
        advanced: it moved `snd_una`.
    """
    flight: cython.longlong = recovery.board.in_flight()
    ssthresh: cython.longlong = recovery.congestion.ssthresh
    count: cython.longlong
    if delivered <= 0 or recovery.prior_cwnd <= 0:
        return 0
    recovery.prr_delivered += delivered
    if flight > ssthresh:
        count = ssthresh * recovery.prr_delivered + recovery.prior_cwnd - 1
        count = count // recovery.prior_cwnd - recovery.prr_out
    else:
        count = recovery.prr_delivered - recovery.prr_out
        if count < delivered:
            count = delivered
        if advanced and lost == 0:
            count += 1
        if count > ssthresh - flight:
            count = ssthresh - flight
    # fast retransmit, whatever the window
    if count < 1 and recovery.prr_out == 0:
        count = 1
    if count < 0:
        count = 0
    recovery.congestion.cwnd = flight + count
    return 0
