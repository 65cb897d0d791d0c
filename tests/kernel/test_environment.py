"""SimPy's environment on the simulator's clock: where it differs, and beside components."""

import copyreg
import random
import re
from collections.abc import Generator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import simpy

from simnet.errors import SimulationError
from simnet.kernel.component import Component
from simnet.kernel.environment import DeadlockError, Environment, Event, Process, Timeout
from simnet.kernel.failures import copied
from simnet.kernel.priority import CPU, NIC
from tests.kernel.recorder import Recorder

Steps = Generator[simpy.Event, Any, Any]


@pytest.fixture
def env() -> Environment:
    return Environment()


def sleeper(env: Environment, delay: float = 1) -> Steps:
    yield env.timeout(delay)


class TestClasses:
    def test_everything_is_an_instance_of_simpys_own_class(self, env: Environment) -> None:
        process = env.process(sleeper(env))
        assert isinstance(env, simpy.Environment)
        assert isinstance(env.event(), simpy.Event)
        assert isinstance(env.timeout(1), simpy.Timeout)
        assert isinstance(process, simpy.Process)
        assert isinstance(process.target, simpy.events.Initialize)
        assert isinstance(env.all_of([]), simpy.AllOf)
        assert isinstance(env.any_of([]), simpy.AnyOf)

    def test_classes_may_be_called_like_simpys(self, env: Environment) -> None:
        log = []

        def steps() -> Steps:
            log.append((yield Timeout(env, 3, "slept")))
            event = Event(env)
            event.succeed("happened")
            log.append((yield event))

        Process(env, steps())
        env.run()
        assert log == ["slept", "happened"]

    def test_classes_of_simpy_itself_run_too(self, env: Environment) -> None:
        log = []

        def steps() -> Steps:
            log.append((yield simpy.Timeout(env, 3, "slept")))
            log.append((yield env.timeout(1, "again")))
            try:
                yield env.timeout(100)
            except simpy.Interrupt as interrupt:
                log.append((env.now, interrupt.cause))

        process = simpy.Process(env, steps())

        def interrupter() -> Steps:
            yield env.timeout(10)
            process.interrupt("enough")

        env.process(interrupter())
        env.run(until=process)
        assert log == ["slept", "again", (10, "enough")]

    def test_an_interruption_of_simpys_own_class_reaches_a_process(self, env: Environment) -> None:
        def steps() -> Steps:
            with pytest.raises(simpy.Interrupt):
                yield env.timeout(100)
            return env.now

        process = env.process(steps())
        env.step()
        simpy.events.Interruption(process, None)
        assert env.run(until=process) == 0

    def test_callbacks_come_in_the_order_of_asking(self, env: Environment) -> None:
        log = []
        event = env.event()

        def steps(name: str) -> Steps:
            yield event
            log.append(name)

        env.process(steps("first"))
        env.run()
        event.callbacks.append(lambda _event: log.append("second"))
        env.process(steps("third"))
        env.run()
        event.succeed()
        env.run()
        assert log == ["first", "second", "third"]


class TestUnits:
    def test_the_default_unit_is_the_picosecond_and_refuses_fractions(
        self, env: Environment
    ) -> None:
        env.timeout(2.0)
        env.run()
        assert env.now == 2
        assert isinstance(env.now, int)
        for fraction in (0.5, Fraction(1, 3), Decimal("1e-3")):
            with pytest.raises(ValueError, match=r"not a whole number of ps.*unit_ps"):
                env.timeout(fraction)

    def test_times_are_converted_to_the_nearest_picosecond(self) -> None:
        env = Environment(unit_ps=10**12)
        for _ in range(10):
            env.timeout(0.1)
            env.run(until=env.now + 0.1)
        assert env.sim.now == 10**12
        assert env.now == 1
        assert isinstance(env.now, int)
        env.run(until=1.25)
        assert env.now == 1.25

    def test_numbers_of_other_kinds_are_times(self) -> None:
        env = Environment(unit_ps=1000)
        for number in (np.int64(1), np.float64(0.5), Fraction(1, 4), Decimal("0.25"), True):
            env.run(until=env.timeout(number))
        assert env.sim.now == 3000

    def test_differences_of_times_can_be_slept(self) -> None:
        env = Environment(unit_ps=10**9)
        rng = random.Random(1)  # noqa: S311
        for _ in range(100):
            target = env.now + rng.expovariate(1)
            env.run(until=env.timeout(target - env.now))
            assert env.now == pytest.approx(target, abs=1e-9)

    @pytest.mark.parametrize("delay", [1e-13, float("nan"), float("inf"), 1e30, 10**30])
    def test_what_the_clock_cannot_show_is_refused(self, delay: float) -> None:
        with pytest.raises(ValueError, match=r"shorter than|not a time|beyond the clock's end"):
            Environment(unit_ps=10**12).timeout(delay)

    @pytest.mark.parametrize("unit_ps", [0, -5])
    def test_a_unit_is_at_least_a_picosecond(self, unit_ps: int) -> None:
        with pytest.raises(ValueError, match="unit_ps must be"):
            Environment(unit_ps=unit_ps)

    def test_the_clock_may_start_later(self) -> None:
        env = Environment(5, unit_ps=1000)
        assert (env.now, env.sim.now, env.peek()) == (5, 5000, float("inf"))


