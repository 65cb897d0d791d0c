"""A question of a lesson: say a number first, then look.

guess_mbit = 879
Prediction("What will eth2 receive?", guess_mbit, answer=915.5, unit="Mbit/s", why="...")

A notebook shows the question and what was guessed; the answer is folded until one opens it, also
where the notebook is only read. A guess that nobody has changed is that of somebody to whom what is
asked about makes no difference.
"""

from dataclasses import dataclass
from html import escape
from typing import Final

_NEAR: Final = 0.1
_THOUSAND: Final = 1000
_NO_GUESS: Final = "no guess yet: put a number in place of None, and run the cell"


@dataclass(frozen=True)
class Prediction:
    """A question with a guess, and the simulated answer.

    Attributes:
        question: what is asked.
        guess: what the reader expects; None before that.
        answer: what the simulation says.
        unit: of both.
        why: what explains the answer.
        within: a guess is right that is no more than this share of the answer away.
    """

    question: str
    guess: float | None
    answer: float
    unit: str
    why: str
    within: float = _NEAR

    @property
    def right(self) -> bool:
        """Whether the guess is near enough."""
        return self.guess is not None and abs(self.guess - self.answer) <= self.within * abs(
            self.answer
        )

    @property
    def verdict(self) -> str:
        """How the guess compares with the answer."""
        found = f"Simulated: {_text(self.answer)} {self.unit}"
        if self.guess is None:
            return f"{found}."
        off = self.guess - self.answer
        # the difference of two percentages is in points
        unit = "points" if self.unit == "%" else self.unit
        way = "high" if off > 0 else "low"
        verdict = "right" if self.right else f"{_text(abs(off), 3)} {unit} too {way}"
        return (
            f"{found}; your {_text(self.guess)} {self.unit} is {verdict}."
            f" Right is what is at most {_text(self.within * abs(self.answer), 3)} {unit} off."
        )

    def _repr_html_(self) -> str:
        given = _NO_GUESS if self.guess is None else f"your guess: {_text(self.guess)} {self.unit}"
        return (
            f"<p><b>{escape(self.question)}</b> ({escape(self.unit)}; {escape(given)})</p>"
            f"<details><summary>Check</summary>{escape(self.verdict)} {escape(self.why)}</details>"
        )

    def __repr__(self) -> str:
        """Show no answer: a terminal cannot fold it."""
        return f"{self.question} ({self.unit}; `verdict` and `why` have the answer)"


def _text(value: float, digits: int = 4) -> str:
    """A number with so many digits, and never with a power of ten."""
    return f"{value:,.0f}" if abs(value) >= _THOUSAND else f"{value:.{digits}g}"
