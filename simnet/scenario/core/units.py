"""Quantities with units at the edge, integers in base units inside.

A person writes ``"20 us"``, ``"1 Gbit/s"``, ``"256KiB"``, ``"3.0 GHz"`` or ``"1.23"``; the
simulator sees picoseconds, bytes, bit/s, Hz or permille as ``int``. Conversion is exact: numbers
are fractions, units are defined as ratios, and a quantity that is no whole number of its base
unit is refused instead of rounded.

The unit arithmetic is pint's, on a registry of our own: pint's default registry counts bits and
cycles as dimensionless, so it would take ``"1 Gbit/s"`` for a clock frequency.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from simnet.spelling import closest

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pint

__all__ = ["KINDS", "Kind", "UnitError", "format_quantity", "parse_quantity"]


class UnitError(ValueError):
    """A text that is no quantity of the expected kind; the message says what was expected."""


@dataclass(frozen=True)
class Kind:
    """One kind of quantity.

    Attributes:
        name: what a message calls it, for example ``"a time"``.
        base: the base unit as shown to people, for example ``"ps"``.
        suffix: what the attribute name of such a value ends with, for example ``"_ps"``.
        unit: the base unit in the registry; empty for a plain number.
        decimals: how many a displayed value may have before a smaller unit is taken.
        scale: base units per one of ``unit`` (permille are thousandths of a plain number).
        example: a text that parses.
        shown: units in which values are displayed, largest first.
    """

    name: str
    base: str
    suffix: str
    unit: str
    example: str
    shown: tuple[str, ...]
    decimals: int = 3
    scale: int = 1


KINDS: Final[Mapping[str, Kind]] = {
    "time": Kind("a time", "ps", "_ps", "ps", "20 us", ("s", "ms", "us", "ns", "ps")),
    "size": Kind("a size", "bytes", "_bytes", "B", "256 KiB", ("GiB", "MiB", "KiB", "B"), 0),
    "rate": Kind(
        "a data rate", "bit/s", "_bps", "bit/s", "1 Gbit/s", ("Gbit/s", "Mbit/s", "kbit/s", "bit/s")
    ),
    "frequency": Kind("a frequency", "Hz", "_hz", "Hz", "3.0 GHz", ("GHz", "MHz", "kHz", "Hz")),
    "cycles": Kind("clock cycles", "cycles", "_cycles", "cycles", "1500 cycles", ("cycles",)),
    "ratio": Kind("a ratio", "permille", "_permille", "", "50 %", ("",), scale=1000),
    "count": Kind("a plain number", "", "", "", "64", ("",)),
}

# Far beyond every legal range; Python itself refuses numbers of thousands of digits.
_LONGEST: Final = 100
_MOST_BITS: Final = 256
_NUMBER: Final = re.compile(
    r"\s*(?P<number>[+-]?\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d{1,2}(?!\d))?)\s*(?P<unit>.*?)\s*\Z"
)

# Everything the registry is asked to read: pint would also take products and powers.
_UNIT: Final = re.compile(r"(?:[A-Za-zµμ]+|%)(?:/s)?|1?/s")

_DEFINITIONS: Final = (
    "pico- = 1e-12 = p-",
    "nano- = 1e-9 = n-",
    "micro- = 1e-6 = u- = µ- = μ-",
    "milli- = 1e-3 = m-",
    "kilo- = 1e3 = k-",
    "mega- = 1e6 = M-",
    "giga- = 1e9 = G-",
    "tera- = 1e12 = T-",
    "kibi- = 1024 = Ki-",
    "mebi- = 1048576 = Mi-",
    "gibi- = 1073741824 = Gi-",
    "second = [time] = s",
    "bit = [information]",
    "byte = 8 * bit = B",
    "hertz = 1 / second = Hz",
    "cycle = [cycle] = cycles",
    "percent = 0.01 = %",
    "permille = 0.001",
)

# By base unit, what nearly all files and commands write: a short simulation takes less time than
# the import of pint, which is asked for every other unit. A test compares the two.
_COMMON: Final[Mapping[str, Mapping[str, Fraction | int]]] = {
    "ps": {"s": 10**12, "ms": 10**9, "us": 10**6, "ns": 1000, "ps": 1},
    "B": {"B": 1, "kB": 1000, "MB": 10**6, "GB": 10**9}
    | {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30},
    "bit/s": {"bit/s": 1, "kbit/s": 1000, "Mbit/s": 10**6, "Gbit/s": 10**9, "Tbit/s": 10**12}
    | {"B/s": 8, "MB/s": 8 * 10**6, "GB/s": 8 * 10**9},
    "Hz": {"Hz": 1, "kHz": 1000, "MHz": 10**6, "GHz": 10**9, "/s": 1},
    "cycles": {"cycles": 1},
    "": {"%": Fraction(1, 100), "permille": Fraction(1, 1000)},
}


@functools.cache
def _registry() -> pint.UnitRegistry[Fraction]:
    """Return the registry, built at the first use: importing pint costs a third of a second."""
    import pint

    registry: pint.UnitRegistry[Fraction] = pint.UnitRegistry(
        None, non_int_type=Fraction, preprocessors=[_spell_out]
    )
    for line in _DEFINITIONS:
        registry.define(line)
    return registry


def _spell_out(text: str) -> str:
    return "1/s" if text == "/s" else text.replace("%", "percent")


def _factor(unit: str, base: str) -> Fraction | None:
    """Return base units per ``unit``, or None when they measure different things.

    Raises:
        UnitError: no such unit.
    """
    known = _COMMON[base].get(unit)
    if known is not None:
        return Fraction(known)
    if not _UNIT.fullmatch(unit):
        raise UnitError(_unknown_unit(unit, base))
    return _looked_up(unit, base)


@functools.cache
def _looked_up(unit: str, base: str) -> Fraction | None:
    """Return what `_factor` does, for any unit, from the registry."""
    from pint import UndefinedUnitError

    registry = _registry()
    try:
        source = registry.Quantity(Fraction(1), registry.parse_units(unit.removeprefix("1")))
    except (UndefinedUnitError, ValueError) as error:  # pint takes nan, a Fraction does not
        raise UnitError(_unknown_unit(unit, base)) from error
    target = registry.parse_units(base) if base else registry.dimensionless
    if source.dimensionality != registry.Quantity(Fraction(1), target).dimensionality:
        return None
    magnitude: Any = source.to(target).magnitude
    return Fraction(magnitude)


def _unknown_unit(unit: str, base: str) -> str:
    if unit in {"KB", "K"}:
        return f"unknown unit {unit!r}: write KiB (1024 bytes) or kB (1000 bytes)"
    if re.fullmatch(r"[kMGT]?b(/s|ps)?", unit):
        return f"unknown unit {unit!r}: write bit or B (byte)"
    near = closest(unit, _COMMON[base]) if _UNIT.fullmatch(unit) else None
    if near:
        return f"unknown unit {unit!r}; did you mean {near!r}?"
    kind = next(one for one in KINDS.values() if one.unit == base)
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
    factor = _factor(unit, kind.unit) if unit else Fraction(1)
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
    return (_factor(unit, kind.unit) if unit else None) or Fraction(1)


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
