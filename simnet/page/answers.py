"""What the page answers: at once from a short run, then sharper by what-ifs of growing size.

What is pinned is "before", and what the sliders say is "after"; both have the same seeds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from markupsafe import Markup, escape

from simnet.report.html.blocks import Facts, Part, Section, Table, Verdict
from simnet.report.html.kinds.whatif import whatif_part
from simnet.report.html.page import fragment
from simnet.study.run.measures import METRICS
from simnet.study.run.run import simulate
from simnet.study.whatif.whatif import whatif
from simnet.study.work.cases import Case, Member, Progress, runs_to_completion

if TYPE_CHECKING:
    from simnet.study.run.result import Result

__all__ = ["ROUNDS", "Question", "Round", "first_answer", "sharper_answer"]

_SHORT: Final = "30 ms"
_SEED: Final = 1
_KEPT: Final = 16


@dataclass(frozen=True)
class Round:
    """Pairs of runs with equal seeds, pairs with drawn parameters, and how long a run is."""

    seeds: int
    members: int
    duration: str | None
    warm_up: str | None


ROUNDS: Final = (
    Round(2, 0, "100 ms", "100 ms"),
    Round(4, 8, "250 ms", "200 ms"),
    Round(8, 24, None, None),
)
"""Each is sharper than the one before; the last is what `simnet whatif` does."""


@dataclass(frozen=True)
class Question:
    """What is, and what is to be: knobs and tunings of one scenario."""

    before: Case
    tunings: tuple[str, ...]
    settings: tuple[tuple[str, str], ...]

    @property
    def typed(self) -> str:
        """The change as `simnet whatif` takes it; empty if there is none."""
        knobs = ",".join(f"{name}={value}" for name, value in self.settings)
        return "+".join(part for part in (*self.tunings, knobs) if part)

    @property
    def after(self) -> Case:
        """The changed case."""
        settings = dict(self.before.settings) | dict(self.settings)
        return Case(
            self.before.scenario,
            tuple(settings.items()),
            (*self.before.tunings, *self.tunings),
            self.before.apply,
        )


@lru_cache(_KEPT)
def _short(case: Case) -> Result:
    """One short run: enough for a first impression."""
    times = {} if runs_to_completion(case) else {"duration": _SHORT, "warm_up": _SHORT}
    member = Member(case, _SEED, times.get("duration"), times.get("warm_up"))
    return simulate(member.effective())


def first_answer(question: Question) -> str:
    """Before and after from one short run each, as HTML."""
    before = _short(question.before)
    after = _short(question.after) if question.typed else before
    rows = tuple(
        (f"{metric.metric.replace('_', ' ')}, {metric.unit}", _number(b), _number(a), _change(b, a))
        for metric in METRICS.values()
        if metric.changes and (b := metric.of(before)) is not None
        for a in [metric.of(after)]
    )
    said = question.typed or "as it is"
    part = Part(
        said,
        [Verdict(f"{said}: first impression", f"one run of {after.simulated_s:g} s of each")],
        [
            Section(
                "What changes",
                [Table("One short run", ("", "before", "after", "change"), rows)]
                if question.typed
                else [Facts(tuple((name, value) for name, value, *_ in rows))],
            )
        ],
    )
    grids = _grids({"before": before, "after": after} if question.typed else {"as it is": before})
    return fragment(part, "first") + grids


def sharper_answer(question: Question, wanted: Round, goes_on: Progress) -> str:
    """The same from a what-if, with verdict, intervals and commands, as HTML."""
    before = question.before
    given = {"seed": _SEED} | asdict(wanted)
    found = whatif(
        before.scenario,
        question.typed,
        settings=dict(before.settings),
        base_tunings=before.tunings,
        apply=before.apply,
        progress=goes_on,
        **given,
    )
    last = wanted is ROUNDS[-1]
    return fragment(whatif_part("page", found, before, simulate=last), "sharper")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:,.4g}" if abs(value) < 1e5 else f"{value:,.0f}"  # noqa: PLR2004


def _change(before: float | None, after: float | None) -> str:
    return f"{100 * (after / before - 1):+.1f} %" if before and after is not None else "-"


def _grids(results: Mapping[str, Result]) -> str:
    """The CPUs by node, a square each; as a table, which is drawn at once."""
    tables = []
    for case, result in results.items():
        rows = []
        for node in sorted({cpu.node for cpu in result.cpus}):
            cells = Markup("").join(
                Markup(
                    '<td style="background:color-mix(in srgb, #b3160a {}%, transparent)"'
                    ' title="CPU {}: {} %">{}</td>'
                ).format(round(cpu.busy), cpu.id, round(cpu.busy), round(cpu.busy) or "")
                for cpu in result.cpus
                if cpu.node == node
            )
            rows.append(Markup('<tr><th scope="row">node {}</th>{}</tr>').format(node, cells))
        caption = escape(f"{case}: how busy each logical CPU is, %")
        tables.append(
            Markup('<table class="grid"><caption>{}</caption>{}</table>').format(
                caption, Markup("").join(rows)
            )
        )
    return str(Markup("").join(tables))
