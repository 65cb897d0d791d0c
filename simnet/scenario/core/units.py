"""Quantities with units at the edge, integers in base units inside.

A person writes ``"20 us"``, ``"1 Gbit/s"``, ``"256KiB"``, ``"3.0 GHz"`` or ``"1.23"``; the
simulator sees picoseconds, bytes, bit/s, Hz or permille as ``int``. Conversion is exact: numbers
are fractions, units are defined as ratios, and a quantity that is no whole number of its base
unit is refused instead of rounded.

Bits and cycles are dimensions of their own, so ``"1 Gbit/s"`` is no clock frequency.
"""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from simnet.spelling import closest


class UnitError(ValueError):
    """A text that is no quantity of the expected kind; the message says what was expected."""


@dataclass(frozen=True)
class Kind:
    """One kind of quantity."""

    name: str  # what a message calls it, for example ``"a time"``
    base: str  # the base unit as shown to people, for example ``"ps"``
    suffix: str  # what the attribute name of such a value ends with, for example ``"_ps"``
    unit: str  # the base unit as it is written; empty for a plain number
    example: str  # a text that parses
    shown: tuple[str, ...]  # units in which values are displayed, largest first
    decimals: int = 3  # how many a displayed value may have before a smaller unit is taken
    scale: int = 1  # base units per one of ``unit`` (permille are thousandths of a plain number)


KINDS: Final[Mapping[str, Kind]] = {
    "time": Kind("a time", "ps", "_ps", "ps", "20 us", ("s", "ms", "us", "ns", "ps")),
    "size": Kind("a size", "bytes", "_bytes", "B", "256 KiB", ("GiB", "MiB", "KiB", "B"), 0),
    "rate": Kind(
        "a data rate", "bit/s", "_bps", "bit/s", "1 Gbit/s", ("Gbit/s", "Mbit/s", "kbit/s", "bit/s")
    ),
    "frequency": Kind("a frequency", "Hz", "_hz", "Hz", "3.0 GHz", ("GHz", "MHz", "kHz", "Hz")),
    "cycles": Kind("clock cycles", "cycles", "_cycles", "cycles", "1500 cycles", ("cycles",)),
    "ratio": Kind("a ratio", "permille", "_permille", "", "50 %", ("",), scale=1000),
    "share": Kind("a share", "a billionth", "_ppb", "", "0.1 %", ("%",), scale=10**9),
    "count": Kind("a plain number", "", "", "", "64", ("",)),
}

# Far beyond every legal range; Python itself refuses numbers of thousands of digits.
_LONGEST: Final = 100
_MOST_BITS: Final = 256
_NUMBER: Final = re.compile(
    r"\s*(?P<number>[+-]?\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d{1,2}(?!\d))?)\s*(?P<unit>.*?)\s*\Z"
)

_UNIT: Final = re.compile(r"(?P<name>[A-Za-zµμ]+|%)(?P<per_s>/s)?|1?(?P<bare>/s)")

_PREFIXES: Final[Mapping[str, Fraction]] = {
    name: factor
    for names, factor in {
        "": Fraction(1),
        "p pico": Fraction(1, 10**12),
        "n nano": Fraction(1, 10**9),
        "u µ μ micro": Fraction(1, 10**6),
        "m milli": Fraction(1, 1000),
        "k kilo": Fraction(10**3),
        "M mega": Fraction(10**6),
        "G giga": Fraction(10**9),
        "T tera": Fraction(10**12),
        "Ki kibi": Fraction(1 << 10),
        "Mi mebi": Fraction(1 << 20),
        "Gi gibi": Fraction(1 << 30),
    }.items()
    for name in names.split() or [""]
}

# What a name counts, and how many of the dimension's own unit.
_NAMES: Final[Mapping[str, tuple[str, Fraction]]] = {
    name: (dimension, factor)
    for names, dimension, factor in (
        ("s second seconds", "time", Fraction(1)),
        ("bit bits", "information", Fraction(1)),
        ("B byte bytes", "information", Fraction(8)),
        ("Hz hertz", "1/time", Fraction(1)),
        ("cycle cycles", "cycles", Fraction(1)),
        ("% percent", "", Fraction(1, 100)),
        ("permille", "", Fraction(1, 1000)),
    )
    for name in names.split()
}

_NEAR: Final[Mapping[str, tuple[str, ...]]] = {
    "ps": ("s", "ms", "us", "ns", "ps"),
    "B": ("B", "kB", "MB", "GB", "KiB", "MiB", "GiB"),
    "bit/s": ("bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s", "B/s", "MB/s", "GB/s"),
    "Hz": ("Hz", "kHz", "MHz", "GHz", "/s"),
    "cycles": ("cycles",),
    "": ("%", "permille"),
}
"""By base unit, those that a slip may have meant."""


