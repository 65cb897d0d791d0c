"""Calibration: against marked measurements only, with the simulation replaced by a formula."""

from collections.abc import Callable
from datetime import date
from operator import attrgetter

import numpy as np
import pytest

from simnet.errors import InputError
from simnet.report.calibration import calibration
from simnet.scenario.core.effective import Effective
from simnet.study.calibrate import calibrate as module
from simnet.study.calibrate.calibrate import Runs, calibrate, target
from simnet.study.run.result import Result
from simnet.study.run.rows import PortRates
from simnet.study.validate import document
from simnet.study.validate.document import answers
from simnet.study.validate.measurements import measurement
from simnet.study.validate.predictions import Frozen, FrozenRow
from simnet.study.work import cases, task
from simnet.study.work.vary import ranged

ALONE = Runs(jobs=1)
LISTING = "x460.listing1.interrupts_per_second"


def varied(count: int) -> list[str]:
    """Names of so many parameters of the CPU that have a range."""
    effective = cases.Member(cases.Case("x460-out-of-box")).effective()
    names = [p.name for p in ranged(effective) if p.name.startswith("intel-xeon-7040.costs.")]
    return names[:count]


@pytest.fixture
def formula(monkeypatch: pytest.MonkeyPatch, measure: Callable[..., Result]) -> list[str]:
    """Make every interrupt rate depend on where the first parameter is in its range, alone."""
    first, second = varied(2)
    measured = measurement(LISTING).value

    def simulate(effective: Effective, *, settings: dict[str, str]) -> Result:
        del settings
        (parameter,) = [p for p in ranged(effective) if p.name == first]
        value = attrgetter(parameter.paths[0])(effective)
        share = (value - parameter.low) / (parameter.high - parameter.low)
        noise = np.random.default_rng(effective.run.seed).normal(0, 1, len(measured))
        ports = tuple(
            PortRates(
                name=name,
                node=0,
                rx_bps=0,
                tx_bps=0,
                rx_packets_per_s=0,
                tx_packets_per_s=0,
                interrupts_per_s=rate * (1.3 - share) + float(error),
                drops=0,
            )
            for (name, rate), error in zip(measured.items(), noise, strict=True)
        )
        return measure(seed=effective.run.seed).model_copy(update={"ports": ports})

    monkeypatch.setattr(task, "simulate", simulate)
    monkeypatch.setenv("SIMNET_CACHE_DIR", "")
    return [first, second]


def test_the_parameter_that_acts_is_fitted_and_the_other_keeps_its_value(
    formula: list[str],
) -> None:
    found = calibrate([LISTING], formula, runs=ALONE)
    acting, idle = found.fit.estimates
    base = found.base[formula[0]]
    share = (acting.value - base.low) / (base.high - base.low)
    assert share == pytest.approx(0.3, abs=0.01)
    assert acting.identified
    assert not idle.identified
    assert idle.value == pytest.approx(found.base[formula[1]].value)
    assert found.fit.rank == 1
    report = calibration(found)
    assert "rank of the Jacobian: 1 of 2" in report
    assert "its source: unidentified" in report


def test_profiles_are_lowest_at_the_solution(formula: list[str]) -> None:
    (profile,) = calibrate([LISTING], formula[:1], runs=ALONE, profiles=True).profiles
    lowest = int(np.argmin(profile.objective))
    assert lowest == 2
    assert "profile of" in calibration(calibrate([LISTING], formula[:1], runs=ALONE, profiles=True))


def test_a_measurement_that_only_scores_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    only = measurement(LISTING).model_copy(update={"use": "predict"})
    monkeypatch.setattr(module, "measurement", lambda _name: only)
    with pytest.raises(InputError, match=rf"^{LISTING}: expected a measurement marked"):
        target(LISTING)


