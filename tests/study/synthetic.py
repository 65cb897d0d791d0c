"""Results as a simulation would give them, made up: throughput, CPU time, latency, work."""

from __future__ import annotations

from typing import Any

from simnet.scenario.effective import Effective
from simnet.study.result import CpuUse, FlowRates, Latency, PortRates, Result

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
        cpu_busy_percent=cpu_percent,
        cpus=cpus,
        ticks=(),
        ports=(port,),
        interrupts=(),
        flows=(flow,),
        **more,
    )


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
    if effective.ports[0].nic.rx_frames > 5:
        low, high = 2400, 6600
        place = (effective.cpu.costs.driver_rx_cycles - low) / (high - low)
        carried *= 0.8 + 0.4 * place
    configuration = effective.model_dump(mode="json")
    return result(carried, worked, seed=effective.run.seed, configuration=configuration)
