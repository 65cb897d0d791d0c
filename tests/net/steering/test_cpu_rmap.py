"""Which queue is nearest to each CPU, as lib/cpu_rmap.c finds it."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from simnet.host.cpu import Cpu
from simnet.kernel.simulator import Simulator
from simnet.net.steering.cpu_rmap import CpuRmap
from tests.host.parts import make_machine


def cpus(**layout: Any) -> list[Cpu]:
    return make_machine(Simulator(), **layout).cpus


def nearest(rmap: CpuRmap, count: int) -> list[int]:
    return [rmap.queue(cpu) for cpu in range(count)]


def test_at_first_cpus_have_queues_in_turn() -> None:
    assert nearest(CpuRmap(cpus(cores_per_socket=6), 4), 6) == [0, 1, 2, 3, 0, 1]


def test_a_cpu_has_the_queue_that_interrupts_it() -> None:
    rmap = CpuRmap(cpus(cores_per_socket=4), 4)
    for queue, cpu in enumerate((3, 2, 1, 0)):
        rmap.update(queue, 1 << cpu)
    assert nearest(rmap, 4) == [3, 2, 1, 0]


def test_others_take_that_of_their_core_socket_and_node() -> None:
    """Two nodes of two sockets of two cores with two threads; three queues."""
    made = cpus(nodes=2, sockets_per_node=2, cores_per_socket=2, threads_per_core=2)
    rmap = CpuRmap(made, 3)
    for queue, cpu in enumerate((1, 3, 8)):
        rmap.update(queue, 1 << cpu)
    assert nearest(rmap, 4) == [0, 0, 1, 1]
    assert nearest(rmap, 16)[4:8] == [0] * 4
    assert nearest(rmap, 16)[8:] == [2] * 8


def test_where_nothing_is_near_the_turn_stays() -> None:
    made = cpus(nodes=2, cores_per_socket=2)
    rmap = CpuRmap(made, 2)
    rmap.update(0, 0b01)
    rmap.update(1, 0b10)
    assert nearest(rmap, 4) == [0, 1, 0, 1]


def test_a_queue_that_moves_away_leaves_its_cpus_to_the_next() -> None:
    rmap = CpuRmap(cpus(cores_per_socket=4), 2)
    rmap.update(0, 0b0001)
    rmap.update(1, 0b0010)
    rmap.update(0, 0b1000)
    assert nearest(rmap, 4)[1] == 1
    assert nearest(rmap, 4)[3] == 0
    assert nearest(rmap, 4)[0] == 1


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 255)), max_size=12))
def test_every_cpu_has_an_existing_queue_and_its_last_one_s(updates: list[tuple[int, int]]) -> None:
    made = cpus(nodes=2, cores_per_socket=2, threads_per_core=2)
    rmap = CpuRmap(made, 5)
    for queue, mask in updates:
        rmap.update(queue, mask)
    assert set(nearest(rmap, 8)) <= set(range(5))
    for queue, mask in updates[-1:]:
        assert {rmap.queue(cpu) for cpu in range(8) if mask >> cpu & 1} == {queue}
