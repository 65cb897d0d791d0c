"""Where a process goes when it calls exec (`sched_balance_self` of Linux 2.6.16)."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.host.machine import Machine
from simnet.host.scheduler import Task
from simnet.kernel.simulator import Simulator
from tests.host.parts import make_machine

CPUS = 8
NODES = (frozenset({0, 1, 2, 3}), frozenset({4, 5, 6, 7}))
CORES = tuple(frozenset({n, n + 1}) for n in range(0, CPUS, 2))
THREADS = tuple(frozenset({n}) for n in range(CPUS))


def make() -> Machine:
    """Two nodes with two cores of two threads: siblings are 0 and 1, 2 and 3, ..."""
    return make_machine(Simulator(), nodes=2, cores_per_socket=2, threads_per_core=2)


def run_on(machine: Machine, *cpus: int) -> None:
    """Have one more task runnable on each of these CPUs."""
    for cpu in cpus:
        path = f"task{len(machine.sim.components)}"
        task = Task(machine.scheduler, path, machine.cpus[cpu], 0, frozenset({cpu}))
        assert task.wake_on(machine.cpus[cpu])


def execute(machine: Machine, starter: int = 0, allowed: set[int] | None = None) -> int:
    """Return the CPU that a process goes to."""
    mask = None if allowed is None else frozenset(allowed)
    path = f"process{len(machine.sim.components)}"
    task = Task(machine.scheduler, path, machine.cpus[starter], 0, mask)
    return int(machine.scheduler.exec_cpu(task, machine.cpus[starter]).cpu_id)


class TestPlacement:
    def test_the_idler_node_comes_first(self) -> None:
        machine = make()
        run_on(machine, 0, 1, 2, 4, 5)
        # node 1 has less to do, though core 1 of node 0 has an idle thread
        assert execute(machine) in {6, 7}

    def test_then_the_idler_core(self) -> None:
        machine = make()
        run_on(machine, *range(4), 4, 4)
        assert execute(machine) in {6, 7}

    def test_then_the_idler_thread(self) -> None:
        machine = make()
        run_on(machine, *range(4), 4, 4, 6)
        assert execute(machine) == 7

    def test_a_process_that_is_alone_leaves_the_shells_core_and_node(self) -> None:
        # it counts where it is, so all others look idler
        assert execute(make(), starter=0) == 7
        assert execute(make(), starter=7) == 3

    def test_processes_started_by_one_shell_spread_evenly(self) -> None:
        machine = make()
        load: Counter[int] = Counter(dict.fromkeys(range(CPUS), 0))
        for _ in range(2 * CPUS):
            cpu = execute(machine)
            load[cpu] += 1
            run_on(machine, cpu)
            for groups in (NODES, CORES, THREADS):
                loads = [sum(load[cpu] for cpu in group) for group in groups]
                assert max(loads) - min(loads) <= 1

    @pytest.mark.parametrize(("running", "stays"), [(8, False), (9, True)])
    def test_it_moves_only_where_load_is_less_by_an_eighth(
        self,
        running: int,
        stays: bool,  # noqa: FBT001 - a parameter of the test
    ) -> None:
        """With itself, 9 are 112 % of 8, but 10 are not of 9."""
        machine = make()
        run_on(machine, *[0] * running, *[5] * running)
        assert (execute(machine) in NODES[0]) == stays


class TestMask:
    @pytest.mark.parametrize("starter", [0, 5])
    def test_only_allowed_cpus_count(self, starter: int) -> None:
        machine = make()
        run_on(machine, 2)
        assert execute(machine, starter, {2, 3}) == 3
        assert execute(machine, starter, {2}) == 2
        # node 1 has nothing to do
        assert execute(machine, starter, {1, 2, 6}) == 6

    @given(
        st.lists(st.integers(0, 7), max_size=20),
        st.integers(0, 7),
        st.sets(st.integers(0, 7), min_size=1),
    )
    def test_no_allowed_node_is_clearly_idler(
        self, running: list[int], starter: int, allowed: set[int]
    ) -> None:
        machine = make()
        run_on(machine, *running)
        cpu = execute(machine, starter, allowed)
        assert cpu in allowed
        load = Counter(number for number in running if number in allowed)
        loads = [sum(load[n] for n in node) for node in NODES if node & allowed]
        mine = sum(load[n] for node in NODES if cpu in node for n in node)
        assert mine == min(loads) or 100 * (mine + 1) < 112 * min(loads)
