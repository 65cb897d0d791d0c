"""Handlers of a storage device's interrupt, and the thread that does work for later."""

from functools import partial

from simnet.host.softirq.deferred import DeviceInterrupt, WorkQueue
from simnet.kernel.simulator import Simulator
from tests.host.parts import MS, US, Agenda, make_machine


def test_handlers_of_one_cpu_are_through_one_after_the_other() -> None:
    sim = Simulator()
    machine = make_machine(sim, cores_per_socket=4)
    device = DeviceInterrupt(machine, "disk", 19)
    assert device.line.smp_affinity == 0b1111
    device.line.smp_affinity = 0b100
    agenda = Agenda(sim)
    done: list[tuple[str, int]] = []

    def through(name: str) -> None:
        done.append((name, sim.now))

    before = machine.costs.ledger.storage
    # the first still goes where the line pointed before; the rest to CPU 2
    agenda.at(0, device.interrupt, 5 * US, partial(through, "first"))
    sim.run_until(MS)
    agenda.at(MS, device.interrupt, 5 * US, partial(through, "a"))
    agenda.at(MS, device.interrupt, 3 * US, partial(through, "b"))
    sim.run_until(2 * MS)
    assert done == [("first", 5 * US), ("a", MS + 5 * US), ("b", MS + 8 * US)]
    assert device.cpu is machine.cpus[2]
    assert device.line.total == 3
    agenda.at(2 * MS, device.follow, 7 * US, partial(through, "c"))
    sim.run_until(3 * MS)
    # the CPU that served it last does it, and nobody has interrupted
    assert done[3:] == [("c", 2 * MS + 7 * US)]
    assert device.line.total == 3
    assert machine.cpus[2].times()["irq_ps"] == 15 * US
    assert machine.costs.ledger.storage - before == 20 * US


def test_a_work_queue_does_what_was_asked_for_in_order_and_sleeps() -> None:
    sim = Simulator()
    machine = make_machine(sim, cores_per_socket=2)
    queue = WorkQueue(machine, "kblockd", machine.cpus[0])
    agenda = Agenda(sim)
    done: list[tuple[str, int]] = []

    def through(name: str) -> None:
        done.append((name, sim.now))

    before = machine.costs.ledger.storage
    cpu = machine.cpus[0]
    agenda.at(0, queue.schedule, cpu, 5 * US, partial(through, "a"))
    agenda.at(0, queue.schedule, cpu, 3 * US, partial(through, "b"))
    sim.run_until(MS)
    (_, first), (_, second) = done
    assert [name for name, _ in done] == ["a", "b"]
    assert first >= 5 * US
    assert second - first == 3 * US
    assert queue.sleeping
    agenda.at(MS, queue.schedule, cpu, 4 * US, partial(through, "c"))
    sim.run_until(2 * MS)
    # it takes as long to wake as before
    assert done[2:] == [("c", MS + first - US)]
    assert machine.costs.ledger.storage - before == 12 * US
