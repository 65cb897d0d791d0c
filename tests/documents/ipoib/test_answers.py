"""The answers to the IPoIB document's measurements and to what it leaves to be predicted."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from simnet.documents.ipoib.answers import ANSWERS, TUNED
from simnet.errors import InputError
from simnet.scenario.parts.infiniband.columns import PortOrder
from simnet.study.run.result import Result
from simnet.study.validate.document import Numbers, answer
from simnet.study.validate.measurements import measurement, measurements, wanted
from simnet.study.work.cases import Case, Member
from tests.study.synthetic import result


def _with_window(of: Result, before: int, after: int) -> Result:
    order = PortOrder(
        port="ib0",
        packets=1000,
        out_of_order_before=before,
        out_of_order_after=after,
        before_percent=before / 10,
        after_percent=after / 10,
        late=0,
        given_up=0,
        held_mean=0.0,
        held_us=None,
    )
    return of.model_copy(update={"reordering": (order,)})


def _asked(name: str) -> tuple[Mapping[str, Case], Numbers]:
    return ANSWERS[name].cases, ANSWERS[name].numbers


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_has_the_keys_that_are_asked_for(name: str) -> None:
    asked = {*(wanted()[name].keys if name in wanted() else ())}
    asked |= measurement(name).value.keys() if name in measurements() else set()
    cases, numbers = _asked(name)
    assert set(numbers({label: _with_window(result(), 9, 3) for label in cases})) == asked


@pytest.mark.parametrize("name", ANSWERS)
def test_its_cases_can_be_simulated(name: str) -> None:
    cases = list(ANSWERS[name].cases.values())
    for case in (cases[0], cases[-1]):
        assert Member(case).effective().scenario in {"ipoib-sunway", "sw1621-t520"}


def test_a_bandwidth_is_that_of_the_best_message_size() -> None:
    cases, numbers = _asked("ipoib.single_before")
    results = {label: result(8e6 * place) for place, label in enumerate(cases, 1)}
    assert numbers(results) == {"value": pytest.approx(3.0)}


def test_utilisation_is_that_of_the_run_with_the_best_bandwidth() -> None:
    cases, numbers = _asked("ipoib.cpu_utilisation")
    results = {label: result(1e9 * place, 5.0 * place) for place, label in enumerate(cases, 1)}
    assert numbers(results) == {"before": 30.0, "after": 60.0}


def test_utilisation_is_that_of_the_busier_node() -> None:
    cases, numbers = _asked("ipoib.cpu_utilisation")
    busier = {label: result(1e9, 20.0 + 4.0 * ("netperf" in label)) for label in cases}
    assert numbers(busier) == {"before": 24.0, "after": 24.0}
    busier = {label: result(1e9, 20.0 + 3.0 * ("netserver" in label)) for label in cases}
    assert numbers(busier) == {"before": 23.0, "after": 23.0}


def test_the_best_delay_is_compared_with_both_ends() -> None:
    cases, numbers = _asked("ipoib.delack")
    delays = {label: label.split()[0] for label in cases}
    results = {
        label: result(1e9 + 1e8 * (delay == "6") - 2e8 * (delay == "1"))
        for label, delay in delays.items()
    }
    assert numbers(results) == {
        "best_ms": 6,
        "best_over_1ms": pytest.approx(1.1 / 0.8),
        "best_over_40ms": pytest.approx(1.1),
    }


def test_the_share_removed_compares_before_with_after_the_window() -> None:
    cases, numbers = _asked("ipoib.window")
    found = numbers({label: _with_window(result(), 40, 10) for label in cases})
    assert found["w80_removed_percent"] == 75.0
    nothing = numbers({label: _with_window(result(), 0, 0) for label in cases})
    assert nothing["w32_removed_percent"] == 0.0


def test_latency_is_half_of_a_transaction() -> None:
    cases, numbers = _asked("ipoib.vs_10gbe")
    plain = result(8e9)
    asks = plain.flows[0].model_copy(update={"transactions_per_s": 25_000.0})
    found = numbers({label: plain.model_copy(update={"flows": (asks,)}) for label in cases})
    assert found["ipoib_latency_us"] == found["tengbe_latency_us"] == 20.0
    assert found["tengbe_mb_s"] == pytest.approx(1000.0)
    assert {case.scenario for case in cases.values()} == {"ipoib-sunway", "sw1621-t520"}


def test_the_documents_figures_anchor_the_predictions() -> None:
    assert [anchor.id for anchor in answer("ipoib.delack").anchors] == [
        "ipoib.single_before",
        "ipoib.single_after",
    ]
    assert answer("x460.bonding").anchors != answer("ipoib.delack").anchors


def test_the_state_before_is_untuned_and_the_state_after_has_the_tunings() -> None:
    before = answer("ipoib.multi_before_best").cases
    after = answer("ipoib.connections").cases
    assert {case.tunings for case in before.values()} == {()}
    assert {case.tunings for case in after.values()} == {TUNED}


def test_a_measurement_of_one_number_has_the_key_value() -> None:
    assert measurement("ipoib.single_after").value == {"value": 1340.0}


def test_a_measurement_that_is_no_number_is_refused(tmp_path: Path) -> None:
    text = 'document = "d"\n[[measurement]]\nid = "a"\nwhere = ""\nuse = "predict"\nunit = ""\n'
    (tmp_path / "d.toml").write_text(text + 'value = "many"\n', encoding="utf-8")
    with pytest.raises(InputError):
        measurements(tmp_path)
