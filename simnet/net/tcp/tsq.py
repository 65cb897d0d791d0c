"""The tasklet that lets a connection send again when the device has freed what it has sent.

Source: net/ipv4/tcp_output.c of Linux 5.4 (`tcp_wfree`, `tcp_tsq_handler`). The kernel has one
tasklet a CPU with a list of sockets, which runs after the polls of the round; here each socket is
on the list of polls itself.
"""

from __future__ import annotations

import cython

from simnet.host.accounting import SOFT_LEVEL
from simnet.host.cpu import Cpu
from simnet.host.softirq.softirq import Napi, SoftirqNetRx
from simnet.host.softirq.verdict import POLL_CONTINUES, POLL_DONE
from simnet.net.link.skb import Endpoint

_WEIGHT = 64


@cython.final
@cython.cclass
class TsqTasklet(Napi):
    """That of one socket."""

    endpoint: Endpoint = None  # the socket

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint.sim, f"{endpoint.path}.tsq", _WEIGHT)
        self.endpoint = endpoint

    def poll_begin(
        self, cpu: Cpu, softirq: SoftirqNetRx, budget: cython.int, work_ps: cython.longlong
    ) -> cython.int:
        """Let the socket send."""
        cpu.run(SOFT_LEVEL, softirq, work_ps + self.endpoint.tsq_handler(cpu), softirq.mode)
        return POLL_CONTINUES

    def poll_step(self, cpu: Cpu, softirq: SoftirqNetRx) -> cython.int:
        """It has."""
        softirq.complete(self)
        return POLL_DONE
