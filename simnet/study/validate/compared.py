"""What was ever compared with a measurement: settings, and parts of the path.

A change of which both sides were measured (`changes`) compares what differs between them: knobs by
their names, whatever port or queue they are of, and values of the scenario by theirs. A part of the
path was compared where a number was measured of a configuration that makes use of it: what a
subject of `simnet.scenario.parts` announces is there and not as it is by default, or one of its
knobs is set.

To load hundreds of configurations takes half a minute. So `derived` is kept in
`validation/compared.json`, which `python -m tests.documents.compared` writes.

How far off changes are of a setting of which none is known: as others. With all changes of whatever
differs in one left out, the interval that the rest teaches (`changes`) holds 96 % of them, and 97 %
of those of settings; with all changes of the same part of the path left out 97 and 98 %. So the
interval is no wider for them. Those are changes of some ten settings of seven systems.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import combinations, permutations
from pathlib import Path
from statistics import median
from typing import Any, Final, Literal

from pydantic import BaseModel, Field, ValidationError

from simnet._share import folder
from simnet.faults import fault_in
from simnet.files import read_bytes
from simnet.rows import Printed, Row
from simnet.scenario.commands.commands import changed_knobs
from simnet.scenario.commands.ready import ready_tuning
from simnet.scenario.core.effective import Effective
from simnet.scenario.core.entries import stands_for
from simnet.scenario.core.knob import Knob
from simnet.scenario.core.knobs import KNOBS, knob_of, knobs_of
from simnet.scenario.core.library import read_scenario
from simnet.scenario.core.subject import Subject, subjects
from simnet.scenario.scenarios import find_scenario
from simnet.study.validate.changes import KnownChange, known_changes
from simnet.study.validate.document import answers, cases_of, documents
from simnet.study.validate.measurements import measurements
from simnet.study.work.cases import Case, Member

_SCHEMA: Literal["simnet.compared/1"] = "simnet.compared/1"
_MOST_BYTES: Final = 4 << 20
_PEER: Final = "peer:"


class Difference(Row):
    """What differs between the configurations of two ids; of one id, what its number compares."""

    before: str
    after: str
    names: tuple[str, ...]


class Compared(Printed):
    """What `validation/compared.json` holds: how often a part was measured, by its subject."""

    schema_: Literal["simnet.compared/1"] = Field(default=_SCHEMA, alias="schema")
    differences: tuple[Difference, ...]
    parts: dict[str, int] = Field(description="measured numbers by part of the path")


@dataclass(frozen=True)
class Checked:
    """A setting of which measured changes were compared."""

    name: str  # of the knob, or of the value of a scenario
    changes: tuple[KnownChange, ...]  # those of which both sides were measured

    @property
    def usual(self) -> float:
        """The factor by which predictions were off, in the middle."""
        return math.exp(median(one.off for one in self.changes))

    @property
    def worst(self) -> float:
        """The factor by which predictions were off at most."""
        return math.exp(max(one.off for one in self.changes))

    def alone(self, names: Container[str]) -> int:
        """In how many of the changes nothing differed but these settings."""
        differ = (names_compared(one.before.id, one.after.id) for one in self.changes)
        return sum(all(name in names for name in one) for one in differ)


class SettingRow(Row):
    """A setting that was compared, as `simnet validate --changes --by knob --json` prints it."""

    setting: str
    changes: int
    alone: int = Field(description="in how many of them nothing else differed")
    usual: float = Field(description="factor by which predictions were off, in the middle")
    worst: float = Field(description="the same at most")


class PartRow(Row):
    """A part of the path, as `simnet validate --changes --by knob --json` prints it."""

    part: str
    numbers: int = Field(description="measured numbers of configurations that make use of it")
    never_compared: tuple[str, ...] = Field(description="settings of which no change was compared")


@dataclass(frozen=True)
class Register:
    """What was compared and what never was."""

    settings: tuple[SettingRow, ...]
    parts: tuple[PartRow, ...]

    def to_json(self) -> dict[str, Any]:
        """The rows as `simnet validate --changes --by knob --json` prints them."""
        return {name: [one.model_dump() for one in rows] for name, rows in vars(self).items()}


def register() -> Register:
    """The settings that were compared, most first, and the parts with what never was."""
    rows = [
        SettingRow(
            setting=one.name,
            changes=len(one.changes),
            alone=one.alone({one.name}),
            usual=one.usual,
            worst=one.worst,
        )
        for one in checked().values()
    ]
    never = never_compared()
    parts = [one.name for one in subjects() if one.name in never or one.name in compared().parts]
    return Register(
        tuple(sorted(rows, key=lambda one: -one.changes)),
        tuple(
            PartRow(part=n, numbers=compared().parts.get(n, 0), never_compared=never.get(n, ()))
            for n in dict.fromkeys((*parts, *parts_never_compared()))
        ),
    )


@cache
def compared(directory: Path | None = None) -> Compared:
    """What is kept of all known changes and measured numbers.

    Raises InputError, naming the file and the key, where that does not have the expected form.
    """
    path = (directory or folder("validation")) / "compared.json"
    data = read_bytes(path, most_bytes=_MOST_BYTES, kind="list of comparisons")
    try:
        return Compared.model_validate_json(data)
    except ValidationError as error:
        raise fault_in(path, error) from error


@cache
def names_compared(before: str, after: str) -> frozenset[str]:
    """What differs in the known changes from one id to another."""
    found = (o.names for o in compared().differences if (o.before, o.after) == (before, after))
    return frozenset(next(found, ()))


@cache
def checked() -> Mapping[str, Checked]:
    """How far off changes of each setting were that was ever compared, by its name."""
    by_name: dict[str, list[KnownChange]] = defaultdict(list)
    for one in known_changes():
        for name in names_compared(one.before.id, one.after.id):
            by_name[name].append(one)
    return {name: Checked(name, tuple(found)) for name, found in sorted(by_name.items())}


def never_compared() -> Mapping[str, tuple[str, ...]]:
    """The settings of each part that are modelled and of which no change was compared, by part."""
    found = {
        subject.name: tuple(
            one.name
            for one in knobs_of(subject)
            if one.modelled and one.name == _setting(one) and one.name not in checked()
        )
        for subject in subjects()
    }
    return {name: knobs for name, knobs in found.items() if knobs}


@cache
def parts_never_compared() -> tuple[str, ...]:
    """The parts of the path of which no measured number was compared, in order.

    A subject that has nothing but settings is no part: what they set is everywhere, as by default.
    """
    known = compared().parts
    parts = (one for one in subjects() if one.parts or one.host_parts)
    return tuple(one.name for one in parts if one.columns() or one.knobs() if one.name not in known)


def part_of(name: str) -> str:
    """The part of the path that a setting belongs to, or the first word of a value's name."""
    return _owners().get(name, name.partition(".")[0])


