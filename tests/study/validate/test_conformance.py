"""TCP beside real kernels as rows of `simnet validate`."""

import json

import pytest

from simnet.errors import InputError
from simnet.report.validation import validation
from simnet.study.conform.tcp_path import TcpOptions
from simnet.study.validate import nagle_comparison, reorder_comparison
from simnet.study.validate.conformance import CONFORMANCE
from simnet.study.validate.reorder_comparison import Simulated
from simnet.study.validate.validate import Validation, validate

QUICK = (
    "conformance.traces",
    "conformance.random-traces",
    "conformance.packetdrill",
    "conformance.nagle-delack",
)


@pytest.fixture(scope="module")
def quick() -> Validation:
    return validate(QUICK)


def test_all_traces_scripts_and_stalls_agree(quick: Validation) -> None:
    assert [gate.passed for gate in quick.gates] == [True] * 4
    numbers = {(row.id, row.key): row for row in quick.conformance}
    for key in ("scenarios", "window_fields", "sack_blocks"):
        for name in ("conformance.traces", "conformance.random-traces"):
            assert numbers[name, key].predicted == numbers[name, key].measured
    nodelay = numbers["conformance.nagle-delack", "nodelay.median_ms"]
    assert nodelay.low < nodelay.predicted < nodelay.high


def test_json_has_them_in_the_form_of_all_rows(quick: Validation) -> None:
    rows = json.loads(quick.to_json())
    assert {row["id"] for row in rows} == set(QUICK)
    names = {"id", "key", "predicted", "low", "high", "measured", "use"}
    names |= {"status", "left_out", "left_out_inside"}
    assert all(set(row) == names and row["use"] == "predict" for row in rows)


def test_they_are_told_apart_from_predictions_of_systems(quick: Validation) -> None:
    assert quick.rows == ()
    assert quick.frozen("A").rows == ()
    assert "met   17 of 17 traces" in validation(quick)


def test_a_stall_that_is_two_jiffies_off_misses(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = TcpOptions(kernel="6.18", delack_ps=48 * 10**9)
    monkeypatch.setattr(nagle_comparison, "options", lambda _stall: slow)
    assert not CONFORMANCE["conformance.nagle-delack"]().gates[0].passed


@pytest.mark.parametrize(("width", "passed"), [(24, True), (32, False)])
def test_the_windows_that_remove_reordering_must_be_the_same(
    monkeypatch: pytest.MonkeyPatch, width: int, *, passed: bool
) -> None:
    def simulate(window: int, *, loss: float, seed: int) -> Simulated:
        linux = reorder_comparison.measured()[loss, window]
        found = 0 if window >= width else 2000 + seed
        return Simulated(loss, window, linux.mbit_per_s, 0, found, 0, 0)

    monkeypatch.setattr(reorder_comparison, "simulate", simulate)
    found = CONFORMANCE["conformance.reorder-window"]()
    assert found.gates[0].passed == passed
    number = found.numbers["w0.out_of_order"]
    assert number.predicted == 2003
    assert number.low < 2001
    assert number.high > 2005


def test_a_pattern_names_them_and_a_slip_is_told() -> None:
    assert [row.id for row in validate(["conformance.pack*"]).conformance] == [
        "conformance.packetdrill"
    ]
    with pytest.raises(InputError, match=r"did you mean conformance\.traces\?"):
        validate(["conformance.trace"])
