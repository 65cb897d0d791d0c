"""Whether a result is near enough to a captured listing of sar."""

from collections.abc import Mapping, Sequence

from simnet.study.calibrate.listing import Comparison, Gate

INTERRUPT_CPU_TOLERANCE = 0.15
INTERRUPTS_TOLERANCE = 0.15
TOTAL_BUSY_TOLERANCE = 0.08
NEARLY_IDLE_PERCENT = 10.0


def closeness_gates(comparison: Comparison) -> list[Gate]:
    """Interrupt CPUs, interrupt rates, total busy and idle CPUs against their tolerances."""
    worst_cpu = max(comparison.interrupt_cpus, key=lambda pair: abs(pair.error))
    worst_port = max(comparison.ports, key=lambda pair: abs(pair.error))
    idle = {pair.id: pair.predicted.busy for pair in comparison.other_cpus}
    idle |= {cpu.id: cpu.busy for cpu in comparison.unlisted}
    busiest_idle = max(idle, key=lambda cpu: idle[cpu])
    return [
        Gate(
            abs(worst_cpu.error) <= INTERRUPT_CPU_TOLERANCE,
            f"every busy interrupt CPU within {INTERRUPT_CPU_TOLERANCE:.0%} of the listing: "
            f"the worst is CPU {worst_cpu.id}, {worst_cpu.error:+.1%}",
        ),
        Gate(
            abs(worst_port.error) <= INTERRUPTS_TOLERANCE,
            f"interrupts/s of every port within {INTERRUPTS_TOLERANCE:.0%}: "
            f"the worst is {worst_port.name}, {worst_port.error:+.1%}",
        ),
        Gate(
            abs(comparison.total_error) <= TOTAL_BUSY_TOLERANCE,
            f"total busy of the listed CPUs within {TOTAL_BUSY_TOLERANCE:.0%}: "
            f"{comparison.predicted_total:.1f} % against {comparison.measured_total:.1f} %, "
            f"{comparison.total_error:+.1%}",
        ),
        Gate(
            idle[busiest_idle] < NEARLY_IDLE_PERCENT,
            f"CPUs without interrupts nearly idle (below {NEARLY_IDLE_PERCENT:.0f} %): "
            f"the busiest is CPU {busiest_idle}, {idle[busiest_idle]:.1f} %",
        ),
    ]


def sibling_gate(
    busy_percent: Mapping[int, float],
    *,
    busy_sibling: Sequence[int],
    idle_sibling: Sequence[int],
    expected_points: float,
    tolerance_points: float,
) -> Gate:
    """Interrupt CPUs whose SMT sibling works exceed those whose sibling idles by so many points.

    A model that gives every interrupt CPU the same load passes the tolerances above; not this.
    """
    contrast = _mean(busy_percent, busy_sibling) - _mean(busy_percent, idle_sibling)
    return Gate(
        abs(contrast - expected_points) <= tolerance_points,
        f"interrupt CPUs with a busy sibling ({_ids(busy_sibling)}) exceed those with an idle one "
        f"({_ids(idle_sibling)}) by {expected_points:.0f} points give or take "
        f"{tolerance_points:.0f}: {contrast:+.1f} points",
    )


def remote_gate(comparison: Comparison, *, local_node: int) -> Gate:
    """Ports of other nodes interrupt more often than local ones while they carry less."""
    local = [port for port in comparison.ports if port.node == local_node]
    remote = [port for port in comparison.ports if port.node != local_node]
    rates = [_average([port.predicted_per_s for port in side]) for side in (local, remote)]
    carried = [_average([port.rx_bps for port in side]) / 1e6 for side in (local, remote)]
    return Gate(
        rates[1] > rates[0] and carried[1] < carried[0],
        "remote ports interrupt more often than local ones while carrying less: "
        f"{rates[1]:,.0f}/s against {rates[0]:,.0f}/s, "
        f"{carried[1]:.0f} against {carried[0]:.0f} Mbit/s",
    )


def _mean(values: Mapping[int, float], ids: Sequence[int]) -> float:
    return _average([values[cpu] for cpu in ids])


def _average(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else float("nan")


def _ids(cpus: Sequence[int]) -> str:
    return ", ".join(map(str, cpus))
