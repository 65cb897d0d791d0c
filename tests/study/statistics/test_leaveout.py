"""Leave-one-out fits of synthetic linear models, against what theory says of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from simnet.study.statistics.leaveout import ERROR, Linear
from simnet.study.validate.intervals import quantile


def _linear(seed: int, rows: int = 8, parameters: int = 3, *, spread: float = 0.0) -> Linear:
    """A model whose truth lies well inside the ranges, with a discrepancy of each row."""
    rng = np.random.default_rng(seed)
    jacobian = rng.normal(size=(rows, parameters))
    truth = rng.uniform(-0.15, 0.15, parameters)
    deviation = jacobian @ truth + spread * rng.standard_normal(rows)
    return Linear(deviation, jacobian, np.full(parameters, 0.5))


def left_over(linear: Linear, change: NDArray[np.float64]) -> NDArray[np.float64]:
    """The logarithms of measured over predicted after a change of the parameters."""
    return np.asarray(linear.deviation - linear.jacobian @ change)


@given(st.integers(0, 10**6))
def test_leaving_one_out_is_what_the_leverage_of_the_whole_fit_says(seed: int) -> None:
    """The residual of a row left out is that of the whole fit over one minus its leverage."""
    linear = _linear(seed, spread=0.01)
    weighted = linear.jacobian / ERROR
    inverse = np.linalg.inv(weighted.T @ weighted + np.eye(3) / 0.5**2)
    leverage = np.diag(weighted @ inverse @ weighted.T)
    every = list(range(8))
    whole = left_over(linear, linear.fitted(every))
    for row in every:
        left = left_over(linear, linear.fitted([one for one in every if one != row]))
        assert left[row] == pytest.approx(whole[row] / (1 - leverage[row]), rel=1e-4, abs=1e-6)


@given(st.integers(0, 10**6), st.floats(0, 1), st.integers(1, 8))
def test_parameters_stay_inside_their_ranges(seed: int, start: float, rows: int) -> None:
    drawn = _linear(seed, spread=3.0)
    linear = Linear(drawn.deviation, drawn.jacobian, np.full(3, start))
    there = start + linear.fitted(range(rows))
    assert np.all(there >= -1e-9)
    assert np.all(there <= 1 + 1e-9)


def test_what_no_row_determines_stays_where_it_is() -> None:
    linear = Linear(np.array([0.3]), np.array([[1.0, 0.0]]), np.array([0.5, 0.2]))
    moved, kept = linear.fitted([0])
    assert moved == pytest.approx(0.3 / (1 + (ERROR / 0.5) ** 2))
    assert kept == pytest.approx(0, abs=1e-9)
    assert linear.fitted([]) == pytest.approx([0, 0], abs=1e-9)


def test_what_only_one_row_determines_no_other_row_says() -> None:
    moves = np.array([[1.0, 0.0], [1.0, 0.3], [0.0, 1.0], [0.0, 0.05]])
    linear = Linear(np.zeros(4), moves, np.array([0.5, 0.5]))
    # the first parameter is known from two rows, the second from hardly more than one
    assert linear.says(0, [1, 2, 3])
    assert linear.says(1, [0, 2, 3])
    assert not linear.says(2, [0, 3])
    # what it moves by less than a row's error matters to none
    assert linear.says(3, [])


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.01, 0.05, 0.2]))
@pytest.mark.nightly
def test_intervals_from_what_was_left_out_hold_at_least_nine_of_ten(
    seed: int, spread: float
) -> None:
    """One more number of the same model is inside, over many models with a discrepancy."""
    inside = 0
    for number in range(100):
        linear = _linear(seed + 1000 * number, rows=31, spread=spread)
        known = list(range(30))
        sizes = [
            abs(left_over(linear, linear.fitted([one for one in known if one != row]))[row])
            for row in known
        ]
        inside += abs(left_over(linear, linear.fitted(known))[30]) <= quantile(sizes)
    assert inside >= 90
