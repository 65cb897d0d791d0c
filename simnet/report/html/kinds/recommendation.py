"""The report of a recommendation: the shortest list of changes, what it gives, what to type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pydantic import model_validator

from simnet.printable import titled
from simnet.report.card import card as cards
from simnet.report.html.blocks import Block, Facts, Notes, Part, Section, Table, Verdict
from simnet.report.html.first import first_screen, reason_of, rests_on
from simnet.report.html.kinds import Kind, has_schema
from simnet.report.html.kinds.whatif import TONES, check_metrics, pair_of, whatif_sections
from simnet.report.html.repeat import repeat_section
from simnet.report.html.svg import picture
from simnet.report.html.system import known_case
from simnet.report.search.recommend import STEP_HEADING, goal_label, step_rows, step_why
from simnet.study.recommend.document import SCHEMA, Recommendation
from simnet.study.recommend.goals import GOALS
from simnet.study.recommend.recommend import RUNS
from simnet.study.run.measures import METRICS

_CALLED: Final = "the recommended change"


def _parts(found: Sequence[tuple[str, Recommendation]], simulate: bool) -> list[Part]:  # noqa: FBT001
    return [
        _part(f"recommend{number}", file, one, simulate=simulate)
        for number, (file, one) in enumerate(found)
    ]


def _part(name: str, file: str, found: Recommendation, *, simulate: bool) -> Part:
    title = titled(found.scenario, found.base_tunings, sorted(found.settings.items()))
    base = known_case(found.scenario, found.base_tunings, found.settings)
    changes = " + ".join(one.change for one in found.steps)
    answer = f"{changes}: {found.verdict}" if changes else "Nothing is confirmed"
    sections = [_changes(name, found)]
    first: list[Block] = []
    reason = found.reason
    confirmed = found.confirmed
    pair = None
    if confirmed is not None:
        (best,) = confirmed.tunings
        pair = pair_of(base, best.tuning)
        # all that it sets is listed once, where it is explained
        called = best.model_copy(update={"tuning": _CALLED})
        named = confirmed.model_copy(update={"tunings": (called,)})
        sections += whatif_sections(
            name, named, base, simulate=simulate, file=file, texts=[best.tuning]
        )
        same = not file or (pair is not None and pair.commands == best.commands)
        card = cards.recommended(found, base if pair else None)
        first = [
            *first_screen(name, card, known=same, worth=found.verdict == "yes"),
            rests_on(named, pair.before if pair else None),
        ]
        reason = f"{reason_of(named, called)}. {step_why(found.steps[0])}"
    else:
        card = cards.recommended(found, base)
        reason = f"{reason}.{_nearest(found)}"
    if found.remarks:
        first.append(Notes(found.remarks, warning=True))
    words = [found.source or found.scenario, "--goal", found.goal]
    words += [word for one in found.limits for word in ("--limit", one)]
    sections.append(repeat_section("recommend", found, words, found.base_tunings, file))
    return Part(
        f"What to change on {title} for {goal_label(found)}?",
        [Verdict(answer, reason, TONES[found.verdict])],
        sections,
        of=card.of,
        first=first,
        foot=card.foot,
    )


def _nearest(found: Recommendation) -> str:
    """What came nearest in one run, where nothing was confirmed, and how to try on."""
    sign = 1 if METRICS[found.metric].largest else -1
    allowed = [
        one
        for one in found.tried
        if one.allowed and one.changes and sign * one.percent.get(found.metric, 0.0) > 0
    ]
    if not allowed:
        return ""
    best = max(allowed, key=lambda one: sign * one.percent[found.metric])
    label = METRICS[found.metric].said.format(latency=found.latency_kind or "latency")
    changed = f"{' + '.join(best.changes)}: {label} {best.percent[found.metric]:+.1f} %"
    tried = f"Best in one short run, which others did not confirm: {changed}"
    return f" {tried}. More may be found with --runs {max(RUNS, 3 * len(found.tried))}"


def _changes(name: str, found: Recommendation) -> Section:
    blocks: list[Facts | Notes | Table] = [
        Facts(
            (
                ("limits", ", ".join(found.limits)),
                ("tried", f"{len(found.tried)} lists of changes, {found.runs} runs"),
            )
        )
    ]
    if found.steps:
        blocks.append(Table("What each change adds", STEP_HEADING, tuple(step_rows(found))))
        lines = tuple(step_why(one) for one in found.steps)
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
