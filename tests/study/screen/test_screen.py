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
MS = 10**9


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


def test_what_changes_nothing_is_not_simulated_one_by_one(asked: list[Effective]) -> None:
    found = screen(SCENARIO, jobs=1, store=NOWHERE, paths=3)
    idle = [one for one in found.factors if one.idle]
    assert len(idle) >= 20
    assert all(one.turns == 3 for one in idle if one.values)
    # a path with each of them would be longer than all runs together
    assert found.runs == len(asked) < 3 * len(idle)


def test_a_knob_within_chance_is_turned_twice_and_a_tuning_each_time() -> None:
    every = screened(FRAMES, "affinity", "numactl", paths=5, metric="latency_p99").factors
    found = {one.name: one for one in every}
    assert (found["affinity"].turns, found["numactl"].turns) == (5, 5)
    assert found[FRAMES].turns == 2


def test_what_changed_nothing_says_why() -> None:
    found = {one.name: one.why for one in screened(SACK, "vm.dirty_ratio", "affinity").factors}
    assert found == {
        SACK: "what it decides did not come up in these runs",
        "vm.dirty_ratio": "nothing of this system reads it",
        "affinity": "",
    }


def test_only_a_run_in_which_something_acts_late_warms_up_longer(asked: list[Effective]) -> None:
    # the tuning is without irqbalance, whose daemon acts after seconds
    screened("affinity", paths=2, settings={"irqbalance.map": "daemon"})
    late = {one.run.warm_up_ps for one in asked if "affinity" not in one.tunings}
    soon = {one.run.warm_up_ps for one in asked if "affinity" in one.tunings}
    assert soon == {60 * MS}
    assert min(late) > 1000 * MS


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
