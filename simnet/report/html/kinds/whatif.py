"""The report of a what-if: the verdicts, what moves, what to type, and one pair of runs seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import model_validator

from simnet.errors import InputError
from simnet.printable import capital, titled
from simnet.report.card import card as cards
from simnet.report.html.blocks import Notes, Part, Section, Table, Typed, Verdict
from simnet.report.html.cases import (
    cpu_section,
    latency_section,
    machine_section,
    path_section,
    time_section,
    work_section,
)
from simnet.report.html.expected import expected_section
from simnet.report.html.first import first_screen, reason_of, rests_on
from simnet.report.html.kinds import Kind, has_schema
from simnet.report.html.repeat import repeat_section
from simnet.report.html.svg import picture
from simnet.report.html.system import assumptions, known_case, seen
from simnet.report.whatif import MEANING, change_heading, change_rows, reason
from simnet.scenario.commands.commands import Commands, commands
from simnet.scenario.core.effective import Effective
from simnet.study.run.loss import kind_of
from simnet.study.run.machine import LOADS_SAID
from simnet.study.run.measures import METRICS
from simnet.study.run.result import Result
from simnet.study.whatif.aim import GOALS
from simnet.study.whatif.tuning import read_tuning
from simnet.study.whatif.whatif import SCHEMA, Judged, WhatIf
from simnet.study.work.cases import Case, Member, runs_to_completion

TONES: Final = {"yes": "good", "no": "bad", "cannot tell": "open", "no difference": "plain"}
ANSWERS: Final = {
    "yes": "worth it",
    "no": "not worth it",
    "cannot tell": "cannot tell",
    "no difference": "no difference",
}
_BEFORE: Final = "before"
_RANKED: Final = ("rank", "tuning", "verdict", "why")


@dataclass(frozen=True)
class Pair:
    """What is, and the same with a tuning; as configurations, and how the tuning is typed."""

    case: Case
    tuned: Case
    before: Effective
    after: Effective

    @property
    def commands(self) -> tuple[Commands, ...]:
        """What is typed to get from one to the other."""
        return tuple(commands(self.before, self.after))


def _parts(found: Sequence[tuple[str, WhatIf]], simulate: bool) -> list[Part]:  # noqa: FBT001
    return [
        whatif_part(
            f"whatif{number}",
            one,
            known_case(one.scenario, one.base_tunings, one.settings),
            simulate=simulate,
            file=file,
        )
        for number, (file, one) in enumerate(found)
    ]


def whatif_part(
    name: str, found: WhatIf, base: Case | None, *, simulate: bool, file: str = ""
) -> Part:
    """The whole answer.

    Args:
        name: begins the names of the pictures.
        found: the what-if.
        base: what is; None where the system is not known here.
        simulate: simulate what is and the best-ranked tuning once, for what the what-if lacks.
        file: where the what-if was read from; empty if it was made here.
    """
    title = titled(found.scenario, found.base_tunings, sorted(found.settings.items()))
    words = [found.source or found.scenario, *(one.tuning for one in found.tunings)]
    words += ["--goal", found.goal] if found.goal else []
    names = [one.tuning for one in found.tunings]
    what = names[0] if len(names) == 1 else f"{len(names)} tunings"
    if not found.tunings:
        return Part(f"What would change {title}?", [], [])
    best = found.tunings[0]
    pair = pair_of(base, best.tuning)
    card = cards.judged(found, base if pair else None)
    verdicts = [
        Verdict(
            f"{best.tuning}: {ANSWERS[best.verdict]}", reason_of(found, best), TONES[best.verdict]
        )
    ]
    known = not file or (pair is not None and pair.commands == best.commands)
    first = first_screen(name, card, known=known, worth=best.verdict == "yes")
    if len(names) > 1:
        rows = tuple((str(o.rank), o.tuning, ANSWERS[o.verdict], reason(o)) for o in found.tunings)
        first.insert(0, Table("All tunings, the best first", _RANKED, rows, left=4))
    return Part(
        f"What would {what} do to {title}?",
        verdicts,
        [
            *whatif_sections(name, found, base, simulate=simulate, file=file),
            repeat_section("whatif", found, words, found.base_tunings, file),
        ],
        of=card.of,
        first=[*first, rests_on(found, pair.before if pair else None)],
        foot=card.foot,
    )


def whatif_sections(
    name: str,
    found: WhatIf,
    base: Case | None,
    *,
    simulate: bool,
    file: str = "",
    texts: Sequence[str] = (),
) -> list[Section]:
    """What changes, and what to type; see `whatif_part`.

    `texts` are the tunings as they are typed where they are called something shorter.
    """
    given = texts or [one.tuning for one in found.tunings]
    pairs = {
        one.tuning: pair
        for one, text in zip(found.tunings, given, strict=True)
        if (pair := pair_of(base, text))
    }
    best = found.tunings[0] if found.tunings else None
    sections = [_changes(name, found)]
    if best is not None:
        if (expected := expected_section(best)) is not None:
            sections.append(expected)
        pair = pairs.get(best.tuning)
        if pair is not None and simulate and not runs_to_completion(pair.case):
            sections += _seen(name, best.tuning, pair)
        else:
            sections += _work(name, best)
        if pair is not None:
            sections += machine_section(name, pair.before)
            sections.append(assumptions(pair.before))
    for judged in found.tunings:
        sections += typed_sections(judged, pairs.get(judged.tuning), file)
    return sections


def pair_of(base: Case | None, text: str) -> Pair | None:
    """What is and what would be; None where the tuning is not known here."""
    if base is None:
        return None
    try:
        tuned = read_tuning(base.scenario, text).on(base)
        return Pair(base, tuned, Member(base).effective(), Member(tuned).effective())
    except InputError:  # of another version, or made up
        return None


def _changes(name: str, found: WhatIf) -> Section:
    reasons = "; ".join(f"{one.tuning}: {one.verdict}, {reason(one)}" for one in found.tunings)
    caption = "What each tuning changes, with its 95 % interval"
    drawn = picture(f"{name}-intervals", found.plot, caption, reasons)
    tables = [
        Table(f"{one.tuning}: {one.description or one.verdict}", change_heading(), tuple(rows))
        for one in found.tunings
        if (rows := change_rows(found, one))
    ]
    warnings = tuple(f"{one.tuning}: {line}" for one in found.tunings for line in one.warnings)
    notes = [Notes(lines, warning=True) for lines in (warnings,) if lines]
    meaning = Notes((f"{capital(MEANING)}.",))
    return Section("What changes, and how sure that is", [drawn, *notes, *tables, meaning])


def typed_sections(judged: Judged, pair: Pair | None = None, file: str = "") -> Iterator[Section]:
    """What to type; of a file only beside what the system itself says."""
    if not judged.commands:
        return
    blocks: list[Notes | Typed] = []
    if file:
        same = pair is not None and pair.commands == judged.commands
        said = "These commands are as simnet makes them for this system"
        if not same:
            said = f"These commands are from {file}, and simnet does not make the same:"
            said += " read them before you type them"
        blocks.append(Notes((said,), warning=not same))
    for one in judged.commands:
        purposes = (
            (f"Apply {judged.tuning} on {one.where}", one.apply),
            (f"Undo it on {one.where}", one.undo),
            (f"Keep it over a reboot of {one.where}", one.keep),
            (f"Keep it no longer on {one.where}", one.drop),
        )
        blocks += [Typed(purpose, "\n".join(lines)) for purpose, lines in purposes if lines]
    yield Section(f"What to type for {judged.tuning}", blocks)


def _work(name: str, best: Judged) -> Iterator[Section]:
    """Where time goes, as the what-if has it: means over its runs."""
    if best.mechanisms:
        shares = {
            _BEFORE: {one.mechanism: one.before_us for one in best.mechanisms},
            f"with {best.tuning}": {one.mechanism: one.after_us for one in best.mechanisms},
        }
        placed = [one.mechanism for one in best.mechanisms if one.placement]
        yield work_section(name, shares, placed, best.mechanisms[0].unit)


def _seen(name: str, tuning: str, pair: Pair) -> Iterator[Section]:
    """One run of what is and one with the tuning, side by side."""
    from simnet.study.whatif.mechanism import per_unit_us, unit_of

    cases = {_BEFORE: pair.case, f"with {tuning}": pair.tuned}
    found = seen(cases)
    results = {case: one.result for case, one in found.items()}
    shares = {case: per_unit_us(one) for case, one in results.items()}
    placed = {one.mechanism for result in results.values() for one in result.work if one.placement}
    one = results[_BEFORE]
    said = f"This and the pictures below are of one run of {one.simulated_s:g} s of each"
    said += f" (seed {one.seed}); the numbers above are means over pairs of runs"
    cpus = cpu_section(name, results)
    lines = (f"{said}.", *_ticking(list(results.values())))
    yield Section(cpus.title, [Notes(lines), *cpus.blocks])
    if any(shares.values()):
        yield work_section(name, shares, sorted(placed), unit_of(results[_BEFORE]))
    yield path_section(name, {case: one.explanation for case, one in found.items()})
    latencies = latency_section(
        name,
        {case: one.latencies for case, one in found.items()},
        kind_of(one.latency_kind for one in results.values()),
    )
    if latencies is not None:
        yield latencies
    yield from time_section(name, {case: one.timeline for case, one in found.items()})


def _ticking(results: Sequence[Result]) -> list[str]:
    """That hard interrupts take more time though ports have fewer of them, where that is so."""
    before, after = results
    ports = [sum(port.interrupts_per_s for port in one.ports) for one in results]
    busy = [sum(cpu.irq for cpu in one.cpus) for one in results]
    if not before.ports or not after.ports or ports[1] >= ports[0] or busy[1] <= busy[0]:
        return []
    fewer = f"Interrupts of ports fall from {ports[0]:,.0f} to {ports[1]:,.0f} a second"
    longer = f"hard interrupts take {busy[1]:.1f} % of a CPU in place of {busy[0]:.1f} %"
    return [f"{fewer}, and {longer}: timers and wake-ups of other CPUs are hard interrupts, too."]


class _Whole(WhatIf):
    """A what-if of metrics that simnet has."""

    @model_validator(mode="after")
    def _known(self) -> _Whole:
        check_metrics(self)
        return self


def check_metrics(found: WhatIf) -> None:
    """Raise ValueError where it has a metric, a load or a goal that simnet has not."""
    if found.load not in {"", *LOADS_SAID}:
        raise ValueError(f"expected a load among {', '.join(LOADS_SAID)}")
    if found.goal not in {"", *GOALS}:
        raise ValueError(f"expected a goal among {', '.join(GOALS)}")
    for change in (change for one in found.tunings for change in one.changes):
        if change.metric not in METRICS:
            raise ValueError(f"expected metrics among {', '.join(METRICS)}")


KIND: Final = Kind("whatif", has_schema(SCHEMA), _Whole.model_validate_json, _parts)
