"""The report of an explanation: what holds flows back, and how full each resource is."""

from collections.abc import Sequence
from typing import Final

from simnet.printable import capital, few, titled
from simnet.report.html.blocks import Notes, Part, Section, Table, Verdict
from simnet.report.html.cases import path_section
from simnet.report.html.first import resting
from simnet.report.html.kinds import Kind, each, has_schema
from simnet.report.html.repeat import repeat_section
from simnet.report.html.system import assumptions, known_configuration
from simnet.study.explain.bottleneck import Limit
from simnet.study.explain.explain import SCHEMA, Explanation
from simnet.study.run.machine import machine
from simnet.study.run.measures import rate_text


def _part(name: str, file: str, found: Explanation) -> Part:
    title = titled(found.scenario, found.tunings, sorted(found.settings.items()))
    sections = [path_section(name, {"": found})]
    if found.warnings:
        notes = Notes(found.warnings, warning=True)
        sections.append(Section("What to know of these numbers", [notes]))
    shares = tuple((w.mechanism, f"{w.percent:.2f}", _yes(w.placement)) for w in found.work)
    heading = ("mechanism", "% of one CPU", "because of placement")
    sections.append(Section("Where CPU time goes", [Table("By mechanism", heading, shares)]))
    if found.lifted:
        rows = [tuple(map(str, one.model_dump().values())) for one in found.lifted]
        keys = tuple(name.replace("_", " ") for name in type(found.lifted[0]).model_fields)
        gained = Table("With each sort of part lifted", keys, tuple(rows))
        sections.append(Section("What would be gained", [gained]))
    known = known_configuration(found.scenario, found.tunings, found.settings)
    if known is not None:
        sections.append(assumptions(known))
    words = [found.scenario, "--seed", str(found.seed), "--duration", f"{found.simulated_s:g} s"]
    words += ["--warm-up", f"{found.warmup_s:g} s", *(["--lift"] if found.lifted else [])]
    sections.append(repeat_section("explain", found, words, found.tunings, file))
    of = machine(known) if known is not None else found.machine
    foot = f"simnet {found.version}: one run of {found.simulated_s:g} s, seed {found.seed}"
    return Part(
        f"What holds {title} back?",
        explanation_verdicts(found),
        sections,
        of=of,
        first=resting(known, found.remarks),
        foot=f"{foot}, fingerprint {found.fingerprint}",
    )


def explanation_verdicts(found: Explanation) -> list[Verdict]:
    """What holds flows back: those that are held by the same sort of thing together."""
    alike: dict[tuple[str, str], list[Limit]] = {}
    for one in found.limits:
        alike.setdefault((one.verdict, _sort(found, one.held_by)), []).append(one)
    return [_verdict(found, sort, group) for (_, sort), group in alike.items()]


def _verdict(found: Explanation, sort: str, group: Sequence[Limit]) -> Verdict:
    first = group[0]
    rate = rate_text(found.throughput_bps)
    tone = "open" if first.first is None else "bad"
    if len(group) == 1:
        flows = ", ".join(first.flows) or "all flows"
        answer = f"{flows}: {first.held_by}" if len(found.limits) > 1 else first.held_by
        return Verdict(f"{rate}; held back by {answer}", f"{capital(first.sentence)}.", tone)
    flows = f"{sum(len(one.flows) for one in group)} flows"
    held = first.held_by if len({one.held_by for one in group}) == 1 else f"their {sort}"
    parts = []
    if first.first is not None:
        used = [one.first_utilisation for one in group if one.first_utilisation is not None]
        parts.append(f"it is {_between(used)} full")
    elif first.waits:
        shares = [one.waits[0].share for one in group if one.waits]
        parts.append(f"nothing is full; they wait {_between(shares)} of the time")
    if nexts := [one.next_utilisation for one in group if one.next_utilisation is not None]:
        names = list(dict.fromkeys(_sort(found, one.next or "") for one in group))
        parts.append(f"next comes: {few(names)}, {_between(nexts)} used")
    if gains := [one.at_most - 1 for one in group if one.at_most is not None]:
        most = f"at most {_between(gains)} more throughput then"
        parts.append(f"{most}, if a byte costs as much as now")
    return Verdict(f"{rate}; {flows} held back by {held}", f"{capital('; '.join(parts))}.", tone)


def _sort(found: Explanation, name: str) -> str:
    """What sort of thing holds flows back: the kind of a resource, or what is waited for."""
    return next((one.kind for one in found.resources if one.name == name), name)


def _between(shares: Sequence[float]) -> str:
    low, high = (f"{100 * one:.0f}" for one in (min(shares), max(shares)))
    return f"{low} %" if low == high else f"{low} to {high} %"


def _yes(value: bool) -> str:  # noqa: FBT001
    return "yes" if value else ""


KIND: Final = Kind(
    "explain", has_schema(SCHEMA), Explanation.model_validate_json, each("explain", _part)
)
