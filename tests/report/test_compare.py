"""The predicted listing beside the measured one, and the conditions it must meet."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from simnet.documents.x460.gates import closeness_gates, remote_gate, sibling_gate
from simnet.documents.x460.listing import LISTING_1
from simnet.errors import InputError
from simnet.report.formats import compare as compare_report
from simnet.report.validation import validation
from simnet.study.calibrate.capture import Capture
from simnet.study.calibrate.listing import Gate, compare
from simnet.study.run.result import Result
from simnet.study.validate.validate import Row, Validation

GOLDEN = Path(__file__).parent / "golden"


def listing_1_gates(result: Result) -> list[Gate]:
    return LISTING_1.gates(LISTING_1.beside(result))


def test_the_comparison_reads_as_agreed(result: Result) -> None:
    expected = (GOLDEN / "compare.txt").read_text(encoding="utf-8")
    assert compare_report(result) == expected


def test_a_uniform_error_is_reported_as_what_it_is(result: Result, capture: Capture) -> None:
    comparison = compare(result, capture)
    assert [pair.id for pair in comparison.interrupt_cpus] == [0, 1, 2, 4, 5, 6, 8, 9]
    assert comparison.measured_total == pytest.approx(662.1)
    kernel = sum(row.system for row in capture.cpus)
    assert comparison.predicted_total - comparison.measured_total == pytest.approx(
        -0.05 * kernel, abs=0.05
    )
    assert all(port.error == pytest.approx(0.02) for port in comparison.ports)
    assert len(comparison.unlisted) == 48


def test_a_near_prediction_meets_every_condition(result: Result) -> None:
    gates = listing_1_gates(result)
    assert len(gates) == 6
    assert [gate.sentence for gate in gates if not gate.passed] == []


def changed(result: Result, cpu: int, points: float) -> Result:
    """The result with more system time, and less idle time, on one CPU."""
    cpus = list(result.cpus)
    row = cpus[cpu]
    update = {"system": row.system + points, "idle": row.idle - points}
    cpus[cpu] = row.model_copy(update=update)
    return result.model_copy(update={"cpus": tuple(cpus)})


@pytest.mark.parametrize(
    ("cpu", "points", "gate", "says"),
    [
        (2, -9.0, 0, "the worst is CPU 2"),
        (40, 11.0, 3, "the busiest is CPU 40, 11.0 %"),
        (2, 12.5, 4, "5: +6.2 points"),
    ],
)
def test_each_condition_catches_its_own_fault(
    result: Result, cpu: int, points: float, gate: int, says: str
) -> None:
    gates = listing_1_gates(changed(result, cpu, points))
    assert not gates[gate].passed
    assert says in gates[gate].sentence


def test_too_little_work_in_all_is_caught(result: Result, capture: Capture) -> None:
    less = result
    for pair in compare(result, capture).interrupt_cpus:
        less = changed(less, pair.id, -4.0)
    assert [gate.passed for gate in closeness_gates(compare(less, capture))] == [
        True, True, False, True,
    ]  # fmt: skip


def test_a_wrong_interrupt_rate_is_caught(result: Result, capture: Capture) -> None:
    ports = tuple(port.model_copy(update={"interrupts_per_s": 16255.0}) for port in result.ports)
    gates = closeness_gates(compare(result.model_copy(update={"ports": ports}), capture))
    assert not gates[1].passed
    assert "the worst is eth5, -16.7%" in gates[1].sentence


def test_a_constant_fails_the_contrast_between_siblings() -> None:
    gate = sibling_gate(
        dict.fromkeys(range(16), 80.0),
        busy_sibling=(1, 4, 5, 9),
        idle_sibling=(2, 6),
        expected_points=13,
        tolerance_points=5,
    )
    assert not gate.passed


def test_equal_ports_fail_the_contrast_between_nodes(result: Result, capture: Capture) -> None:
    equal = tuple(
        port.model_copy(update={"interrupts_per_s": 18000.0, "rx_bps": 9e8})
        for port in result.ports
    )
    same = compare(result.model_copy(update={"ports": equal}), capture)
    assert not remote_gate(same, local_node=0).passed
    assert remote_gate(compare(result, capture), local_node=0).passed


def test_another_setup_is_not_compared_with_the_listing(result: Result) -> None:
    workload = {"test": "netserver", "nodes": 2, "message_bytes": 8192}
    other = result.model_copy(update={"configuration": {"workload": workload}})
    expected = "the listing was measured with x460-out-of-box, message=8 KiB and nodes=4"
    with pytest.raises(InputError, match=expected):
        compare_report(other)


def test_another_capture_may_be_given(result: Result, capture: Capture) -> None:
    other = result.model_copy(update={"scenario": "mine", "configuration": {}})
    assert compare_report(other, capture).startswith("mine: what was measured beside")


def test_a_capture_of_a_larger_machine_is_refused(result: Result, capture: Capture) -> None:
    larger = replace(capture, cpus=(*capture.cpus, replace(capture.cpus[0], id=64)))
    with pytest.raises(InputError, match=r"CPU 64 of the capture is not part of scenario"):
        compare(result, larger)


def test_what_was_measured_as_nothing_has_no_finite_error(result: Result, capture: Capture) -> None:
    first, *others = capture.interrupts
    silent = replace(first, by_cpu=dict.fromkeys(first.by_cpu, 0.0))
    found = compare(result, replace(capture, interrupts=(silent, *others)))
    assert found.ports[0].error == math.inf
    assert "+inf%" in compare_report(result, found.capture)


def test_a_capture_without_an_interrupt_is_refused(result: Result, capture: Capture) -> None:
    silent = tuple(
        replace(column, by_cpu=dict.fromkeys(column.by_cpu, 0.0)) for column in capture.interrupts
    )
    with pytest.raises(InputError, match=r"expected a capture with a CPU that serves interrupts"):
        compare(result, replace(capture, interrupts=silent))


def test_the_validation_table_has_one_line_a_number_and_one_a_condition(result: Result) -> None:
    rows = (
        Row(id="a", key="x", predicted=1.1, low=0.9, high=1.2, measured=1.0, use="calibrate",
            status="fitted", left_out=1.3, left_out_inside=True),
        Row(id="a", key="y", predicted=50, low=49, high=60, measured=70, use="predict"),
        Row(id="b", key="z", predicted=5, low=4, high=6, measured=None, use="blind",
            status="blind"),
    )  # fmt: skip
    gates = listing_1_gates(result)
    found = Validation(rows=rows, gates=(gates[0], replace(gates[1], passed=False)), results={})
    table, summary, conditions = validation(found).split("\n\n")
    cells = [line.split() for line in table.splitlines()[1:]]
    assert cells == [
        ["a", "x", "1.000", "1.100", "+10.0%", "0.900", "1.200", "yes", "fitted"],
        ["a", "y", "70.00", "50.00", "-28.6%", "49.00", "60.00", "no", "left", "out"],
        ["b", "z", "-", "5.000", "-", "4.000", "6.000", "blind"],
    ]
    assert [line.split()[-3:] for line in summary.splitlines()[1:]] == [
        ["1", "28.6%", "0%"],
        ["1", "30.0%", "100%"],
    ]
    assert [line.split()[0] for line in conditions.splitlines()] == ["met", "MISSED"]
