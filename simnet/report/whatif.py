"""A what-if for reading: the ranking, then each tuning's numbers, then what to type."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from simnet.printable import printable, titled
from simnet.report.columns import columns
from simnet.study.run.duration_text import in_unit
from simnet.study.run.measures import METRICS
from simnet.study.whatif.mechanism import moved_text

if TYPE_CHECKING:
    from simnet.scenario.commands.commands import Commands
    from simnet.study.whatif.verdict import Change, Interval
    from simnet.study.whatif.whatif import Judged, WhatIf

CHANGE_HEADING = ("", "before", "after", "change", "95 % seeds", "95 % parameters", "95 % model")
_MECHANISMS_SHOWN = 3
_NOTHING_US = 0.005


def whatif(found: WhatIf, *, all_commands: bool = False) -> str:
    """The whole answer; what to type is shown of the best-ranked tuning, or of all."""
    parts = [_heading(found), _ranking(found)]
    parts += [_tuning(found, one) for one in found.tunings]
    shown = found.tunings if all_commands else found.tunings[:1]
    parts += [commands_text(one) for one in shown]
    return "\n".join(parts)


def _heading(found: WhatIf) -> str:
    title = titled(found.scenario, found.base_tunings, found.settings.items())
    runs = f"{found.seeds} pairs of runs of {found.simulated_s:g} s with equal seeds"
    if found.members:
        runs += f", {found.members} with equal draws of the uncertain parameters"
    model = ""
    if found.model:
        model = f"A change may be off by {found.model:.0%} of its logarithm, as ratios were"
        model += " that no fit had seen (95 % model)\n"
    return f"What if, for {title}: {runs}\n{model}"


def _ranking(found: WhatIf) -> str:
    rows = [(str(one.rank), one.tuning, one.verdict, one.reason) for one in found.tunings]
    return columns(("rank", "tuning", "verdict", "why"), rows, left=4)


def _tuning(found: WhatIf, judged: Judged) -> str:
    title = f"{judged.rank}. {printable(judged.tuning)}: {judged.verdict}\n"
    described = f"   {printable(judged.description)}\n" if judged.description else ""
    table = columns(CHANGE_HEADING, change_rows(found, judged))
    return title + described + table + "".join(f"{printable(line)}\n" for line in _remarks(judged))


def change_rows(found: WhatIf, judged: Judged) -> list[tuple[str, ...]]:
    """What a tuning does to each metric, under `CHANGE_HEADING`."""
    return [_row(found, change) for change in judged.changes if change.before is not None]


def _row(found: WhatIf, change: Change) -> tuple[str, ...]:
    measure = METRICS[change.metric]
    unit = f"% of all {found.cpus}" if change.metric == "cpu_of_all" else ""
    if change.unit == "us":
        unit, factor = in_unit((change.before, change.after))
        measure = replace(measure, scale=factor)

    def number(value: float | None) -> str:
        return "-" if value is None else measure.shown(value)

    return (
        measure.titled(unit).format(latency=change.latency_kind or "latency"),
        number(change.before),
        number(change.after),
        "-" if change.percent is None else f"{change.percent:+.1f} %",
        _interval(change.seeds),
        _interval(change.parameters),
        _interval(change.model),
    )


def _interval(interval: Interval | None) -> str:
    return "-" if interval is None else f"{interval.low:+.1f} to {interval.high:+.1f}"


def _remarks(judged: Judged) -> Iterator[str]:
    shown = [one for one in judged.mechanisms if abs(one.change_us) >= _NOTHING_US]
    for number, one in enumerate(shown[:_MECHANISMS_SHOWN]):
        yield f"{'moved most: ' if number == 0 else '            '}{moved_text(one)}"
    for warning in judged.warnings:
        yield f"warning: {warning}"


def commands_text(judged: Judged) -> str:
    """What to type for a tuning, to undo it and to keep it."""
    if not judged.commands:
        return f"# {printable(judged.tuning)}: there is nothing to type\n"
    return "\n".join(_machine(judged, one) for one in judged.commands)


def _machine(judged: Judged, one: Commands) -> str:
    advice = "" if judged.verdict == "yes" else f" (verdict: {judged.verdict})"
    parts = (
        (f"{judged.tuning} on {one.where}{advice}", one.apply),
        ("undo", one.undo),
        ("keep it over a reboot", one.keep),
        ("keep it no longer", one.drop),
    )
    texts = [
        "".join(f"{printable(line)}\n" for line in (f"# {title}", *lines)) for title, lines in parts
    ]
    return "\n".join(texts)
