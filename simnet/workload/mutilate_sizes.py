"""The distributions by which mutilate draws keys, values and gaps, as tables of whole numbers.

Source: Generator.cc and Generator.h of mutilate: `fb_key` is a generalised extreme value,
`fb_value` a few small sizes or else a generalised Pareto, `fb_ia` a generalised Pareto. Each is
inverted at the middle of equal parts of the unit interval, in decimal arithmetic, which is the same
on every machine.
"""

from decimal import Context, Decimal
from functools import cache
from typing import Final

#: distributions of the gaps between requests of a connection
ARRIVALS: Final = ("fb_ia", "exponential", "fixed")
#: 1 in a table of powers
POWER_ONE: Final = 1 << 24

_CONTEXT: Final = Context(prec=24)
_PARTS: Final = 1024
_ONE: Final = Decimal(1)
# fb_key: GEV of location, scale, shape
_KEY: Final = (Decimal("30.7984"), Decimal("8.20449"), Decimal("0.078688"))
# fb_value: probabilities of the sizes 0 to 14, and a Pareto of location, scale, shape
_SMALL: Final = tuple(
    Decimal(share)
    for share in (
        *("0.00536", "0.00047", "0.17820", "0.09239", "0.00018"),
        *("0.02740", "0.00065", "0.00606", "0.00023", "0.00837"),
        *("0.00837", "0.08989", "0.00092", "0.00326", "0.01980"),
    )
)
_VALUE: Final = (Decimal("15.0"), Decimal("214.476"), Decimal("0.348238"))
# fb_ia: shape; location 0, and the scale follows from the mean
_GAP: Final = Decimal("0.154971")


@cache
def fb_sizes(records: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Bytes of keys and of values; in each, every entry is as likely as any other.

    A key is at least as long as the number of the last record (`KeyGenerator`).
    """
    shares = [Decimal(2 * part + 1) / (2 * _PARTS) for part in range(_PARTS)]
    least = len(str(records))
    return tuple(max(least, _key(share)) for share in shares), tuple(map(_value, shares))


def _power(base: Decimal, exponent: Decimal) -> Decimal:
    return _CONTEXT.exp(_CONTEXT.multiply(exponent, _CONTEXT.ln(base)))


def _key(share: Decimal) -> int:
    location, scale, shape = _KEY
    return round(location + scale * (_power(-_CONTEXT.ln(share), -shape) - 1) / shape)


def _value(share: Decimal) -> int:
    below = Decimal(0)
    for size, probability in enumerate(_SMALL):
        below += probability
        if share < below:
            return size
    # mutilate draws a Pareto's number anew: the rest of the interval stands for it
    location, scale, shape = _VALUE
    rest = (share - below) / (_ONE - below)
    return int(location + scale * (_power(_ONE - rest, -shape) - 1) / shape)


def gap_shape(arrivals: str) -> tuple[int, int]:
    """Of `fb_ia`, (1 - shape) / shape times `POWER_ONE`, and the power of the last part.

    A gap is the mean times the first times (U^-shape - 1), U uniform.
    """
    if arrivals != "fb_ia":
        return 0, 0
    return int((_ONE - _GAP) / _GAP * POWER_ONE), int(_power(Decimal(_PARTS), _GAP) * POWER_ONE)


@cache
def power_table() -> tuple[int, ...]:
    """U^-shape of `fb_ia`, times `POWER_ONE`, at the ends of equal parts of the unit interval.

    Entry i is at U = i / 1024. The first part has no end: below 1 / 1024 the power is that of
    1 / 1024 times that of another uniform number.
    """
    ends = (Decimal(part) / _PARTS for part in range(1, _PARTS + 1))
    return (0, *(int(_power(end, -_GAP) * POWER_ONE) for end in ends))
