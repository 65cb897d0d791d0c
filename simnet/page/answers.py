"""What the page answers: at once from a short run, then sharper by what-ifs of growing size.

What is pinned is "before", and what is set is "after"; both have the same seeds. Every round fills
the same table; the pictures are of the first pair of runs, so that no sum moves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Protocol

from simnet.errors import InputError
from simnet.page.offer import Offer, Question
from simnet.page.seen import cpus_shown, host_shown, work_shown
from simnet.printable import typed
from simnet.report.html.blocks import Block, Notes, Part, Table, Verdict
from simnet.report.html.first import reason_of, rests_on
from simnet.report.html.kinds.whatif import ANSWERS, TONES, typed_sections, whatif_part
from simnet.report.html.numbers import written
from simnet.report.html.page import fragment, page
from simnet.report.whatif import change_heading, change_row, moved_most
from simnet.study.run.measures import METRICS, RATE, SCREENED
from simnet.study.screen.controls import present
from simnet.study.screen.document import in_percent
from simnet.study.screen.screen import screen
from simnet.study.whatif.aim import aim_of, load_of
from simnet.study.whatif.verdict import changes
from simnet.study.whatif.whatif import WhatIf, whatif
from simnet.study.work.cases import Case, Member, runs_to_completion, simulate_all

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from simnet.study.run.result import Result

_SEED: Final = 1


class Asker(Protocol):
    """Who waits for an answer; OSError where nobody does any more."""

    def say(self, what: Mapping[str, Any], /) -> None:
        """Tell what is known by now."""

    def turn(self) -> AbstractContextManager[None]:
        """Wait until nobody else has all CPUs, and have them."""


@dataclass(frozen=True)
class Round:
    """Pairs of runs with equal seeds, pairs with drawn parameters, and how long a run is."""

    name: str
    seeds: int
    members: int
    duration: str | None
    warm_up: str | None

    def of(self, case: Case) -> Round:
        """The same for a case: jobs run to their end."""
        ends = runs_to_completion(case)
        return replace(self, duration=None, warm_up=None) if ends else self


ROUNDS: Final = (
    Round("first impression", 1, 0, "30 ms", "30 ms"),
    Round("round 1 of 3", 2, 0, "100 ms", "100 ms"),
    Round("round 2 of 3", 4, 8, "250 ms", "200 ms"),
    Round("final", 8, 24, None, None),
)
"""Each is sharper than the one before; the last is what `simnet whatif` does."""


def knobs(offer: Offer, _told: Any, asker: Asker) -> None:
    """The knobs that can be moved, those that nothing reads, and the drawing of the host."""
    groups = [
        {
            "title": title,
            "knobs": [
                {
                    "name": one.name,
                    "doc": one.doc,
                    "value": one.value,
                    "values": one.values,
                    "shown": {value: written(value) for value in one.values},
                    "ordered": one.ordered,
                }
                for one in found
            ],
        }
        for title, found in offer.groups.items()
    ]
    asker.say({"groups": groups})
    asker.say({"host": host_shown(offer.base)})
    asker.say({"unread": offer.unread})


def answer(offer: Offer, told: Any, asker: Asker) -> None:
    """The answer to a question, round by round."""
    question = offer.asked(told)
    asker.say({"command": _command(question)})
    _first(question, asker)
    cases = {"before": question.before}
    if question.typed:
        cases["after"] = question.after
    results = {name: _short(case) for name, case in cases.items()}
    asker.say({"pictures": cpus_shown(results) + work_shown(results)})
    if question.tuned != offer.base:
        before, follows = (
            present(case, offer.controls) for case in (question.before, question.tuned)
        )
        asker.say({"before": before, "follows": follows})
    if question.typed:
        with asker.turn():
            for place in range(1, len(ROUNDS)):
                _tell(question, _found(question, place, asker), place, asker)


def first(offer: Offer, told: Any, asker: Asker) -> None:
    """The first impression alone."""
    _first(offer.asked(told), asker)


def _first(question: Question, asker: Asker) -> None:
    if question.typed:
        _tell(question, _found(question, 0, asker, jobs=1), 0, asker)
        return
    result = _short(question.before)
    found = changes([result], [result])
    rows = [change_row(len(result.cpus), one)[:2] for one in found if one.before is not None]
    said = f"one run of {result.simulated_s:g} s: tick a tuning or move a knob"
    table = Table("As it is", ("", "now"), tuple(rows))
    part = Part("", [Verdict("As it is", said)], [], first=[table])
    asker.say({"answer": fragment(part, "answer"), "place": 0, "changes": []})


def report(offer: Offer, told: Any, asker: Asker) -> None:
    """The report of the final answer, as a file."""
    question = offer.asked(told)
    if not question.typed:
        raise InputError("nothing is changed", key="page")
    with asker.turn():
        found = _found(question, len(ROUNDS) - 1, asker)
        asker.say({"report": page([whatif_part("page", found, question.before, simulate=True)])})


def order(offer: Offer, told: Any, asker: Asker) -> None:
    """What a screening finds of each tuning and knob, what matters most first."""
    base = offer.asked(told).before
    metrics = aim_of(load_of(Member(base).effective().workload.test)).metrics
    metric = next((one for one in metrics if one in SCREENED), RATE)
    with asker.turn():
        found = screen(
            base.scenario,
            metric=metric,
            settings=dict(base.settings),
            tunings=base.tunings,
            apply=base.apply,
            progress=_progress(asker, "screening"),
        )
    said = METRICS[metric].said.format(latency=found.latency_kind or "latency")
    rows = []
    for one in found.factors:
        effect = one.effect(metric)
        low, high = in_percent(effect.low), in_percent(effect.high)
        text = one.why if one.idle else f"{said} {low:+.0f} to {high:+.0f} %"
        rows.append({"name": one.name, "said": written(text), "idle": one.idle})
    asker.say({"order": rows})


WANTED: Final[Mapping[str, Callable[[Offer, Any, Asker], None]]] = {
    "answer": answer,
    "first": first,
    "knobs": knobs,
    "order": order,
    "report": report,
}
"""What a browser can ask for."""


def _found(question: Question, place: int, asker: Asker, jobs: int | None = None) -> WhatIf:
    before = question.before
    wanted = ROUNDS[place].of(before)
    return whatif(
        before.scenario,
        question.typed,
        settings=dict(before.settings),
        base_tunings=before.tunings,
        apply=before.apply,
        seed=_SEED,
        seeds=wanted.seeds,
        members=wanted.members,
        duration=wanted.duration,
        warm_up=wanted.warm_up,
        jobs=jobs,
        progress=_progress(asker, wanted.name),
    )


def _progress(asker: Asker, name: str) -> Callable[..., None]:
    def goes_on(done: int, total: int, _phase: str = "", /) -> None:
        asker.say({"round": name, "done": done, "total": total})

    return goes_on


def _tell(question: Question, found: WhatIf, place: int, asker: Asker) -> None:
    best = found.tunings[0]
    last = place == len(ROUNDS) - 1
    if last:
        answered = ANSWERS[best.verdict]
        verdict = Verdict(
            f"{question.typed}: {answered}", reason_of(found, best), TONES[best.verdict]
        )
    elif place:
        verdict = Verdict(f"{question.typed}: leaning: {ANSWERS[best.verdict]}", best.reason)
    else:
        said = f"one run each of {found.simulated_s:g} s, before and after: no verdict yet"
        verdict = Verdict(f"{question.typed}: first impression", said)
    shown = [one for one in best.changes if one.before is not None]
    rows = tuple(change_row(found.cpus, one) for one in shown)
    blocks: list[Block] = [Table("What changes", change_heading(), rows)]
    if best.warnings:
        blocks.append(Notes(best.warnings, warning=True))
    if best.full:
        blocks.append(Notes(best.full, caption="Full CPUs"))
    if moved := moved_most(best):
        blocks.append(Notes(tuple(moved), caption="Moved most"))
    if last:
        blocks.append(rests_on(found, Member(question.before).effective()))
    sections = list(typed_sections(best)) if last else []
    part = Part("", [verdict], sections, first=blocks)
    told = [
        {
            "metric": one.metric,
            "label": row[0],
            "percent": one.percent,
            "low": one.hull and one.hull.low,
            "high": one.hull and one.hull.high,
        }
        for one, row in zip(shown, rows, strict=True)
        if one.percent is not None
    ]
    told.sort(key=lambda one: one["metric"] not in found.judged_by)
    asker.say({"answer": fragment(part, "answer"), "place": place, "changes": told})


def _short(case: Case) -> Result:
    """The run of a case that the first impression is of."""
    wanted = ROUNDS[0].of(case)
    member = Member(case, _SEED, wanted.duration, wanted.warm_up)
    return simulate_all([member], jobs=1)[0]


def _command(question: Question) -> str:
    """What to type for the same answer."""
    case = question.before
    words = [case.scenario, question.typed] if question.typed else [case.scenario]
    options = [word for one in case.tunings for word in ("--tuning", one)]
    options += [w for name, value in case.settings for w in ("--set", f"{name}={value}")]
    options += [word for one in case.apply for word in ("--apply", one)]
    return typed("simnet", "whatif" if question.typed else "run", *words, *options)
