"""Intervals: what they hold, and that they hold it by law."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.study.validate.document import answers, configuration_of, kind_of
from simnet.study.validate.intervals import hull, parameters
from simnet.study.validate.kinds import KINDS, factor, log_factor
from simnet.study.validate.measurements import measurements, wanted

AMOUNTS = st.floats(0.01, 1e6)
ENDS = st.floats(-2, 2)


@pytest.mark.parametrize("name", sorted(answers()))
def test_every_number_is_of_a_kind(name: str) -> None:
    known = measurements()[name].value if name in measurements() else {}
    for key in (*known, *(wanted()[name].keys if name in wanted() else ())):
        assert kind_of(name, key) in KINDS


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
    assert log_factor(5, 0, "CPU share") == pytest.approx(math.log(2))
    assert log_factor(0.08, 0, "gain") == pytest.approx(math.log(1.08))


def test_parameters_are_student_s_interval_of_one_more_member() -> None:
    assert parameters([0.1]) == (0, 0)
    low, high = parameters([-0.1, 0.1, 0.0, 0.2, -0.2])
    assert (low + high) / 2 == pytest.approx(0)
    # 2.776 sqrt(0.025 (1 + 1/5))
    assert high == pytest.approx(0.4809, rel=1e-3)


@given(AMOUNTS, st.lists(st.tuples(ENDS, ENDS), max_size=4), st.sampled_from(sorted(KINDS)))
def test_a_hull_holds_the_prediction_and_every_part(
    predicted: float, parts: list[tuple[float, float]], kind: str
) -> None:
    low, high = hull(predicted, parts, kind)
    assert low <= predicted <= high
    for end in (factor(predicted, end, kind) for part in parts for end in part):
        assert low <= end <= high
