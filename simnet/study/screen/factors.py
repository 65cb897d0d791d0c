"""What a screening turns: the tunings of a scenario, and its knobs."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from simnet.errors import InputError
from simnet.scenario.core.files import TuningTable
from simnet.scenario.core.library import read_scenario
from simnet.scenario.scenarios import find_scenario
from simnet.spelling import nearest
from simnet.study.screen.controls import Control, controls, possible
from simnet.study.work.cases import Case, Member

OFF_ON: Final = ("off", "on")


@dataclass(frozen=True)
class Factor:
    """A tuning, which is off or on, or a knob with the values that it may take."""

    name: str  # of the tuning, or as an administrator types the knob
    doc: str  # what it does, one line
    values: tuple[str, ...]  # in the order in which they are tried
    knob: Control | None = None  # None for a tuning
    # knobs with their values, of what a subject proposes
    proposed: tuple[tuple[str, str], ...] = ()

    @property
    def structure(self) -> bool:
        """Whether it is off or on, and no value of a knob."""
        return self.knob is None

    @property
    def is_tuning(self) -> bool:
        """Whether the scenario names it."""
        return self.structure and not self.proposed

    @property
    def of_kernel(self) -> bool:
        """Whether it is a knob of the kernel."""
        return self.knob is not None and self.knob.of_kernel

    @property
    def usual(self) -> str:
        """Its value as the system is."""
        return OFF_ON[0] if self.knob is None else self.knob.value

    def at(self, share: float) -> str:
        """The value at a share from 0 to 1 of its values."""
        return self.values[min(int(share * len(self.values)), len(self.values) - 1)]

    def settings(self, value: str) -> tuple[tuple[str, str], ...]:
        """The knobs that it sets with this value, but for those of a tuning."""
        if self.knob is None:
            return self.proposed if value != self.usual else ()
        return tuple(self.knob.settings(value))

    def on(self, case: Case, value: str) -> Case:
        """The case with this value."""
        if self.is_tuning and value != self.usual:
            return replace(case, tunings=(*case.tunings, self.name))
        return replace(case, settings=(*case.settings, *self.settings(value)))

    def goes(self, base: Case, value: str) -> bool:
        """Whether the system takes a value of it."""
        return _goes(self.on(base, value))


def factors(base: Case, chosen: Sequence[str] = ()) -> tuple[Factor, ...]:
    """Tunings, then knobs; some by name, or all that this system takes.

    Raises:
        InputError: none is so named.
    """
    if not chosen:
        return taken(base)
    check(chosen, names(base))
    return chosen_of(taken(base, chosen), chosen)


def taken(base: Case, chosen: Sequence[str] = ()) -> tuple[Factor, ...]:
    """Those of the chosen that this system takes, or all that it takes; tunings, then knobs."""
    return (*_tunings(base, chosen), *map(_of_knob, controls(base, chosen or None)))


def names(base: Case) -> tuple[str, ...]:
    """The names of tunings and knobs, before it is tried whether the system takes them."""
    return (*_defined(base), *(one.name for one in possible(base)))


def check(chosen: Sequence[str], known: Collection[str]) -> None:
    """Refuse a name that is not among them, with the nearest.

    Raises:
        InputError: there is one.
    """
    for name in chosen:
        if name not in known:
            message = f"no tuning or knob that can be turned here{nearest(name, known)}"
            raise InputError(message, file="--knobs", key=name)


def chosen_of(every: Sequence[Factor], chosen: Sequence[str]) -> tuple[Factor, ...]:
    """Those with the names, in their order; InputError for another name."""
    found = {one.name: one for one in every}
    check(chosen, found)
    return tuple(found[name] for name in dict.fromkeys(chosen))


def turned(base: Case, every: Sequence[Factor], values: Sequence[str]) -> Case | None:
    """The case with a value of each factor; None where these do not go together."""
    case = base
    for factor, value in zip(every, values, strict=True):
        case = factor.on(case, value)
    return case if _goes(case) else None


def _tunings(base: Case, chosen: Sequence[str]) -> Iterator[Factor]:
    for name, tuning in _defined(base).items():
        factor = Factor(name, tuning.description, OFF_ON)
        if (not chosen or name in chosen) and factor.goes(base, OFF_ON[1]):
            yield factor


def _defined(base: Case) -> dict[str, TuningTable]:
    """What the scenario defines and what is does not have."""
    known = read_scenario(find_scenario(base.scenario))[0].tunings
    return {name: one for name, one in known.items() if name not in base.tunings}


def _of_knob(knob: Control) -> Factor:
    return Factor(knob.name, knob.doc, knob.values, knob)


def _goes(case: Case) -> bool:
    try:
        Member(case).effective()
    except InputError:
        return False
    return True
