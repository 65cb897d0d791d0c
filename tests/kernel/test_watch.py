"""Long work seen from outside: watchers are told, and nothing changes."""

import pytest

from simnet.kernel import environment
from simnet.kernel.component import Component
from simnet.kernel.environment import Environment
from simnet.kernel.watch import counted, with_watcher


class Log:
    """A watcher that writes down what it is told."""

    def __init__(self) -> None:
        self.parts: list[tuple[str, int, int]] = []
        self.times: list[int] = []

    def built(self, what: str, done: int, total: int) -> None:
        self.parts.append((what, done, total))

    def simulated(self, now_ps: int) -> None:
        self.times.append(now_ps)


class Ticker(Component):
    """Does something every nanosecond."""

    def begin(self) -> None:
        self.sim.after(1000, self, 0, 0, 1)

    def on_event(self, _kind: int, _arg: int) -> None:
        self.begin()


def ticking() -> Environment:
    env = Environment()
    Ticker(env.sim, "ticker").begin()
    return env


def test_watchers_are_told_how_far_a_simulation_is(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = ticking()
    whole.run(until=100_000)
    monkeypatch.setattr(environment, "_SLICE_EVENTS", 40)
    outer, inner = Log(), Log()
    env = ticking()
    with with_watcher(outer):
        with with_watcher(inner):
            env.run(until=50_000)
        env.run(until=100_000)
    assert inner.times == [40_000]
    # the event that the first run ended in is counted with the second's
    assert outer.times == [40_000, 88_000]
    assert (env.now, env.sim.events, env.sim.pending) == (
        whole.now,
        whole.sim.events + 1,  # the end in the middle
        whole.sim.pending,
    )


def test_watchers_are_told_how_much_is_built() -> None:
    log = Log()
    with with_watcher(log):
        assert list(counted("wheels", 600)) == list(range(600))
    assert list(counted("wheels", 3)) == [0, 1, 2]
    assert log.parts == [("wheels", 0, 600), ("wheels", 256, 600), ("wheels", 512, 600)]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_slices_leave_nothing_out(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(environment, "_SLICE_EVENTS", size)
    env = Environment()
    seen: list[int] = []
    for delay in (1, 2, 3, 4):
        env.timeout(delay).callbacks.append(lambda _event: seen.append(env.now))
    env.run()
    assert seen == [1, 2, 3, 4]
