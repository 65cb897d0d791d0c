"""Validation: rows and intervals, with the simulation replaced by a formula."""

import json
from collections.abc import Callable
from functools import partial

import pytest

from simnet.errors import InputError
from simnet.scenario.core.effective import Effective
from simnet.study.run.result import Result
from simnet.study.run.rows import CpuUse, PortInterrupts, PortRates
from simnet.study.validate import document
from simnet.study.validate import validate as study
from simnet.study.validate.asking import Ask, simulated
from simnet.study.validate.document import Answer, Results, answer, answers
from simnet.study.validate.measurements import measurement, measurements, wanted
from simnet.study.validate.residuals import Residual
from simnet.study.validate.validate import named, validate
from simnet.study.work import task
from simnet.study.work.cases import Case, Member

BUSY = "x460.listing1.cpu_busy_percent"
RATES = "x460.listing1.interrupts_per_second"


@pytest.fixture
def formula(monkeypatch: pytest.MonkeyPatch, measure: Callable[..., Result]) -> list[int]:
    """Predict half of a CPU everywhere, less a point for each thousand of the seed."""
    seeds: list[int] = []

    def simulate(effective: Effective, *, settings: dict[str, str]) -> Result:
        del settings
        seed = effective.run.seed
        seeds.append(seed)
        busy = 50.0 - seed / 1000
        cpus = tuple(
            CpuUse(
                id=cpu, node=cpu // 16, user=0, system=busy, softirq=0, irq=0, iowait=0,
                steal=0, idle=100 - busy,
            )
            for cpu in range(64)
        )  # fmt: skip
        ports = tuple(
            PortRates(
                name=f"eth{n}", node=n // 2, rx_bps=9e8, tx_bps=0, rx_packets_per_s=0,
                tx_packets_per_s=0, interrupts_per_s=18_000 + seed, drops=0,
            )
            for n in range(8)
        )  # fmt: skip
        changes = {
            "scenario": effective.scenario,
            "cpus": cpus,
            "ports": ports,
            "configuration": effective.model_dump(mode="json"),
        }
        return measure(seed=seed).model_copy(update=changes)

    monkeypatch.setattr(task, "simulate", simulate)
    monkeypatch.setattr(study, "residuals", tuple)
    monkeypatch.setenv("SIMNET_CACHE_DIR", "")
    return seeds


@pytest.mark.usefixtures("formula")
def test_rows_hold_prediction_interval_measurement_and_use() -> None:
    found = validate([BUSY, RATES], members=4, jobs=1)
    rows = {(row.id, row.key): row for row in found.rows}
    assert set(rows) == {
        *((BUSY, key) for key in measurement(BUSY).value),
        *((RATES, key) for key in measurement(RATES).value),
    }
    row = rows[RATES, "eth5"]
    assert row.measured == 19515.86
    assert row.use == "calibrate"
    assert 17_990 < row.low < row.predicted < row.high < 18_010
    assert row.error == pytest.approx(row.predicted / 19515.86 - 1)
    busy = rows[BUSY, "cpu0"]
    assert busy.low < busy.predicted < busy.high


def test_one_run_answers_both_listings(formula: list[int]) -> None:
    validate([BUSY, RATES], members=0, jobs=1)
    assert len(formula) == 1


@pytest.mark.usefixtures("formula")
def test_without_an_ensemble_there_is_no_interval() -> None:
    for row in validate([RATES], members=0, jobs=1).rows:
        assert row.low == row.predicted == row.high


@pytest.mark.usefixtures("formula")
def test_what_is_known_of_the_model_s_errors_costs_no_simulation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = [
        Residual(
            id=RATES, key=f"eth{n}", kind="rate of interrupts", configuration=f"c{n}",
            measured=11_000, fitted=10_000, left_out=10_000 - 100 * n,
        )
        for n in range(8)
    ]  # fmt: skip
    monkeypatch.setattr(study, "residuals", lambda: known)
    rows = validate([RATES, "x460.bonding"], members=0, jobs=1).rows
    assert [row.status for row in rows] == ["fitted"] * 8 + ["blind"] * 10
    assert [row.left_out for row in rows[:8]] == [10_000 - 100 * n for n in range(8)]
    assert all(row.left_out_inside for row in rows[:8])
    for row in rows[:8]:
        # rates of interrupts are compared with 100/s more
        off = (11_000 + 100) / (9_300 + 100)
        assert row.high + 100 == pytest.approx((row.predicted + 100) * off)
        assert row.low + 100 == pytest.approx((row.predicted + 100) / off)


