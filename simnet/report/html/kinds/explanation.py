"""The report of an explanation: what holds flows back, and how full each resource is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from simnet.printable import titled
from simnet.report.html.blocks import Notes, Part, Section, Table, Verdict
from simnet.report.html.cases import path_section
from simnet.report.html.kinds import Kind, has_schema
from simnet.report.html.repeat import repeat_section
from simnet.report.html.system import assumptions, known_configuration
from simnet.study.explain.explain import SCHEMA, Explanation

__all__ = ["KIND", "explanation_verdicts"]


def _parts(found: Sequence[tuple[str, Explanation]], simulate: bool) -> list[Part]:  # noqa: ARG001, FBT001
    return [_part(f"explain{number}", file, one) for number, (file, one) in enumerate(found)]


def _part(name: str, file: str, found: Explanation) -> Part:
    title = titled(found.scenario, found.tunings, sorted(found.settings.items()))
    sections = [path_section(name, {"utilisation": found})]
    notes = (*found.remarks, *found.warnings)
    if notes:
        sections.append(Section("What to know of these numbers", [Notes(notes, warning=True)]))
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
    return Part(f"What holds {title} back?", explanation_verdicts(found), sections)


def explanation_verdicts(found: Explanation) -> list[Verdict]:
    """What holds each group of flows back."""
    return [
        Verdict(
            f"{', '.join(one.flows) or 'all flows'}: {one.held_by}",
            one.sentence,
            "open" if one.first is None else "bad",
        )
        for one in found.limits
    ]


def _yes(value: bool) -> str:  # noqa: FBT001
    return "yes" if value else ""


KIND: Final = Kind("explain", has_schema(SCHEMA), Explanation.model_validate_json, _parts)
