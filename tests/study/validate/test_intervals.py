"""Intervals: what they hold, and that they hold it by law."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.study.validate.document import answers, configuration_of, kind_of
from simnet.study.validate.intervals import (
    discrepancy,
    hull,
    parameters,
    parameters_of_few,
    quantile,
)
from simnet.study.validate.kinds import KINDS, factor, log_factor
from simnet.study.validate.measurements import measurements, wanted
from simnet.study.validate.residuals import Residual

AMOUNTS = st.floats(0.01, 1e6)
ENDS = st.floats(-2, 2)


def test_every_number_is_of_a_kind() -> None:
    for name in answers():
        known = measurements()[name].value if name in measurements() else {}
        for key in (*known, *(wanted()[name].keys if name in wanted() else ())):
            assert kind_of(name, key) in KINDS, (name, key)


def test_kinds_and_configurations_are_found_by_pattern() -> None:
    assert kind_of("x460.listing1.cpu_busy_percent", "cpu0") == "CPU share"
    assert kind_of("x460.table1.netserver", "cpu_1to2") == "ratio"
    assert kind_of("ipoib.delack", "best_ms") == "optimum"
    listing = {
        configuration_of(f"x460.listing1.{name}", key)
        for name, key in (("cpu_busy_percent", "cpu0"), ("interrupts_per_second", "eth0"))
    }
    assert listing == {"x460.listing1"}
    assert configuration_of("relay.capacity", "xps_mbit_s") == "relay.capacity.xps"
    assert configuration_of("vlan.one_cpu", "mbit_per_s") == "vlan.one_cpu"


@given(AMOUNTS, AMOUNTS, st.sampled_from(sorted(KINDS)))
def test_a_factor_leads_from_one_number_to_the_other(base: float, value: float, kind: str) -> None:
    there = factor(base, log_factor(value, base, kind), kind)
    if value + KINDS[kind] >= 1e-3 * (base + KINDS[kind]):
        assert there == pytest.approx(value, rel=1e-6, abs=1e-6)


def test_nothing_is_compared_on_the_scale_of_its_kind() -> None:
    assert log_factor(0, 0, "throughput") == 0
    assert log_factor(0, 100, "throughput") == pytest.approx(math.log(1e-3))
    assert log_factor(100, 0, "throughput") == pytest.approx(-math.log(1e-3))
    assert log_factor(100, 0, "CPU share") == pytest.approx(math.log(2))
    assert log_factor(0.08, 0, "gain") == pytest.approx(math.log(1.08))


def test_parameters_are_student_s_interval_of_one_more_member() -> None:
    assert parameters([0.1]) == (0, 0)
    low, high = parameters([-0.1, 0.1, 0.0, 0.2, -0.2])
    assert (low + high) / 2 == pytest.approx(0)
    # 2.776 sqrt(0.025 (1 + 1/5))
    assert high == pytest.approx(0.4809, rel=1e-3)


def test_a_long_tail_at_one_end_does_not_make_the_other_longer() -> None:
    low, high = parameters([*[0.01 * n for n in range(23)], -3.0])
    assert low == pytest.approx(-1.37, abs=0.01)
    assert high == 0.22


FEW = st.lists(st.floats(-5, 5).map(lambda value: round(value, 3)), min_size=8, max_size=23)


@given(FEW, st.floats(0, 20))
def test_of_few_members_too_one_side_does_not_make_the_other_longer(
    members: list[float], further: float
) -> None:
    low, high = parameters_of_few(members)
    lowest = min(range(len(members)), key=members.__getitem__)
    moved = [one - further * (n == lowest) for n, one in enumerate(members)]
    assert parameters_of_few(moved)[0] <= low + 1e-9
    assert parameters_of_few(moved)[1] == pytest.approx(high)


@given(FEW)
def test_mirrored_members_have_the_mirrored_interval(members: list[float]) -> None:
    low, high = parameters_of_few(members)
    assert parameters_of_few([-one for one in members]) == pytest.approx((-high, -low))


def test_sides_need_eight_members_and_are_not_needed_from_where_extremes_count() -> None:
    skewed = [*[0.01 * n for n in range(30)], -3.0][::-1]
    for count in (0, 1, 4, 7, 24, 31):
        assert parameters_of_few(skewed[:count]) == parameters(skewed[:count])
    assert parameters_of_few(skewed[:8])[1] < parameters(skewed[:8])[1] / 5


@pytest.mark.parametrize("count", [8, 12, 16, 23])
@pytest.mark.parametrize("shape", ["normal", "uniform", "exponential", "a queue that fills"])
def test_one_more_of_few_members_lies_inside(count: int, shape: str) -> None:
    draw = np.random.default_rng(1)
    trials = (4000, count + 1)
    normal = draw.standard_normal(trials)
    made = {
        "normal": normal,
        "uniform": draw.random(trials),
        "exponential": draw.exponential(size=trials),
        "a queue that fills": 0.3 * normal - 4 * (draw.random(trials) < 0.2),
    }[shape]
    inside = 0
    for *members, one_more in made.tolist():
        low, high = parameters_of_few(members)
        inside += low <= one_more <= high
    assert inside / len(made) > 0.93


@given(AMOUNTS, st.lists(st.tuples(ENDS, ENDS), max_size=4), st.sampled_from(sorted(KINDS)))
def test_a_hull_holds_the_prediction_and_every_part(
    predicted: float, parts: list[tuple[float, float]], kind: str
) -> None:
    low, high = hull(predicted, parts, kind)
    assert low <= predicted <= high
    for end in (factor(predicted, end, kind) for part in parts for end in part):
        possible = end if kind == "gain" else max(end, 0)
        if kind == "share" and predicted <= 100:
            possible = min(possible, 100)
        assert low <= possible <= high


def test_no_share_is_more_than_all_but_cpus_may_be_added() -> None:
    wide = [(-0.5, 0.5)]
    assert hull(90, wide, "share")[1] == 100
    assert hull(90, wide, "CPU share")[1] > 150
    assert hull(90, wide, "throughput")[1] > 100


def _residual(size: float, configuration: str, kind: str = "throughput") -> Residual:
    return Residual(
        id="x", key="y", kind=kind, configuration=configuration, measured=100 * math.exp(size),
        fitted=100, left_out=100,
    )  # fmt: skip


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60))
def test_the_quantile_is_the_one_of_one_more(sizes: list[float]) -> None:
    below = sum(size <= quantile(sizes) for size in sizes)
    assert below >= min(0.95 * (len(sizes) + 1), len(sizes))
    assert quantile(sizes) in sizes


def test_with_few_residuals_the_largest_counts_and_with_many_the_largest_do_not() -> None:
    assert quantile([]) == 0
    assert quantile([0.1, 0.3, 0.2]) == 0.3
    assert quantile([n / 100 for n in range(100)]) == 0.95


def test_a_kind_of_which_little_is_known_is_pooled_with_all_others() -> None:
    slow = [_residual(0.5, f"a{n}", "latency") for n in range(7)]
    fast = [_residual(0.1, f"b{n}") for n in range(8)]
    assert discrepancy("throughput", [*slow, *fast]) == pytest.approx(0.1)
    assert discrepancy("latency", [*slow, *fast]) == pytest.approx(0.5)
    assert discrepancy("optimum", [*slow, *fast]) == pytest.approx(0.5)
    assert discrepancy("optimum", []) == 0
    assert discrepancy("storage latency", slow) == pytest.approx(0.5)
    disks = [_residual(0.9, f"c{n}", "storage latency") for n in range(3)]
    assert discrepancy("storage queue", [*slow, *disks]) == pytest.approx(0.9)
    assert discrepancy("optimum", [*slow, *disks]) == pytest.approx(0.5)


def test_what_was_looked_at_makes_an_interval_wider_but_not_narrower() -> None:
    unseen = [_residual(0.3, f"b{n}") for n in range(10)]
    for off, expected in ((0.1, 0.3), (0.6, 0.6)):
        seen = [_residual(off, f"c{n}").model_copy(update={"looked_at": True}) for n in range(300)]
        assert discrepancy("throughput", [*unseen, *seen]) == pytest.approx(expected)


def test_the_own_configuration_of_a_number_does_not_count() -> None:
    known = [_residual(0.1, f"b{n}") for n in range(10)] + [_residual(0.9, "own")] * 3
    assert discrepancy("throughput", known) == pytest.approx(0.9)
    assert discrepancy("throughput", known, "own") == pytest.approx(0.1)


@given(
    st.lists(st.floats(-1, 1), min_size=1, max_size=30),
    st.floats(1, 3),
    AMOUNTS,
    st.sampled_from(sorted(KINDS)),
)
def test_a_wider_discrepancy_never_makes_an_interval_narrower(
    sizes: list[float], wider: float, predicted: float, kind: str
) -> None:
    near, far = (
        discrepancy("throughput", [_residual(k * size, f"{n}") for n, size in enumerate(sizes)])
        for k in (1, wider)
    )
    inner, outer = (hull(predicted, [(-one, one)], kind) for one in (near, far))
    assert outer[0] <= inner[0] + 1e-9 * abs(inner[0])
    assert inner[1] <= outer[1] + 1e-9 * abs(outer[1])
    if near > 1e-6 and kind != "share":
        assert inner[0] < predicted < inner[1]