@pytest.mark.usefixtures("formula")
@pytest.mark.nightly
def test_an_answer_of_many_cases_has_a_smaller_ensemble() -> None:
    seen: list[tuple[int, int, str]] = []
    rows = validate(
        ["x460.table1.netserver"], members=6, jobs=1, progress=lambda *counts: seen.append(counts)
    ).rows
    assert len(rows) == 6
    # 45 predictions; 12 cases show what two members move, and one the anchor's six: each beside
    # the parameters of the prediction
    assert seen[-1] == (45 + 12 * 3 + 7, 45 + 12 * 3 + 7, "")


@pytest.mark.usefixtures("formula")
def test_a_constant_misses_the_conditions_of_the_listing() -> None:
    gates = validate([BUSY], members=0, jobs=1).gates
    assert len(gates) == 6
    assert not any(gate.passed for gate in gates if "sibling" in gate.sentence)


@pytest.mark.usefixtures("formula")
def test_json_is_a_list_of_rows() -> None:
    rows = json.loads(validate([RATES], members=0, jobs=1).to_json())
    assert [set(row) for row in rows] == 8 * [
        {"id", "key", "predicted", "low", "high", "measured", "use"}
        | {"status", "left_out", "left_out_inside"}
    ]


@pytest.mark.usefixtures("formula")
def test_rows_can_be_frozen() -> None:
    found = validate([RATES], members=2, jobs=1)
    frozen = found.frozen("before any fit")
    assert [(row.id, row.key, row.predicted) for row in frozen.rows] == [
        (row.id, row.key, row.predicted) for row in found.rows
    ]
    assert frozen.stage == "before any fit"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("x460.listing1.interrupts", r"did you mean x460\.listing1\.interrupts_per_second\?"),
        ("vlan.one_cpu", "no scenario answers this measurement yet"),
    ],
)
def test_an_id_that_cannot_be_answered_is_one_clear_line(
    name: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {known: of for known, of in answers().items() if known != name}
    monkeypatch.setattr(document, "answers", lambda: known)
    with pytest.raises(InputError, match=message):
        validate([name])


def test_ratios_are_means_over_the_message_sizes(measure: Callable[..., Result]) -> None:
    table = answer("x460.table1.netserver")
    assert len(table.cases) == 45
    results = {}
    for label in table.cases:
        nodes = int(label.split()[0])
        small = "64 B" in label
        update = {
            "throughput_bps": nodes * 1e9 * (0.5 if small and nodes == 4 else 1),
            "cpu_busy_percent": nodes**1.5,
        }
        results[label] = measure().model_copy(update=update)
    numbers = table.numbers(results)
    assert numbers["throughput_1to2"] == 2
    assert numbers["throughput_1to4"] == pytest.approx((14 * 4 + 2) / 15)
    assert numbers["cpu_2to4"] == pytest.approx(2**1.5)


@pytest.mark.usefixtures("formula")
@pytest.mark.nightly
def test_what_nobody_has_measured_is_predicted_all_the_same() -> None:
    rows = validate(["x460.affinity.netserver"], members=0, jobs=1).rows
    assert [row.key for row in rows] == list(wanted()["x460.affinity.netserver"].keys)
    for row in rows:
        assert (row.measured, row.error, row.use) == (None, None, "blind")


@pytest.mark.usefixtures("formula")
def test_a_pattern_stands_for_several_ids() -> None:
    rows = validate(["x460.listing1.*"], members=0, jobs=1).rows
    assert list(dict.fromkeys(row.id for row in rows)) == [BUSY, RATES]
    with pytest.raises(InputError, match=r"^x461\.\*: expected the id of a measurement"):
        validate(["x461.*"])


@pytest.mark.usefixtures("formula")
def test_what_takes_hours_is_answered_only_when_it_is_named() -> None:
    taking_hours = {name for name, of in answers().items() if of.hours}
    assert taking_hours == {name for name in answers() if name.startswith("ess.")}
    assert taking_hours.isdisjoint(named(()))
    assert set(named(["ess.*"])) == taking_hours


def test_what_was_never_measured_is_predicted_only_when_it_is_named() -> None:
    unknown = {name for name in answers() if name not in measurements()}
    assert unknown >= {"memcached.defer10.max", "x460.bonding"}
    assert unknown.isdisjoint(named(()))
    assert {"memcached.defer50.max", "x460.listing2"} <= set(named(()))
    assert unknown <= set(named(["*"]))


@pytest.mark.usefixtures("formula")
def test_what_is_searched_for_is_simulated_as_the_search_goes() -> None:
    cases_ = {str(count): Case("x460-out-of-box", (("nodes", str(count)),)) for count in (1, 2, 4)}
    seen: list[list[str]] = []

    def search(done: Results, _like: Results) -> list[str]:
        seen.append(sorted(done))
        return ["4"] if not done else ["2", "4"]

    of = Answer(cases_, lambda results: {"value": len(results)}, search=search)
    steps: list[tuple[int, int]] = []

    def counted(done: int, total: int, _phase: str = "") -> None:
        steps.append((done, total))

    (found,) = simulated([Ask(of, Member)], jobs=1, progress=counted)
    assert sorted(found) == ["2", "4"]
    assert seen == [[], ["4"], ["2", "4"]]
    assert steps == [(0, 1), (1, 1), (1, 2), (2, 2)]


@pytest.mark.usefixtures("formula")
def test_a_search_that_is_like_another_begins_where_that_ended() -> None:
    cases_ = {str(count): Case("x460-out-of-box", (("nodes", str(count)),)) for count in (1, 2, 4)}
    begun: list[list[str]] = []

    def search(done: Results, like: Results) -> list[str]:
        if not done:
            begun.append(sorted(like))
        return ["4"] if like else ["1", "2", "4"][: len(done) + 1]

    of = Answer(cases_, lambda results: {"value": len(results)}, search=search)
    first = Ask(of, Member)
    found = simulated([first, Ask(of, partial(Member, seed=2), like=first)], jobs=1)
    assert [sorted(one) for one in found] == [["1", "2", "4"], ["4"]]
    assert begun == [[], ["1", "2", "4"]]


def test_the_second_listing_is_summed_up_by_what_cpus_do(measure: Callable[..., Result]) -> None:
    def cpu(number: int, node: int, busy: float) -> CpuUse:
        return CpuUse(
            id=number, node=node, user=0, system=busy, softirq=0, irq=0, iowait=0, steal=0,
            idle=100 - busy,
        )  # fmt: skip

    def port(name: str, node: int, rate: float) -> PortRates:
        return PortRates(
            name=name, node=node, rx_bps=0, tx_bps=0, rx_packets_per_s=0, tx_packets_per_s=0,
            interrupts_per_s=rate, drops=0,
        )  # fmt: skip

    busy = {0: (0, 70), 1: (0, 40), 2: (0, 60), 16: (1, 30), 17: (1, 1), 32: (2, 50)}
    rates = {"eth0": (0, 0), "eth2": (1, 1), "eth4": (2, 2)}
    result = measure().model_copy(
        update={
            "cpus": tuple(cpu(number, node, share) for number, (node, share) in busy.items()),
            "ports": tuple(port(name, node, 100 + s) for name, (node, s) in rates.items()),
            "interrupts": tuple(
                PortInterrupts(port=name, irq=170 + serving, by_cpu={serving: 100.0})
                for name, (_, serving) in rates.items()
            ),
        }
    )
    assert answer("x460.listing2").numbers({"run": result}) == {
        "total_busy_percent": 251,
        "remote_interrupt_cpu_busy_percent": 50,
        "remote_application_cpu_busy_percent": 40,
        "interrupts_eth0": 100,
        "interrupts_eth2": 101,
        "interrupts_eth4": 102,
    }
