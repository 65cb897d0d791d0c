"""What is turned, what that changes, and what it does not."""

import io
import json
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from simnet import _share
from simnet.errors import InputError
from simnet.report.search.screen import screen_rows
from simnet.scenario.core.effective import Effective
from simnet.study.run.result import Result
from simnet.study.screen import shares as shares_module
from simnet.study.screen.document import Effect, Screen, Screened, schema
from simnet.study.screen.factors import Factor, factors, turned
from simnet.study.screen.screen import _chance, _uncertain_ranks, screen
from simnet.study.work import task
from simnet.study.work.cases import Case
from simnet.study.work.store import Store
from tests.study.synthetic import replaced, simulated
from tests.study.synthetic import result as synthetic_result

SCENARIO = "x460-out-of-box"
FRAMES = "ethtool -C {port} rx-frames"
SACK = "net.ipv4.tcp_sack"
NOWHERE = Store(None)
MS = 10**9


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Effective]:
    return replaced(monkeypatch, simulated)


def screened(*knobs: str, **options: Any) -> Screen:
    return screen(SCENARIO, knobs=knobs, jobs=1, store=NOWHERE, **options)


def test_chance_is_not_known_where_nothing_came_with_a_seed() -> None:
    found = [synthetic_result(rate, 50.0) for rate in (1e9, 2e9, 0.0)]
    assert "throughput" not in _chance(found)
    assert _chance(found[:2])["throughput"] == pytest.approx(100 * math.log(2) / math.sqrt(2))


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


def test_without_chance_nothing_is_said_to_matter(asked: list[Effective]) -> None:
    """A seed delivered nothing: what chance does is not known, so no change is more than chance."""
    found = screened("affinity").model_copy(update={"chance": {"cpu_per_byte": 0.0}})
    assert asked
    assert not found.matters(found.factors[0])
    assert [row[-1] for row in screen_rows(found)] == ["cannot tell"]


@pytest.mark.parametrize(
    ("spreads", "said"),
    [((30.0, 30.0, 30.0, 0.0, 0.0), True), ((30.0, 30.0, 0.0, 0.0, 0.0), False)],
)
def test_ranks_that_are_luck_are_named(spreads: tuple[float, ...], *, said: bool) -> None:
    """A mean of three turns, of which one did everything, is that of other paths by luck."""
    ranked = [
        Screened(
            name=f"knob{number}",
            description="",
            values=("on",),
            turns=3,
            idle=False,
            effects=(Effect(metric="throughput", size=20.0, spread=spread, low=0.0, high=60.0),),
        )
        for number, spread in enumerate(spreads)
    ]
    lines = list(_uncertain_ranks(ranked, "throughput", 3))
    assert len(lines) == said
    for line in lines:
        assert "after 3 paths: knob0, knob1, knob2 did" in line


def test_a_metric_may_be_chosen() -> None:
    found = screened("affinity", "numactl", metric="cpu_per_byte")
    assert found.factors[0].name == "numactl"
    assert found.factors[0].effect("cpu_per_byte").low > 0


def test_each_step_turns_one_factor_up() -> None:
    found = screened(FRAMES, "affinity", paths=3)
    assert [one.turns for one in found.factors] == [3, 3]
    assert all(one.effect("throughput").low > 0 for one in found.factors if one.name == "affinity")


@pytest.mark.nightly
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


@pytest.mark.nightly
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
        SACK: "nothing in these runs made use of it",
        "vm.dirty_ratio": "nothing of this system reads it",
        "affinity": "",
    }


@pytest.mark.nightly
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


def test_a_long_title_stays_within_the_picture() -> None:
    settings = {f"net.core.a_knob_{number}": "262144" for number in range(8)}
    found = screened("affinity", SACK)
    long = found.factors[0].model_copy(update={"name": "/sys/class/net/{port}/queues/rx"})
    factors = (long, *found.factors[1:])
    figure = found.model_copy(update={"settings": settings, "factors": factors}).plot()
    figure.savefig(io.BytesIO())
    axes = figure.axes[0]
    right = axes.get_tightbbox()
    assert right is not None
    assert right.x1 <= figure.bbox.x1
    assert "net.core.a_knob_7" in axes.get_title(loc="left")


def shared(found: Screen, metric: str) -> dict[str, tuple[float, float]]:
    return {one.name: (one.first, one.total) for one in found.shares if one.metric == metric}


