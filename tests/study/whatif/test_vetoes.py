from collections.abc import Sequence

import pytest

from simnet.study.run.measures import FAIRNESS, LOSS, RATE, fairness
from simnet.study.run.result import Result
from simnet.study.whatif.verdict import Answer, Verdict
from simnet.study.whatif.vetoes import vetoed
from tests.study.synthetic import result

YES = Verdict("yes", RATE, "throughput +50.0 %")


def _flows(*rates: float, loss: float = 0.0) -> Result:
    made = result(sum(rates), loss=loss)
    flows = tuple(
        made.flows[0].model_copy(update={"name": f"eth{n}", "goodput_bps": rate})
        for n, rate in enumerate(rates)
    )
    silent = tuple(flow.name for flow in flows if not flow.goodput_bps)
    return made.model_copy(update={"flows": flows, "silent": silent})


@pytest.mark.parametrize(
    ("after", "answer", "metric"),
    [
        ([0.0, 0.002, 0.004], "yes", RATE),
        ([0.05, 0.06, 0.07], "no", LOSS),
        ([0.0, 0.0, 0.06], "cannot tell", LOSS),
    ],
)
def test_a_gain_that_loses_packets_is_none(
    after: Sequence[float], answer: Answer, metric: str
) -> None:
    tuned = [_flows(2e9, loss=loss) for loss in after]
    found = vetoed(YES, [_flows(1e9)] * 3, tuned, 0.05)
    assert (found.answer, found.metric) == (answer, metric)
    assert found.sentence.startswith(YES.sentence)


def test_a_loss_that_was_there_before_is_no_veto() -> None:
    assert vetoed(YES, [_flows(1e9, loss=0.07)] * 3, [_flows(2e9, loss=0.07)] * 3, 0.05) == YES


def test_a_gain_that_starves_a_flow_is_none() -> None:
    before, after = [_flows(1e9, 1e9)] * 2, [_flows(4e9, 0.0)] * 2
    found = vetoed(YES, before, after, 0.05)
    assert (found.answer, found.metric) == ("no", FAIRNESS)
    assert found.sentence.endswith("but 1 of 2 flows get nothing: eth1")
    # by chance in one run of several, or before as well: no flow starves of the tuning
    ten = [1e9] * 10
    once = [_flows(*ten, 1e9), _flows(*ten, 0.0)]
    assert vetoed(YES, [once[0]] * 2, once, 0.05) == YES
    assert vetoed(YES, [once[1]] * 2, [once[1]] * 2, 0.05) == YES


def test_unequal_flows_are_too_dear() -> None:
    before = [_flows(1e9, 1e9)] * 3
    assert vetoed(YES, before, [_flows(1.4e9, 1e9)] * 3, 0.05) == YES
    found = vetoed(YES, before, [_flows(3e9, 0.5e9)] * 3, 0.05)
    assert (found.answer, found.metric) == ("no", FAIRNESS)
    assert found.sentence.endswith("but Jain's index falls by 33.8 %")


def test_a_no_stays_a_no() -> None:
    no = Verdict("no", RATE, "throughput -50.0 %")
    assert vetoed(no, [_flows(1e9)] * 2, [_flows(5e8, loss=0.5)] * 2, 0.05) == no


def test_jains_index() -> None:
    assert fairness(_flows(5.0, 5.0, 5.0)) == pytest.approx(1.0)
    assert fairness(_flows(5.0, 0.0, 0.0, 0.0)) == pytest.approx(0.25)
    assert fairness(_flows(0.0)) is None
