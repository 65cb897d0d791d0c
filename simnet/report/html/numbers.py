"""How numbers are written in a report: a minus sign, commas between thousands, µs.

Of texts to read only: what is to be typed stays as it is.
"""

import re
from typing import Final

# a hyphen before a digit, where no word, number or range is in front of it
_MINUS: Final = re.compile(r"(?:(?<=^)|(?<=[\s(]))-(?=\d)")
# of four digits only what has a fraction is an amount for certain
_LONG: Final = re.compile(r"(?<![\w.,:/])(?:\d{4}(?=\.\d)|\d{5,}(?=\.\d|\b))")
# as a unit: behind a number, a quantile or a comma, or alone within parentheses
_MICROSECONDS: Final = re.compile(
    r"(?:(?<=\d )|(?<=\dus )|(?<=p50 )|(?<=p99 )|(?<=, )|(?<=\())us\b"
)


def written(text: str) -> str:
    """Return a text with its numbers as a report writes them."""
    text = _MINUS.sub("\u2212", str(text))
    return _MICROSECONDS.sub("\u00b5s", text)


def counted(text: str) -> str:
    """The same of a cell that holds numbers, whose thousands are separated."""
    return written(_LONG.sub(lambda found: f"{int(found[0]):,}", str(text)))
