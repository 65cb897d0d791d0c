"""A prediction is compared with the simulation, and its answer stays folded until it is opened."""

import pytest

from lessons.prediction import Prediction


def asked(guess: float | None, unit: str = "ms") -> Prediction:
    return Prediction("How long?", guess, 40.0, unit, "Two jiffies & one more.")


@pytest.mark.parametrize(
    ("guess", "verdict"),
    [
        (None, "Simulated: 40 ms."),
        (44.0, "Simulated: 40 ms; your 44 ms is right. Right is what is at most 4 ms off."),
        (36.0, "Simulated: 40 ms; your 36 ms is right. Right is what is at most 4 ms off."),
        (44.4, "Simulated: 40 ms; your 44.4 ms is 4.4 ms too high. Right is"),
        (5.0, "Simulated: 40 ms; your 5 ms is 35 ms too low. Right is"),
        (0.0, "Simulated: 40 ms; your 0 ms is 40 ms too low. Right is"),
        (17_000.0, "Simulated: 40 ms; your 17,000 ms is 16,960 ms too high. Right is"),
    ],
)
def test_a_guess_is_compared(guess: float | None, verdict: str) -> None:
    assert asked(guess).verdict.startswith(verdict)
    assert asked(guess).right == ("is right" in verdict)


def test_how_far_off_a_percentage_is_said_in_points_and_not_in_percent() -> None:
    assert (
        "your 30 % is 10 points too low. Right is what is at most 4 points off."
        in asked(30, "%").verdict
    )


def test_no_difference_is_an_answer() -> None:
    none = Prediction("How much more?", 2, 0.0, "ms", "Nothing changes.")
    assert "your 2 ms is 2 ms too high" in none.verdict
    assert not none.right


def test_the_answer_is_folded() -> None:
    shown, folded = asked(5.0)._repr_html_().split("<details>")
    assert "How long?" in shown
    assert "5 ms" in shown
    assert "40" not in shown
    assert "Two jiffies &amp; one more." in folded
    assert "40" not in repr(asked(None))
