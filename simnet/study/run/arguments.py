"""What a Python program gives, as the texts that a person would type.

A number where a knob is one, a flag, several numbers, a path: each becomes the text that the
command takes. What can't become one is refused with the argument's own name.
"""

import operator
from collections.abc import Collection, Mapping, Sequence
from numbers import Real
from os import PathLike, fspath
from typing import Any, Final, TypeAlias

from simnet.errors import InputError
from simnet.scenario.core.units import KINDS, UnitError, parse_quantity
from simnet.spelling import nearest
from simnet.time_units import PS_PER_US

OPTIONS: Final = (
    *("--seed", "--seeds", "--members", "--runs", "--between"),
    *("--paths", "--sobol", "--knobs", "--max-p99"),
    *("--duration", "--warm-up", "--precision"),
)
"""Those that say how runs are made, and how many."""

_MOST: Final = 10_000
_MOST_SEED: Final = 2**63 - 1

Given: TypeAlias = str | float | Sequence[float]
"""A knob's value: a text, with a unit where it has one, a number, a flag, or several numbers."""
Settings: TypeAlias = Mapping[str, Given]
Names: TypeAlias = str | PathLike[str] | Sequence[str | PathLike[str]]
"""One name or file, or several."""


def settings_of(settings: Settings | None) -> dict[str, str]:
    """Knobs by name with their values as typed; InputError for anything else."""
    return {name: _value(value, "--set", name) for name, value in _by_name(settings, "--set")}


def axes_of(over: Mapping[str, Given | Sequence[Given]]) -> dict[str, str | tuple[str, ...]]:
    """Values by knob: a text as it is, a sequence or one value as texts."""
    found: dict[str, str | tuple[str, ...]] = {}
    for name, values in _by_name(over, "--over"):
        if isinstance(values, str):
            found[name] = values
        else:
            several = values if isinstance(values, Sequence) else (values,)
            found[name] = tuple(_value(value, "--over", name) for value in several)
    return found


def text_of(value: Any, option: str) -> str | None:
    """A time, a share or a name as typed; None stays."""
    return None if value is None else _value(value, option)


def options_of(**given: Any) -> dict[str, str]:
    """Options that say how runs are made, as far as they were given, for the record in a result.

    None stands for what was not given.
    """
    typed = {f"--{name.replace('_', '-')}": value for name, value in given.items()}
    return {o: text for o, value in typed.items() if (text := text_of(value, o)) is not None}


def time_us_of(given: str | float, option: str) -> float:
    """A time above 0, as typed, in microseconds."""
    try:
        time_ps = parse_quantity(given, KINDS["time"])
    except UnitError as error:
        raise InputError(str(error), key=option) from error
    if time_ps <= 0:
        raise InputError(f"expected a time above 0, got {given!r}", key=option)
    return time_ps / PS_PER_US


def names_of(given: Names, option: str) -> tuple[str, ...]:
    """Names or files, one or several."""
    several = (given,) if isinstance(given, (str, PathLike)) else given
    try:
        return tuple(fspath(name) for name in several)
    except TypeError:
        raise InputError(f"expected a name, or several, got {given!r}", key=option) from None


def check_one_of(value: Any, names: Collection[str], option: str) -> None:
    """Raise InputError, with the nearest, for what is none of the names."""
    if value not in names:
        expected = f"expected one of {', '.join(names)}, got {value!r}"
        raise InputError(f"{expected}{nearest(str(value), names)}", key=option)


def seed_of(seed: Any) -> int:
    """A seed."""
    return count_of(seed, "--seed", high=_MOST_SEED)


def count_of(value: Any, option: str, low: int = 0, high: int = _MOST) -> int:
    """A whole number, such as how many runs are meant."""
    try:
        number = operator.index(value)
    except TypeError:
        number = low - 1
    if not low <= number <= high:
        expected = f"expected a whole number from {low} to {high:,}, got {value!r}"
        raise InputError(expected, key=option)
    return number


def _by_name(given: Any, option: str) -> list[tuple[str, Any]]:
    if not isinstance(given or {}, Mapping):
        expected = f'expected values by knob, as in {{"nodes": 2}}, got {given!r}'
        raise InputError(expected, key=option)
    for name in given or {}:
        if not isinstance(name, str):
            raise InputError(f"expected the name of a knob, got {name!r}", key=option)
    return list((given or {}).items())


def _value(value: Any, option: str, key: str | None = None) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, (str, Real)):
        return str(value)
    if isinstance(value, (list, tuple)):
        return " ".join(_value(item, option, key) for item in value)
    expected = f"expected a text, a number or a flag, got {value!r}"
    raise InputError(expected, file=option, key=key)
