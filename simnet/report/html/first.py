"""The first screen of a what-if and a recommendation: what stands on their card."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from simnet.printable import capital
from simnet.report.card.card import short
from simnet.report.card.picture import nodes
from simnet.report.html.blocks import Block, Notes, Table, Typed
from simnet.report.html.svg import picture
from simnet.report.whatif import judged_by, moved_most, next_step, reason
from simnet.study.run.measures import CPU_PER_BYTE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simnet.report.card.card import Card
    from simnet.scenario.core.effective import Effective
    from simnet.study.whatif.whatif import Judged, WhatIf

# of a port: whether it is full rests on it
_DECIDES: Final = "link_rate"
_RESTS: Final = "What this rests on"
_DRAWN: Final = "Where interrupts go, before and after"


def first_screen(name: str, card: Card, *, known: bool, worth: bool) -> list[Block]:
    """What a card has below its sentence.

    Args:
        name: begins the names of pictures.
        card: the answer.
        known: whether its commands are those that simnet makes; others are shown below, with a
            warning, and not here.
        worth: whether it is worth it; else nobody is to type them.
    """
    blocks: list[Block] = []
    if card.numbers:
        heading, *rows = card.numbers
        blocks.append(Table("What decides", heading, tuple(rows)))
    if (drawn := nodes(card)) is not None:
        said = "; ".join(card.why) or _DRAWN
        blocks.append(picture(f"{name}-nodes", drawn, _DRAWN, said))
    if card.why:
        blocks.append(Notes(card.why, caption="Why"))
    if card.typed and known and worth:
        blocks.append(Typed("Apply it", "\n".join(short(card.typed))))
    return blocks


def reason_of(found: WhatIf, best: Judged) -> str:
    """Why, from what it comes, and of an open answer what would tell more."""
    parts = [reason(best)]
    if best.verdict == "yes" and best.decided_by == CPU_PER_BYTE:
        parts += [f"mostly: {one}" for one in moved_most(best)[:1]]
    if more := next_step(found, best):
        parts.append(more)
    return ". ".join(capital(one) if number else one for number, one in enumerate(parts) if one)


def rests_on(found: WhatIf, before: Effective | None) -> Notes:
    """The rule that decided, and what is assumed of the system that the answer rests on."""
    lines = [f"Judged by {judged_by(found)}"] if found.load else []
    lines += [f"{capital(best.checked)}." for best in found.tunings[:1] if best.checked]
    return Notes((*lines, *_assumed(before), *found.remarks), caption=_RESTS)


def resting(system: Effective | None, remarks: Sequence[str]) -> list[Block]:
    """What is assumed of a system: how many of its values, and links; nothing if that is all."""
    lines = (*_assumed(system), *(system.remarks if system else remarks))
    return [Notes(lines, caption=_RESTS)] if lines else []


def _assumed(system: Effective | None) -> list[str]:
    lines = []
    if system is not None:
        states = Counter(one.state for one in system.provenance.values())
        lines.append(f"{states['assumed']} of {sum(states.values())} values are assumed, see below")
        lines += [
            f"{place.removeprefix('host.')} is assumed to be {one.text}: {one.source}"
            for place, one in system.provenance.items()
            if one.state == "assumed" and place.startswith("host.ports") and _DECIDES in place
        ]
    return lines
