"""The IOMMU: when it is asked to forget, who waits for whom, and what that costs. Exact."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.host.dma.iommu import DmaDomain, RemappingUnit
from simnet.host.machine import Machine
from simnet.kernel.simulator import Simulator
from tests.host.parts import MS, NS, US, make_machine, make_memory

MAP, UNMAP, ANSWER = 200 * NS, 300 * NS, 700 * NS
LINE = 50 * NS
# what a flush queue holds, and when all are flushed: IOVA_DEFAULT_FQ_SIZE, IOVA_DEFAULT_FQ_TIMEOUT
HELD, TIMEOUT = 255, 10 * MS


def make(*, strict: bool, cpus: int = 4, look_ps: int = 0) -> tuple[Machine, DmaDomain]:
    """A machine of so many CPUs on one bus, and the domain of its only device."""
    sim = Simulator()
    memory = make_memory(same_bus_dirty_ps=LINE)
    machine = make_machine(sim, memory=memory, cores_per_socket=cpus)
    unit = RemappingUnit(sim, memory, ANSWER, look_ps)
    return machine, another(machine, unit, strict=strict)


def another(machine: Machine, unit: RemappingUnit, *, strict: bool) -> DmaDomain:
    cpus = len(machine.cpus)
    ledger = machine.costs.ledger
    return DmaDomain(unit, ledger, map_ps=MAP, unmap_ps=UNMAP, strict=strict, cpus=cpus)


class TestStrict:
    def test_each_buffer_waits_for_an_answer(self) -> None:
        machine, domain = make(strict=True)
        assert domain.unmap_ps(machine.cpus[0], 5) == 5 * (UNMAP + ANSWER)
        assert domain.unit.invalidations == 5
        assert machine.costs.ledger.iommu == 5 * (UNMAP + ANSWER)

    def test_a_cpu_waits_for_what_others_have_asked_for(self) -> None:
        machine, domain = make(strict=True)
        first, second = machine.cpus[:2]
        domain.unmap_ps(first, 3)
        # three answers, the line of the queue's lock, and the one of its own
        assert domain.unmap_ps(second, 1) == UNMAP + 3 * ANSWER + LINE + ANSWER
        assert domain.unit.waited_ps == 3 * ANSWER

    def test_who_comes_when_all_have_been_answered_waits_for_nobody(self) -> None:
        machine, domain = make(strict=True)
        domain.unmap_ps(machine.cpus[0], 3)
        machine.sim.run_until(3 * ANSWER)
        assert domain.unmap_ps(machine.cpus[1], 1) == UNMAP + LINE + ANSWER
        assert domain.unit.waited_ps == 0

    def test_a_cpu_does_not_wait_for_itself(self) -> None:
        machine, domain = make(strict=True)
        works = [domain.unmap_ps(machine.cpus[0], 2) for _ in range(2)]
        assert works == [2 * (UNMAP + ANSWER)] * 2

    def test_devices_behind_one_unit_wait_for_each_other_and_others_do_not(self) -> None:
        machine, domain = make(strict=True)
        near = another(machine, domain.unit, strict=True)
        unit = RemappingUnit(machine.sim, machine.memory, ANSWER)
        far = another(machine, unit, strict=True)
        domain.unmap_ps(machine.cpus[0], 4)
        assert near.unmap_ps(machine.cpus[1], 1) == UNMAP + 4 * ANSWER + LINE + ANSWER
        assert far.unmap_ps(machine.cpus[2], 1) == UNMAP + ANSWER

    @pytest.mark.parametrize(("look_us", "answer_ns"), [(0, 700), (1, 1000)])
    def test_who_looks_once_a_microsecond_sees_the_answer_then(
        self, look_us: int, answer_ns: int
    ) -> None:
        machine, domain = make(strict=True, look_ps=look_us * US)
        assert domain.unmap_ps(machine.cpus[0], 1) == UNMAP + answer_ns * NS


class TestLazy:
    def test_a_full_queue_is_flushed_with_one_request(self) -> None:
        machine, domain = make(strict=False)
        cpu = machine.cpus[0]
        assert domain.unmap_ps(cpu, HELD) == HELD * UNMAP
        assert domain.unmap_ps(cpu, 1) == UNMAP + ANSWER
        assert (domain.flushes, domain.unit.invalidations) == (1, 1)
        assert domain.unmap_ps(cpu, HELD - 1) == (HELD - 1) * UNMAP
        assert domain.unmap_ps(cpu, 1) == UNMAP + ANSWER

    def test_a_flush_of_one_cpu_frees_what_others_have_queued(self) -> None:
        machine, domain = make(strict=False)
        first, second = machine.cpus[:2]
        domain.unmap_ps(second, HELD)
        domain.unmap_ps(first, HELD + 1)
        assert domain.flushes == 1
        machine.sim.run_until(ANSWER)
        assert domain.unmap_ps(second, HELD) == HELD * UNMAP

    def test_ten_milliseconds_after_the_first_all_are_flushed(self) -> None:
        machine, domain = make(strict=False)
        first, second = machine.cpus[:2]
        domain.unmap_ps(first, 10)
        machine.sim.run_until(TIMEOUT - 1)
        assert domain.unmap_ps(second, 1) == UNMAP
        machine.sim.run_until(TIMEOUT)
        assert domain.unmap_ps(second, 1) == UNMAP + ANSWER
        assert domain.unmap_ps(first, HELD) == HELD * UNMAP


@given(
    steps=st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 400), st.integers(0, 3000)), max_size=40
    ),
    strict=st.booleans(),
)
def test_no_unit_answers_faster_than_it_can(
    steps: list[tuple[int, int, int]], *, strict: bool
) -> None:
    """Whatever CPUs ask for: the last is through no sooner than the unit could be with all."""
    machine, domain = make(strict=strict)
    answered = begin = 0
    through = [0] * len(machine.cpus)
    for number, buffers, later_us in steps:
        machine.sim.run_until(machine.sim.now + later_us * US)
        if domain.unit.free_ps <= machine.sim.now:
            begin, answered = machine.sim.now, domain.unit.invalidations
        work = domain.unmap_ps(machine.cpus[number], buffers)
        # a CPU does one piece of work after another
        through[number] = max(through[number], machine.sim.now) + work
        asked = domain.unit.invalidations - answered
        assert max(through) - begin >= asked * ANSWER
        assert domain.unit.free_ps >= begin + asked * ANSWER or not asked
    total = sum(buffers for _, buffers, _ in steps)
    assert domain.unmaps == total
    if strict:
        assert domain.unit.invalidations == total
    else:
        assert domain.unit.invalidations == domain.flushes <= total // HELD + len(steps)
        assert domain.flushes >= total // (HELD * len(machine.cpus)) - len(machine.cpus)
