"""Runs a simulation of a bit of everything and prints each event, for two runs to be compared."""

import sys
from collections.abc import Callable, Generator
from typing import Any

import simpy

from simnet import _engine
from simnet.kernel.component import Component
from simnet.kernel.environment import Environment
from simnet.kernel.histogram import LogHistogram
from simnet.kernel.random import stream

STATIONS = 12
END_PS = 3_000_000


class Station(Component):
    """Sends itself and its neighbours events, restarts timers and cancels them."""

    def __init__(self, env: Environment, number: int, write: Callable[..., object]) -> None:
        super().__init__(env, f"station{number}")
        self.random = stream(7, self.path)
        self.number = number
        self.write = write
        self.timer = 0
        self.neighbours: list[Station] = []

    def on_event(self, kind: int, arg: int) -> None:
        self.write(self.sim.now, self.path, kind, arg)
        if kind == 1:
            return
        cancelled = self.sim.cancel(self.timer)
        self.timer = self.sim.after(20_000, self, 1, int(cancelled), 3)
        delay_ps = self.random.exponential_ps(15_000)
        other = self.neighbours[self.random.below(len(self.neighbours))]
        self.sim.after(delay_ps // 512 * 512, other, 0, arg + 1, self.random.below(4))


def worker(
    env: Environment, resource: simpy.Resource, name: str, write: Callable[..., object]
) -> Generator[simpy.Event, Any, None]:
    """Compete for a resource for random times."""
    random = stream(7, name)
    while True:
        yield env.timeout(random.exponential_ps(40_000))
        with resource.request() as request:
            outcome = yield request | env.timeout(5_000)
            write(env.now, name, "got" if request in outcome else "gave up")
            yield env.timeout(random.below(8_000))


def main() -> None:
    """Write the events, then what the statistics say."""
    lines: list[str] = []

    def write(*words: object) -> None:
        lines.append(" ".join(map(str, words)))

    env = Environment()
    stations = [Station(env, number, write) for number in range(STATIONS)]
    # A set of paths has another order with every hash seed.
    by_path = {station.path: station for station in stations}
    for station in stations:
        station.neighbours = [by_path[path] for path in sorted(set(by_path) - {station.path})]
        env.sim.at(station.random.below(1000), station, 0, 0, 1)
    resource = simpy.Resource(env, capacity=2)
    for number in range(6):
        env.process(worker(env, resource, f"worker{number}", write))
    env.run(until=END_PS)
    histogram = LogHistogram()
    random = stream(7, "histogram")
    for _ in range(1000):
        histogram.add(random.exponential_ps(10**9))
    write(env.sim.events, env.sim.pending, histogram.quantile(0.99), histogram.buckets())
    sys.stdout.write(f"{_engine.active()}\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
