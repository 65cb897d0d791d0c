"""Busy polling by a process that reads a socket (`net.core.busy_read`, `SO_BUSY_POLL`).

Source: include/net/busy_poll.h (`sk_can_busy_loop`, `sk_mark_napi_id`, `sk_busy_loop_timeout`) and
net/core/dev.c (`sk_busy_loop`) of Linux 4.10; `tcp_recvmsg` calls it before it owns the socket,
`__skb_recv_datagram` before each sleep. A packet that comes to a socket tells it which NAPI
instance has taken it; the reader, whose socket is empty, polls that instance with a budget of eight
packets until something is there or its time is over. Packets that RPS has sent to another CPU tell
nothing here.
"""

from __future__ import annotations

import cython

from simnet.host.cpu import Cpu
from simnet.host.softirq.napi_instance import NapiInstance
from simnet.host.softirq.softirq import Napi, SoftirqNetRx
from simnet.kernel.compiled import Public

BUSY_POLL_BUDGET: cython.int = 8
_UNIT_PS: cython.longlong = 1_024_000


def busy_loop_over(
    from_ps: cython.longlong, now: cython.longlong, usecs: cython.longlong
) -> cython.bint:
    """`busy_loop_timeout`: whether more than `usecs` units of 1024 ns have begun since then."""
    return now // _UNIT_PS > from_ps // _UNIT_PS + usecs


@cython.final
@cython.cclass
class BusyRead:
    """What one socket knows of it."""

    usecs: cython.longlong = 0  # `sk_ll_usec`: how long a reader polls, in units of 1024 ns
    # the instance that took its last packet; None before the first
    napi: Public[NapiInstance] = None
    seen: Napi = None

    def __init__(self, usecs: int) -> None:
        self.usecs = usecs

    def mark(self, cpu: Cpu) -> cython.int:
        """`sk_mark_napi_id`, of the device that is being polled on `cpu`."""
        softirqs: SoftirqNetRx = cpu.softirqs  # type: ignore[assignment]  # Cython checks it
        if softirqs.polling is not self.seen:
            self.seen = softirqs.polling
            self.napi = self.seen.instance_of()  # type: ignore[assignment]  # Cython checks it
        return 0

    def over(self, from_ps: cython.longlong, now: cython.longlong) -> cython.bint:
        """Whether a loop that began at `from_ps` has lasted long enough."""
        return busy_loop_over(from_ps, now, self.usecs)
