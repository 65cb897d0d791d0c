"""Snapshots of a small machine: four CPUs on two nodes, two ports."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from simnet.scenario.system.system import CpuTimes, FlowCounts, PortCounts, Snapshot
from simnet.study.run.result import Result

PS_PER_S = 10**12
ELAPSED_PS = 2 * PS_PER_S


def cpu(number: int, *, user: int = 0, system: int = 0, softirq: int = 0, irq: int = 0) -> CpuTimes:
    """Percent of a two-second measurement, and ticks at 250 Hz that sampled the same."""
    share = ELAPSED_PS // 100
    idle = 100 - user - system - softirq - irq
    return CpuTimes(
        id=number,
        node=number // 2,
        user_ps=user * share,
        system_ps=system * share,
        softirq_ps=softirq * share,
        irq_ps=irq * share,
        iowait_ps=0,
        steal_ps=0,
        idle_ps=idle * share,
        user_ticks=user * 5,
        system_ticks=system * 5,
        softirq_ticks=softirq * 5,
        irq_ticks=0,
        idle_ticks=(idle + irq) * 5,
    )


def port(name: str, node: int, irq: int, serving: int, interrupts: int) -> PortCounts:
    return PortCounts(
        name=name,
        node=node,
        irq=irq,
        rx_bytes=200_000_000,
        tx_bytes=4_000_000,
        rx_packets=140_000,
        tx_packets=70_000,
        interrupts=interrupts,
        drops=3,
        interrupts_by_cpu={serving: interrupts},
    )


@pytest.fixture
def start() -> Snapshot:
    """The end of one second of warm-up, in which nothing happened."""
    idle = [replace(cpu(number), idle_ps=PS_PER_S, idle_ticks=250) for number in range(4)]
    ports = [
        replace(
            port(name, node, irq, serving, 0),
            rx_bytes=0, tx_bytes=0, rx_packets=0, tx_packets=0, drops=0,
        )
        for name, node, irq, serving in (("eth0", 0, 177, 0), ("eth1", 1, 185, 1))
    ]  # fmt: skip
    flows = tuple(FlowCounts(name, name, 0, ()) for name in ("eth0", "eth1"))
    return Snapshot(
        PS_PER_S, tuple(idle), tuple(ports), flows, work_ps={"hardirq": 0, "copy_lines": 0}
    )


@pytest.fixture
def end(start: Snapshot) -> Snapshot:
    """Two seconds later: CPU 0 and 1 serve a port each."""
    worked = (
        cpu(0, user=4, system=30, softirq=30, irq=10),
        cpu(1, user=2, system=40, softirq=40, irq=8),
        cpu(2),
        cpu(3, user=1),
    )
    cpus = tuple(
        replace(done, idle_ps=done.idle_ps + PS_PER_S, idle_ticks=done.idle_ticks + 250)
        for done in worked
    )
    ports = (port("eth0", 0, 177, 0, 35_000), port("eth1", 1, 185, 1, 38_000))
    latency = ((1_000_000, 90), (2_000_000, 9), (50_000_000, 1))
    flows = (
        FlowCounts("eth0", "eth0", 190_000_000, latency),
        FlowCounts("eth1", "eth1", 180_000_000, ()),
    )
    work_ps = {"hardirq": PS_PER_S // 2, "copy_lines": PS_PER_S // 4}
    return Snapshot(start.time_ps + ELAPSED_PS, cpus, ports, flows, work_ps)


@pytest.fixture
def measure(start: Snapshot, end: Snapshot) -> Callable[..., Result]:
    """Make a result of the two snapshots; keywords change its metadata."""

    def measured(**changes: object) -> Result:
        metadata = {"scenario": "small", "seed": 7, "version": "0.1.0", "effective_digest": "d"}
        return Result.from_snapshots(start, end, **(metadata | changes))  # type: ignore[arg-type]

    return measured


@pytest.fixture
def result(measure: Callable[..., Result]) -> Result:
    return measure()
