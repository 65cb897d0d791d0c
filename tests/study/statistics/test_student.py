"""Student's quantiles are those of SciPy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit

from simnet.study.statistics.student import student_quantile


@given(st.integers(1, 2000), st.floats(0.501, 0.99999))
def test_quantiles_are_those_of_scipy(freedom: int, probability: float) -> None:
    expected = float(stdtrit(freedom, probability))
    assert student_quantile(freedom, probability) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("freedom", "probability"), [(0, 0.9), (3, 0.4), (3, 1.0)])
def test_what_has_no_quantile_is_refused(freedom: int, probability: float) -> None:
    with pytest.raises(ValueError, match="no quantile"):
        student_quantile(freedom, probability)
