"""Sections about systems side by side: their CPUs, where time goes, the way, latencies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from simnet.printable import few
from simnet.report.html.blocks import Facts, Picture, Section, Stage, Stages, Table, Use
from simnet.report.html.svg import picture
from simnet.report.text import telling
from simnet.study.run.duration_text import in_unit, time_text
from simnet.study.run.duration_text import late as late_of
from simnet.study.run.loss import Latency
from simnet.study.run.measures import rate_text
from simnet.study.run.rows import CpuUse, FlowRates, telling

if TYPE_CHECKING:
    from simnet.scenario.core.effective import Effective
    from simnet.study.explain.bottleneck import ResourceUse
    from simnet.study.explain.explain import Explanation
    from simnet.study.explain.timeline import Timeline
    from simnet.study.run.result import Result

_MOST_CPUS: Final = 1024
_MOST_STAGES: Final = 9
_FEW: Final = 4
_LINK: Final = "link"
# what a kind of resources is called where it stands among others
_STAGES: Final = {
    "switch": "wire: switch",
    "peer port": "wire: port of a peer",
    "port": "wire: port",
    "I/O bus": "bus: between port and memory",
    _LINK: "memory: link between nodes",
    "cpu": "CPU",
    "peer cpu": "CPU of a peer",
}
_PERCENT: Final = 100
_SHARES: Final = ("user", "system", "softirq", "irq")
_RATES: Final = ("goodput_bps", "transactions_per_s")


def cpu_section(name: str, results: Mapping[str, Result]) -> Section:
    """A heat map of the logical CPUs by node, and a table of the busiest."""
    from simnet.study.figures.heat import cpu_heat

    blocks: list[Picture | Table] = []
    if all(0 < len(result.cpus) <= _MOST_CPUS for result in results.values()):
        sentences = [
            f"{case}: {sum(cpu.busy for cpu in result.cpus):.0f} % of one CPU in all,"
            f" the busiest is CPU {max(result.cpus, key=lambda cpu: cpu.busy).id}"
            for case, result in results.items()
        ]
        caption = "How busy each logical CPU is; each row is of one NUMA node"
        blocks.append(
            picture(f"{name}-cpus", lambda: cpu_heat(results), caption, "; ".join(sentences))
        )
    rows = [
        (case, str(cpu.id), str(cpu.node), f"{cpu.busy:.2f}", *cpu.cells(_SHARES))
        for case, result in results.items()
        for cpu in result.cpus
        if cpu.busy >= 1
    ]
    heading = ("case", "CPU", "node", "%busy", *CpuUse.headings(_SHARES))
    caption = "CPUs that are at least 1 % busy"
    blocks.append(Table(caption, heading, tuple(rows), folded=True))
    return Section("What each CPU does", blocks)


def work_section(
    name: str, found: Mapping[str, Mapping[str, float]], placed: Sequence[str], unit: str
) -> Section:
    """Stacked bars of CPU time per unit, such as a data packet, by mechanism, and the numbers."""
    from simnet.study.figures.work import mechanism_bars

    totals = ", ".join(
        f"{case} {sum(shares.values()):.2f} us a {unit}" for case, shares in found.items()
    )
    caption = f"CPU time of a {unit}, by what it is spent on"
    names = dict.fromkeys(one for shares in found.values() for one in shares)
    rows = [
        (one, "yes" if one in placed else "", *(f"{s.get(one, 0.0):.2f}" for s in found.values()))
        for one in sorted(names, key=lambda one: -max(s.get(one, 0.0) for s in found.values()))
    ]
    heading = ("mechanism", "because of placement", *(f"{case}, us" for case in found))
    return Section(
        "Where time goes",
        [
            picture(
                f"{name}-work", lambda: mechanism_bars(found, placed, unit=unit), caption, totals
            ),
            Table(f"Microseconds of CPU a {unit}", heading, tuple(rows), folded=True),
        ],
    )


def path_section(name: str, found: Mapping[str, Explanation]) -> Section:
    """The way from the peers to the CPUs: of each kind of resource the fullest, case by case."""
    kinds = dict.fromkeys(one.kind for case in found.values() for one in case.resources)
    ordered = sorted(kinds, key=_place)[:_MOST_STAGES]
    stages = [
        Stage(
            _STAGES.get(kind, kind), tuple(_fullest(case, kind, one) for case, one in found.items())
        )
        for kind in ordered
    ]
    rows = [
        (_flows(limit.flows, len(one.limits)), case, limit.sentence)
        for case, one in found.items()
        for limit in one.limits
    ]
    blocks: list[Stages | Picture | Table] = [
        Stages("The fullest resource of each kind on the way", tuple(stages))
    ]
    if len(found) == 1:
        (one,) = found.values()
        caption = "How full each resource is"
        blocks.append(picture(f"{name}-resources", one.plot, caption, one.limits[0].sentence))
    heading = ("resource", *(f"{case}, %" if case else "used, %" for case in found))
    blocks += [
        Table(
            "What holds the flows back",
            ("flows", "case", "why"),
            tuple(rows),
            left=3,
            folded=len(rows) > _FEW,
        ),
        Table("Utilisation of every resource", heading, _utilisations(found), folded=True),
    ]
    return Section("The path, and how full it is", blocks)


def _flows(names: Sequence[str], limits: int) -> str:
    """Which flows a limit is of, where there are so many limits."""
    if limits > 1 and names:
        return few(names)
    return f"all {len(names):,} flows" if len(names) > _FEW else ", ".join(names) or "all flows"


def _fullest(case: str, kind: str, found: Explanation) -> Use:
    uses = [use for use in found.resources if use.kind == kind]
    if not uses:
        return Use(case, "", 0.0, 0)
    fullest = max(uses, key=lambda use: use.utilisation)
    return Use(case, fullest.name, min(fullest.utilisation, 1.0), sum(one.drops for one in uses))


def _utilisations(found: Mapping[str, Explanation]) -> tuple[tuple[str, ...], ...]:
    used: list[dict[str, ResourceUse]] = [
        {one.name: one for one in case.resources} for case in found.values()
    ]
    names = dict.fromkeys(name for uses in used for name in uses)
    return tuple(
        (name, *(f"{_PERCENT * u[name].utilisation:.1f}" if name in u else "-" for u in used))
        for name in names
    )


def _place(kind: str) -> tuple[int, str]:
    """From the far CPUs by the far ports to the near ones and the near CPUs."""
    if kind.startswith("peer"):
        return (0 if kind.endswith("cpu") else 1), kind
    if kind.endswith("cpu"):
        return 6, kind
    order = {"switch": 2, "port": 3, "I/O bus": 4, _LINK: 5}
    return next((place for part, place in order.items() if part in kind), 5), kind


def time_section(name: str, found: Mapping[str, Timeline | None]) -> list[Section]:
    """What each case does over time, where that was noted."""
    from simnet.study.figures.timeline import over_time

    noted = {case: one for case, one in found.items() if one is not None and one.cpus}
    if not noted:
        return []
    caption = "Payload, CPUs and queues over the measured time"
    said = "; ".join(
        f"{case}: {rate_text(min(one.bits_per_s))} to {rate_text(max(one.bits_per_s))}"
        for case, one in noted.items()
    )
    drawn = picture(f"{name}-time", lambda: over_time(noted), caption, said)
    return [Section("Over time", [drawn])]


def machine_section(name: str, effective: Effective) -> list[Section]:
    """The drawing of a machine that has ports."""
    drawn = machine_picture(name, effective)
    return [] if drawn is None else [Section("The machine", [drawn])]


def machine_picture(name: str, effective: Effective) -> Picture | None:
    """Its parts, and how they are linked; None where it has no port."""
    from simnet.study.figures.machine import topology

    configuration = effective.model_dump(mode="json")
    if not configuration["host"]["ports"]:
        return None
    said = "nodes, links, sockets, memory, ports and their queues with the CPUs of their interrupts"
    return picture(f"{name}-machine", lambda: topology(configuration), "Its parts", said)


def latency_section(
    name: str, found: Mapping[str, Sequence[tuple[float, int]]], kind: str
) -> Section | None:
    """The distribution of the latencies of all flows; None where nothing was sampled."""
    from simnet.study.figures.latency import later_curves

    sampled = {case: histogram for case, histogram in found.items() if histogram}
    if not sampled:
        return None
    caption = f"Latency{f' ({kind})' if kind else ''}: the share of the samples that are later"
    numbers = ", ".join(f"{case} {sum(n for _, n in h)} samples" for case, h in sampled.items())
    return Section(
        "Latency",
        [picture(f"{name}-latency", lambda: later_curves(sampled, kind=kind), caption, numbers)],
    )


def quantiles_section(results: Mapping[str, Result]) -> Section:
    """Latencies and rates of the flows, in each case of those that tell what all get."""
    listed = {case: telling(result.flows) for case, result in results.items()}
    unit, scale = in_unit(flow.latency_us.p999 for flows, _ in listed.values() for flow in flows)
    rows = [
        (
            *(flow.name, case, *flow.cells(_RATES, ","), flow.latency_us.kind),
            *_quantiles(flow.latency_us, scale),
        )
        for case, (flows, _) in listed.items()
        for flow in flows
    ]
    totals = [(case, _total(result)) for case, result in results.items()]
    heading = (
        *("flow", "case", *FlowRates.headings(_RATES), "latency"),
        *(f"{share} {unit}" for share in ("p50", "p99", "p99.9")),
    )
    which = "; ".join(dict.fromkeys(which for _, which in listed.values() if which))
    caption = "Flows, and the quantiles of their latencies"
    if which:
        caption += f": {which}; all of them: simnet run --json"
    table = Table(caption, heading, tuple(rows), left=2)
    return Section("What was predicted", [Facts(tuple(totals)), table])


def _total(result: Result) -> str:
    late = result.messages.latency_us if result.messages else None
    shown = f"{rate_text(result.throughput_bps, 1)}, CPUs {result.cpu_busy_percent:.2f} % busy"
    if late:
        unit, scale = in_unit((late.p50, late.p99, late.p999))
        p50, p99, p999 = (f"{one} {unit}" for one in _quantiles(late, scale))
        shown += f", messages {late_of(late.kind, 'p50')} {p50}, p99 {p99}, p99.9 {p999}"
    return shown


def _quantiles(late: Latency, scale: float) -> tuple[str, ...]:
    """In us times a scale."""
    return tuple(time_text(us, scale, ",.1f") for us in (late.p50, late.p99, late.p999))
