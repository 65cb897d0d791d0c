"""Events come in the order of time, priority and insertion, whatever is done to the queue."""

import bisect
import itertools

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from simnet.kernel.priority import CPU, LAST, NIC, WIRE
from simnet.kernel.simulator import Simulator
from tests.kernel.recorder import Recorder

# Near and far, and on both sides of powers of the queue's digits.
DELAYS = st.one_of(
    st.sampled_from([0, 1, 63, 64, 65, 4095, 4096, 1 << 30, (1 << 30) - 1, 1 << 40]),
    st.integers(0, 200),
    st.integers(0, 1 << 45),
)
PRIORITIES = st.sampled_from([WIRE, NIC, CPU, LAST])


class SimulatorBesideSortedList(RuleBasedStateMachine):
    """Any mix of scheduling, cancelling and running does as a sorted list does."""

    def __init__(self) -> None:
        super().__init__()
        self.sim = Simulator()
        self.recorder = Recorder(self.sim)
        self.model: list[tuple[int, int, int]] = []
        self.handles: dict[int, tuple[int, tuple[int, int, int]]] = {}
        self.expected: list[tuple[int, int, int]] = []
        self.scheduled = 0

    @rule(delay=DELAYS, priority=PRIORITIES)
    def schedule(self, delay: int, priority: int) -> None:
        entry = (self.sim.now + delay, priority, self.scheduled)
        handle = self.sim.at(entry[0], self.recorder, 7, self.scheduled, priority)
        assert handle != 0
        bisect.insort(self.model, entry)
        self.handles[self.scheduled] = (handle, entry)
        self.scheduled += 1

    @rule(delays=st.lists(DELAYS, min_size=1, max_size=400))
    def schedule_many(self, delays: list[int]) -> None:
        for delay in delays:
            self.schedule(delay, NIC)

    @precondition(lambda self: self.handles)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        handle, entry = self.handles[data.draw(st.sampled_from(sorted(self.handles)))]
        waiting = entry in self.model
        assert self.sim.cancel(handle) is waiting
        assert self.sim.cancel(handle) is False
        if waiting:
            self.model.remove(entry)

    @rule(most=st.integers(1, 50))
    def dispatch_some(self, most: int) -> None:
        self.sim.dispatch((1 << 62) - 1, most)
        self._expect(self.model[:most])

    @rule(delay=DELAYS)
    def run(self, delay: int) -> None:
        until = self.sim.now + delay
        self.sim.run_until(until)
        assert self.sim.now == until
        self._expect([entry for entry in self.model if entry[0] <= until])

    def _expect(self, entries: list[tuple[int, int, int]]) -> None:
        self.expected += [(time, 7, number) for time, _, number in entries]
        del self.model[: len(entries)]

    @invariant()
    def agrees(self) -> None:
        assert self.recorder.log == self.expected
        assert self.sim.events == len(self.expected)
        assert self.sim.pending == len(self.model)
        assert self.sim.peek_ps() == (self.model[0][0] if self.model else None)


TestSimulatorBesideSortedList = SimulatorBesideSortedList.TestCase


@given(st.lists(st.tuples(DELAYS, PRIORITIES), max_size=200))
def test_clock_never_runs_backwards(plan: list[tuple[int, int]]) -> None:
    sim = Simulator()
    recorder = Recorder(sim)
    following = iter(plan)

    def schedule_two(_kind: int, _arg: int) -> None:
        for delay, priority in itertools.islice(following, 2):
            sim.after(delay, recorder, 0, 0, priority)

    recorder.then = schedule_two
    sim.at(3, recorder, 0, 0, NIC)
    sim.run_until(1 << 60)
    times = [time for time, _, _ in recorder.log]
    assert times == sorted(times)
    assert len(times) == 1 + len(plan)


def test_what_is_scheduled_for_now_comes_after_what_waits_for_now_in_its_priority() -> None:
    sim = Simulator()
    recorder = Recorder(sim)

    def follow(kind: int, _arg: int) -> None:
        if kind == 0:
            sim.after(0, recorder, 10, 0, LAST)
            sim.after(0, recorder, 11, 0, NIC)
            sim.after(0, recorder, 12, 0, WIRE)

    recorder.then = follow
    for kind, priority in ((0, WIRE), (1, WIRE), (2, NIC), (3, CPU), (4, LAST)):
        sim.at(100, recorder, kind, 0, priority)
    sim.run_until(100)
    assert [kind for _, kind, _ in recorder.log] == [0, 1, 12, 2, 11, 3, 4, 10]


def test_looking_ahead_moves_nothing() -> None:
    sim = Simulator()
    recorder = Recorder(sim)
    for time in (1000, 1000, 1001, 70_000):
        sim.at(time, recorder, 0, time, NIC)
    assert sim.peek_ps() == 1000
    sim.run_until(499)
    # Earlier than what was seen.
    sim.at(500, recorder, 0, 500, NIC)
    assert sim.peek_ps() == 500
    sim.run_until(1_000_000)
    assert [time for time, _, _ in recorder.log] == [500, 1000, 1000, 1001, 70_000]


@given(st.lists(st.tuples(st.integers(0, 5), PRIORITIES), min_size=1, max_size=30))
def test_priorities_order_each_instant_however_many_events_it_has(
    plan: list[tuple[int, int]],
) -> None:
    sim = Simulator()
    recorder = Recorder(sim)
    for number, (time, priority) in enumerate(plan):
        sim.at(1_000_000 + time, recorder, priority, number, priority)
    sim.run_until(2_000_000)
    expected = sorted((1_000_000 + t, p, n) for n, (t, p) in enumerate(plan))
    assert recorder.log == expected
