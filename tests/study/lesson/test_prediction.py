"""A prediction is compared with the simulation, and its answer stays folded until it is opened."""

from __future__ import annotations

import pytest

from simnet.study.lesson.prediction import Prediction


def asked(guess: float | None) -> Prediction:
    return Prediction("How long?", guess, 40.0, "ms", "Two jiffies & one more.")


@pytest.mark.parametrize(
    ("guess", "verdict"),
    [
        (None, "Simulated: 40 ms."),
        (44.0, "Simulated: 40 ms; your 44 ms is right."),
        (36.0, "Simulated: 40 ms; your 36 ms is right."),
        (44.1, "Simulated: 40 ms; your 44.1 ms is too high."),
        (5.0, "Simulated: 40 ms; your 5 ms is too low."),
    ],
)
def test_a_guess_is_compared(guess: float | None, verdict: str) -> None:
    assert asked(guess).verdict == verdict
    assert asked(guess).right == ("right" in verdict)


def test_the_answer_is_folded() -> None:
    shown, folded = asked(5.0)._repr_html_().split("<details>")
    assert "How long?" in shown
    assert "5 ms" in shown
    assert "40" not in shown
    assert "Two jiffies &amp; one more." in folded
    assert "40" not in repr(asked(None))
