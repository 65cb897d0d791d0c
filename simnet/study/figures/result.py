"""The picture of a result: what each CPU spent its time on."""

from typing import cast

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simnet.study.figures.style import CONTEXTS, about
from simnet.study.run.measures import rate_text
from simnet.study.run.result import Result
from simnet.study.run.rows import CpuUse

_NEARLY_IDLE_PERCENT = 1.0
_MOST_BARS = 32
_SIZE_INCHES = (10.0, 4.8)


def cpu_bars(result: Result, axes: Axes | None = None) -> Figure:
    """Stacked bars of CPU time by context in percent, one bar a logical CPU.

    On machines with many CPUs only those that are at least 1 % busy are drawn. Without `axes` a
    figure of its own is made, outside of pyplot, so no display is needed.
    """
    if axes is None:
        axes = Figure(figsize=_SIZE_INCHES, layout="constrained").subplots()
    shown = _shown(result.cpus)
    positions = range(len(shown))
    bottom = [0.0] * len(shown)
    for field, label, colour in CONTEXTS:
        heights = [getattr(cpu, field) for cpu in shown]
        axes.bar(positions, heights, bottom=bottom, width=0.8, label=label, color=colour)
        bottom = [low + height for low, height in zip(bottom, heights, strict=True)]
    axes.set_xticks(positions, [str(cpu.id) for cpu in shown])
    axes.set_xlim(-0.6, max(len(shown), 1) - 0.4)
    axes.set_ylim(0, 100)
    hidden = len(result.cpus) - len(shown)
    rest = f"; {hidden} nearly idle ones are not drawn" if hidden else ""
    axes.set_xlabel(f"logical CPU ({_nodes(shown)}{rest})")
    axes.set_ylabel("time (% of one CPU)")
    axes.set_title(_sentence(result), fontsize="medium", loc="left")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="small", reverse=True)
    axes.spines[["top", "right"]].set_visible(False)
    return cast("Figure", axes.get_figure(root=True))


def _shown(cpus: tuple[CpuUse, ...]) -> list[CpuUse]:
    if len(cpus) <= _MOST_BARS:
        return list(cpus)
    return [cpu for cpu in cpus if cpu.busy >= _NEARLY_IDLE_PERCENT] or list(cpus)


def _nodes(cpus: list[CpuUse]) -> str:
    nodes = sorted({cpu.node for cpu in cpus})
    names = ", ".join(map(str, nodes))
    return f"node {names}" if len(nodes) == 1 else f"nodes {names}"


def _sentence(result: Result) -> str:
    serving = {cpu for port in result.interrupts for cpu, rate in port.by_cpu.items() if rate >= 1}
    total = sum(cpu.busy for cpu in result.cpus)
    sentence = f"{total / 100:.2f} CPUs busy of {len(result.cpus)}"
    if total > 0 and serving:
        share = sum(cpu.busy for cpu in result.cpus if cpu.id in serving) / total
        sentence += f"; the {len(serving)} that serve interrupts do {share:.0%} of the work"
    sentence += f"; {rate_text(result.throughput_bps)}"
    return about(result.scenario, result.tunings, result.settings, sentence)
