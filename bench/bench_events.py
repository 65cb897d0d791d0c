"""Cost of an event against the number of pending ones."""

from collections.abc import Callable

import simpy

from bench.compiling import load
from bench.measuring import heading, medians, verdict
from simnet.kernel.simulator import Simulator

PENDING = (1, 10, 100, 1_000, 10_000, 100_000)
EVENTS = 300_000
FOREVER = (1 << 62) - 1


def runner(sim: Simulator) -> Callable[[], object]:
    """Return what dispatches a number of events, once the queue has settled."""
    sim.dispatch(FOREVER, max(EVENTS, 3 * sim.pending))
    return lambda: sim.dispatch(FOREVER, EVENTS)


def main() -> None:
    """Print a table, and whether it is flat."""
    heading("ns an event, by pending events")
    timers = load("timers")
    held, own, ticking = [], [], []
    for pending in PENDING:
        sim = Simulator()
        holder = timers.Holder(sim, "holder", 1)
        for number in range(pending):
            sim.at(number * 7919, holder, 0, 0, 1)
        held.append(runner(sim))
        sim = Simulator()
        for number in range(pending):
            sim.at(number * 7919, timers.Holder(sim, f"holder{number}", number), 0, 0, 1)
        own.append(runner(sim))
        sim = Simulator()
        for number in range(pending):
            ticker = timers.Ticker(sim, f"ticker{number}", 1_000_000 + 7 * number)
            sim.at(number, ticker, 0, 0, 1)
        ticking.append(runner(sim))
    sim = Simulator()
    sim.at(0, timers.Restarter(sim, "restarter"), 0, 0, 1)
    restarting = runner(sim)

    def timeouts() -> None:
        env = simpy.Environment()

        def steps() -> object:
            while True:
                yield env.timeout(1)

        env.process(steps())  # type: ignore[arg-type]
        env.run(until=EVENTS // 10)

    times = medians(*held, *own, *ticking, restarting, timeouts)
    ns = [seconds / EVENTS * 1e9 for seconds in times]
    columns = [ns[: len(PENDING)], ns[len(PENDING) : 2 * len(PENDING)]]
    columns.append(ns[2 * len(PENDING) : 3 * len(PENDING)])
    print("pending  random delays  as many components  periodic, as many components")
    for pending, *row in zip(PENDING, *columns, strict=True):
        print(f"{pending:7}  {row[0]:13.1f}  {row[1]:18.1f}  {row[2]:28.1f}")
    print(f"a timer restarted at every event: {ns[-2]:.1f}; SimPy, one process: {ns[-1] * 10:.0f}")
    verdict("100,000 pending against 100", columns[0][5] / columns[0][2], 2, at_most=True)


if __name__ == "__main__":
    main()
