"""What the simulator promises to components, and how it refuses."""

from __future__ import annotations

import re
import resource

import pytest

from simnet.errors import SimulationError
from simnet.kernel.component import Component
from simnet.kernel.priority import CPU, NIC
from simnet.kernel.simulator import Simulator
from tests.kernel.recorder import Recorder


@pytest.fixture
def sim() -> Simulator:
    return Simulator()


class TestHandles:
    def test_an_event_that_happened_is_not_cancelled(self, sim: Simulator) -> None:
        recorder = Recorder(sim)
        handle = sim.at(5, recorder, 0, 0, NIC)
        sim.run_until(5)
        assert sim.cancel(handle) is False

    def test_a_stale_handle_leaves_the_next_user_of_its_slot_alone(self, sim: Simulator) -> None:
        recorder = Recorder(sim)
        stale = sim.at(5, recorder, 0, 1, NIC)
        assert sim.cancel(stale)
        fresh = sim.at(5, recorder, 0, 2, NIC)
        mask = (1 << 24) - 1
        assert fresh & mask == stale & mask
        assert fresh != stale
        assert sim.cancel(stale) is False
        sim.run_until(5)
        assert recorder.log == [(5, 0, 2)]

    @pytest.mark.parametrize("handle", [0, -1, 1, 707, (1 << 62) + 5000, (1 << 63) - 1])
    def test_what_never_was_a_handle_cancels_nothing(self, sim: Simulator, handle: int) -> None:
        sim.at(5, Recorder(sim), 0, 0, NIC)
        assert sim.cancel(handle) is False
        assert sim.pending == 1

    def test_an_event_cannot_cancel_itself(self, sim: Simulator) -> None:
        recorder = Recorder(sim)
        answers = []
        handle = sim.at(5, recorder, 0, 0, NIC)
        recorder.then = lambda _kind, _arg: answers.append(sim.cancel(handle))
        sim.run_until(5)
        assert answers == [False]

    def test_an_event_cancels_another_of_the_same_instant(self, sim: Simulator) -> None:
        recorder = Recorder(sim)
        sim.at(5, recorder, 0, 0, NIC)
        other = sim.at(5, recorder, 1, 0, NIC)
        sim.at(5, recorder, 2, 0, NIC)
        recorder.then = lambda kind, _arg: kind == 0 and sim.cancel(other)
        sim.run_until(5)
        assert [kind for _, kind, _ in recorder.log] == [0, 2]


class TestGrowth:
    def test_events_of_a_burst_from_within_an_event_all_happen(self, sim: Simulator) -> None:
        recorder = Recorder(sim)
        burst = 20_000

        def schedule_burst(kind: int, _arg: int) -> None:
            if kind == 0:
                for number in range(burst):
                    sim.after(number % 7, recorder, 1, number, NIC)

        recorder.then = schedule_burst
        sim.at(1, recorder, 0, 0, NIC)
        sim.at(1, recorder, 2, 99, CPU)
        sim.run_until(100)
        expected = sorted(range(burst), key=lambda number: number % 7)
        assert [arg for _, kind, arg in recorder.log if kind == 1] == expected
        assert (1, 2, 99) in recorder.log

    def test_handles_survive_growth(self, sim: Simulator) -> None:
        recorder = Recorder(sim)
        handles = [sim.at(10 + number, recorder, 0, number, NIC) for number in range(10_000)]
        assert all(sim.cancel(handle) for handle in handles[::2])
        sim.run_until(1_000_000)
        assert [arg for _, _, arg in recorder.log] == list(range(1, 10_000, 2))

    def test_memory_stays_flat_however_long_timers_are_restarted(self, sim: Simulator) -> None:
        recorder = Recorder(sim)
        timers = [0] * 64

        def restart(_kind: int, arg: int) -> None:
            recorder.log.clear()
            sim.cancel(timers[arg * 7 % 64])
            timers[arg * 7 % 64] = sim.after(1_000_000, recorder, 0, arg * 7 % 64, NIC)
            timers[arg] = sim.after(1000 + arg, recorder, 0, arg, NIC)

        recorder.then = restart
        for number in range(64):
            timers[number] = sim.at(number, recorder, 0, number, NIC)
        sim.dispatch((1 << 62) - 1, 5_000)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        handle_slots = max(handle & ((1 << 24) - 1) for handle in timers)
        sim.dispatch((1 << 62) - 1, 50_000)
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert sim.events == 55_000
        assert max(handle & ((1 << 24) - 1) for handle in timers) <= handle_slots + 64
        assert after - before < 2_000  # KiB