def test_shares_are_those_of_the_variance(monkeypatch: pytest.MonkeyPatch) -> None:
    # two factors of 10 and 30 %, independent: shares as the squares of their logarithms
    def simulate(effective: Effective, **_options: Any) -> Result:
        usual = effective.irqbalance != "off"
        bound = any(flow.cpubind_node is not None for flow in effective.flows)
        carried = 1e9 * (1 if usual else 1.1) * (1.3 if bound else 1)
        return synthetic_result(carried, 50.0, seed=effective.run.seed)

    monkeypatch.setattr(task, "simulate", simulate)
    found = screened(SACK, "numactl", "affinity", sobol=256)
    small, large = math.log(1.1) ** 2, math.log(1.3) ** 2
    expected = {"numactl": large / (small + large), "affinity": small / (small + large)}
    assert list(shared(found, "throughput")) == ["numactl", "affinity"]
    for name, (first, total) in shared(found, "throughput").items():
        assert (first, total) == pytest.approx((expected[name], expected[name]), abs=0.08)
    # 50 % of ten CPUs for more bytes; the tail is the same in all runs
    assert set(shared(found, "latency_p99").values()) == {(0.0, 0.0)}
    # two factors with two values each: no combination is simulated twice
    assert found.runs <= 3 + 2 * 8 + 4


def test_what_acts_only_with_another_has_a_share_in_total_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def simulate(effective: Effective, **_options: Any) -> Result:
        moved = effective.irqbalance == "off"
        bound = any(flow.cpubind_node is not None for flow in effective.flows)
        return synthetic_result(1e9 * (1.2 if moved == bound else 1), 50.0, seed=effective.run.seed)

    monkeypatch.setattr(task, "simulate", simulate)
    found = screened("numactl", "affinity", sobol=256)
    for first, total in shared(found, "throughput").values():
        assert first == pytest.approx(0, abs=0.15)
        assert total == pytest.approx(1, abs=0.15)


@pytest.mark.nightly
def test_shares_are_of_what_matters_and_goes_together() -> None:
    found = screened(SACK, "numactl", "affinity", sobol=8)
    assert {one.name for one in found.shares} == {"affinity"}
    assert found.unshared == ()
    assert len(found.plot().axes) == 2
    assert screened(SACK, "affinity").shares == ()


def test_values_that_do_not_go_together_are_left_out_of_the_sample(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    base = Case(SCENARIO)
    both = factors(base, ["affinity", "numactl"])

    def refused(base: Case, every: Sequence[Factor], values: Sequence[str]) -> Case | None:
        return None if list(values) == ["on", "on"] else turned(base, every, values)

    monkeypatch.setattr(shares_module, "turned", refused)

    def result_of(cases: Sequence[Case]) -> dict[Case, Result]:
        return {case: synthetic_result(1e9 + 1e8 * len(case.tunings)) for case in cases}

    found, left = shares_module.shares(base, both, 8, 1, ["throughput"], result_of)
    assert [one.name for one in found] == ["affinity"]
    assert left == ("numactl",)


@pytest.mark.parametrize("points", [3, 4, 100, 8192, -8])
def test_a_sample_has_a_power_of_two_points(points: int) -> None:
    with pytest.raises(InputError, match="expected a power of two from 8 to 4096"):
        screened("affinity", sobol=points)


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


def test_a_number_is_refused_before_anything_is_loaded() -> None:
    with pytest.raises(InputError, match="expected a whole number from 2"):
        screen("no-such-scenario", paths=1)


@pytest.mark.nightly
def test_a_tuning_that_others_override_is_turned_alone(tmp_path: Path) -> None:
    text = (_share.folder("scenarios") / f"{SCENARIO}.toml").read_text("utf-8")
    names = ("wanted", *(f"stronger{number}" for number in range(8)))
    for name in names:
        value = "off" if name == "wanted" else "on"
        text += f'\n[tunings.{name}]\ndescription = "{name}"\nirqbalance = "{value}"\n'
    mine = tmp_path / "mine.toml"
    mine.write_text(text, "utf-8")
    found = screen(mine, knobs=names, paths=2, jobs=1, store=NOWHERE)
    wanted = next(one for one in found.factors if one.name == "wanted")
    assert not wanted.idle
    assert wanted.effect("throughput").high == pytest.approx(9.53, abs=0.01)
