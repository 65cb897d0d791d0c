"""A question of a lesson: say a number first, then look.

guess_mbit = 879
Prediction("What will eth2 receive?", guess_mbit, answer=915.5, unit="Mbit/s", why="...")

A notebook shows the question and what was guessed; the answer is folded until one opens it, also
where the notebook is only read. A guess that nobody has changed is that of somebody to whom what is
asked about makes no difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Final

__all__ = ["Prediction"]

_NEAR: Final = 0.1
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
        if self.guess is None:
            return f"Simulated: {self.answer:.4g} {self.unit}."
        verdict = "right" if self.right else self._off(self.guess)
        return (
            f"Simulated: {self.answer:.4g} {self.unit}; your {self.guess:.4g} {self.unit} is"
            f" {verdict}. Right is what is at most {100 * self.within:.4g} % off."
        )

    def _off(self, guess: float) -> str:
        """How far the guess is from the answer: in its unit, or in percent of it."""
        off = abs(guess - self.answer)
        way = "high" if guess > self.answer else "low"
        share = off / abs(self.answer) if self.answer else float("inf")
        if self.unit == "%":
            return f"{off:.3g} points too {way}"
        # that a guess is 900 % too high tells less than by how much
        return (
            f"{100 * share:.3g} % too {way}" if share <= 1 else f"{off:.3g} {self.unit} too {way}"
        )

    def _repr_html_(self) -> str:
        given = _NO_GUESS if self.guess is None else f"your guess: {self.guess:.4g} {self.unit}"
        return (
            f"<p><b>{escape(self.question)}</b> ({escape(self.unit)}; {escape(given)})</p>"
            f"<details><summary>Check</summary>{escape(self.verdict)} {escape(self.why)}</details>"
        )

    def __repr__(self) -> str:
        """Show no answer: a terminal cannot fold it."""
        return f"{self.question} ({self.unit}; `verdict` and `why` have the answer)"
