"""What machines have booked and what they have done, compared whenever all their CPUs are idle.

The machines are those of the scenarios that come with simnet, without what makes work take longer
than it was booked for: SMT siblings, and buses and memory that are fully used.
"""

from collections.abc import Iterator
from typing import Any

from simnet.host.scheduler import Scheduler
from simnet.scenario.core.load import load
from simnet.scenario.system import build as building
from simnet.scenario.system.system import System

US = 10**6
# long enough that a machine that is idle now and then is seen so
_LOOK_PS = 2_137_000
_UNLIMITED = dict.fromkeys(("bus_bandwidth_bps", "memory_bandwidth_bps", "link_bandwidth_bps"), 0)
_ALONE = {"stall_permille": 0, "smt_slowdown_permille": 1000}
_BUSY = ("user_ps", "system_ps", "softirq_ps", "irq_ps")


def built(scenario: str, tunings: tuple[str, ...] = (), **options: Any) -> System:
    """Return a scenario's system, in which work takes the time that it was booked for."""
    effective = load(scenario, tunings=tunings)
    peers = tuple(map(_alone, effective.peers))
    changed = effective.model_copy(update={"host": _alone(effective.host), "peers": peers})
    return building.build(changed, seed=1, **options)


def _alone(host: Any) -> Any:
    return host.model_copy(
        update={
            "machine": host.machine.model_copy(update=_UNLIMITED),
            "cpu": host.cpu.model_copy(update=_ALONE),
        }
    )


class Books:
    """A scenario's machines, and how far their books were from what they had done.

    Attributes:
        idle_differences: booked less done, in ps, each time that all CPUs of a machine were idle.
        differences: the same at other times.
    """

    def __init__(self, scenario: str, tunings: tuple[str, ...], duration_us: int) -> None:
        self.system = built(scenario, tunings)
        self.sim = self.system.env.sim
        parts = self.sim.components.values()
        self.machines = [part for part in parts if isinstance(part, Scheduler)]
        self.idle_differences: list[int] = []
        self.differences: list[int] = []
        while self.sim.now < duration_us * US:
            self.system.env.run(until=self.sim.now + _LOOK_PS)
            for scheduler, difference in self._compared():
                idle = not any(cpu.mode for cpu in scheduler.cpus)
                (self.idle_differences if idle else self.differences).append(difference)

    def left_at_last(self) -> int:
        """Return the least that was left in the last third of the times when all were idle.

        Work may be booked a little before it is done, or after it. A mistake in either adds up.
        """
        return min(map(abs, self.idle_differences[-len(self.idle_differences) // 3 :]))

    def _compared(self) -> Iterator[tuple[Scheduler, int]]:
        for scheduler in self.machines:
            times = [cpu.times() for cpu in scheduler.cpus]
            for cpu in times:
                lasted = sum(cpu[mode] for mode in (*_BUSY, "idle_ps", "steal_ps"))
                assert lasted == self.sim.now
            done = sum(cpu[mode] for cpu in times for mode in _BUSY)
            yield scheduler, sum(scheduler.costs.ledger.work().values()) - done
