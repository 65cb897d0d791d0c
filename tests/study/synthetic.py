"""Results as a simulation would give them, made up: throughput, CPU time, latency, work."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from simnet.scenario.core.effective import Effective
from simnet.study.run.loss import Drops, Latency, Messages
from simnet.study.run.result import Result
from simnet.study.run.rows import CpuUse, FlowRates, PortRates
from simnet.study.validate.changes import KnownChange
from simnet.study.validate.document import Sort
from simnet.study.validate.residuals import Residual
from simnet.study.work import task

CPUS = 10


def result(
    throughput_bps: float = 1e9,
    cpu_percent: float = 50.0,
    *,
    p99_us: float | None = 80.0,
    seed: int = 1,
    **more: Any,
) -> Result:
    """A result of one port; `cpu_percent` is what each of the ten CPUs works."""
    cpus = tuple(
        CpuUse(
            id=number, node=0, user=0, system=cpu_percent, softirq=0, irq=0, iowait=0, steal=0,
            idle=100 - cpu_percent,
        )
        for number in range(CPUS)
    )  # fmt: skip
    port = PortRates(
        name="eth0", node=0, rx_bps=throughput_bps, tx_bps=0, drops=0,
        rx_packets_per_s=throughput_bps / 12e3, tx_packets_per_s=0, interrupts_per_s=1000,
    )  # fmt: skip
    latency = Latency(p50=None if p99_us is None else p99_us / 2, p99=p99_us)
    flow = FlowRates(name="eth0", port="eth0", goodput_bps=throughput_bps, latency_us=latency)
    return Result(
        scenario="made-up",
        seed=seed,
        version="0",
        fingerprint=f"{seed:032x}",
        warmup_s=0.1,
        simulated_s=0.5,
        throughput_bps=throughput_bps,
        latency_us=None if p99_us is None else latency,
        cpu_busy_percent=cpu_percent,
        cpus=cpus,
        ticks=(),
        ports=(port,),
        interrupts=(),
        flows=(flow,),
        **more,
    )


def replaced(monkeypatch: pytest.MonkeyPatch, machine: Callable[..., Result]) -> list[Effective]:
    """Replace the simulation by made-up results; the list says what was asked for."""
    asked: list[Effective] = []

    def simulate(effective: Effective, **options: Any) -> Result:
        asked.append(effective)
        return machine(effective, **options)

    monkeypatch.setattr(task, "simulate", simulate)
    return asked


def simulated(effective: Effective, **_options: Any) -> Result:
    """What a made-up machine does: affinity carries 10 % more, a binding costs CPU time.

    What a longer wait for frames does depends on a parameter that is not known for certain.
    """
    noise = 1 + 0.0001 * (effective.run.seed % 5)
    carried = 1e9 * noise
    worked = 50.0 * noise
    if effective.irqbalance == "off":
        carried *= 1.1
    if any(flow.cpubind_node is not None for flow in effective.flows):
        worked *= 1.3
    if vars(effective.ports[0].nic)["rx_frames"] > 5:
        low, high = 2400, 6600
        place = (effective.cpu.costs.driver_rx_cycles - low) / (high - low)
        carried *= 0.8 + 0.4 * place
    configuration = effective.model_dump(mode="json")
    return result(carried, worked, seed=effective.run.seed, configuration=configuration)


CARRIED_PER_S = 120_000
"""What the made-up relay carries with a p99 below 1 ms and hardly a loss."""


def relayed(effective: Effective, **_options: Any) -> Result:
    """A made-up relay: messages of 200 bytes at `relay.rate`, or `net.core.netdev_max_backlog`.

    Up to what it carries it loses 1 packet of 100,000, and above as much as is too much.
    """
    relay = effective.relay
    load = relay.rate if relay else effective.kernel.netdev_max_backlog
    draws = np.random.default_rng((effective.run.seed, load))
    seconds = effective.run.duration_ps / 1e12
    offered = int(draws.poisson(load * seconds))
    share = 1e-5 + max(1 - CARRIED_PER_S / load, 0.0)
    lost = int(draws.poisson(offered * share))
    delivered = offered - (lost // 2 if load > CARRIED_PER_S else 0)
    late_us = (400.0 if load <= CARRIED_PER_S else 4000.0) * float(draws.normal(1, 0.02))
    port = PortRates(
        name="eth0", node=0, rx_bps=1600 * load, tx_bps=1600 * load, drops=lost,
        rx_packets_per_s=(offered - lost) / seconds, tx_packets_per_s=(offered - lost) / seconds,
        interrupts_per_s=1000,
    )  # fmt: skip
    messages = Messages(
        offered=offered,
        delivered=delivered,
        retransmitted=lost,
        offered_per_s=offered / seconds,
        delivered_per_s=delivered / seconds,
        latency_us=Latency(p50=late_us / 4, p99=late_us, p999=2 * late_us),
        histogram=(
            (late_us / 4, delivered // 2),
            (late_us, delivered * 995 // 1000 - delivered // 2),
            (2 * late_us, delivered - delivered * 995 // 1000),
        ),
    )
    made = result(1600.0 * load, seed=effective.run.seed)
    return made.model_copy(
        update={
            "scenario": effective.scenario,
            "fingerprint": f"{load:016x}{effective.run.seed:016x}",
            "simulated_s": seconds,
            "ports": (port,),
            "drops": (Drops(place="ring", at="eth0", packets=lost),) if lost else (),
            "loss": lost / offered,
            "messages": messages,
            "configuration": {"workload": {"type": "relay"}},
        }
    )


def known_change(
    predicted: float,
    measured: float,
    *,
    kind: str = "throughput",
    sort: Sort = "setting",
    configuration: str = "web",
    looked_at: bool = False,
) -> KnownChange:
    """A change whose prediction and measurement, logarithms of factors, are known."""
    side = Residual(
        id="web.plain", key="n", kind=kind, configuration=configuration, measured=1.0, fitted=1.0,
        left_out=1.0, looked_at=looked_at,
    )  # fmt: skip
    return KnownChange(side, side, sort, measured, predicted)
