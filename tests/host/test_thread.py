"""A process that is a SimPy process: work and sleep, and who counts as waiting for a disk."""

from typing import Any

from simnet.host.iowait import IowaitClock
from simnet.host.machine import Machine
from simnet.host.thread import Thread
from simnet.kernel.environment import Environment
from tests.host.parts import MS, US, make_machine


def threads(count: int = 1) -> tuple[Environment, Machine, IowaitClock, list[Thread]]:
    env = Environment()
    machine = make_machine(env.sim)
    clock = IowaitClock(machine.cpus)
    cpu = machine.cpus[0]
    return env, machine, clock, [Thread(env, machine, f"t{n}", cpu, clock) for n in range(count)]


def disk(env: Environment, time_ps: int) -> Any:
    """What a disk does: an event that happens after so long."""
    done: Any = env.event()
    env.timeout(time_ps).callbacks.append(lambda _: done.succeed())
    return done


def test_work_takes_its_time_and_its_turn() -> None:
    env, machine, _, both = threads(2)
    done = []

    def program(thread: Thread, user_ps: int) -> Any:
        yield thread.work(system_ps=100 * US, user_ps=user_ps)
        done.append((env.now, thread.path))
        yield thread.rest(env.event())

    env.process(program(both[0], 0))
    env.process(program(both[1], 50 * US))
    env.run(until=MS)
    assert done == [(100 * US, "t0"), (250 * US, "t1")]
    times = machine.cpus[0].times()
    assert (times["system_ps"], times["user_ps"]) == (200 * US, 50 * US)


def test_idle_time_counts_as_waiting_while_anybody_sleeps_for_a_disk() -> None:
    env, machine, clock, both = threads(2)
    cpu = machine.cpus[0]

    def program(thread: Thread, sleep_ps: int, work_ps: int) -> Any:
        yield thread.sleep_io(disk(env, sleep_ps))
        yield thread.work(system_ps=work_ps)
        yield thread.rest(env.event())

    env.process(program(both[0], 2 * MS, MS))
    env.process(program(both[1], 4 * MS, MS))
    env.run(until=10 * MS)
    # 0 to 2 ms both, 3 to 4 ms one of them; then idle, and nobody waits
    assert clock.iowait_ps(cpu) == 3 * MS
    assert cpu.times()["idle_ps"] == 8 * MS


def test_who_has_nothing_to_do_between_two_sleeps_waits_for_one_disk_at_a_time() -> None:
    env, machine, clock, (thread,) = threads()
    cpu = machine.cpus[0]
    waiting = []

    def program() -> Any:
        for _ in range(3):
            yield thread.sleep_io(disk(env, MS))
            waiting.append(clock.waiting[0])
        yield thread.rest(disk(env, 2 * MS))
        waiting.append(clock.waiting[0])
        yield thread.rest(env.event())

    env.process(program())
    env.run(until=10 * MS)
    assert waiting == [1, 1, 1, 0]
    assert clock.iowait_ps(cpu) == 3 * MS


def test_work_of_the_program_alone_and_of_the_kernel_alone() -> None:
    env, machine, _, (thread,) = threads()
    done = []

    def program() -> Any:
        yield thread.work(user_ps=3 * US)
        done.append(env.now)
        yield thread.work(5 * US)
        done.append(env.now)
        yield thread.rest(env.event())

    env.process(program())
    env.run(until=MS)
    assert done == [3 * US, 8 * US]
    times = machine.cpus[0].times()
    assert (times["system_ps"], times["user_ps"]) == (5 * US, 3 * US)
    assert thread.sleeping


def test_who_sleeps_for_what_has_happened_does_not_leave_the_cpu() -> None:
    env, machine, clock, (thread,) = threads()
    event: Any = env.event()
    event.succeed()

    def program() -> Any:
        yield thread.work(US)
        yield thread.sleep_io(event)
        assert not thread.sleeping
        yield thread.work(US)
        yield thread.rest(env.event())

    env.process(program())
    env.run(until=MS)
    assert clock.waiting == [0]
    assert machine.cpus[0].times()["system_ps"] == 2 * US
    assert thread.wakeups == 1


def test_a_sleeper_is_woken_by_the_cpu_that_says_so_and_else_by_its_own() -> None:
    env = Environment()
    machine = make_machine(env.sim, cores_per_socket=2)
    clock = IowaitClock(machine.cpus)
    thread = Thread(env, machine, "t", machine.cpus[0], clock)
    where = []

    def program() -> Any:
        for waker in (None, machine.cpus[1], None):
            thread.waker = waker
            yield thread.work(US)
            where.append((thread.cpu.cpu_id, thread.waker))
            yield thread.sleep_io(disk(env, MS))
        yield thread.rest(env.event())

    env.process(program())
    env.run(until=100 * MS)
    # an idle machine lets it run where it is woken
    assert where == [(0, None), (1, None), (1, None)]
    assert machine.scheduler.ipis == 0
    assert thread.migrations == 1
