"""What a document is to the rest of simnet: its answers, and what its predictions are held to.

A document is a package of `simnet.documents` that announces one `DOCUMENT`. It is found by name,
when a measurement is asked for: no module imports one.
"""

from __future__ import annotations

import math
import pkgutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from typing import Literal, TypeAlias

from simnet._share import folder
from simnet.errors import InputError
from simnet.spelling import nearest
from simnet.study.calibrate.capture import read_capture
from simnet.study.calibrate.listing import Comparison, Gate, compare
from simnet.study.run.result import Result
from simnet.study.validate.measurements import measurements, wanted
from simnet.study.validate.residuals import Residual
from simnet.study.work.cases import Case, Draw, Progress
from simnet.study.work.kept import kept_beside

_PACKAGE = "simnet.documents"

Sort: TypeAlias = Literal["setting", "load", "hardware"]
"""What differs between two configurations: what an administrator sets, or what he has."""

Results: TypeAlias = Mapping[str, Result]
Numbers: TypeAlias = Callable[[Results], dict[str, float]]
Search: TypeAlias = Callable[[int | None, Progress | None], Sequence[Draw]]
"""Finds draws, with so many processes and a progress."""


@dataclass(frozen=True)
class Anchored:
    """A measurement that the parameters were fitted to: some keys, and their relative error."""

    id: str
    keys: tuple[str, ...]
    error: float


@dataclass(frozen=True)
class Answer:
    """The cases to simulate, by a label, and the numbers that follow from their results."""

    cases: Mapping[str, Case]  # by label
    numbers: Numbers  # from the results, by label
    most: float = math.inf  # what no number can exceed
    # of a prediction, and of a member of an ensemble with its warm-up, where those that suit
    # a network are too short
    times: tuple[str, str, str] | None = None
    anchors: tuple[Anchored, ...] = ()  # what the parameters behind it were fitted to
    # the members' draws, where they are not drawn from the ranges of the parameters
    ensemble: Callable[[], Sequence[Draw]] | None = None
    # labels of the cases that show how parameters move the numbers; all when empty
    few: tuple[str, ...] = ()
    # labels to simulate, given the results so far and those of a search that is much like
    # this one, where what is simulated depends on them; it ends when they bring nothing that
    # is not there
    search: Callable[[Results, Results], Iterable[str]] | None = None
    # whether its simulations take hours, so that it is answered only when it is named
    hours: bool = False
    fitted: bool = False  # whether the draws of `ensemble` were chosen by all its numbers
    # the setting or tuning that differs between the two sides of its ratios or gains
    compares: str = ""

    @property
    def shortened(self) -> Answer:
        """The same with the few cases that show how parameters move its numbers."""
        if not self.few:
            return self
        return replace(self, cases={label: self.cases[label] for label in self.few})

    def of(self, scenario: str = "", messages: Sequence[str] = ()) -> Answer:
        """The same of another scenario, or of some message sizes where the answer is a mean."""
        chosen = {
            label: replace(case, scenario=scenario or case.scenario)
            for label, case in self.cases.items()
            if not messages or len(self.cases) == 1 or dict(case.settings)["message"] in messages
        }
        return replace(self, cases=chosen)


@dataclass(frozen=True)
class Listing:
    """A listing of sar that was captured of a case."""

    case: Case  # what it was captured of
    capture: str  # name of its file in `validation/captures`
    workload: Mapping[str, object]  # what a result's workload has to be to stand beside it
    gates: Callable[[Comparison], list[Gate]]  # the conditions that a prediction of it must meet

    def suits(self, result: Result) -> bool:
        """Whether a result is of the setup of which it was captured."""
        workload = result.configuration.get("workload", {})
        same = all(workload.get(name) == value for name, value in self.workload.items())
        return same and result.scenario == self.case.scenario

    def beside(self, result: Result) -> Comparison:
        """A result beside it."""
        return compare(result, read_capture(folder("validation") / "captures" / self.capture))


def _none(_case: Case) -> Sequence[Draw]:
    return ()


