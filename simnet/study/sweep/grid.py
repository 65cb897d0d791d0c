"""Values of a sweep as a person writes them: `1,2,4`, `64 B,1 KiB`, `10 us..50 us:10 us`."""

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final

from simnet.errors import InputError
from simnet.scenario.core.units import KINDS, Kind, UnitError, format_quantity, parse_quantity

MOST_VALUES: Final = 100_000
_TOO_MANY: Final = f"expected at most {MOST_VALUES} values"
_OPTION: Final = "--over"
_RANGE: Final = re.compile(r"\s*(?P<low>.+?)\s*\.\.\s*(?P<high>[^:]+?)\s*(?::\s*(?P<step>.+?)\s*)?")
_NUMBER: Final = re.compile(
    r"(?P<number>[+-]?\d[\d_]{0,60}(?:\.\d{1,60})?(?:[eE][+-]?\d{1,2})?)\s*(?P<unit>.*)"
)
_FACTOR: Final = re.compile(r"x\s*(\d{1,30}(?:\.\d{1,30})?)")
_EXPECTED: Final = "expected values as in 1,2,4 or a range as in 10 us..50 us:10 us"


def axis(text: str, knob: str) -> tuple[str, ...]:
    """The values of one knob, each once, in order.

    Values are separated by commas; by semicolons where there is one, for values that hold commas
    themselves. `A..B:STEP` counts from A to B in steps, `A..B:xN` multiplies by N; both stop before
    they pass B. Without a step a range of plain numbers counts by one; one of quantities doubles,
    and ends with B. A unit that A or STEP lacks is that of B.

    Raises:
        InputError: no value, a range that is empty or has no step towards its end, or a unit
            that doesn't fit.
    """
    separator = ";" if ";" in text else ","
    found: dict[str, None] = {}
    for part in text.split(separator):
        if not part.strip():
            raise InputError(_EXPECTED, file=_OPTION, key=f"{knob}={text}")
        match = _RANGE.fullmatch(part)
        values = _between(match, part, knob) if match else [part.strip()]
        for value in values:
            found[value] = None
            if len(found) > MOST_VALUES:
                raise InputError(_TOO_MANY, file=_OPTION, key=f"{knob}={text}")
    return tuple(found)


def size(over: Mapping[str, Sequence[str]]) -> int:
    """How many combinations there are."""
    return math.prod(map(len, over.values()))


def combinations(over: Mapping[str, Sequence[str]]) -> Iterator[tuple[tuple[str, str], ...]]:
    """Every combination of one value a knob; the last knob's value changes first."""
    names = list(over)
    for row in itertools.product(*over.values()):
        yield tuple(zip(names, row, strict=True))


def _between(match: re.Match[str], text: str, knob: str) -> Iterator[str]:
    low, high, step = match["low"], match["high"], match["step"]
    unit = _split(high, text, knob)[1]
    factor = _FACTOR.fullmatch(step) if step else None
    try:
        kind = _kind(high, unit)
        first, last = (_parsed(end, unit, kind) for end in (low, high))
        _ordered(first, last)
        values: Iterator[Fraction]
        if factor:
            values = _multiplied(first, last, Fraction(factor[1]))
        elif step:
            values = _counted(first, last, _parsed(step, unit, kind))
        elif unit:
            values = itertools.chain(_multiplied(first, last - 1, Fraction(2)), [last])
        else:
            values = _counted(first, last, Fraction(1))
        shown = [_text(value, kind) for value in itertools.islice(values, MOST_VALUES + 1)]
    except UnitError as error:
        raise InputError(str(error), file=_OPTION, key=f"{knob}={text.strip()}") from error
    yield from shown


def _split(value: str, text: str, knob: str) -> tuple[str, str]:
    match = _NUMBER.fullmatch(value)
    if match is None:
        raise InputError(_EXPECTED, file=_OPTION, key=f"{knob}={text.strip()}")
    return match["number"], match["unit"]


def _kind(value: str, unit: str) -> Kind | None:
    """Which kind of quantity has this unit; None for a plain number."""
    if not unit:
        return None
    errors = []
    for kind in KINDS.values():
        try:
            parse_quantity(value, kind)
        except UnitError as error:
            errors.append(error)
        else:
            return kind
    unknown = [error for error in errors if "unknown unit" in str(error)]
    raise (unknown or errors)[0]


def _parsed(value: str, unit: str, kind: Kind | None) -> Fraction:
    match = _NUMBER.fullmatch(value)
    if match is None:
        raise UnitError(_EXPECTED)
    if kind is None:
        if match["unit"]:
            raise UnitError("expected a unit at the end of the range, too")
        return Fraction(match["number"].replace("_", ""))
    return Fraction(parse_quantity(f"{match['number']} {match['unit'] or unit}", kind))


def _ordered(first: Fraction, last: Fraction) -> None:
    if first > last:
        raise UnitError("expected a range from the smaller to the larger value")


def _counted(first: Fraction, last: Fraction, step: Fraction) -> Iterator[Fraction]:
    if step <= 0:
        raise UnitError("expected a step above 0")
    if last - first >= step * MOST_VALUES:
        raise UnitError(_TOO_MANY)
    while first <= last:
        yield first
        first += step


def _multiplied(first: Fraction, last: Fraction, factor: Fraction) -> Iterator[Fraction]:
    if factor <= 1 or first <= 0:
        raise UnitError("expected a factor above 1 and a start above 0")
    while first <= last:
        yield first
        first *= factor


def _text(value: Fraction, kind: Kind | None) -> str:
    if kind:
        if value.denominator != 1:
            raise UnitError(f"expected a step that ends on whole {kind.base}")
        return format_quantity(int(value), kind)
    if value.denominator == 1:
        return str(value.numerator)
    return f"{float(value):.12g}"
