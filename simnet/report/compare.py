"""The predicted listing beside the measured one, and how far off it is."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Final

from simnet.printable import printable
from simnet.report.columns import columns
from simnet.terminal import folded, width

if TYPE_CHECKING:
    from simnet.study.calibrate.listing import Comparison, CpuPair, PortPair

_WIDTH: Final = 100


def compare(comparison: Comparison) -> str:
    """Both listings side by side, both interrupt tables, and a closing sentence."""
    result = comparison.result
    heading = (
        f"{printable(result.scenario)}: what was measured beside what simnet {result.version} "
        "predicts\n"
        f"measured:  {printable(Path(comparison.capture.source).name)}, sar's listing\n"
        f"predicted: {result.simulated_s:g} simulated seconds after {result.warmup_s:g} s of "
        f"warm-up, seed {result.seed}, exact CPU time in sar's columns\n"
    )
    parts = [heading, _cpus(comparison), _ports(comparison), closing(comparison)]
    return folded("\n".join(parts))


def closing(comparison: Comparison) -> str:
    """One sentence, ending with a line end, that says how far off the prediction is."""
    cpus = comparison.interrupt_cpus
    mean = sum(abs(pair.error) for pair in cpus) / len(cpus)
    worst = max(cpus, key=lambda pair: abs(pair.error))
    ports = comparison.ports
    port_mean = sum(abs(port.error) for port in ports) / len(ports)
    worst_port = max(ports, key=lambda port: abs(port.error))
    sentence = (
        f"How far off: the {len(cpus)} CPUs that serve interrupts are {mean:.1%} off on average "
        f"and {abs(worst.error):.1%} at most (CPU {worst.id}); interrupts per second "
        f"{port_mean:.1%} on average and {abs(worst_port.error):.1%} at most ({worst_port.name}); "
        f"busy time of the listed CPUs adds up to {comparison.predicted_total:.1f} % of one CPU "
        f"against {comparison.measured_total:.1f} % ({comparison.total_error:+.1%})."
    )
    return textwrap.fill(sentence, min(width() or _WIDTH, _WIDTH)) + "\n"


def _cpus(comparison: Comparison) -> str:
    serving = {pair.id for pair in comparison.interrupt_cpus}
    titles = ("CPU", "%user", "%system", "%iowait", "%idle", "|", "%user", "%system", "%iowait")
    body = columns(
        (*titles, "%idle", "|", "busy, points off", "relative"),
        [_cpu_row(pair, relative=pair.id in serving) for pair in comparison.cpus],
    )
    measured, predicted, _ = body.partition("\n")[0].split("|")
    over = f"{'measured':^{len(measured)}}|{'predicted':^{len(predicted)}}|".rstrip()
    text = f"{over}\n{body}"
    if comparison.unlisted:
        busiest = max(comparison.unlisted, key=lambda cpu: cpu.busy)
        text += (
            f"# the {len(comparison.unlisted)} CPUs not listed: idle or nearly idle when measured; "
            f"predicted at most {busiest.busy:.2f} % busy (CPU {busiest.id})\n"
        )
    return text


def _cpu_row(pair: CpuPair, *, relative: bool) -> tuple[str, ...]:
    measured, predicted = pair.measured, pair.predicted
    kernel = predicted.system + predicted.softirq + predicted.irq
    shares = (measured.user, measured.system, measured.iowait, measured.idle)
    expected = (predicted.user, kernel, predicted.iowait, predicted.idle)
    return (
        str(pair.id),
        *(f"{share:.2f}" for share in shares),
        "|",
        *(f"{share:.2f}" for share in expected),
        "|",
        f"{pair.difference:+.2f}",
        f"{pair.error:+.1%}" if relative else "",
    )


def _ports(comparison: Comparison) -> str:
    titles = ("port/IRQ", "node", "CPU", "measured 1/s", "predicted 1/s", "off", "carries Mbit/s")
    return "interrupts per second, and what each port carries (predicted)\n" + columns(
        titles, [_port_row(port) for port in comparison.ports]
    )


def _port_row(port: PortPair) -> tuple[str, ...]:
    return (
        f"{port.name}/{port.irq}",
        str(port.node),
        ",".join(map(str, port.cpus)),
        f"{port.measured_per_s:.2f}",
        f"{port.predicted_per_s:.2f}",
        f"{port.error:+.1%}",
        f"{port.rx_bps / 1e6:.1f}",
    )
