"""The report of a capacity: the answer, the limits, and every load that was tried."""

from __future__ import annotations

from typing import Final

from pydantic import model_validator

from simnet.printable import capital, titled
from simnet.report.capacity import answer_text, limits_text, tried_rows
from simnet.report.html.blocks import Facts, Notes, Part, Section, Table, Verdict
from simnet.report.html.kinds import Kind, each, has_schema
from simnet.report.html.repeat import repeat_section
from simnet.report.html.svg import picture
from simnet.report.html.system import assumptions, known_configuration
from simnet.study.capacity.document import SCHEMA, Capacity
from simnet.study.capacity.verdict import LIMITED
from simnet.study.run.machine import machine


def _part(name: str, file: str, found: Capacity) -> Part:
    title = titled(found.scenario, found.tunings, sorted(found.settings.items()))
    caption = "What is limited, over the load"
    heading, *rows = tried_rows(found)
    blocks: list[Facts | Notes | Table] = [Facts((("limits", limits_text(found)),))]
    table = Table("Loads that were tried", heading, tuple(rows))
    drawn = [picture(f"{name}-loads", found.plot, caption, answer_text(found))] if rows else []
    sections = [Section("The largest load within limits", [*blocks, *drawn, table])]
    known = known_configuration(found.scenario, found.tunings, found.settings)
    if known is not None:
        sections.append(assumptions(known))
    words = [
        found.source or found.scenario,
        "--precision",
        f"{found.precision:g}",
        "--load",
        found.setting,
    ]
    if found.max_loss is not None:
        words += ["--max-loss", f"{100 * found.max_loss:g} %"]
    if found.max_p99_us is not None:
        words += ["--max-p99", f"{found.max_p99_us:g} us"]
    sections.append(repeat_section("capacity", found, words, found.tunings, file))
    tone = "good" if found.precise and found.conclusive else "open"
    return Part(
        f"How much load does {title} carry?",
        [Verdict(capital(answer_text(found)), f"Limits: {limits_text(found)}.", tone)],
        sections,
        of=machine(known) if known else found.machine,
        first=[Notes(found.remarks, warning=True)] if found.remarks else [],
        foot=f"simnet {found.version}: {found.simulations} runs, fingerprint {found.fingerprint}",
    )


class _Whole(Capacity):
    """A capacity whose loads agree with each other, as those that simnet wrote do."""

    @model_validator(mode="after")
    def _agree(self) -> _Whole:
        names = [tuple(interval.name for interval in one.intervals) for one in self.loads]
        if len(set(names)) != 1 or not set(names[0]) <= set(LIMITED):
            raise ValueError(f"expected loads with the same intervals, of {', '.join(LIMITED)}")
        if any(one.load <= 0 or min(i.limit for i in one.intervals) <= 0 for one in self.loads):
            raise ValueError("expected loads and limits above 0")
        return self


KIND: Final = Kind(
    "capacity", has_schema(SCHEMA), _Whole.model_validate_json, each("capacity", _part)
)
