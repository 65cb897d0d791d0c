"""The report of a recommendation: the shortest list of changes, what it gives, what to type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pydantic import model_validator

from simnet.printable import titled
from simnet.report.html.blocks import Facts, Notes, Part, Section, Table, Verdict
from simnet.report.html.kinds import Kind, has_schema
from simnet.report.html.kinds.whatif import TONES, check_metrics, whatif_sections
from simnet.report.html.repeat import repeat_section
from simnet.report.html.svg import picture
from simnet.report.html.system import known_case
from simnet.report.search.recommend import STEP_HEADING, goal_label, step_rows
from simnet.study.recommend.document import SCHEMA, Recommendation
from simnet.study.recommend.goals import GOALS

__all__ = ["KIND"]


def _parts(found: Sequence[tuple[str, Recommendation]], simulate: bool) -> list[Part]:  # noqa: FBT001
    return [
        _part(f"recommend{number}", file, one, simulate=simulate)
        for number, (file, one) in enumerate(found)
    ]


def _part(name: str, file: str, found: Recommendation, *, simulate: bool) -> Part:
    title = titled(found.scenario, found.base_tunings, sorted(found.settings.items()))
    changes = " + ".join(one.change for one in found.steps) or "nothing"
    sections = [_changes(name, found)]
    if found.confirmed is not None:
        base = known_case(found.scenario, found.base_tunings, found.settings)
        sections += whatif_sections(name, found.confirmed, base, simulate=simulate, file=file)
    words = [found.scenario, "--goal", found.goal]
    words += [word for one in found.limits for word in ("--limit", one)]
    sections.append(repeat_section("recommend", found, words, found.base_tunings, file))
    verdict = Verdict(f"{changes}: {found.verdict}", found.reason, TONES[found.verdict])
    return Part(f"What to change on {title} for {goal_label(found)}?", [verdict], sections)


def _changes(name: str, found: Recommendation) -> Section:
    blocks: list[Facts | Notes | Table] = [
        Facts(
            (
                ("limits", ", ".join(found.limits)),
                ("tried", f"{len(found.tried)} lists of changes, {found.runs} runs"),
            )
        )
    ]
    if found.remarks:
        blocks.append(Notes(found.remarks, warning=True))
    if found.steps:
        blocks.append(Table("What each change adds", STEP_HEADING, tuple(step_rows(found))))
        lines = tuple(f"{one.change}: {one.description}. {one.why}" for one in found.steps)
        blocks.append(Notes(lines))
    caption = "Every list of changes that was tried"
    sentence = "Up is more of the goal, or less where less is better; what no other beats is joined"
    drawn = [picture(f"{name}-tried", found.plot, caption, sentence)] if found.tried else []
    return Section("The changes", [*blocks, *drawn])


class _Whole(Recommendation):
    """A recommendation whose parts agree, as those that simnet wrote do."""

    @model_validator(mode="after")
    def _agree(self) -> _Whole:
        goal = GOALS.get(self.goal)
        if goal is None or goal.metric != self.metric:
            raise ValueError(f"expected a goal of {', '.join(GOALS)}, with its metric")
        if (self.confirmed is None) != (not self.steps):
            raise ValueError("expected changes with what confirms them")
        if self.confirmed is not None:
            if len(self.confirmed.tunings) != 1:
                raise ValueError("expected one tuning that was confirmed")
            check_metrics(self.confirmed)
        return self


KIND: Final = Kind("recommend", has_schema(SCHEMA), _Whole.model_validate_json, _parts)
