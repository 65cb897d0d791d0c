"""Where the fair scheduler puts a woken task (kernel/sched/fair.c of Linux 5.4 to 6.12)."""

import pytest

from simnet.kernel.simulator import Simulator
from tests.host.parts import MS, Busy, Once, make_machine


class Host:
    """Two sockets with four cores, or with two of two threads: 0 to 3 and 4 to 7."""

    def __init__(self, version: str = "6.6", threads: int = 1) -> None:
        self.sim = Simulator()
        self.machine = make_machine(
            self.sim,
            nodes=2,
            cores_per_socket=4 // threads,
            threads_per_core=threads,
            smt_slowdown_permille=1000,
            fair=version,
        )
        self.cpus = self.machine.cpus
        self.busy: list[Busy] = []

    def occupy(self, *numbers: int) -> None:
        for number in numbers:
            path, pinned = f"busy{len(self.busy)}", frozenset({number})
            task = Busy(self.machine.scheduler, path, self.cpus[number], 0, pinned)
            self.busy.append(task)
            task.wake_on(self.cpus[number])
            self.cpus[number].kick()
        self.sim.run_until(self.sim.now + MS)

    def task(self, last: int, allowed: set[int] | None = None) -> Once:
        """One that was on this CPU."""
        pinned = None if allowed is None else frozenset(allowed)
        return Once(self.machine.scheduler, "task", self.cpus[last], 0, pinned)

    def placed(self, task: Once, waker: int) -> int:
        return int(self.machine.scheduler.place(task, self.cpus[waker]).cpu_id)


@pytest.mark.parametrize(
    ("last", "waker", "busy", "chosen"),
    [
        (1, 1, (), 1),
        # both idle: the previous one
        (1, 0, (), 1),
        # wake_affine_idle: the waker's cache has the data
        (1, 0, (1,), 0),
        (1, 0, (0,), 1),
        # both busy: the next idle one behind the target, wrapped
        (1, 0, (0, 1), 2),
        (1, 0, (0, 1, 2), 3),
        (3, 3, (3,), 0),
        # no idle one shares the cache: it waits
        (1, 1, (0, 1, 2, 3), 1),
        # of another cache: idle where it was
        (5, 0, (), 5),
        (5, 0, (0,), 5),
        # the waker's CPU idles, but only the load decides between caches
        (5, 0, (5,), 0),
        # equal load: bias to where it was, so the search is in that cache
        (5, 0, (0, 5), 6),
        (5, 0, (0, 5, 5), 1),
    ],
)
def test_placement(last: int, waker: int, busy: tuple[int, ...], chosen: int) -> None:
    host = Host()
    host.occupy(*busy)
    assert host.placed(host.task(last), waker) == chosen


def test_a_sync_waker_that_runs_alone_is_about_to_sleep() -> None:
    host = Host()
    host.occupy(0, 5)
    task = host.task(5)
    assert host.placed(task, 0) == 6
    task.sync = True
    # the target is its CPU, and the search is in that cache
    assert host.placed(task, 0) == 1


def test_a_sync_waker_pulls_from_an_idle_cpu_of_another_cache() -> None:
    host = Host()
    host.occupy(0)
    task = host.task(5)
    assert host.placed(task, 0) == 5
    task.sync = True
    assert host.placed(task, 0) == 1


def test_the_cpu_before_the_last_one_is_tried_before_the_search() -> None:
    host = Host()
    host.occupy(0, 1, 3)
    task = host.task(3)
    assert host.placed(task, 3) == 2
    host.busy[2].stop = True
    host.sim.run_until(10 * MS)
    task.cpu = host.cpus[1]
    assert host.placed(task, 1) == 3


class TestAffinity:
    def test_a_pinned_task_stays(self) -> None:
        host = Host()
        host.occupy(1)
        assert host.placed(host.task(1, {1}), 0) == 1

    def test_the_search_keeps_to_the_cpus_that_are_allowed(self) -> None:
        host = Host()
        host.occupy(0, 1)
        assert host.placed(host.task(1, {0, 1, 3}), 0) == 3


class TestThreads:
    def test_a_core_that_idles_comes_before_a_thread(self) -> None:
        host = Host(threads=2)
        host.occupy(0)
        assert host.placed(host.task(0), 0) == 2

    @pytest.mark.parametrize(("version", "chosen"), [("5.4", 3), ("5.14", 1)])
    def test_without_one_the_sibling_comes_first_since_513(self, version: str, chosen: int) -> None:
        host = Host(version, threads=2)
        host.occupy(0, 2)
        task = host.task(0)
        task.sync = True
        assert host.placed(task, 2) == chosen


class TestScanByUse:
    def use(self, version: str, *busy: int) -> int:
        """Where a task goes when these CPUs have been busy for long and are not all."""
        host = Host(version)
        host.occupy(*busy)
        host.sim.run_until(50 * MS)
        return host.placed(host.task(0), 0)

    @pytest.mark.parametrize(("version", "chosen"), [("5.14", 3), ("6.1", 0)])
    def test_since_6_a_busy_cache_is_looked_at_in_part(self, version: str, chosen: int) -> None:
        # three of four are used: 1 - 0.75 ** 2 * 1.17 ** 2, of four CPUs, is none
        assert self.use(version, 0, 1, 2) == chosen

    def test_half_used_it_is_looked_at_by_more_than_half(self) -> None:
        assert self.use("6.1", 0, 1) == 2


def test_the_scheduler_wakes_where_placement_says() -> None:
    host = Host()
    host.occupy(0, 1)
    task = Once(host.machine.scheduler, "task", host.cpus[1])
    task.wake_on(host.cpus[0])
    host.sim.run_until(10 * MS)
    assert task.log[0][1] == 2
    assert task.migrations == 1
