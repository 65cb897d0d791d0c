"""Who runs, for how long, and who preempts (kernel/sched/fair.c of Linux 5.4 and 6.6)."""

from __future__ import annotations

from typing import Any

import pytest

from simnet.host.accounting import HARD_LEVEL, IRQ, PROCESS_LEVEL, SOFT_LEVEL, SOFTIRQ, USER
from simnet.host.cpu import Cpu
from simnet.host.fair.rules import fair_rules
from simnet.host.scheduler import Task
from simnet.kernel.simulator import Simulator
from tests.host.parts import MS, US, Agenda, Busy, Job, make_machine


class Sleeper(Task):
    """Computes for a while when it is woken; logs how long after that it was done."""

    def __init__(self, host: Host, work_ps: int) -> None:
        super().__init__(host.machine.scheduler, "sleeper", host.cpu)
        self.work_ps = work_ps
        self.woken_ps = -1
        self.left_ps = 0
        self.delays_us: list[int] = []

    def begin(self) -> None:
        self.woken_ps, self.left_ps = self.sim.now, self.work_ps
        self.wake_on(self.cpu)
        self.cpu.kick()

    def step(self, cpu: Cpu) -> None:
        if self.left_ps == 0:
            self.delays_us.append((self.sim.now - self.woken_ps) // US)
            self.sleep()
        elif not self.yield_if_needed(cpu):
            piece = min(100 * US, self.left_ps)
            self.left_ps -= piece
            cpu.run(PROCESS_LEVEL, self, piece, USER)


class Host:
    """One CPU, with a tick each ms."""

    def __init__(self, version: str) -> None:
        self.sim = Simulator()
        self.machine = make_machine(self.sim, tick_ps=MS, fair=version)
        self.cpu = self.machine.cpus[0]
        self.agenda = Agenda(self.sim)

    def busy(self, count: int) -> list[Busy]:
        made = [Busy(self.machine.scheduler, f"busy{n}", self.cpu) for n in range(count)]
        for task in made:
            task.wake_on(self.cpu)
        self.cpu.kick()
        return made

    def run(self, ms: int) -> None:
        self.sim.run_until(ms * MS)


@pytest.mark.parametrize(
    ("version", "smt_first", "by_use", "eevdf"),
    [
        ("5.4", False, False, False),
        ("5.14", True, False, False),
        ("6.1", True, True, False),
        ("6.6", True, True, True),
    ],
)
def test_rules_of_versions(version: str, smt_first: bool, by_use: bool, eevdf: bool) -> None:  # noqa: FBT001
    rules = fair_rules(version)
    assert (rules.smt_first, rules.scans_by_use, rules.eevdf) == (smt_first, by_use, eevdf)


@pytest.mark.parametrize("version", ["5.4", "6.6"])
class TestShares:
    def test_each_of_three_has_a_third(self, version: str) -> None:
        host = Host(version)
        tasks = host.busy(3)
        host.run(900)
        had = [task.virtual_ps for task in tasks]
        assert sum(had) == pytest.approx(900 * MS, rel=0.01)
        assert max(had) - min(had) <= 26 * MS

    @pytest.mark.parametrize(("level", "mode"), [(HARD_LEVEL, IRQ), (SOFT_LEVEL, SOFTIRQ)])
    def test_what_interrupts_take_is_nobodys(self, version: str, level: int, mode: int) -> None:
        host = Host(version)
        tasks = host.busy(2)
        job = Job(host.sim, "job", level, mode)
        host.agenda.at(10 * MS, job.start, host.cpu, 50 * MS)
        host.run(100)
        assert sum(task.virtual_ps for task in tasks) == pytest.approx(50 * MS, rel=0.02)

    def test_softirqs_are_the_time_of_ksoftirqd(self, version: str) -> None:
        host = Host(version)
        (task,) = host.busy(1)
        task.runs_softirqs = True
        job = Job(host.sim, "job", SOFT_LEVEL, SOFTIRQ)
        host.agenda.at(10 * MS, job.start, host.cpu, 50 * MS)
        host.run(100)
        # it is counted when it is looked at
        task.stop = True
        host.run(101)
        assert task.virtual_ps == pytest.approx(100 * MS, rel=0.02)

    def test_who_slept_long_has_no_more_credit_than_half_of_the_latency(self, version: str) -> None:
        host = Host(version)
        (task,) = host.busy(1)
        late = Sleeper(host, 100 * MS)
        host.agenda.at(500 * MS, late.begin)
        host.run(900)
        # from then on each has about half; nothing of the 500 ms is made up for
        assert 170_000 <= late.delays_us[0] <= 225_000
        assert task.virtual_ps > 0


@pytest.mark.parametrize(
    ("version", "count", "slice_ms"), [("5.4", 2, 12), ("5.4", 10, 3), ("6.6", 2, 3)]
)
def test_a_slice_is_a_share_of_the_latency_or_the_base_slice(
    version: str, count: int, slice_ms: int
) -> None:
    host = Host(version)
    host.busy(count)
    host.run(900)
    # the end of a slice is seen at the next tick
    assert 900 // (slice_ms + 2) <= host.machine.scheduler.switches <= 900 // slice_ms


class TestWakeUp:
    def sleeper(self, version: str, *at_ms: int) -> list[int]:
        """Delays of one that wakes at these times beside one that computes."""
        host = Host(version)
        host.busy(1)
        late = Sleeper(host, 200 * US)
        for ms in at_ms:
            # between two ticks
            host.agenda.at(ms * MS + 300 * US, late.begin)
        host.run(at_ms[-1] + 50)
        return late.delays_us

    def test_cfs_lets_one_that_slept_preempt(self) -> None:
        assert max(self.sleeper("5.4", 100, 150, 200)) <= 300

    def test_eevdf_lets_who_runs_finish_its_slice(self) -> None:
        delays = self.sleeper("6.6", 101, 152, 203)
        assert delays[0] > 500
        assert max(delays) <= 4300

    def test_eevdf_lets_one_preempt_that_is_behind_the_mean(self) -> None:
        host = Host("6.6")
        host.busy(1)
        late = Sleeper(host, 200 * US)
        host.run(100)
        late.lag_ps = 2 * MS
        late.begin()
        host.run(150)
        assert late.delays_us[0] <= 300

    def test_eevdf_protects_a_slice_from_an_earlier_deadline(self) -> None:
        host = Host("6.6")
        tasks = host.busy(2)
        late = Sleeper(host, 200 * US)
        host.agenda.at(100 * MS + 300 * US, self.behind, host, tasks, late)
        host.run(150)
        assert late.delays_us[0] > 400

    def behind(self, host: Host, tasks: list[Busy], late: Sleeper) -> None:
        """Who runs is behind the mean, and the one that wakes still more."""
        running: Any = host.cpu.current
        for task in tasks:
            task.virtual_ps = running.virtual_ps + (0 if task is running else 6 * MS)
        late.lag_ps = 4 * MS
        late.begin()