def _factor(unit: str, kind: Kind) -> Fraction | None:
    """Return units of ``kind`` per ``unit``, or None when they measure different things.

    Raises:
        UnitError: no such unit.
    """
    found, wanted = _measured(unit), _measured(kind.unit) or ("", Fraction(1))
    if found is None:
        raise UnitError(_unknown_unit(unit, kind))
    return found[1] / wanted[1] if found[0] == wanted[0] else None


@functools.cache
def _measured(unit: str) -> tuple[str, Fraction] | None:
    """Return a unit's dimension, and how many of the dimension's own unit it is."""
    match = _UNIT.fullmatch(unit)
    if match is None:
        return None
    if match["bare"]:
        return "1/time", Fraction(1)
    for prefix, times in _PREFIXES.items():
        name = match["name"].removeprefix(prefix)
        if match["name"].startswith(prefix) and name in _NAMES:
            dimension, factor = _NAMES[name]
            return f"{dimension or 1}/time" if match["per_s"] else dimension, times * factor
    return None


def _unknown_unit(unit: str, kind: Kind) -> str:
    if unit in {"KB", "K"}:
        return f"unknown unit {unit!r}: write KiB (1024 bytes) or kB (1000 bytes)"
    if re.fullmatch(r"[kMGT]?b(/s|ps)?", unit):
        return f"unknown unit {unit!r}: write bit or B (byte)"
    near = closest(unit, _NEAR[kind.unit]) if _UNIT.fullmatch(unit) else None
    if near:
        return f"unknown unit {unit!r}; did you mean {near!r}?"
    return f"unknown unit {unit!r}: expected {kind.name} such as {kind.example!r}"


def parse_quantity(text: str | float, kind: Kind) -> int:
    """Return ``text`` as a whole number of ``kind``'s base unit.

    Args:
        text: ``"20 us"``, ``"256KiB"``; a bare number only where the kind has no unit.
        kind: one of :data:`KINDS`.

    Raises:
        UnitError: no number, no unit, an unknown unit, a unit of another kind, or a value that is
            no whole number of base units. The message says what was expected, with an example.
    """
    if isinstance(text, bool):
        raise UnitError(f"expected {kind.name} such as {kind.example!r}, got a flag")
    if (isinstance(text, int) and text.bit_length() > _MOST_BITS) or len(str(text)) > _LONGEST:
        length = f"more than {_LONGEST} characters"
        raise UnitError(f"expected {kind.name} such as {kind.example!r}, got {length}")
    match = _NUMBER.match(str(text))
    if match is None:
        raise UnitError(f"expected {kind.name} such as {kind.example!r}, got {text!r}")
    number, unit = Fraction(match["number"].replace("_", "")), match["unit"]
    if not unit and kind.unit:
        raise UnitError(f"missing unit in {text!r}: expected {kind.name} such as {kind.example!r}")
    factor = _factor(unit, kind) if unit else Fraction(1)
    if factor is None:
        raise UnitError(
            f"wrong kind of unit in {text!r}: expected {kind.name} such as {kind.example!r}"
        )
    value = number * factor * kind.scale
    if value.denominator != 1:
        base = kind.base or "one"
        raise UnitError(f"{text!r} is not a whole number of {base}")
    return int(value)


def format_quantity(value: int, kind: Kind) -> str:
    """Return ``value`` (base units) as a readable exact text; ``parse_quantity`` inverts it."""
    if not value:
        # Whatever the prefix, nothing is nothing: the unit without one reads best.
        return f"0 {min(kind.shown, key=len)}".rstrip()
    for unit in kind.shown:
        number = Fraction(value) / (_factor_of(unit, kind) * kind.scale)
        last = unit == kind.shown[-1]
        text = _decimal(number)
        decimals = len(text.partition(".")[2])
        if last or (abs(number) >= 1 and decimals <= kind.decimals):
            return f"{text} {unit}".rstrip()
    raise AssertionError(kind.name)


def _factor_of(unit: str, kind: Kind) -> Fraction:
    return (_factor(unit, kind) if unit else None) or Fraction(1)


def _decimal(number: Fraction) -> str:
    """Return a fraction whose denominator divides a power of ten as an exact decimal."""
    digits, power = 0, 1
    while power % number.denominator:
        digits, power = digits + 1, power * 10
        if digits > 60:  # noqa: PLR2004 (2**-60 still ends; only a foreign factor gets here)
            raise UnitError(f"{number} has no finite decimal form")
    if not digits:
        return str(number.numerator)
    sign = "-" if number < 0 else ""
    whole, rest = divmod(abs(number.numerator) * (power // number.denominator), power)
    return f"{sign}{whole}.{rest:0{digits}d}"
