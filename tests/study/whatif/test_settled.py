from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from simnet.study.run.run import LATENCY, run
from simnet.study.whatif import whatif as study
from simnet.study.whatif.plan import Plan
from simnet.study.whatif.settled import settled
from simnet.study.whatif.whatif import whatif
from simnet.study.work import task
from simnet.study.work.cases import Case
from simnet.study.work.store import Store
from tests.study.synthetic import result

BOTH = ("throughput_bps", "cpu_busy_percent")
SHORT = "netperf-rr"
TIMES = ("duration", "warm_up", "precision")


def _runs(halves: Sequence[float | None], *, lost: int = 0) -> Any:
    tcp = (SimpleNamespace(retransmissions=lost),)
    return [SimpleNamespace(second_half=dict.fromkeys(BOTH, half), tcp=tcp) for half in halves]


def test_what_neither_grows_nor_is_sent_again_has_settled() -> None:
    before, after = _runs([1.02, 0.97, 1.0, 1.01]), _runs([1.0, 1.01, 0.98, 1.02])
    assert settled(before, after)
    assert not settled(before, _runs([1.0, 1.01, 0.98, 1.02], lost=1))


def test_what_grows_with_and_without_a_tuning_is_no_change_that_grows() -> None:
    assert settled(_runs([1.5, 1.52, 1.48, 1.5]), _runs([1.5, 1.49, 1.52, 1.5]))


@pytest.mark.parametrize("later", [1.1, 0.9])
def test_a_change_that_goes_on_in_every_pair_has_not_settled(later: float) -> None:
    after = [later, later + 0.01, later - 0.01, later]
    assert not settled(_runs([1.0, 1.01, 0.99, 1.0]), _runs(after))
    # one pair among equal ones may be chance
    assert settled(_runs([1.0, 1.01, 0.99, 1.0]), _runs([later, 1.0, 1.01, 1.0]))


def test_a_latency_that_moves_on_counts_where_somebody_waits_for_it() -> None:
    steady = [1.01, 0.99, 1.0, 1.0]
    before, after = _runs(steady), _runs(steady)
    for one, late in zip((*before, *after), (1.0,) * 4 + (1.3, 1.31, 1.29, 1.3), strict=True):
        one.second_half[LATENCY] = late
    assert not settled(before, after)
    assert settled(before, after, latency=False)


@pytest.mark.parametrize("halves", [[None] * 4, [0.0] * 4])
def test_what_had_nothing_in_a_half_has_not_settled(halves: list[float | None]) -> None:
    assert not settled(_runs([1.0] * 4), _runs(halves))
    unknown: Any = SimpleNamespace(second_half={}, tcp=())
    assert not settled(_runs([1.0] * 4), [unknown] * 4)


def test_halves_of_a_run_tell_what_was_delivered_worked_and_waited() -> None:
    """A queue that grows: in its second half as much is delivered, and waits longer."""
    found = run("k8s-node", duration="40 ms", warm_up="10 ms").second_half
    assert found["throughput_bps"] == pytest.approx(1.0, abs=0.05)
    assert (found[LATENCY] or 0.0) > 1.3


@pytest.fixture(params=[100, 50])
def settles_ms(request: pytest.FixtureRequest) -> int:
    """When the made-up system no longer grows."""
    return int(request.param)


@pytest.fixture
def moved(monkeypatch: pytest.MonkeyPatch, settles_ms: int) -> list[tuple[int, int]]:
    """Replace the simulation by one that grows; the list has durations and warm-ups, ms."""
    asked: list[tuple[int, int]] = []

    def simulate(effective: Any, **_options: Any) -> Any:
        run = effective.run
        asked.append((run.duration_ps // 10**9, run.warm_up_ps // 10**9))
        quicker = bool(effective.tunings)
        grows = run.warm_up_ps < settles_ms * 10**9 and quicker
        halves = dict.fromkeys(BOTH, 1.3 if grows else 1.0)
        made = result(1.1e9 if quicker else 1e9, seed=run.seed, second_half=halves)
        configuration = effective.model_dump(mode="json")
        return made.model_copy(update={"configuration": configuration})

    monkeypatch.setattr(task, "simulate", simulate)
    monkeypatch.setattr(study, "known_changes", tuple)
    return asked


def test_runs_that_have_not_settled_are_followed_by_later_and_by_longer_ones(
    moved: list[tuple[int, int]], settles_ms: int
) -> None:
    found = whatif(SHORT, "fixed-100us", members=4, jobs=1, store=Store(None))
    # a first pair, which says how much comes; short runs; such that begin where these ended
    assert moved[:2] == [(20, 20)] * 2
    later = {(40, 20), (40, 60)}
    assert set(moved[2:]) == (later if settles_ms == 50 else later | {(160, 160), (80, 80)})
    assert found.simulated_s == 0.5  # of the made-up results
    assert found.tunings[0].pairs == 4


def test_where_the_load_needs_little_runs_are_short_and_pairs_many() -> None:
    plan = Plan(Case(SHORT), 1, None, 24, None, None, None)
    assert plan.is_quick
    assert {plan.times(look) for look in plan.looks} == {("40 ms", "20 ms", "40 ms", "20 ms")}
    assert [(look.pairs, look.members) for look in plan.looks] == [
        (4, 6), (4, 8), (8, 8), (8, 14), (14, 14), (24, 24),
    ]  # fmt: skip
    assert Plan(Case(SHORT), 1, 3, 24, None, None, None).looks[-1].pairs == 3
    for said in ({"duration": "80 ms"}, {"warm_up": "30 ms"}, {"precision": "2 %"}):
        assert not Plan(Case(SHORT), 1, None, 24, **(dict.fromkeys(TIMES) | said)).is_quick  # type: ignore[arg-type]
    assert not Plan(Case("x460-out-of-box"), 1, None, 24, None, None, None).is_quick


@pytest.mark.parametrize(
    ("per_s", "measured"),
    [(0, "40 ms"), (1e3, "40 ms"), (4e5, "25 ms"), (4.8e5, "20 ms"), (1e6, "20 ms")],
)
def test_runs_are_as_long_as_ten_thousand_messages_take(per_s: float, measured: str) -> None:
    plan = replace(Plan(Case(SHORT), 1, None, 24, None, None, None), per_s=per_s)
    assert {plan.times(look).duration for look in plan.looks} == {measured}
