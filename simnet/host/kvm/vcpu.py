"""A virtual CPU under KVM: a thread of the host that executes a CPU of the guest.

A guest's CPU that has nothing to execute halts, which exits to the host. The thread polls for a
while before it blocks, unless another waits for the CPU: a wake-up is cheap then. How long it polls
adapts: longer after halts that were a bit longer than the poll, not at all after those that were
longer than `halt_poll_ns`.

Source: virt/kvm/kvm_main.c of Linux 5.4 to 6.12 (`kvm_vcpu_halt`, `grow_halt_poll_ns` by
halt_poll_ns_grow 2 from halt_poll_ns_grow_start 10000, `shrink_halt_poll_ns` with
halt_poll_ns_shrink 0).
"""

from __future__ import annotations

import cython

from simnet.host.cpu import Cpu
from simnet.host.kvm.host_cpu import BLOCKED, RUNNING, HostCpu, HostThread
from simnet.kernel.priority import LAST

_GROW_START_PS: cython.longlong = 10_000_000


@cython.final
@cython.cclass
class Vcpu(HostThread):
    """One virtual CPU.

    Args:
        host: the CPU that it is pinned to.
        path: component path.
        cpu: of the guest.
        halt_ps: of the exit by HLT and the entry after it.
        most_poll_ps: `halt_poll_ns`; 0: it never polls.
    """

    cpu: Cpu = None
    halt_ps: cython.longlong = 0
    most_poll_ps: cython.longlong = 0
    poll_ps: cython.longlong = 0  # how long it would poll now
    halted_ps: cython.longlong = 0
    timer: cython.longlong = 0
    entering: cython.bint = False
    halted: cython.bint = False
    # how often it halted, and how often what it waited for came while it polled
    halts: cython.longlong = 0
    polled: cython.longlong = 0

    def __init__(
        self, host: HostCpu, path: str, cpu: Cpu, *, halt_ps: int, most_poll_ps: int
    ) -> None:
        super().__init__(host, path)
        self.cpu = cpu
        self.halt_ps = halt_ps
        self.most_poll_ps = most_poll_ps
        cpu.virtual = self
        cpu.leave()

    # -- what the guest's CPU says ------------------------------------------------------------

    def work_arrived(self, cpu: Cpu) -> cython.int:
        """An interrupt comes, or the like, and the guest's CPU does not execute."""
        if self.state == BLOCKED:
            self._adapt()
            return self.host.wake(self)
        if self.polls:
            self.polls = False
            self.polled += 1
            self._adapt()
            self.sim.cancel(self.timer)
            self._enter()
        return 0

    def became_idle(self, cpu: Cpu) -> cython.int:
        """HLT: poll, or block."""
        if self.state != RUNNING or self.polls or self.entering:
            return 0
        self.halts += 1
        self.halted = True
        self.halted_ps = self.sim.now
        self.cpu.leave()
        if self.poll_ps == 0 or self.host.ready:
            return self.host.block(self)
        self.polls = True
        self.timer = self.sim.after(self.poll_ps, self, 0, 0, LAST)
        return 0

    def changed(self, cpu: Cpu) -> cython.int:
        """Nothing depends on which of several threads executes."""
        return 0

    def _adapt(self) -> cython.int:
        """What `kvm_vcpu_halt` makes of how long it had to wait."""
        waited_ps: cython.longlong = self.sim.now - self.halted_ps
        if waited_ps <= self.poll_ps:
            return 0
        if waited_ps > self.most_poll_ps:
            self.poll_ps = 0
        elif self.poll_ps < self.most_poll_ps:
            self.poll_ps = min(max(2 * self.poll_ps, _GROW_START_PS), self.most_poll_ps)
        return 0

    # -- what the host's CPU says -------------------------------------------------------------

    def resumed(self) -> cython.int:
        """Enter the guest; after a halt that is the way back from HLT."""
        return self._enter() if self.halted else self.cpu.arrive()

    def _enter(self) -> cython.int:
        self.entering = True
        self.timer = self.sim.after(self.halt_ps, self, 0, 0, LAST)
        return 0

    def preempted(self) -> cython.int:
        """Another thread gets the CPU."""
        if self.entering:
            self.sim.cancel(self.timer)
            self.entering = False
        return self.cpu.leave()

    def stop_polling(self) -> cython.int:
        """`kvm_vcpu_can_poll`: only while nothing else could run."""
        self.sim.cancel(self.timer)
        self.polls = False
        return self.host.block(self)

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """The guest is entered, or nothing has come for as long as it polls."""
        if self.polls:
            self.polls = False
            self.host.block(self)
            return
        self.entering = False
        self.halted = False
        self.cpu.arrive()
