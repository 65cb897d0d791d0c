"""A recommendation for reading: the changes, why, how sure that is, and what to type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simnet.printable import capital, printable, titled
from simnet.report.columns import columns
from simnet.report.whatif import MEANING, change_heading, change_rows, commands_text, runs_of
from simnet.terminal import answer_last

if TYPE_CHECKING:
    from simnet.study.recommend.document import Recommendation, Step
    from simnet.study.whatif.whatif import Judged, WhatIf

STEP_HEADING: Final = ("change", "share of the gain", "range")
_GOAL_LABELS: Final = {
    "throughput": "more throughput",
    "p99": "a lower {latency} p99",
    "cpu": "less CPU time per byte",
}


def goal_label(found: Recommendation) -> str:
    """What was to be better."""
    return _GOAL_LABELS[found.goal].format(latency=found.latency_kind or "latency")


def recommendation(found: Recommendation, *, every: bool = False) -> str:
    """The whole answer; `every`: also what keeps the changes over a reboot."""
    title = titled(found.scenario, found.base_tunings, found.settings.items())
    head = (
        f"For {goal_label(found)} of {title}: {found.verdict}: {found.reason}",
        f"{len(found.tried)} lists of changes tried, {found.runs} runs",
        f"limits: {', '.join(found.limits)}",
        *([f"left out: {found.left_out}"] if found.left_out else []),
    )
    parts = ["".join(f"{printable(line)}\n" for line in head)]
    if found.steps:
        parts += [
            columns(STEP_HEADING, step_rows(found)),
            "".join(f"{printable(step_why(step))}\n" for step in found.steps),
        ]
    typed = ""
    if found.confirmed is not None:
        name = " + ".join(step.change for step in found.steps)
        called = {"tuning": name, "verdict": found.verdict}
        judged = found.confirmed.tunings[0].model_copy(update=called)
        parts.append(_confirmed(found.confirmed, judged))
        typed = commands_text(judged, every=every)
    return answer_last("\n".join(parts), typed)


def step_rows(found: Recommendation) -> list[tuple[str, ...]]:
    """The changes and their shares, under `STEP_HEADING`."""
    return [
        (
            one.change,
            f"{one.share:.0f} %",
            "-" if one.interval is None else f"{one.interval.low:.0f} to {one.interval.high:.0f}",
        )
        for one in found.steps
    ]


def step_why(step: Step) -> str:
    """What a change is, and what it does."""
    return f"{step.change}: {step.description}. {capital(step.why)}."


def _confirmed(found: WhatIf, judged: Judged) -> str:
    note = "simulated again with fresh random numbers, as the best of many looks better than it is"
    warnings = "".join(f"warning: {printable(line)}\n" for line in judged.warnings)
    table = columns(change_heading(), change_rows(found, judged))
    return f"{note}: {runs_of(found)}\n{table}{MEANING}\n{warnings}"
