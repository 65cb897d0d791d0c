"""Fits of models whose answer is known."""

import hashlib
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from scipy import stats

from simnet.study.statistics.leastsquares import Evaluate, Free, Vector, fit, profile

X = np.linspace(0, 1, 12)


def model(predict: Callable[..., Vector], data: Vector) -> Evaluate:
    def evaluate(points: Sequence[Vector]) -> list[Vector]:
        return [predict(*point) - data for point in points]

    return evaluate


def line(slope: float, offset: float) -> Vector:
    return slope * X + offset


LINE = [Free("slope", 1, 0, 10), Free("offset", 1, 0, 5)]


def test_a_line_is_fitted_with_the_intervals_of_the_textbook() -> None:
    noise = np.random.default_rng(3).normal(0, 0.1, X.size)
    data = line(4, 2) + noise
    found = fit(model(line, data), LINE)
    expected = stats.linregress(X, data)
    t = stats.t.ppf(0.975, X.size - 2)
    slope, offset = found.estimates
    assert found.rank == 2
    assert slope.value == pytest.approx(expected.slope, rel=1e-4)
    assert (slope.high - slope.low) / 2 == pytest.approx(t * expected.stderr, rel=1e-3)
    assert (offset.high - offset.low) / 2 == pytest.approx(t * expected.intercept_stderr, rel=1e-3)


def test_intervals_cover_the_truth_as_often_as_they_say() -> None:
    generator = np.random.default_rng(11)
    inside = 0
    for _ in range(200):
        data = line(4, 2) + generator.normal(0, 0.2, X.size)
        slope = fit(model(line, data), LINE).estimates[0]
        inside += slope.low <= 4 <= slope.high
    assert stats.binomtest(inside, 200, 0.95).pvalue > 0.01


def test_a_sum_identifies_one_direction_and_the_other_parameter_keeps_its_value() -> None:
    data = line(7, 0) + 0.01 * np.sin(9 * X)
    parameters = [Free("a", 2, 0, 10), Free("b", 3, 0, 10)]
    found = fit(model(lambda a, b: line(a + b, 0), data), parameters)
    assert found.rank == 1
    first, second = found.directions
    assert first.identified
    assert not second.identified
    assert second.weights["a"] == pytest.approx(-second.weights["b"], rel=1e-3)
    kept = next(estimate for estimate in found.estimates if not estimate.identified)
    start = {parameter.name: parameter.start for parameter in parameters}
    assert kept.value == pytest.approx(start[kept.name])
    assert (kept.low, kept.high) == (0, 10)
    assert sum(found.values.values()) == pytest.approx(7, abs=0.02)


def test_a_parameter_below_the_noise_is_unidentified() -> None:
    def predict(strong: float, weak: float) -> Vector:
        return strong * X + 0.002 * weak * X**2

    parameters = [Free("strong", 1, 0, 10), Free("weak", 0.5, 0, 1)]
    data = predict(5, 0.9)
    assert fit(model(predict, data), parameters).rank == 1
    noisy = fit(model(predict, data), parameters, noise=0.05)
    assert [estimate.identified for estimate in noisy.estimates] == [True, False]
    assert noisy.values["weak"] == pytest.approx(0.5)
    sharper = [parameters[0], Free("weak", 0.5, 0, 1000)]
    assert fit(model(predict, data), sharper).rank == 2


def test_a_staircase_does_not_stop_the_fit() -> None:
    def predict(rate: float) -> Vector:
        return np.asarray(np.floor(1000 * np.exp(-rate * X)) / 1000)

    found = fit(model(predict, predict(3.0)), [Free("rate", 1, 0.5, 6)])
    assert found.values["rate"] == pytest.approx(3.0, rel=0.01)


def test_a_step_is_never_finer_than_the_grain() -> None:
    def predict(ways: float) -> Vector:
        return round(ways) * X

    coarse = Free("ways", 3, 1, 8, grain=1)
    assert fit(model(predict, predict(6)), [coarse]).values["ways"] == pytest.approx(6, abs=0.5)
    fine = Free("ways", 3, 1, 8)
    assert fit(model(predict, predict(6)), [fine]).rank == 0


def test_a_solution_at_the_end_of_its_range_stays_inside() -> None:
    found = fit(model(line, line(12, 2)), LINE)
    assert found.values["slope"] == pytest.approx(10, abs=1e-3)
    assert found.estimates[0].high == 10


def test_no_point_is_simulated_twice_and_derivatives_come_as_one_batch() -> None:
    seen: list[bytes] = []
    batches: list[int] = []
    inner = model(line, line(4, 2))

    def evaluate(points: Sequence[Vector]) -> Sequence[Vector]:
        seen.extend(point.tobytes() for point in points)
        batches.append(len(points))
        return inner(points)

    found = fit(evaluate, LINE)
    assert len(seen) == len(set(seen)) == found.evaluations
    assert max(batches) == 4


def test_profiles_show_what_the_others_can_make_up_for() -> None:
    def predict(a: float, b: float) -> Vector:
        return line(a + b, 0)

    found = profile(
        model(predict, line(7, 0)), [Free("a", 3, 0, 5), Free("b", 4, 0, 10)], "a", points=5
    )
    # with b as it was
    held = [float(np.sum(((a - 3) * X) ** 2)) for a in found.values]
    assert max(found.objective) < 1e-3 * max(held)
    assert found.values == (0, 1.25, 2.5, 3.75, 5)


def test_the_profile_of_a_parameter_alone_is_its_objective() -> None:
    found = profile(model(lambda a: line(a, 0), line(3, 0)), [Free("a", 3, 0, 5)], "a", points=5)
    assert found.objective == pytest.approx(
        [float(np.sum(((a - 3) * X) ** 2)) for a in found.values]
    )


def test_a_range_that_does_not_hold_the_start_is_refused() -> None:
    with pytest.raises(ValueError, match="cost: expected low <= start <= high"):
        Free("cost", 5, 0, 1)


def test_noise_that_changes_with_every_value_does_not_stop_the_fit() -> None:
    def predict(cost: float) -> Vector:
        digest = hashlib.blake2b(np.float64(cost).tobytes(), digest_size=4).digest()
        noise = np.random.default_rng(int.from_bytes(digest)).normal(0, 0.02, X.size)
        return np.asarray(0.5 + 0.4 * cost * X + noise)

    truth = 0.5 + 0.4 * 0.8 * X
    found = fit(model(predict, truth), [Free("cost", 0.1, 0, 1)], noise=0.02, step=0.2)
    (cost,) = found.estimates
    assert cost.identified
    assert cost.value == pytest.approx(0.8, abs=0.1)
    assert cost.low <= 0.8 <= cost.high


@pytest.mark.parametrize("start", [0.0, 10.0])
def test_a_start_on_a_bound_is_left_behind(start: float) -> None:
    def evaluate(points: Sequence[Vector]) -> list[Vector]:
        return [np.array([point[0] - 4.0, 0.5 * (point[0] - 4.0)]) for point in points]

    (found,) = fit(evaluate, [Free("a", start, 0.0, 10.0)]).estimates
    assert found.identified
    assert found.value == pytest.approx(4.0, abs=0.01)