@cache
def _owners() -> Mapping[str, str]:
    return {knob.name: subject.name for subject in subjects() for knob in knobs_of(subject)}


def _setting(knob: Knob) -> str:
    """The name of what a knob sets: that of the first that sets the same."""
    return _first_names().get((knob.scope, knob.target), knob.name)


@cache
def _first_names() -> Mapping[tuple[str, str], str]:
    return {(one.scope, one.target): one.name for one in reversed(KNOBS) if one.target}


def differing(before: Case, after: Case) -> frozenset[str]:
    """What differs between two configurations: knobs, and values that no knob sets."""
    sides = [Member(one).effective() for one in (before, after)]
    knobs = {
        _setting(one.knob)
        for pair in permutations(sides)
        for one in changed_knobs(*pair)
        if one.value != one.before
    }
    if sides[0].digest() == sides[1].digest():
        return frozenset(knobs)
    applied = [one.name for side in sides for one in side.applied]
    given = [_given(case, side).items() for case, side in zip((before, after), sides, strict=True)]
    values = {
        name for name, _ in given[0] ^ given[1] if not any(stands_for(name, a) for a in applied)
    }
    return frozenset(knobs | values)


def _given(case: Case, effective: Effective) -> dict[str, str]:
    """What tunings and settings of a case say, by name."""
    known = read_scenario(find_scenario(case.scenario))[0].tunings
    given: dict[str, Any] = {}
    for name in case.tunings:
        ready = None if name in known else ready_tuning(name, effective)
        given |= dict(ready.settings) if ready else known[name].settings
    return {" ".join(n.split()): str(value) for n, value in (given | dict(case.settings)).items()}


