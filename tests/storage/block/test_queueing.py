"""Closed queueing networks through the block layer, against mean value analysis.

Reiser and Lavenberg, "Mean-value analysis of closed multichain queuing networks" (JACM 27(2),
1980): stations with exponential service, first come first served, and customers that visit one
after the other and may think in between.
"""

import pytest

from simnet.kernel.component import Component
from simnet.kernel.random import stream
from simnet.kernel.simulator import Simulator
from simnet.storage.block.diskstats import iostat
from simnet.storage.block.queue import RequestQueue
from simnet.storage.block.request import Bio, IoContext
from tests.storage.parts import MS, Device


def mva(services: list[float], thinking: float, customers: int) -> tuple[float, list[float]]:
    """Throughput, and customers at each station, of a cycle of single-server stations."""
    present = [0.0] * len(services)
    throughput = 0.0
    for number in range(1, customers + 1):
        times = [s * (1 + n) for s, n in zip(services, present, strict=True)]
        throughput = number / (thinking + sum(times))
        present = [throughput * time for time in times]
    return throughput, present


class Customer(Component):
    """Reads from one queue after the other, and thinks after the last."""

    def __init__(
        self, sim: Simulator, number: int, queues: list[RequestQueue], think_ps: int
    ) -> None:
        super().__init__(sim, f"customer{number}")
        self.queues = queues
        self.context = IoContext(self.path)
        self.think_ps = think_ps
        self.random = stream(1, self.path)
        self.visit = 0
        self.on_event(0, 0)

    def on_event(self, kind: int, arg: int) -> None:  # noqa: ARG002 - as every component
        sector = self.random.below(10**6) * 100
        bio = Bio(sector, 8, write=False, context=self.context, done=self.done, sync=True)
        self.queues[self.visit].submit(bio)

    def done(self, _bio: Bio) -> None:
        self.visit = (self.visit + 1) % len(self.queues)
        if self.visit or not self.think_ps:
            self.on_event(0, 0)
        else:
            self.sim.after(self.random.exponential_ps(self.think_ps), self, 0, 0, 0)


@pytest.mark.parametrize(
    ("services_ms", "think_ms", "customers", "depth", "requests"),
    [((4,), 20, 6, 1, 18_000), ((5, 4), 10, 2, 4, 12_000)],
)
def test_mean_value_analysis(
    services_ms: tuple[int, ...], think_ms: int, customers: int, depth: int, requests: int
) -> None:
    sim = Simulator()
    queues = []
    for number, service_ms in enumerate(services_ms):
        random = stream(3, f"service{number}")
        device = Device(
            sim,
            lambda random=random, mean=service_ms * MS: random.exponential_ps(mean),  # type: ignore[misc]
            f"device{number}",
        )
        queues.append(RequestQueue(sim, f"sd{number}", device, scheduler="noop", depth=depth))
    for number in range(customers):
        Customer(sim, number, queues, think_ms * MS)
    throughput, present = mva(list(services_ms), think_ms, customers)
    warm_ps = 2000 * MS
    sim.run_until(warm_ps)
    before = [queue.stats.snapshot(sim.now) for queue in queues]
    sim.run_until(warm_ps + round(requests / throughput) * MS)
    for service, queue, start, expected in zip(services_ms, queues, before, present, strict=True):
        row = iostat(queue.path, start, queue.stats.snapshot(sim.now))
        assert row.r_s == pytest.approx(throughput * 1000, rel=0.01)
        assert row.avgqu_sz == pytest.approx(expected, rel=0.01)
        assert row.await_ms == pytest.approx(expected / throughput, rel=0.01)
        assert row.util / 100 == pytest.approx(throughput * service, rel=0.01)


def test_mva_of_one_station_is_the_machine_repairman() -> None:
    # two customers, service 1, thinking 1: states 0, 1, 2 at the station with weights 1, 2, 2
    throughput, (present,) = mva([1.0], 1.0, 2)
    assert throughput == pytest.approx(4 / 5)
    assert present == pytest.approx((2 * 1 + 2 * 2) / 5)