def test_what_is_to_be_predicted_first_is_fitted_to_when_a_prediction_is_frozen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = "x460.table2.netserver"
    monkeypatch.setattr(module, "predictions", dict)
    with pytest.raises(InputError, match=f"simnet validate {name} --freeze NAME --stage TEXT"):
        target(name)
    row = FrozenRow(id=name, key="cpu_1to2", predicted=3, low=2, high=4)
    record = Frozen(date=date(2026, 11, 21), version="0.1.0", stage="A", rows=(row,))
    monkeypatch.setattr(module, "predictions", lambda: {"2026-11-21-a.json": record})
    assert target(name).keys == tuple(measurement(name).value)


def test_there_are_never_more_parameters_than_numbers(formula: list[str]) -> None:
    with pytest.raises(InputError, match="2 parameters for 1 measured numbers"):
        calibrate([f"{LISTING}:eth0"], formula, runs=ALONE)


def test_some_message_sizes_stand_for_all(
    monkeypatch: pytest.MonkeyPatch, measure: Callable[..., Result]
) -> None:
    (name,) = varied(1)

    def simulate(effective: Effective, *, settings: dict[str, str]) -> Result:
        """CPU time on 4 nodes grows with the size of messages, and with the parameter."""
        del settings
        (parameter,) = [p for p in ranged(effective) if p.name == name]
        value = attrgetter(parameter.paths[0])(effective)
        share = (value - parameter.low) / (parameter.high - parameter.low)
        large = effective.workload.message_bytes / 2**18
        busy = effective.workload.nodes ** (1.0 + share / 2) + large * (
            effective.workload.nodes - 1
        )
        return measure().model_copy(update={"cpu_busy_percent": busy, "throughput_bps": 1e9})

    monkeypatch.setattr(task, "simulate", simulate)
    monkeypatch.setenv("SIMNET_CACHE_DIR", "")
    table = "x460.table1.netserver"
    few = answers()[table].of(messages=("64 B", "8 KiB", "256 KiB"))
    known = {**answers(), table: few}
    monkeypatch.setattr(document, "answers", lambda: known)
    against = [f"{table}:cpu_1to4"]
    whole, some = (
        calibrate(against, [name], runs=Runs(jobs=1, seeds=(1,), messages=messages))
        for messages in ((), ("64 B",))
    )
    assert some.fit.estimates[0].value == pytest.approx(whole.fit.estimates[0].value, rel=0.02)
    assert some.numbers()[0].predicted == pytest.approx(5.755, rel=0.01)


def test_a_fit_may_use_some_message_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "predictions", dict)
    some = target("x460.table1.netserver", messages=("64 B", "8 KiB")).answer
    assert {dict(case.settings)["message"] for case in some.cases.values()} == {"64 B", "8 KiB"}
    assert len(some.cases) == 6
    own = target(LISTING, "mine.toml", ("64 B",)).answer
    assert [case.scenario for case in own.cases.values()] == ["mine.toml"]


def test_some_keys_of_a_measurement_may_be_chosen() -> None:
    chosen = target("x460.listing1.cpu_busy_percent:cpu0,cpu8")
    assert chosen.keys == ("cpu0", "cpu8")
    assert chosen.values.tolist() == [74.68, 71.27]
    assert chosen.scale == pytest.approx(72.975)


@pytest.mark.parametrize(
    ("against", "message"),
    [
        ("x460.listing1.cpu_busy", r"did you mean x460\.listing1\.cpu_busy_percent\?"),
        ("x460.listing1.cpu_busy_percent:cpu99", r"cpu99: expected a key of .*"),
        ("x460.bonding", "expected a measurement: this can only be predicted"),
    ],
)
def test_what_cannot_be_fitted_to_is_one_clear_line(against: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        target(against)


def test_a_parameter_without_a_range_is_refused() -> None:
    with pytest.raises(InputError, match=r"host\.kernel\.hz: expected a parameter with a range"):
        calibrate([LISTING], ["host.kernel.hz"])
