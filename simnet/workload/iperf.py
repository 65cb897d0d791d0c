"""iperf's second thread: the reporter.

Source: iperf 2.0.2, src/Reporter.c `reporter_spawn`, compat/Thread.c `thread_rest`: while something
is sent, the thread looks for something to report and calls usleep(0). On a kernel whose timers
run at ticks that lasts until the next one. What sends and receives is a `TcpWriter`
and a `TcpReader`, as netperf is.
"""

from simnet.host.accounting import PROCESS_LEVEL, USER
from simnet.host.costs import Costs
from simnet.host.cpu import Cpu, Occupation
from simnet.host.scheduler import Scheduler, Task
from simnet.kernel.priority import CPU

_NONE, _LOOKING = range(2)


class Reporter(Task):
    """The thread.

    Args:
        cpu: where it was last.
        costs: of the CPUs.
    """

    def __init__(self, scheduler: Scheduler, path: str, cpu: Cpu, costs: Costs) -> None:
        super().__init__(scheduler, path, cpu)
        self.costs = costs
        self.state = _NONE
        self.timer = Occupation(scheduler.sim, f"{path}.timer")

    def step(self, cpu: Cpu) -> None:
        """Look, then sleep until the next tick."""
        if self.state == _NONE:
            self.state = _LOOKING
            self.costs.ledger.syscall += self.costs.syscall_ps
            self.costs.ledger.application += self.costs.user_send_ps
            cpu.run(PROCESS_LEVEL, self, self.costs.syscall_ps + self.costs.user_send_ps, USER)
            return
        self.state = _NONE
        self.sleep()
        self.sim.at(cpu.tick_after(self.sim.now), self, 0, 0, CPU)

    def on_event(self, kind: int, arg: int) -> None:
        """The tick: the timer wakes the thread on the CPU where it went to sleep."""
        cpu = self.cpu
        self.wake_on(cpu)
        self.costs.ledger.wakeup += self.costs.wakeup_ps
        cpu.raise_irq(self.timer, self.costs.wakeup_ps)
