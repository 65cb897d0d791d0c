"""SimPy's processes on simnet's environment and on SimPy's own."""

from collections.abc import Callable, Generator
from functools import partial
from typing import Any

import simpy

from bench.measuring import heading, medians, verdict
from simnet.kernel.environment import Environment

Steps = Generator[simpy.Event, Any, Any]
Model = Callable[[simpy.Environment], object]


def timeouts(env: simpy.Environment, processes: int, each: int) -> None:
    """Sleep again and again."""

    def steps() -> Steps:
        while True:
            yield env.timeout(1)

    for _ in range(processes):
        env.process(steps())
    env.run(until=each)


def events(env: simpy.Environment) -> None:
    """Wake one another by turns."""

    def steps(mine: list[simpy.Event], others: list[simpy.Event]) -> Steps:
        for _ in range(20_000):
            yield mine[0]
            mine[0] = env.event()
            others[0].succeed()

    left, right = [env.event()], [env.event()]
    env.process(steps(left, right))
    env.process(steps(right, left))
    left[0].succeed()
    env.run()


def resources(env: simpy.Environment) -> None:
    """Compete for a resource."""
    resource = simpy.Resource(env, capacity=2)

    def steps() -> Steps:
        for _ in range(2_000):
            with resource.request() as request:
                yield request
                yield env.timeout(1)

    for _ in range(5):
        env.process(steps())
    env.run()


def stores(env: simpy.Environment) -> None:
    """Hand over through a store."""
    store = simpy.Store(env, capacity=5)

    def producer() -> Steps:
        for number in range(10_000):
            yield store.put(number)
            yield env.timeout(1)

    def consumer() -> Steps:
        for _ in range(10_000):
            yield store.get()

    env.process(producer())
    env.run(until=env.process(consumer()))


def births(env: simpy.Environment) -> None:
    """Start processes and wait for them."""

    def child() -> Steps:
        yield env.timeout(1)

    def parent() -> Steps:
        for _ in range(10_000):
            yield env.process(child())

    env.run(until=env.process(parent()))


MODELS: dict[str, tuple[Model, int]] = {
    "timeout loop, 1 process": (partial(timeouts, processes=1, each=200_000), 200_000),
    "timeout loop, 100 processes": (partial(timeouts, processes=100, each=2_000), 200_000),
    "timeout loop, 10,000 processes": (partial(timeouts, processes=10_000, each=20), 200_000),
    "events that wake each other": (events, 40_000),
    "Resource": (resources, 10_000),
    "Store": (stores, 10_000),
    "process started and waited for": (births, 10_000),
}


def run(model: Model, environment: Callable[[], simpy.Environment]) -> None:
    """Run a model on a new environment."""
    model(environment())


def main() -> None:
    """Print how they compare."""
    heading("SimPy processes: ns an operation")
    for name, (model, operations) in MODELS.items():
        times = medians(partial(run, model, simpy.Environment), partial(run, model, Environment))
        simpys, ours = (seconds / operations * 1e9 for seconds in times)
        line = f"{name}: SimPy {simpys:.0f}, simnet {ours:.0f}; times faster"
        if "1 process" in name:
            verdict(line, simpys / ours, 3)
        else:
            print(f"{line}: {simpys / ours:.2f}")


if __name__ == "__main__":
    main()
