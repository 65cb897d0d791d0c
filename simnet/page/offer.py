"""What a page lets one change: tunings and knobs of a scenario, and the question that is asked.

What a browser sends is of a stranger: only what is offered, with a value that is offered, is asked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Lock
from typing import Any

from simnet.errors import InputError
from simnet.scenario.core.effective import Effective
from simnet.scenario.core.knobs import knobs_of
from simnet.scenario.core.library import read_scenario
from simnet.scenario.core.subject import subjects
from simnet.scenario.scenarios import find_scenario
from simnet.study.screen.controls import Control, controls, present
from simnet.study.whatif.same import is_read
from simnet.study.work.cases import Case, Member


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
        return _changed(self.before, self.tunings, self.settings)

    @property
    def tuned(self) -> Case:
        """The case with the tunings alone."""
        return _changed(self.before, self.tunings, ())


@dataclass(frozen=True)
class Offer:
    """What can be changed."""

    base: Case  # the scenario as it is
    tunings: tuple[str, ...]  # what can be switched on
    names: tuple[str, ...] | None = None  # of the knobs; all that the scenario lets move when None
    _lock: Lock = field(default_factory=Lock, repr=False, compare=False)

    @property
    def controls(self) -> tuple[Control, ...]:
        """The knobs, with the values that tunings give them among the others."""
        with self._lock:
            return self._controls

    @cached_property
    def _controls(self) -> tuple[Control, ...]:
        found = {one.name: one for one in controls(self.base, self.names)}
        for tuning in self.tunings:
            try:
                values = present(_changed(self.base, (tuning,), ()), tuple(found.values()))
            except InputError:  # it does not go with what is
                continue
            for name, value in values.items():
                found[name] = found[name].taking(value)
        return tuple(found[name] for name in (self.names or found))

    @property
    def groups(self) -> dict[str, list[Control]]:
        """The knobs by subject."""
        titles = {knob.name: one.name for one in subjects() for knob in knobs_of(one)}
        groups: dict[str, list[Control]] = {}
        for one in self.controls:
            groups.setdefault(titles[one.name], []).append(one)
        return groups

    @property
    def unread(self) -> list[str]:
        """Names of the knobs that nothing of this system reads."""
        plain = Member(self.base).effective()
        return [one.name for one in self.controls if not is_read(plain, self._turned(one))]

    def _turned(self, one: Control) -> Effective:
        other = next(value for value in reversed(one.values) if value != one.value)
        settings = (*self.base.settings, *one.settings(other))
        return Member(replace(self.base, settings=settings)).effective()

    def asked(self, told: Any) -> Question:
        """The question that a browser sent; InputError where the page has no such change."""
        if not isinstance(told, Mapping):
            raise InputError("expected a question", key="page")
        pinned = told.get("before", {})
        before = _changed(self.base, *self._chosen(pinned))
        return Question(before, *self._chosen(told))

    def _chosen(self, told: Any) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
        tunings = told.get("tunings", []) if isinstance(told, Mapping) else None
        settings = told.get("settings", {}) if isinstance(told, Mapping) else None
        if not isinstance(tunings, Sequence) or not isinstance(settings, Mapping):
            raise InputError("expected tunings and settings", key="page")
        known = {one.name: one.values for one in self.controls} if settings else {}
        for tuning in tunings:
            if tuning not in self.tunings:
                raise InputError(f"{tuning}: no tuning of this page", key="page")
        for name, value in settings.items():
            if value not in known.get(name, ()):
                raise InputError(f"{name}={value}: no knob of this page, or no value", key="page")
        return tuple(dict.fromkeys(tunings)), tuple(sorted(settings.items()))


def offer_of(base: Case) -> Offer:
    """All that a scenario lets one change."""
    defined = read_scenario(find_scenario(base.scenario))[0].tunings
    return Offer(base, tuple(name for name in defined if name not in base.tunings))


def _changed(case: Case, tunings: Sequence[str], settings: Sequence[tuple[str, str]]) -> Case:
    chosen = dict(case.settings) | dict(settings)
    return replace(case, settings=tuple(chosen.items()), tunings=(*case.tunings, *tunings))
