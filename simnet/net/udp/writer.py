"""A process that sends datagrams in a loop, as netperf's UDP_STREAM does.

Source: the calls of netperf's UDP_STREAM (src/nettest_bsd.c, `send_udp_stream`). It waits for
nothing but memory: with `sk_sndbuf` on its way the call blocks (`sock_wait_for_wmem`).
"""

import cython

from simnet.host.costs import Costs
from simnet.host.cpu import Cpu
from simnet.host.scheduler import Scheduler, Task
from simnet.net.udp.output import UdpOutput

_SCHEDULED_IN: cython.int = 0
_USER_CODE: cython.int = 1
_SENDING: cython.int = 2
_NO_ROOM: cython.int = 3


@cython.cclass
class UdpWriter(Task):
    """One sender.

    Args:
        cpu: where it was last.
        output: by which it sends.
        allowed: CPUs that it may run on.
    """

    output: UdpOutput = None
    costs: Costs = None
    state: cython.int = 0
    calls: cython.longlong = 0  # of sendmsg that have returned

    def __init__(
        self,
        scheduler: Scheduler,
        path: str,
        cpu: Cpu,
        output: UdpOutput,
        allowed: frozenset[int] | None = None,
    ) -> None:
        super().__init__(scheduler, path, cpu, 0, allowed)
        self.output = output
        self.costs = output.costs.costs
        self.state = _SCHEDULED_IN
        output.writer = self

    def step(self, cpu: Cpu) -> None:
        """Go on after a piece of work."""
        if self.state == _SENDING:
            self.output.send(cpu)
            self.calls += 1
            self.state = _USER_CODE
            self.costs.ledger.application += self.costs.user_send_ps
            cpu.run_to_user(self, 0, self.costs.user_send_ps)
        elif self.state == _USER_CODE and self.yield_if_needed(cpu):
            self.state = _SCHEDULED_IN
        elif self.state == _NO_ROOM:
            self._send(cpu, 0)
        else:
            self.costs.ledger.syscall += self.costs.syscall_ps
            self._send(cpu, self.costs.syscall_ps)

    def _send(self, cpu: Cpu, work: cython.longlong) -> cython.int:
        """Make a datagram, or wait for memory; `work` is of entering the call."""
        self.state = _SENDING if self.output.room() else _NO_ROOM
        return self.output.sendmsg(cpu, work)
