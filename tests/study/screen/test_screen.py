"""What is turned, what that changes, and what it does not."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import jsonschema
import pytest

from simnet.errors import InputError
from simnet.scenario.core.effective import Effective
from simnet.study.run.result import Result
from simnet.study.screen.document import Screen, schema
from simnet.study.screen.factors import factors, turned
from simnet.study.screen.screen import screen
from simnet.study.work import task
from simnet.study.work.cases import Case
from simnet.study.work.store import Store
from tests.study.synthetic import simulated

SCENARIO = "x460-out-of-box"
FRAMES = "ethtool -C {port} rx-frames"
SACK = "net.ipv4.tcp_sack"
NOWHERE = Store(None)


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Effective]:
    """Replace the simulation; the list says what was asked for."""
    found: list[Effective] = []

    def simulate(effective: Effective, **options: Any) -> Result:
        found.append(effective)
        return simulated(effective, **options)

    monkeypatch.setattr(task, "simulate", simulate)
    return found


def screened(*knobs: str, **options: Any) -> Screen:
    return screen(SCENARIO, knobs=knobs, jobs=1, store=NOWHERE, **options)


def test_what_matters_most_comes_first(asked: list[Effective]) -> None:
    found = screened(SACK, "numactl", "affinity")
    assert next(one.name for one in found.factors) == "affinity"
    affinity, sack = found.factors[0], next(one for one in found.factors if one.name == SACK)
    assert affinity.effect("throughput").low == pytest.approx(9.53, abs=0.01)  # log of 1.1
    assert affinity.effect("throughput").high == pytest.approx(9.53, abs=0.01)
    assert (found.matters(affinity), affinity.idle) == (True, False)
    assert (found.matters(sack), sack.idle) == (False, True)
    assert {one.run.seed for one in asked[3:]} == {1}
    assert found.runs == len(asked)


def test_a_metric_may_be_chosen() -> None:
    found = screened("affinity", "numactl", metric="cpu_per_byte")
    assert found.factors[0].name == "numactl"
    assert found.factors[0].effect("cpu_per_byte").low > 0


def test_each_step_turns_one_factor_up() -> None:
    found = screened(FRAMES, "affinity", paths=3)
    assert [one.turns for one in found.factors] == [3, 3]
    assert all(one.effect("throughput").low > 0 for one in found.factors if one.name == "affinity")


def test_same_seed_same_answer_and_another_draws_other_values() -> None:
    one, again, other = (screened(FRAMES, SACK, "affinity", seed=seed) for seed in (1, 1, 2))
    assert one == again
    assert one.fingerprint != other.fingerprint


def test_what_a_system_takes_is_turned() -> None:
    every = factors(Case(SCENARIO))
    names = Counter(one.name for one in every)
    assert set(names.values()) == {1}
    assert {"affinity", "numactl", FRAMES, SACK} <= set(names)
    assert len(names) >= 20
    base = Case("relay-untuned")
    chosen = factors(base, ["rps-ff", "single-queue"])
    assert turned(base, chosen, ("on", "off")) is not None
    assert turned(base, factors(base, [SACK]), ("maybe",)) is None


def test_document_meets_its_schema_and_has_a_frame_and_a_picture() -> None:
    found = screened("affinity", SACK)
    jsonschema.validate(json.loads(found.to_json()), schema())
    assert float(found.to_frame()["size"].loc[("affinity", "throughput")]) > 9
    assert next(text.get_text() for text in found.plot().axes[0].get_yticklabels()) == "affinity"


@pytest.mark.parametrize(
    ("scenario", "options", "message"),
    [
        (SCENARIO, {"knobs": ["afinity"]}, "did you mean affinity"),
        (SCENARIO, {"metric": "speed"}, "expected one of throughput"),
        (SCENARIO, {"paths": 1}, "expected a whole number from 2"),
        ("ess-sas", {}, "its jobs run to their end"),
    ],
)
def test_what_cannot_be_screened(scenario: str, options: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        screen(scenario, **options)