def derived() -> Compared:
    """The same as `compared`, of the documents as they are: hundreds of configurations."""
    pairs = dict.fromkeys((one.before.id, one.after.id) for one in known_changes())
    differences = (Difference(before=b, after=a, names=_between(b, a)) for b, a in pairs)
    numbers = {name: len(one.value) for name, one in measurements().items() if name in answers()}
    numbers |= {name: 1 for document in documents() for name in document.others}
    parts: Counter[str] = Counter()
    for name, count in numbers.items():
        cases = cases_of(name).values()
        for part in frozenset().union(*(parts_used(Member(case).effective()) for case in cases)):
            parts[part] += count
    return Compared(differences=tuple(differences), parts=dict(sorted(parts.items())))


def _between(before: str, after: str) -> tuple[str, ...]:
    if before == after:
        return tuple(sorted(_within(before)))
    sides = [cases_of(name) for name in (before, after)]
    if sides[0].keys() == sides[1].keys():
        pairs = [(case, sides[1][label]) for label, case in sides[0].items()]
        return tuple(sorted(frozenset().union(*(differing(*pair) for pair in pairs))))
    # the best of several: what differs is common to all of one side
    common = [_common(side.values()) for side in sides]
    return tuple(sorted(frozenset(name for name, _ in common[0] ^ common[1])))


def _common(cases: Iterable[Case]) -> frozenset[tuple[str, str]]:
    """What all cases of one scenario are given alike."""
    found = [frozenset(_named(case).items()) for case in cases]
    return frozenset.intersection(*found)


def _named(case: Case) -> dict[str, str]:
    """What a case is given, by the names of settings."""
    given = _given(case, Member(case).effective())
    return {_setting(knob) if (knob := _knob(name)) else name: v for name, v in given.items()}


def _knob(name: str) -> Knob | None:
    found = knob_of(name.removeprefix(_PEER))
    return found[0] if found else None


def _within(name: str) -> frozenset[str]:
    """What a number compares that is itself a ratio or a gain."""
    compares = answers()[name].compares
    for one, other in combinations(cases_of(name).values(), 2):
        said = {n for n, _ in set(one.settings) ^ set(other.settings)}
        if said | (set(one.tunings) ^ set(other.tunings)) == {compares}:
            return differing(one, other)
    return frozenset()


def parts_used(effective: Effective) -> frozenset[str]:
    """The parts of the path that a configuration makes use of."""
    turned = {_owners().get(knob.name) for one in effective.applied if (knob := _knob(one.name))}
    return frozenset(one.name for one in subjects() if one.name in turned or _used(one, effective))


def _used(subject: Subject, effective: Effective) -> bool:
    test, hosts = effective.workload.test, effective.places.values()
    drivers = {driver.name() for driver in subject.drivers()}
    return (
        any(_there(getattr(effective, part.place, None)) for part in subject.parts)
        or any(
            _there(getattr(one, part.place, None)) for one in hosts for part in subject.host_parts
        )
        or any(test in one.tests for one in subject.exchanges)
        or any(test in one.tests for one in subject.setups)
        or any(port.nic.driver in drivers for port in effective.ports)
    )


def _there(value: Any) -> bool:
    """Whether a part is there, and not as it is by default."""
    if isinstance(value, BaseModel):
        return bool(value.model_dump(exclude_defaults=True))
    return bool(value)
