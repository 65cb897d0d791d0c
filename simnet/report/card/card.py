"""An answer on a card: the sentence, of which machine, the numbers, why, and what to type."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from simnet.printable import few, markdown, printable, titled
from simnet.report.whatif import (
    answer_of,
    change_heading,
    change_rows,
    moved_tail,
    runs_of,
    why_lines,
)
from simnet.scenario.commands.loops import looped
from simnet.study.run.machine import machine
from simnet.study.run.measures import CPU_PER_BYTE
from simnet.study.whatif.tuning import read_tuning
from simnet.study.work.cases import Case, Member

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simnet.diagnose.diagnosis import Diagnosis
    from simnet.scenario.core.effective import Effective
    from simnet.study.recommend.document import Recommendation
    from simnet.study.whatif.whatif import Judged, WhatIf

_MOST_FACTS: Final = 3
_CPU: Final = "cpu_of_all"
# of commands: what is longer is for the command line
_MOST_TYPED: Final = 12
_LOOPED: Final = 4


@dataclass(frozen=True)
class Card:
    """What stands on it."""

    sentence: str  # the answer
    of: tuple[str, ...]  # the machine and its load, a line each
    # what changes, a heading first; empty where nothing was simulated
    numbers: tuple[tuple[str, ...], ...]
    why: tuple[str, ...]  # what it rests on, a line each
    typed: tuple[str, ...]  # commands that apply it
    undo: tuple[str, ...]  # commands that undo it
    foot: str  # how it was found, to be repeated
    # the system as it is; None where it is not known
    before: Effective | None = field(default=None, repr=False)
    # the system with the change; None likewise
    after: Effective | None = field(default=None, repr=False)


def judged(found: WhatIf, base: Case | None, one: Judged | None = None) -> Card:
    """The card of a tuning of a what-if, the best-ranked by default.

    `base` is what it is compared with. None where that is not known: what the answer says of the
    machine is all there is then.
    """
    return _card(answer_of(found, one), found, base, one)


def recommended(found: Recommendation, base: Case | None) -> Card:
    """The card of what a search recommends, or of nothing; see `judged`."""
    title = titled(found.scenario, found.base_tunings, found.settings.items())
    changes = " + ".join(step.change for step in found.steps)
    sentence = f"{changes or 'nothing'} on {title}: {found.verdict}: {found.reason}"
    if found.confirmed is None:
        foot = f"simnet {found.version}: {found.runs} runs, fingerprint {found.fingerprint}"
        return Card(printable(sentence), _machine(found, base), (), (), (), (), foot)
    return _card(sentence, found.confirmed, base)


def diagnosed(found: Diagnosis) -> Card:
    """The card of the heaviest finding of a diagnosis, or of none."""
    if not found.findings:
        clear = "Nothing is wrong in what these files count"
        said = clear if found.exit_status == 0 else "Cannot tell from these files"
        return Card(f"{said}.", (), (), (), (), (), _files(found))
    first, *others = found.findings
    where = "outside what this host can set" if first.rule.outside else "in this host"
    evidence = [f"{fact.place}: {fact.text}" for fact in first.hit.facts[:_MOST_FACTS]]
    also = [f"also: {one.title}" for one in others[:1]]
    place = f"{first.hit.sure}; place: {first.rule.place}, {where}"
    why = (place, first.hit.said, first.rule.means, f"cure: {first.rule.cure}", *evidence, *also)
    actions = first.hit.actions
    return Card(
        printable(f"{first.title}."),
        (),
        (),
        tuple(map(printable, why)),
        tuple(printable(one.do) for one in actions),
        tuple(printable(one.undo) for one in actions if one.undo),
        _files(found),
    )


def _files(found: Diagnosis) -> str:
    names = [one.name for one in found.files]
    return printable(f"simnet diagnose: {len(names)} files: {few(names)}")


def _machine(found: WhatIf | Recommendation, base: Case | None) -> tuple[str, ...]:
    return machine(Member(base).effective()) if base else tuple(map(printable, found.machine))


def _card(sentence: str, found: WhatIf, base: Case | None, one: Judged | None = None) -> Card:
    best = one or found.tunings[0]
    before = after = None
    if base is not None:
        tuned = read_tuning(base.scenario, best.tuning).on(base)
        before, after = (Member(one).effective() for one in (base, tuned))
    foot = f"simnet {found.version}: {runs_of(found)}, fingerprint {found.fingerprint}"
    first = best.commands[0] if best.commands else None
    return Card(
        sentence=printable(sentence),
        of=_machine(found, base),
        numbers=(change_heading(), *_rows(found, best)),
        why=tuple(map(printable, (*why_lines(best), *(f"warning: {w}" for w in best.warnings)))),
        typed=first.apply if first else (),
        undo=first.undo if first else (),
        foot=foot,
        before=before,
        after=after,
    )


def _rows(found: WhatIf, best: Judged) -> list[tuple[str, ...]]:
    """What decides, and what CPUs have to do."""
    metrics = {*found.judged_by, best.decided_by, CPU_PER_BYTE, _CPU}
    metrics |= {one.metric for one in moved_tail(best)}
    changes = tuple(one for one in best.changes if one.metric in metrics)
    return change_rows(found, best.model_copy(update={"changes": changes}))


def as_markdown(card: Card) -> str:
    """Return the card as Markdown for a chat, an issue or a change request."""
    lines = [f"**{markdown(card.sentence)}**", ""]
    if card.of:
        lines += [*(f"{markdown(line)}  " for line in card.of), ""]
    if card.numbers:
        heading, *rows = card.numbers
        lines += [
            _row(heading),
            _row(["---", *["---:"] * (len(heading) - 1)]),
            *map(_row, rows),
            "",
        ]
    if card.why:
        lines += [*(f"- {markdown(line)}" for line in card.why), ""]
    if card.typed:
        undo = ["", "# undo", *short(card.undo)] if card.undo else []
        fence = "`" * (3 + max(line.count("`") for line in (*card.typed, *card.undo)))
        lines += [f"{fence}sh", *short(card.typed), *undo, fence, ""]
    return "\n".join([*lines, f"<sub>{markdown(card.foot)}</sub>", ""])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def short(typed: Sequence[str]) -> list[str]:
    """The first commands, alike ones as a loop; of a script all are too many for a card."""
    typed = looped(typed, _LOOPED)
    more = len(typed) - _MOST_TYPED
    return [*typed] if more <= 0 else [*typed[:_MOST_TYPED], f"# and {more} more lines"]
