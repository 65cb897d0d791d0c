"""What is compared with a system as it is: tunings, each with the configuration that it makes.

Nothing is simulated here, and nothing imported that simulates: who mistypes a name waits for
neither.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from simnet.errors import InputError
from simnet.scenario.core.effective import Effective
from simnet.scenario.core.entries import stands_for
from simnet.study.whatif.tuning import Tuning, read_tuning
from simnet.study.work.cases import Case, Member


@dataclass(frozen=True)
class Alternative:
    """A tuning with the configuration that it makes; `warnings` are of its settings.

    `beyond_settings`: some of it is no setting, but part of what the machine or its load is.
    """

    tuning: Tuning
    case: Case
    effective: Effective
    warnings: tuple[str, ...]
    beyond_settings: bool


def alternatives_to(base: Case, given: Iterable[str]) -> tuple[list[Alternative], tuple[str, ...]]:
    """What can be asked for, and of what cannot why; InputError where nothing can be."""
    found: list[Alternative] = []
    refused: dict[str, InputError] = {}
    for text in given:
        try:
            found.append(_alternative(base, text))
        except InputError as error:
            refused[text] = error
    if not found and refused:
        raise next(iter(refused.values()))
    return found, tuple(f"{text}: {error.message}" for text, error in refused.items())


def _alternative(base: Case, text: str) -> Alternative:
    tuning = read_tuning(base.scenario, text)
    case = tuning.on(base)
    try:
        effective = Member(case).effective()
    except InputError as error:
        if any(stands_for(name, error.key or "") for name, _ in tuning.settings):
            raise InputError(error.message, key=error.key) from error
        raise
    unset = [
        name
        for name, _ in tuning.settings
        if not any(stands_for(name, applied.name) for applied in effective.applied)
    ]
    warnings = [
        f"{name}: no command sets it: it is a value of the scenario or of a model" for name in unset
    ]
    warnings += [
        f"{name}: set for all runs, which is stronger than the tuning"
        for name, _ in base.settings
        if any(stands_for(name, knob) or stands_for(knob, name) for knob in tuning.knobs)
    ]
    return Alternative(tuning, case, effective, tuple(warnings), beyond_settings=bool(unset))