class TestRefusals:
    def test_time_does_not_run_backwards(self, sim: Simulator) -> None:
        recorder = Recorder(sim, "host.nic0")
        sim.run_until(1_500_000)
        expected = "host.nic0: at 0.0000015 s: .*backwards: asked for 1499999 ps, it is 1500000 ps"
        with pytest.raises(SimulationError, match=expected):
            sim.at(1_499_999, recorder, 0, 0, NIC)
        with pytest.raises(SimulationError, match=expected):
            sim.after(-1, recorder, 0, 0, NIC)
        with pytest.raises(SimulationError, match="backwards"):
            sim.run_until(3)
        assert sim.pending == 0

    def test_the_clock_has_an_end(self, sim: Simulator) -> None:
        recorder = Recorder(sim)
        end = (1 << 62) - 1
        sim.at(end, recorder, 0, 0, NIC)
        with pytest.raises(SimulationError, match="beyond the clock's end"):
            sim.at(end + 1, recorder, 0, 0, NIC)
        sim.run_until(1000)
        for delay in (end, (1 << 63) - 1):
            with pytest.raises(SimulationError, match="beyond the clock's end"):
                sim.after(delay, recorder, 0, 0, NIC)
        sim.run_until(end)
        assert recorder.log == [(end, 0, 0)]

    @pytest.mark.parametrize("priority", [-1, 4])
    def test_priorities_are_0_to_3(self, sim: Simulator, priority: int) -> None:
        recorder = Recorder(sim)
        with pytest.raises(SimulationError, match=f"priority {priority} does not exist"):
            sim.at(1, recorder, 0, 0, priority)
        with pytest.raises(SimulationError, match=f"priority {priority} does not exist"):
            sim.after(1, recorder, 0, 0, priority)

    def test_a_component_of_another_simulation_is_refused(self, sim: Simulator) -> None:
        stranger = Recorder(Simulator(), "stranger")
        with pytest.raises(SimulationError, match=r"stranger: .*not part of this simulation"):
            sim.at(1, stranger, 0, 0, NIC)

    def test_a_path_names_one_component(self, sim: Simulator) -> None:
        first = Recorder(sim, "host.cpu0")
        with pytest.raises(SimulationError, match=r"host\.cpu0: .*two components"):
            Recorder(sim, "host.cpu0")
        assert sim.components == {"host.cpu0": first}

    def test_a_component_is_part_of_one_simulation(self, sim: Simulator) -> None:
        recorder = Recorder(sim, "first")
        with pytest.raises(SimulationError, match=r"second: .*already, as 'first'"):
            Simulator().register(recorder, "second")

    def test_a_simulation_is_not_run_from_within(self, sim: Simulator) -> None:
        recorder = Recorder(sim, "impatient")
        recorder.then = lambda _kind, _arg: sim.run_until(100)
        sim.at(1, recorder, 0, 0, NIC)
        with pytest.raises(SimulationError, match="running already"):
            sim.run_until(2)