class TestTimeRunsForward:
    def test_a_negative_delay_is_refused(self, env: Environment) -> None:
        with pytest.raises(ValueError, match="Negative delay -1: time would run backwards"):
            env.timeout(-1)
        with pytest.raises(ValueError, match="backwards"):
            env.schedule(env.event(), delay=-2)
        with pytest.raises(ValueError, match="backwards"):
            Environment(-1)

    def test_a_delay_beyond_the_end_is_refused(self, env: Environment) -> None:
        env.run(until=10)
        with pytest.raises(SimulationError, match="beyond the clock's end"):
            env.timeout((1 << 62) - 5)

    def test_priorities_outside_the_queue_are_refused(self, env: Environment) -> None:
        with pytest.raises(SimulationError, match="priority -1 does not exist"):
            env.schedule(env.event(), -1)


class TestDeadlock:
    def test_it_names_who_waits_for_what(self, env: Environment) -> None:
        class Ring(Component):
            def waiting_for(self) -> str:
                return "a descriptor"

        store = simpy.Store(env)

        def consumer() -> Steps:
            yield env.timeout(7)
            yield store.get()

        def reader(other: simpy.Process) -> Steps:
            yield other

        Ring(env, "host.nic0.ring")
        Component(env, "host.idle")
        process = env.process(reader(env.process(consumer())))
        env.process(sleeper(env))
        with pytest.raises(DeadlockError) as caught:
            env.run(until=process)
        assert isinstance(caught.value, RuntimeError)
        assert isinstance(caught.value, SimulationError)
        assert caught.value.time_ps == 7
        text = re.sub(" at 0x[0-9a-f]+", "", str(caught.value))
        assert text == (
            'No scheduled events left but "until" event was not triggered:'
            " <Process(reader) object>; at 7 these wait:"
            " process 'consumer' for <StoreGet() object> of <simpy.resources.store.Store object>;"
            " process 'reader' for <Process(consumer) object>;"
            " component host.nic0.ring for a descriptor"
        )

    def test_a_crowd_is_cut_short(self, env: Environment) -> None:
        event = env.event()

        def waiter() -> Steps:
            yield event

        for _ in range(25):
            env.process(waiter())
        with pytest.raises(DeadlockError, match=r"these wait: .*; and 15 more$"):
            env.run(until=event)

    def test_nothing_waits(self, env: Environment) -> None:
        with pytest.raises(DeadlockError, match="at 0 these wait: none"):
            env.run(until=env.event())

    def test_a_run_without_goal_ends_in_silence(self, env: Environment) -> None:
        store = simpy.Store(env)

        def server() -> Steps:
            while True:
                yield store.get()

        env.process(server())
        env.run()
        assert [line.split(" for ")[0] for line in env.waiting()] == ["process 'server'"]

    def test_a_stopped_run_is_no_deadlock(self, env: Environment) -> None:
        def stopper() -> Steps:
            yield env.timeout(3)
            env.sim.stop()
            yield env.timeout(3)

        process = env.process(stopper())
        assert env.run(until=process) is None
        assert env.now == 3
        env.run()
        assert env.now == 6


