"""Times as people say them."""

from collections.abc import Iterable
from typing import Final

from simnet.rows import or_dash

_UNITS: Final = (("years", 31_557_600), ("days", 86_400), ("hours", 3600), ("minutes", 60))
_SHORT: Final = (("us", 1.0, 1e5), ("ms", 1e-3, 1e8))


def duration_text(seconds: float) -> str:
    """A time as a person says it: two digits, in the largest unit of which it has one."""
    for unit, scale in _UNITS:
        if seconds >= scale:
            amount = seconds / scale
            return f"{amount:,.0f} {unit}" if amount >= 10 else f"{amount:.1f} {unit}"  # noqa: PLR2004
    return f"{seconds:.0f} seconds"


def in_unit(values_us: Iterable[float | None]) -> tuple[str, float]:
    """The unit in which times in microseconds have at most six digits, and what one is in it."""
    largest = max((value for value in values_us if value is not None), default=0.0)
    return next(((unit, scale) for unit, scale, most in _SHORT if largest < most), ("s", 1e-6))


def late(kind: str, quantile: str) -> str:
    """What a quantile is of: ``round trip p99``, ``one-way p50``; ``latency`` if not known."""
    return f"{kind or 'latency'} {quantile}"


def time_text(value_us: float | None, scale: float, form: str = ".1f") -> str:
    """A time without its unit, of which one microsecond is `scale`; a dash where there is none."""
    return or_dash(None if value_us is None else value_us * scale, form)


def latency_text(value_us: float, form: str = ",.1f") -> str:
    """A latency with its unit: ``73.7 us``, ``4,932.5 us``, ``485.3 ms``."""
    unit, scale = in_unit([value_us])
    return f"{value_us * scale:{form}} {unit}"
