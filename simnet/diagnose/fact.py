"""One value that a file says, and where it says so."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fact:
    """A counter, a setting or a line of a log."""

    kind: str  # the output that it is of, as `stat` for `ethtool -S`
    subject: str  # the port, CPU, device or file that it is about; may be empty
    name: str  # of the counter or setting, as printed
    value: float  # the number; 0 where it is none
    file: str  # where it was read
    line: int  # of the file, from 1
    text: str = ""  # the value as printed

    @property
    def place(self) -> str:
        """File and line, as compilers write them."""
        return f"{self.file}:{self.line}"

    @property
    def shown(self) -> str:
        """The value as people read it."""
        if self.text:
            return self.text
        whole = self.value == int(self.value)
        return f"{int(self.value):,}" if whole else f"{self.value:,.2f}"


@dataclass(frozen=True, slots=True)
class Series:
    """One counter in all samples of it, in the order of reading."""

    facts: Sequence[Fact]

    @property
    def last(self) -> Fact:
        """The newest sample."""
        return self.facts[-1]

    @property
    def value(self) -> float:
        """The newest value."""
        return self.facts[-1].value

    @property
    def grew(self) -> float | None:
        """By how much it grew between the first and the last sample; None if that is not known."""
        growth = self.facts[-1].value - self.facts[0].value
        return growth if len(self.facts) > 1 and growth >= 0 else None

    @property
    def growing(self) -> bool:
        """Whether it may still grow: it did between samples, or nobody knows."""
        return self.grew is None or self.grew > 0
