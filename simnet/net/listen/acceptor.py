"""A worker of a server: it accepts a connection, answers its request, closes it, and begins again.

Source: net/ipv4/inet_connection_sock.c (`inet_csk_accept`, `inet_csk_wait_for_connect`) of Linux
4.10 to 6.18. Each call blocks: accept while no connection waits, read while the request has not
come.
"""

import cython

from simnet.host.accounting import PROCESS_LEVEL, SYSTEM
from simnet.host.costs import Costs
from simnet.host.cpu import Cpu
from simnet.host.scheduler import Scheduler, Task
from simnet.net.listen.connection import Connection, SetupCosts
from simnet.net.listen.listener import Listener

_SCHEDULED_IN: cython.int = 0
_LOOKING: cython.int = 1
_ACCEPTED: cython.int = 2
_READING: cython.int = 3
_READ: cython.int = 4
_WORKED: cython.int = 5
_WRITTEN: cython.int = 6
_CLOSED: cython.int = 7
_RETURNED: cython.int = 8


@cython.final
@cython.cclass
class Acceptor(Task):
    """One worker.

    Args:
        cpu: where it was last.
        listener: whose connections it accepts.
        setup: what connections cost.
        number: its own, which connections learn.
        service_ps: of its own work on a request.
        allowed: CPUs that it may run on.
    """

    listener: Listener = None
    setup: SetupCosts = None
    costs: Costs = None
    number: cython.int = 0
    service_ps: cython.longlong = 0
    state: cython.int = 0
    connection: Connection = None
    answered: cython.longlong = 0  # connections that it has closed
    sleeps: cython.longlong = 0  # how often it slept in accept

    def __init__(
        self,
        scheduler: Scheduler,
        path: str,
        cpu: Cpu,
        listener: Listener,
        setup: SetupCosts,
        *,
        number: int,
        service_ps: int,
        allowed: frozenset[int] | None = None,
    ) -> None:
        super().__init__(scheduler, path, cpu, 0, allowed)
        self.listener = listener
        self.setup = setup
        self.costs = setup.costs
        self.number = number
        self.service_ps = service_ps
        self.state = _SCHEDULED_IN

    def step(self, cpu: Cpu) -> None:
        """Go on after a piece of work."""
        state: cython.int = self.state
        if state == _LOOKING:
            self._accept(cpu)
        elif state == _ACCEPTED:
            self.connection.worker = self.number
            self._call(cpu, _READING, 0)
        elif state == _READING:
            self._read(cpu)
        elif state == _READ:
            self.state = _WORKED
            self.costs.ledger.application += self.costs.user_recv_ps + self.service_ps
            cpu.run_to_user(self, 0, self.costs.user_recv_ps + self.service_ps)
        elif state == _WORKED:
            self._call(cpu, _WRITTEN, self.connection.write_ps(cpu))
        elif state == _WRITTEN:
            self.connection.answer(cpu)
            self._call(cpu, _CLOSED, self.connection.close_ps(cpu))
        elif state == _CLOSED:
            self.connection.finish(cpu)
            self.answered += 1
            self.state = _RETURNED
            self.costs.ledger.application += self.costs.user_send_ps
            cpu.run_to_user(self, 0, self.costs.user_send_ps)
        elif state == _RETURNED and self.yield_if_needed(cpu):
            self.state = _SCHEDULED_IN
        else:
            self._call(cpu, _LOOKING, self.listener.look(cpu))

    def _call(self, cpu: Cpu, state: cython.int, work: cython.longlong) -> cython.int:
        """Enter a system call that takes `work`."""
        self.state = state
        self.costs.ledger.syscall += self.costs.syscall_ps
        return cpu.run(PROCESS_LEVEL, self, self.costs.syscall_ps + work, SYSTEM)

    def _accept(self, cpu: Cpu) -> cython.int:
        """Take a connection, or sleep until one comes."""
        found: Connection = self.listener.take()
        if found is None:
            self.listener.waiters.append(self)
            self.sleeps += 1
            return self.sleep()
        self.connection = found
        self.state = _ACCEPTED
        self.costs.ledger.tcp_receive += self.setup.accept_ps
        return cpu.run(PROCESS_LEVEL, self, self.setup.accept_ps, SYSTEM)

    def _read(self, cpu: Cpu) -> cython.int:
        """Read the request, or sleep until it comes."""
        if not self.connection.has_request:
            self.connection.reader = self
            return self.sleep()
        self.state = _READ
        return cpu.run(PROCESS_LEVEL, self, self.connection.read_ps(), SYSTEM)
