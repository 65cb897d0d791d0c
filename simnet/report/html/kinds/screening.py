"""The report of a screening: what matters, and what changed nothing."""

from __future__ import annotations

from typing import Final

from pydantic import model_validator

from simnet.printable import capital, titled
from simnet.report.html.blocks import Notes, Part, Section, Table, Verdict
from simnet.report.html.kinds import Kind, each, has_schema
from simnet.report.html.repeat import repeat_section
from simnet.report.html.svg import picture
from simnet.report.html.system import assumptions, known_configuration
from simnet.report.search.screen import (
    MEANING,
    SHARES_TITLE,
    metric_label,
    screen_heading,
    screen_rows,
    share_heading,
    share_rows,
)
from simnet.study.run.machine import machine
from simnet.study.run.measures import SCREENED
from simnet.study.screen.document import SCHEMA, Screen, Screened, in_percent
from simnet.study.whatif.verdict import end_text

_NAMED: Final = 3


def _part(name: str, file: str, found: Screen) -> Part:
    title = titled(found.scenario, found.tunings, sorted(found.settings.items()))
    label = metric_label(found, found.metric)
    matter = [one.name for one in found.factors if found.matters(one)]
    sentence = f"what changes {label} by more than chance: {', '.join(matter) or 'nothing'}"
    blocks: list[Notes | Table] = []
    blocks.append(Table(capital(MEANING), screen_heading(found), tuple(screen_rows(found))))
    if found.shares:
        rows = tuple(share_rows(found))
        blocks.append(Table(SHARES_TITLE.capitalize(), share_heading(found), rows))
    idle = tuple((one.name, one.why) for one in found.factors if one.turns and one.idle)
    if idle:
        blocks.append(Table("What changed nothing", ("name", "why"), idle, 2, folded=True))
    drawn = picture(f"{name}-tornado", found.plot, f"What changes {label}", sentence)
    sections = [Section("What matters", [drawn, *blocks])]
    known = known_configuration(found.scenario, found.tunings, found.settings)
    if known is not None:
        sections.append(assumptions(known))
    words = [found.source or found.scenario, "--metric", found.metric]
    sections.append(repeat_section("screen", found, words, found.tunings, file))
    many = f"{len(matter)} of {len(found.factors)} matter for {label}"
    most = [
        f"{one.name} by up to {_most(found, one)}" for one in found.factors if found.matters(one)
    ]
    chance = (
        "may be chance" if found.tells else "cannot be told from chance: a run delivered nothing"
    )
    said = f"Most: {', '.join(most[:_NAMED])}." if most else f"All that changed {chance}."
    return Part(
        f"Which knobs matter on {title}?",
        [Verdict(many, said)],
        sections,
        of=machine(known) if known else found.machine,
        first=[Notes(found.remarks, warning=True)] if found.remarks else [],
        foot=f"simnet {found.version}: {found.runs} runs of {found.simulated_s:g} s,"
        f" fingerprint {found.fingerprint}",
    )


def _most(found: Screen, one: Screened) -> str:
    """The larger end of what a factor changes."""
    effect = one.effect(found.metric)
    end = effect.high if abs(effect.high) > abs(effect.low) else effect.low
    return end_text(in_percent(end), " %")


class _Whole(Screen):
    """A screening by a metric that simnet has, of something that was turned."""

    @model_validator(mode="after")
    def _known(self) -> _Whole:
        if self.metric not in SCREENED:
            raise ValueError(f"expected a metric among {', '.join(SCREENED)}")
        if not any(one.turns for one in self.factors):
            raise ValueError("expected something that was turned")
        return self


KIND: Final = Kind("screen", has_schema(SCHEMA), _Whole.model_validate_json, each("screen", _part))
