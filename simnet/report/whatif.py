"""A what-if for reading: the ranking, then each tuning's numbers, then what to type."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from simnet.diagnose.prediction import TELLS_LOAD
from simnet.printable import printable, titled
from simnet.report.columns import columns
from simnet.study.run.duration_text import in_unit
from simnet.study.run.loss import kind_of
from simnet.study.run.machine import LOADS_SAID
from simnet.study.run.measures import METRICS, TAIL
from simnet.study.whatif.aim import aim_of
from simnet.study.whatif.mechanism import moved_text
from simnet.study.whatif.plan import MEMBERS, SEEDS
from simnet.study.whatif.same import OTHER_LOAD
from simnet.study.whatif.verdict import called, change_text, interval_text, percent_text
from simnet.terminal import answer_last

if TYPE_CHECKING:
    from simnet.scenario.commands.commands import Commands
    from simnet.study.whatif.verdict import Change, Interval
    from simnet.study.whatif.whatif import Judged, WhatIf

MEANING = (
    "range: holds the change with 95 % confidence, given chance, what is not known of the machine,"
    " and how far off such predictions were"
)
_PARTS = ("by chance alone", "by unknown values", "by the model's error")
_MECHANISMS_SHOWN = 3
_NOTHING_US = 0.005


def whatif(found: WhatIf, *, all_commands: bool = False, intervals: bool = False) -> str:
    """The whole answer, and what to type for the best-ranked tuning if it is worth it.

    `all_commands`: what to type for every tuning is shown, also to keep it over a reboot.
    `intervals`: what the interval of each change is made of is shown, too.
    """
    parts = [_heading(found)]
    if len(found.tunings) > 1:
        parts.append(_ranking(found))
    parts += [_tuning(found, one, intervals=intervals) for one in found.tunings]
    parts[-1] += f"{MEANING}\n"
    shown = found.tunings if all_commands else found.tunings[:1]
    typed = [commands_text(one, every=all_commands) for one in shown]
    return answer_last("\n".join(parts), "\n".join(typed))


def answer_of(found: WhatIf, one: Judged | None = None) -> str:
    """The answer in one line; of one tuning, or of the best-ranked."""
    title = titled(found.scenario, found.base_tunings, found.settings.items())
    best = one or found.tunings[0]
    return printable(f"{best.tuning} on {title}: {best.verdict}: {reason(best)}")


def reason(judged: Judged) -> str:
    """Why, and how p99 moves for certain where that is not part of it: nobody would look for it."""
    untold = [one for one in moved_tail(judged) if called(one) not in judged.reason]
    return "; ".join([judged.reason, *(f"{called(one)} {change_text(one)}" for one in untold)])


def moved_tail(judged: Judged) -> list[Change]:
    """The change of p99, if it is one for certain."""
    known = [one for one in judged.changes if one.metric == TAIL]
    return [one for one in known if one.direction in {"more", "less"}]


def next_step(found: WhatIf, judged: Judged) -> str:
    """What would make an open answer a clear one; empty where it is clear, or nobody knows."""
    if OTHER_LOAD in judged.reason:
        return "where it happens would tell: try it there, and see whether the counter still grows"
    if judged.verdict == "cannot tell" and not judged.decided_by:
        return f"what this host carries would tell: {TELLS_LOAD}"
    decided = next((one for one in judged.changes if one.metric == judged.decided_by), None)
    if judged.verdict != "cannot tell" or decided is None or decided.hull is None:
        return ""
    if judged.widest(decided) == "seeds":
        seeds, members = max(SEEDS, 2 * found.seeds), max(MEMBERS, found.members)
        return f"more runs may tell: --seeds {seeds} --members {members}"
    if judged.widest(decided) == "parameters":
        return "what nobody measured of this machine decides: simnet calibrate narrows it"
    return "the change is smaller than the model is good for: try it on one port"


def runs_of(found: WhatIf) -> str:
    """How much was simulated with the known values."""
    return f"{found.seeds} pairs of runs of {found.simulated_s:g} s"


def moved_most(judged: Judged) -> list[str]:
    """The mechanisms whose CPU time a tuning changes most, a line each."""
    moved = [one for one in judged.mechanisms if abs(one.change_us) >= _NOTHING_US]
    return [moved_text(one) for one in moved[:_MECHANISMS_SHOWN]]


def why_lines(judged: Judged) -> list[str]:
    """What explains an answer: CPUs that are full with or without a tuning, what it moves most."""
    return [*judged.full, *moved_most(judged)]


def _heading(found: WhatIf) -> str:
    """The answer, what it is judged by, and how much was simulated: a line each."""
    runs = runs_of(found)
    if found.members:
        runs += f", {found.members} with other values for what is not known of the machine"
    lines = (
        answer_of(found),
        f"judged by {judged_by(found)}",
        runs,
        *filter(None, [next_step(found, found.tunings[0])]),
        *(f"refused: {line}" for line in found.refused),
    )
    return "".join(f"{printable(line)}\n" for line in lines)


def judged_by(found: WhatIf) -> str:
    """What decides, and why that."""
    kinds = (c.latency_kind for one in found.tunings for c in one.changes)
    said = aim_of(found.load, found.goal).said(kind_of(kinds))
    if found.goal:
        return f"{said}, as --goal {found.goal} says"
    return f"{said}, as it is {LOADS_SAID[found.load]}; --goal chooses another"


def _ranking(found: WhatIf) -> str:
    rows = [(str(one.rank), one.tuning, one.verdict, reason(one)) for one in found.tunings]
    return columns(("rank", "tuning", "verdict", "why"), rows, left=4)


def _tuning(found: WhatIf, judged: Judged, *, intervals: bool) -> str:
    title = f"{judged.rank}. {printable(judged.tuning)}: {judged.verdict}\n"
    described = f"   {printable(judged.description)}\n" if judged.description else ""
    rows = change_rows(found, judged, intervals=intervals)
    table = columns(change_heading(intervals=intervals), rows)
    return title + described + table + "".join(f"{printable(line)}\n" for line in _remarks(judged))


def change_heading(*, intervals: bool = False) -> tuple[str, ...]:
    """What stands above `change_rows`."""
    return ("", "before", "after", "change", "range", *(_PARTS if intervals else ()))


def change_rows(found: WhatIf, judged: Judged, *, intervals: bool = False) -> list[tuple[str, ...]]:
    """What a tuning does to each metric, under `change_heading`."""
    changes = [change for change in judged.changes if change.before is not None]
    return [change_row(found.cpus, change, intervals=intervals) for change in changes]


def change_row(cpus: int, change: Change, *, intervals: bool = False) -> tuple[str, ...]:
    """One of `change_rows`, of a system with so many logical CPUs."""
    measure = METRICS[change.metric]
    unit = f"% of all {cpus}" if change.metric == "cpu_of_all" else ""
    if change.unit == "us":
        unit, factor = in_unit((change.before, change.after))
        measure = replace(measure, scale=factor)

    def number(value: float | None) -> str:
        return "-" if value is None else measure.shown(value)

    parts = (change.seeds, change.parameters, change.model) if intervals else ()
    return (
        measure.titled(unit).format(latency=change.latency_kind or "latency"),
        number(change.before),
        number(change.after),
        percent_text(change),
        _interval(change.hull),
        *map(_interval, parts),
    )


def _interval(interval: Interval | None) -> str:
    return "-" if interval is None else interval_text(interval)


def _remarks(judged: Judged) -> Iterator[str]:
    yield from judged.full
    for number, moved in enumerate(moved_most(judged)):
        yield f"{'moved most: ' if number == 0 else '            '}{moved}"
    for warning in judged.warnings:
        yield f"warning: {warning}"
    if judged.checked:
        yield f"checked: {judged.checked}"


def commands_text(judged: Judged, *, every: bool) -> str:
    """What to type for a tuning that is worth it, and to undo it; how to see more.

    `every`: for one that is not, too, and what keeps it over a reboot.
    """
    if not judged.commands:
        return f"# {printable(judged.tuning)}: there is nothing to type\n"
    shown = judged.commands if every or judged.verdict == "yes" else ()
    texts = [_machine(judged, one, every=every) for one in shown]
    return "\n".join(texts if every else [*texts, f"# {_more(judged)}: --commands\n"])


def _more(judged: Judged) -> str:
    if judged.verdict == "yes":
        return "what keeps it over a reboot"
    return f"what to type for {printable(judged.tuning)}, and to undo it"


def _machine(judged: Judged, one: Commands, *, every: bool) -> str:
    advice = "" if judged.verdict == "yes" else f" (verdict: {judged.verdict})"
    parts = (
        (f"{judged.tuning} on {one.where}{advice}", one.apply),
        ("undo", one.undo),
        *((("keep it over a reboot", one.keep), ("keep it no longer", one.drop)) if every else ()),
    )
    texts = [
        "".join(f"{printable(line)}\n" for line in (f"# {title}", *lines)) for title, lines in parts
    ]
    return "\n".join(texts)