class TestFailures:
    def test_a_process_that_dies_keeps_the_type_and_gains_a_note(self) -> None:
        env = Environment(unit_ps=10**9)

        class ConfigError(Exception):
            def __init__(self, *, key: str) -> None:
                super().__init__(key)

        def dies() -> Steps:
            yield env.timeout(1.5)
            raise ConfigError(key="rx_ring")

        env.process(dies())
        with pytest.raises(ConfigError) as caught:
            env.run()
        assert caught.value.__notes__ == ["process 'dies' failed at 0.0015 s of simulated time"]

    def test_causes_are_chained_from_process_to_process(self, env: Environment) -> None:
        def child() -> Steps:
            yield env.timeout(1)
            raise KeyError("lost")

        def parent(other: simpy.Process) -> Steps:
            yield other

        env.process(parent(env.process(parent(env.process(child())))))
        with pytest.raises(KeyError) as caught:
            env.run()
        frames = []
        error: BaseException | None = caught.value
        while error is not None:
            trace = error.__traceback__
            assert trace is not None
            while trace.tb_next is not None:
                trace = trace.tb_next
            frames.append(trace.tb_frame.f_code.co_name)
            error = error.__cause__
        # The innermost frame of the first is the environment's; none of the kernel's stands
        # between a process and who waits for it.
        assert frames[1:] == ["parent", "parent", "child"]
        assert "__notes__" not in vars(caught.value.__cause__)

    def test_a_copy_starts_without_a_traceback_whoever_makes_it(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class LostError(Exception):
            pass

        def with_traceback(error: LostError) -> Any:
            return (lambda trace: LostError().with_traceback(trace), (error.__traceback__,))

        monkeypatch.setitem(copyreg.dispatch_table, LostError, with_traceback)
        with pytest.raises(LostError) as caught:
            raise LostError
        twin = copied(caught.value)
        assert twin.__traceback__ is None
        assert twin.__cause__ is caught.value

    def test_a_plain_event_that_fails_is_named(self, env: Environment) -> None:
        env.event().fail(OSError("no link"))
        with pytest.raises(OSError, match="no link") as caught:
            env.run()
        assert re.match(r"event <Event\(\) object at .*> failed at 0 s", caught.value.__notes__[0])

    def test_what_a_component_raises_names_it(self, env: Environment) -> None:
        recorder = Recorder(env, "host.app")
        recorder.then = lambda _kind, arg: 1 // arg
        env.sim.at(5, recorder, 0, 0, NIC)
        with pytest.raises(SimulationError, match=r"host\.app: .*ZeroDivisionError"):
            env.run()


class TestBesideComponents:
    def test_processes_and_components_share_clock_and_order(self, env: Environment) -> None:
        log: list[tuple[str, int]] = []
        recorder = Recorder(env)
        recorder.then = lambda kind, _arg: log.append((f"component {kind}", env.sim.now))

        def steps() -> Steps:
            for _ in range(2):
                yield env.timeout(10)
                log.append(("process", env.now))

        env.process(steps())
        env.sim.at(10, recorder, 0, 0, NIC)
        env.sim.at(10, recorder, 1, 0, CPU)
        env.sim.at(20, recorder, 2, 0, NIC)
        env.run(until=21)
        # The second timeout was scheduled last of the three for 20.
        assert log == [
            ("component 0", 10),
            ("process", 10),
            ("component 1", 10),
            ("component 2", 20),
            ("process", 20),
        ]

    def test_a_component_wakes_a_process(self, env: Environment) -> None:
        event = env.event()
        recorder = Recorder(env)
        recorder.then = lambda _kind, arg: event.succeed(arg)
        env.sim.at(123, recorder, 0, 456, NIC)
        assert env.run(until=event) == 456
        assert env.now == 123

    def test_run_until_a_time_leaves_that_instant_for_later(self, env: Environment) -> None:
        recorder = Recorder(env)
        env.sim.at(10, recorder, 0, 0, NIC)
        env.run(until=10)
        assert recorder.log == []
        env.run(until=11)
        assert recorder.log == [(10, 0, 0)]

    def test_a_process_may_use_timers(self, env: Environment) -> None:
        recorder = Recorder(env)

        def steps() -> Steps:
            handle = env.sim.after(10, recorder, 0, 0, NIC)
            yield env.timeout(5)
            assert env.sim.cancel(handle)

        env.run(until=env.process(steps()))
        env.run()
        assert recorder.log == []


def since(interrupt: simpy.Interrupt) -> object:
    assert isinstance(interrupt.cause, simpy.resources.resource.Preempted)
    return interrupt.cause.usage_since


def test_resources_of_simpy_run_unchanged() -> None:
    def model(env: simpy.Environment) -> list[tuple[Any, ...]]:
        log: list[tuple[Any, ...]] = []
        resource = simpy.PreemptiveResource(env, capacity=1)
        container = simpy.Container(env, capacity=10, init=3)
        rng = random.Random(3)  # noqa: S311

        def job(number: int) -> Steps:
            yield env.timeout(rng.randrange(20))
            with resource.request(priority=number % 3) as request:
                yield request
                try:
                    yield env.timeout(rng.randrange(1, 9))
                    log.append(("done", number, env.now))
                except simpy.Interrupt as interrupt:
                    log.append(("preempted", number, env.now, since(interrupt)))
            result = yield container.get(2) | env.timeout(5)
            log.append(("got", number, env.now, len(result.todict())))
            yield container.put(1) & env.timeout(1)

        for number in range(30):
            env.process(job(number))
        env.run()
        return log

    assert model(Environment()) == model(simpy.Environment())
