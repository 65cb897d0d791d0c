"""What a screening turns: the tunings of a scenario, and its knobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from simnet.errors import InputError
from simnet.scenario.core.library import find_scenario, read_scenario
from simnet.spelling import nearest
from simnet.study.screen.controls import Control, controls
from simnet.study.work.cases import Case, Member

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Factor", "factors", "turned"]

OFF_ON: Final = ("off", "on")


@dataclass(frozen=True)
class Factor:
    """A tuning, which is off or on, or a knob with the values that it may take.

    Attributes:
        name: of the tuning, or as an administrator types the knob.
        doc: what it does, one line.
        values: in the order in which they are tried.
        knob: None for a tuning.
    """

    name: str
    doc: str
    values: tuple[str, ...]
    knob: Control | None = None

    def on(self, case: Case, value: str) -> Case:
        """The case with this value."""
        if self.knob is None:
            return replace(case, tunings=(*case.tunings, self.name)) if value == "on" else case
        return replace(case, settings=(*case.settings, *self.knob.settings(value)))


def factors(base: Case, chosen: Sequence[str] = ()) -> tuple[Factor, ...]:
    """Tunings, then knobs; some by name, or all that this system takes.

    Raises:
        InputError: none is so named.
    """
    found = {one.name: one for one in (*_tunings(base), *map(_of_knob, controls(base)))}
    for name in chosen:
        if name not in found:
            hint = nearest(name, found)
            raise InputError(f"no tuning or knob that can be turned here{hint}", key=name)
    return tuple(found[name] for name in dict.fromkeys(chosen)) or tuple(found.values())


def turned(base: Case, every: Sequence[Factor], values: Sequence[str]) -> Case | None:
    """The case with a value of each factor; None where these do not go together."""
    case = base
    for factor, value in zip(every, values, strict=True):
        case = factor.on(case, value)
    return case if _goes(case) else None


def _tunings(base: Case) -> Iterator[Factor]:
    known = read_scenario(find_scenario(base.scenario))[0].tunings
    for name, tuning in known.items():
        if name not in base.tunings and _goes(replace(base, tunings=(*base.tunings, name))):
            yield Factor(name, tuning.description, OFF_ON)


def _of_knob(knob: Control) -> Factor:
    return Factor(knob.name, knob.doc, knob.values, knob)


def _goes(case: Case) -> bool:
    try:
        Member(case).effective()
    except InputError:
        return False
    return True
