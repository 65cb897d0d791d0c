"""What buffers cost that change hands: nothing on one CPU, and by the place on others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.host.costs import Buffers
from simnet.host.machine import Machine
from simnet.kernel.simulator import Simulator
from tests.host.parts import NS, make_machine, make_memory

SKB_LINES, SLAB_LINES = 4, 3
# CPU, the one that had the buffer before, ns for a line; and whether that is on another node
PLACES = [
    (0, 0, 0, False),
    (0, 1, 0, False),  # siblings share their caches
    (0, 2, 125, False),
    (0, 4, 125, False),
    (0, 8, 175, False),
    (0, 16, 500, True),
    (0, 32, 650, True),
    (47, 0, 650, True),
]


def make() -> tuple[Machine, Buffers]:
    """Three nodes in a row, each of two buses with two sockets, cores of two threads."""
    memory = make_memory(
        3,
        None,
        same_bus_dirty_ps=125 * NS,
        same_node_dirty_ps=175 * NS,
        remote_dirty_ps=500 * NS,
        hop_ps=150 * NS,
    )
    machine = make_machine(
        Simulator(),
        memory=memory,
        nodes=3,
        sockets_per_node=4,
        buses_per_node=2,
        cores_per_socket=2,
        threads_per_core=2,
    )
    return machine, Buffers(memory, machine.costs.ledger, SKB_LINES, SLAB_LINES)


@pytest.mark.parametrize(("cpu", "other", "line_ns", "far"), PLACES)
class TestPlaces:
    def test_who_allocates_fetches_the_lines_from_who_freed(
        self,
        cpu: int,
        other: int,
        line_ns: int,
        far: bool,  # noqa: ARG002, FBT001 - a parameter of the class
    ) -> None:
        machine, buffers = make()
        work = buffers.allocated_ps(machine.cpus[cpu], machine.cpus[other])
        assert work == SKB_LINES * line_ns * NS

    def test_who_frees_what_came_from_another_node_writes_its_slab(
        self,
        cpu: int,
        other: int,
        line_ns: int,
        far: bool,  # noqa: FBT001 - a parameter of the class
    ) -> None:
        machine, buffers = make()
        work = buffers.freed_ps(machine.cpus[cpu], machine.cpus[other])
        assert work == (SKB_LINES + (SLAB_LINES if far else 0)) * line_ns * NS


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 47), st.integers(0, 47)), max_size=20))
def test_all_of_it_is_booked(uses: list[tuple[bool, int, int]]) -> None:
    machine, buffers = make()
    total = 0
    for frees, cpu, other in uses:
        use = buffers.freed_ps if frees else buffers.allocated_ps
        total += use(machine.cpus[cpu], machine.cpus[other])
        booked = machine.costs.ledger.work()
        assert booked.pop("skb_lines") == total
        assert not any(booked.values())