@dataclass(frozen=True)
class Document:
    """One document."""

    name: str  # of its package
    answers: Mapping[str, Answer]  # by the id of the measurement that they answer
    # of its quantities, see `kinds`, by a pattern of `ID:KEY`; the first that matches
    kinds: Mapping[str, str]
    # that were measured, in words, by the first part of the ids of their measurements
    systems: Mapping[str, str] = field(default_factory=dict)
    # names of what was measured in one go, by a pattern of `ID:KEY`; what matches none
    # belongs to its id
    configurations: Mapping[str, str] = field(default_factory=dict)
    # what differs where the second part of two ids does, the third and so on, by a pattern of
    # an id; the last word is for all further parts, and all are settings if none matches
    differing: Mapping[str, tuple[Sort, ...]] = field(default_factory=dict)
    listings: tuple[Listing, ...] = ()  # that a result may be compared with
    # the measurement of one case by which draws of a what-if are weighted, for systems that
    # consist of the same models
    anchor: Anchored | None = None
    # draws for a case that are consistent with what was measured; none where the case is of
    # other models, or any draw will do
    kept: Callable[[Case], Sequence[Draw]] = _none
    # by the id of a measurement that chose the draws of its answer's `ensemble`, what finds
    # the draws that are consistent with all others. They take hours.
    searches: Mapping[str, Search] = field(default_factory=dict)
    # numbers that were measured after they had been predicted and frozen, and that are
    # neither measurements nor answered
    recorded: Callable[[], Iterable[Residual]] = tuple
    # the configurations that were compared with a kernel beside those of answers, by id
    others: Mapping[str, Case] = field(default_factory=dict)


@cache
def documents() -> tuple[Document, ...]:
    """All documents, by name."""
    package = import_module(_PACKAGE)
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    return tuple(import_module(f"{_PACKAGE}.{name}").DOCUMENT for name in names)


@cache
def answers() -> Mapping[str, Answer]:
    """Every document's answers, by id."""
    return {name: one for document in documents() for name, one in document.answers.items()}


def answer(name: str, others: Iterable[str] = ()) -> Answer:
    """The answer to a measurement's id; raises InputError that names the nearest id.

    `others`: ids that are answered elsewhere.
    """
    known = answers()
    if name in known:
        return known[name]
    if name in measurements() or name in wanted():
        expected = f"no scenario answers this measurement yet; there are {', '.join(known)}"
        raise InputError(expected, key=name)
    raise InputError(
        f"expected the id of a measurement{nearest(name, [*known, *others])}", key=name
    )


def cases_of(name: str) -> Mapping[str, Case]:
    """The configurations behind a number, by label: those of its answer, or the one recorded."""
    if name in answers():
        return answers()[name].cases
    return {"run": next(one.others[name] for one in documents() if name in one.others)}


def system_of(name: str) -> str:
    """The system of a measurement, in words; empty where no document says it."""
    system = name.partition(".")[0]
    return next((one.systems[system] for one in documents() if system in one.systems), "")


def document_of(name: str) -> Document:
    """The document with the answer to an id."""
    return next(document for document in documents() if name in document.answers)


def kind_of(name: str, key: str) -> str:
    """The kind of quantity that a number is."""
    kind = _first(document_of(name).kinds, name, key)
    if kind is None:
        raise LookupError(f"{name}:{key}")
    return kind


def configuration_of(name: str, key: str) -> str:
    """What was measured in one go with a number."""
    return _first(document_of(name).configurations, name, key) or name


def sort_of(before: str, after: str) -> Sort:
    """What differs between the configurations of two ids, or is compared by one that is both."""
    differing = {pattern: one for of in documents() for pattern, one in of.differing.items()}
    words = next((one for pattern, one in differing.items() if fnmatchcase(before, pattern)), ())
    if not words:
        return "setting"
    parts = zip(before.split("."), after.split("."), strict=False)
    place = next((place for place, (one, other) in enumerate(parts) if one != other), 1)
    return words[min(place, len(words)) - 1]


def _first(patterns: Mapping[str, str], name: str, key: str) -> str | None:
    found = (one for pattern, one in patterns.items() if fnmatchcase(f"{name}:{key}", pattern))
    return next(found, None)


def draws_for(case: Case) -> Sequence[Draw]:
    """The draws beside a user's scenario, or those that a document keeps for a case of its models.

    None where there is no such.
    """
    kept = (found for document in documents() if (found := document.kept(case)))
    return kept_beside(case) or next(kept, ())


def beside_listing(result: Result) -> Comparison:
    """A result beside the listing that was captured of its setup.

    Raises InputError when there is none.
    """
    listings = [listing for document in documents() for listing in document.listings]
    for listing in listings:
        if listing.suits(result):
            return listing.beside(result)
    setups = [
        f"{one.case.scenario}, {' and '.join('='.join(pair) for pair in one.case.settings)}"
        for one in listings
    ]
    raise InputError(f"the listing was measured with {', or '.join(setups)}", key="compare")
