"""Whole machines at the other ends, or only the ends of streams: much the same for the system.

Both directions at once are left out: where the scheduler puts their two processes has two outcomes
that last, and which one comes depends on the first milliseconds.
"""

from __future__ import annotations

from functools import cache

import pytest

import simnet
from simnet.host.ledger import MECHANISMS
from simnet.study.run.result import Result

pytestmark = pytest.mark.compiled

# an end serves each stream on a CPU of its own, and each frame as it comes; so do these machines
AS_THEY_COME = {
    "peer:modprobe e1000 InterruptThrottleRate": "0",
    "peer:/proc/irq/101/smp_affinity": "1",
    "peer:/proc/irq/102/smp_affinity": "4",
}
INTERRUPTS = (MECHANISMS["hardirq"], MECHANISMS["softirq"])


@cache
def measured(test: str, peers: str) -> Result:
    settings = {"test": test, "nodes": "1", "peers_simulated": peers} | AS_THEY_COME
    return simnet.run("x460-out-of-box", settings=settings, warm_up="200 ms", duration="200 ms")


def work(result: Result, *, interrupts: bool) -> float:
    """Percent of one CPU, for interrupts and polls or for all else."""
    return sum(row.percent for row in result.work if (row.mechanism in INTERRUPTS) == interrupts)


@pytest.mark.parametrize("test", ["netserver", "netperf"])
class TestEndsStandForMachines:
    def test_in_throughput(self, test: str) -> None:
        ends, machines = measured(test, "ends"), measured(test, "machines")
        assert len(ends.flows) == 2
        assert ends.throughput_bps == pytest.approx(machines.throughput_bps, rel=0.05)
        for light, whole in zip(ends.flows, machines.flows, strict=True):
            assert light.goodput_bps == pytest.approx(whole.goodput_bps, rel=0.05)

    def test_in_work_for_each_frame(self, test: str) -> None:
        ends, machines = (work(measured(test, p), interrupts=False) for p in ("ends", "machines"))
        assert ends == pytest.approx(machines, rel=0.05)

    def test_in_cpu_time(self, test: str) -> None:
        """Interrupts follow how evenly frames come.

        The softirq of a machine that is busy does TCP's work while the reader starves, so its
        acknowledgements are spaced less evenly than those of an end.
        """
        ends, machines = (work(measured(test, p), interrupts=True) for p in ("ends", "machines"))
        assert machines <= ends * 1.1
        near = 0.05 if test == "netserver" else 0.11
        light, whole = (measured(test, p).cpu_busy_percent for p in ("ends", "machines"))
        assert light == pytest.approx(whole, rel=near)
