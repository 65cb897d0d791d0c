"""Virtual processors dispatched, ceded and counted, to the picosecond; modes of softirq work."""

import pytest

from simnet.host.accounting import HARD_LEVEL, IRQ, PROCESS_LEVEL, SOFT_LEVEL, SOFTIRQ, SYSTEM, USER
from simnet.host.partition import LogicalPartition
from simnet.host.softirq.deferred import DeviceInterrupt
from simnet.host.softirq.version import SoftirqRules, softirq_rules
from simnet.kernel.simulator import Simulator
from tests.host.parts import MS, US, Agenda, Job, make_machine
from tests.host.test_partition import WINDOW, add, load, make_pool


def test_a_job_of_three_windows() -> None:
    sim = Simulator()
    lpar = add(make_pool(sim), "half", 0.5)
    (processor,) = lpar.processors
    assert (processor.dispatches, processor.cedes, processor.total_ps()) == (0, 0, 0)
    Job(sim, "job", PROCESS_LEVEL, SYSTEM).start(lpar.machine.cpus[0], 12 * MS)
    totals = []
    for time_ms in (3, 5, 10, 11, 15, 22, 30):
        sim.run_until(time_ms * MS)
        totals.append(processor.total_ps() // MS)
    assert totals == [3, 5, 5, 6, 10, 12, 12]
    assert (processor.dispatches, processor.cedes) == (3, 1)
    times = lpar.machine.cpus[0].times()
    assert (times["system_ps"], times["steal_ps"], times["idle_ps"]) == (12 * MS, 10 * MS, 8 * MS)
    processor.count()
    assert lpar.machine.cpus[0].purr_ps == 12 * MS
    assert lpar.partition.consumed_ps == 12 * MS


def test_a_dispatch_takes_its_time_and_uses_none_of_the_part() -> None:
    sim = Simulator()
    lpar = add(make_pool(sim, dispatch=100 * US), "half", 0.5)
    job = Job(sim, "job", PROCESS_LEVEL, SYSTEM)
    job.start(lpar.machine.cpus[0], 6 * MS)
    sim.run_until(3 * WINDOW)
    # 5 ms from 0.1 on, and one more in the second window
    assert job.done_ps == [11_100 * US]
    assert lpar.processors[0].total_ps() == 6 * MS
    assert lpar.machine.cpus[0].times()["steal_ps"] == 5100 * US


def test_what_wakes_a_processor_that_has_ceded_is_stolen_until_it_runs() -> None:
    sim = Simulator()
    lpar = add(make_pool(sim, dispatch=100 * US), "whole", 1.0)
    agenda = Agenda(sim)
    jobs = [Job(sim, f"job{n}", PROCESS_LEVEL, SYSTEM) for n in range(2)]
    for number, job in enumerate(jobs):
        agenda.at(number * 3 * MS, job.start, lpar.machine.cpus[0], MS)
    sim.run_until(WINDOW)
    assert [job.done_ps for job in jobs] == [[1100 * US], [4100 * US]]
    times = lpar.machine.cpus[0].times()
    assert (times["steal_ps"], times["system_ps"]) == (200 * US, 2 * MS)
    assert (lpar.processors[0].dispatches, lpar.processors[0].cedes) == (2, 2)


@pytest.mark.parametrize("threads", [1, 2])
def test_two_that_share_spare_time_have_slices_in_turn(threads: int) -> None:
    sim = Simulator()
    pool = make_pool(sim, slice_=MS)
    lpars = [
        add(pool, name, 0.2, capped=False, weight=weight, threads=threads)
        for name, weight in (("one", 64), ("two", 128))
    ]
    for lpar in lpars:
        load(lpar)
    sim.run_until(30 * WINDOW)
    used = [lpar.partition.consumed_ps for lpar in lpars]
    assert sum(used) == 30 * WINDOW
    # a fifth each, and of the rest one part and two
    assert used[0] == pytest.approx(30 * WINDOW * (0.2 + 0.6 / 3), rel=0.01)
    for lpar in lpars:
        for processor in lpar.processors:
            processor.count()
        purr = sum(cpu.purr_ps for cpu in lpar.machine.cpus)
        assert purr == lpar.partition.consumed_ps


@pytest.mark.parametrize(
    ("mode", "name"), [(SYSTEM, "system"), (SOFTIRQ, "softirq"), (USER, "user")]
)
def test_work_at_the_level_of_softirqs_counts_for_its_mode(mode: int, name: str) -> None:
    sim = Simulator()
    cpu = make_machine(sim).cpus[0]
    Job(sim, "job", SOFT_LEVEL, mode).start(cpu, 5 * MS)
    sim.run_until(20 * MS)
    times = cpu.times()
    assert times[f"{name}_ps"] == 5 * MS
    assert times["idle_ps"] == 15 * MS


def test_without_a_version_the_rules_are_those_of_2_6_18() -> None:
    assert (
        SoftirqRules()
        == softirq_rules("2.6.18")
        == SoftirqRules(
            weight_each_poll=False,
            restart_time_ps=0,
            stops_for_processes=False,
            polls_once=False,
            budget_time_ps=0,
            thread_first=False,
        )
    )


def test_work_at_the_level_of_interrupts_takes_its_time() -> None:
    sim = Simulator()
    cpu = make_machine(sim).cpus[0]
    job = Job(sim, "job", HARD_LEVEL, IRQ)
    job.start(cpu, 3 * MS)
    sim.run_until(20 * MS)
    assert job.done_ps == [3 * MS]
    assert cpu.times()["irq_ps"] == 3 * MS


def test_a_processor_without_cpus_always_computes() -> None:
    sim = Simulator()
    pool = make_pool(sim)
    partition = LogicalPartition("other", entitled_ps=4 * MS, capped=True, weight=128, phase_ps=0)
    pool.add(partition, [[]])
    sim.run_until(3 * WINDOW - 1)
    assert partition.consumed_ps == 12 * MS
    assert partition.processors[0].dispatches == 3


def test_a_device_is_served_by_the_first_cpu_until_another_was_interrupted() -> None:
    sim = Simulator()
    machine = make_machine(sim, cores_per_socket=2)
    device = DeviceInterrupt(machine, "disk", 14)
    assert device.cpu is machine.cpus[0]
    done: list[int] = []
    device.line.smp_affinity = 2
    device.follow(MS, lambda: done.append(device.cpu.cpu_id))
    sim.run_until(MS)
    for time_ms in (10, 20):
        device.interrupt(MS, lambda: done.append(device.cpu.cpu_id))
        sim.run_until(time_ms * MS)
    # what was written counts from the second interrupt on
    assert done == [0, 0, 1]
    assert machine.costs.ledger.storage == 3 * MS
    assert [cpu.times()["irq_ps"] for cpu in machine.cpus] == [2 * MS, MS]


def test_a_kick_for_nothing_asks_for_no_processor() -> None:
    sim = Simulator()
    lpar = add(make_pool(sim), "idle", 1.0)
    sim.run_until(MS)
    lpar.machine.cpus[0].kick()
    sim.run_until(WINDOW)
    assert (lpar.processors[0].dispatches, lpar.processors[0].total_ps()) == (0, 0)
    times = lpar.machine.cpus[0].times()
    assert (times["steal_ps"], times["idle_ps"]) == (0, WINDOW)


def test_times_of_a_cpu_begin_at_nothing() -> None:
    cpu = make_machine(Simulator()).cpus[0]
    assert set(cpu.times().values()) == {0}
    assert cpu.hard_interrupts == 0


def test_ticks_that_an_idle_cpu_lost_are_idle() -> None:
    sim = Simulator()
    # both wait for the one processor, which the first has for a window
    pool = make_pool(sim)
    first, second = (add(pool, name, 1.0) for name in ("first", "second"))
    load(first)
    sim.run_until(US)
    Job(sim, "job", PROCESS_LEVEL, SYSTEM).start(second.machine.cpus[0], MS)
    sim.run_until(3 * WINDOW)
    times = second.machine.cpus[0].times()
    ticks = sum(value for name, value in times.items() if name.endswith("_ticks"))
    assert times["idle_ticks"] > 0
    assert ticks <= 3 * WINDOW // (4 * MS) + 1