class TestFailures:
    def test_what_a_component_raises_is_the_cause_of_an_error_that_says_where_and_when(
        self, sim: Simulator
    ) -> None:
        recorder = Recorder(sim, "host.app")
        recorder.then = lambda _kind, arg: 1 // arg
        sim.at(2_000_000_000_000, recorder, 0, 0, NIC)
        with pytest.raises(SimulationError) as caught:
            sim.run_until(3_000_000_000_000)
        assert re.match(r"host\.app: at 2 s: ZeroDivisionError: .*", str(caught.value))
        assert isinstance(caught.value.__cause__, ZeroDivisionError)
        assert (caught.value.component, caught.value.time_ps) == ("host.app", 2 * 10**12)

    def test_a_simulation_error_arrives_as_it_is(self, sim: Simulator) -> None:
        recorder = Recorder(sim, "host.app")
        error = SimulationError("out of rings", component="host.nic")

        def refuse(_kind: int, _arg: int) -> None:
            raise error

        recorder.then = refuse
        sim.at(1, recorder, 0, 0, NIC)
        with pytest.raises(SimulationError) as caught:
            sim.run_until(1)
        assert caught.value is error

    def test_an_interrupt_from_the_keyboard_is_not_wrapped(self, sim: Simulator) -> None:
        recorder = Recorder(sim)

        def interrupt(_kind: int, _arg: int) -> None:
            raise KeyboardInterrupt

        recorder.then = interrupt
        sim.at(1, recorder, 0, 0, NIC)
        with pytest.raises(KeyboardInterrupt):
            sim.run_until(1)

    def test_the_simulation_goes_on_after_an_error(self, sim: Simulator) -> None:
        recorder = Recorder(sim)
        recorder.then = lambda _kind, arg: 1 // arg
        sim.at(1, recorder, 0, 0, NIC)
        sim.at(2, recorder, 0, 1, NIC)
        with pytest.raises(SimulationError):
            sim.run_until(5)
        assert sim.now == 1
        sim.run_until(5)
        assert recorder.log == [(1, 0, 0), (2, 0, 1)]

    def test_a_component_without_on_event_says_so(self, sim: Simulator) -> None:
        sim.at(1, Component(sim, "host.mute"), 3, 4, NIC)
        expected = r"host\.mute: .*Component does not handle events \(kind 3, argument 4\)"
        with pytest.raises(SimulationError, match=expected):
            sim.run_until(1)


class TestRunning:
    def test_run_until_includes_its_last_instant(self, sim: Simulator) -> None:
        recorder = Recorder(sim)
        for time in (9, 10, 11):
            sim.at(time, recorder, 0, time, NIC)
        sim.run_until(10)
        assert sim.now == 10
        assert [time for time, _, _ in recorder.log] == [9, 10]
        sim.at(10, recorder, 1, 0, NIC)
        sim.run_until(10)
        assert recorder.log[-1] == (10, 1, 0)

    def test_stop_ends_the_run_after_the_event_under_way(self, sim: Simulator) -> None:
        recorder = Recorder(sim)

        def stop_at_the_second(kind: int, _arg: int) -> None:
            if kind == 1:
                sim.stop()

        recorder.then = stop_at_the_second
        for kind in range(3):
            sim.at(5, recorder, kind, 0, NIC)
        sim.run_until(100)
        assert sim.now == 5
        assert [kind for _, kind, _ in recorder.log] == [0, 1]
        sim.run_until(100)
        assert sim.now == 100
        assert len(recorder.log) == 3

    def test_cancelling_the_earliest_of_many_does_not_upset_later_ones(
        self, sim: Simulator
    ) -> None:
        recorder = Recorder(sim)
        early = sim.at(70_000, recorder, 0, 0, NIC)
        for time in (90_000, 80_000, 80_000):
            sim.at(time, recorder, 1, time, NIC)
        sim.cancel(early)
        sim.run_until(75_000)
        sim.at(75_001, recorder, 2, 0, NIC)
        sim.run_until(100_000)
        assert recorder.log == [(75_001, 2, 0), *[(t, 1, t) for t in (80_000, 80_000, 90_000)]]


class TestClosing:
    def test_components_let_go_and_nothing_happens_any_more(self, sim: Simulator) -> None:
        class Pair(Recorder):
            other: Pair | None = None

        left, right = Pair(sim, "left"), Pair(sim, "right")
        left.other, right.other = right, left
        log = left.log
        sim.at(5, left, 0, 0, NIC)
        sim.close()
        assert [pair.other for pair in (left, right)] == [None, None]
        assert sim.pending == 0
        assert not sim.components
        sim.run_until(10)
        assert log == []
