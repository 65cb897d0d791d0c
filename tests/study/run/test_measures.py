"""A number of a run is the same for every question."""

import pytest

import simnet
from simnet.study.compare.metrics import predicted
from simnet.study.run.measures import MEASURES, METRICS, P50, P99, measures
from simnet.study.run.result import Result
from simnet.study.whatif.verdict import changes


@pytest.fixture(scope="module")
def untuned() -> Result:
    return simnet.run("relay-untuned", warm_up="20 ms", duration="20 ms")


@pytest.mark.parametrize(("column", "metric"), [(P50, "latency_p50"), (P99, "latency_p99")])
def test_a_latency_is_that_of_all_messages_whatever_is_asked(
    untuned: Result, column: str, metric: str
) -> None:
    quantile = column.rpartition("_")[2]
    of_all = getattr(untuned.latency_us, quantile)
    of_flows = [getattr(flow.latency_us, quantile) for flow in untuned.flows]
    assert min(of_flows) < of_all < max(of_flows)
    changed = {one.metric: one for one in changes([untuned] * 2, [untuned] * 2)}
    assert changed[metric].before == pytest.approx(of_all)
    assert measures(untuned)[column] == of_all
    assert predicted(untuned)[f"latency_us.{quantile}"] == of_all


def test_a_metric_has_a_unit_and_one_name() -> None:
    known = [one for one in MEASURES.values() if one.metric]
    assert len(known) == len(METRICS)
    assert all(one.unit and one.said for one in known)
    assert METRICS["throughput"].titled() == "throughput, Mbit/s"
    assert METRICS["interrupts"].titled() == "interrupts/s"
    assert METRICS["cpu_of_all"].titled("% of all 8") == "CPU, % of all 8"
