"""What a relay carries: the first limit that a made-up server reaches on the grid of loads."""

from typing import Any

import pytest

from simnet.documents.relay.answers import ANSWERS, CONFIGURATIONS
from simnet.study.run.loss import Messages
from simnet.study.run.result import Result
from simnet.study.run.rows import CpuUse
from simnet.study.validate.document import Answer
from tests.study.synthetic import CPUS, result

PORT_BPS = 1000.0


def _run(load: int, full_at: float, share: float, lost_at: float, waits_at: float) -> Result:
    """A server whose busiest CPU is full at a load, and works `share` of what the others do."""
    busiest = 100 * load / full_at
    work = [min(100.0, one) for one in (busiest, *[busiest / share] * (CPUS - 1))]
    made = result(load * PORT_BPS)
    cpus = tuple(
        CpuUse.model_validate(cpu.model_dump() | {"system": busy, "idle": 100 - busy})
        for cpu, busy in zip(made.cpus, work, strict=True)
    )
    messages = Messages.model_construct(
        offered=load, delivered=load if load < waits_at else load * 9 // 10
    )
    more: dict[str, Any] = {"cpus": cpus, "ports": made.ports * 2, "messages": messages}
    return made.model_copy(update={**more, "loss": 0.01 if load >= lost_at else 0.0})


def _answer(name: str, **server: float) -> dict[str, float]:
    limits = {"full_at": 150_000.0, "share": 1.0, "lost_at": 1e9, "waits_at": 1e9} | server
    return ANSWERS[name].numbers(
        {
            label: _run(int(dict(case.settings)["relay.rate"]), **limits)
            for label, case in ANSWERS[name].cases.items()
        }
    )


def _carried(**server: float) -> float:
    numbers = _answer("relay.capacity", **server)
    assert numbers["two_way_mbit_s"] == pytest.approx(2 * numbers["manual_affinity_mbit_s"])
    return numbers["manual_affinity_mbit_s"]


@pytest.mark.parametrize("full_at", [90_000.0, 101_000.0, 150_000.0, 240_000.0])
def test_a_load_is_carried_until_the_busiest_cpu_is_full(full_at: float) -> None:
    assert _carried(full_at=full_at) == pytest.approx(0.99 * full_at * PORT_BPS / 1e6, rel=0.005)


def test_a_busiest_cpu_with_a_fifth_more_than_the_others_ends_it_as_early() -> None:
    uneven = _carried(full_at=120_000, share=1.2)
    assert _carried(full_at=144_000) == pytest.approx(1.2 * uneven, rel=0.005)


@pytest.mark.parametrize("limit", ["lost_at", "waits_at"])
def test_loss_and_messages_that_pile_up_end_it_before_a_cpu_is_full(limit: str) -> None:
    carried = _carried(**{limit: 110_000.0})
    # between two loads of the grid
    assert 107 < carried < 118
    assert carried < _carried()


def test_a_server_that_nothing_stops_carries_the_largest_load() -> None:
    assert _carried(full_at=1e9) == pytest.approx(252.7, rel=0.001)


def test_imbalance_is_seen_before_the_busiest_cpu_is_full() -> None:
    found = _answer("relay.imbalance", share=1.2)["busiest_over_mean"]
    assert found == pytest.approx(1.2 * CPUS / (1.2 + CPUS - 1))


@pytest.mark.parametrize("full_at", [10_000.0, 51_000.0, 90_000.0, 150_000.0, 240_000.0, 1e9])
@pytest.mark.parametrize("limit", ["lost_at", "waits_at"])
def test_a_search_finds_what_the_whole_grid_shows(full_at: float, limit: str) -> None:
    limits = {"full_at": full_at, "share": 1.1, "lost_at": 1e9, "waits_at": 1e9, limit: 175_000.0}
    of = ANSWERS["relay.imbalance"]
    every = {
        label: _run(int(dict(case.settings)["relay.rate"]), **limits)
        for label, case in of.cases.items()
    }
    done = _searched(of, every, {})
    assert len(done) <= 8
    assert of.numbers(done) == of.numbers(every)
    again = _searched(of, every, done)
    assert len(again) <= 4
    assert of.numbers(again) == of.numbers(every)
    ladder = ANSWERS["relay.capacity"]
    assert ladder.search
    assert {label.split()[0] for label in ladder.search({}, {})} == set(CONFIGURATIONS)


def _searched(of: Answer, every: dict[str, Result], like: dict[str, Result]) -> dict[str, Result]:
    """What a search has simulated, that is like another."""
    assert of.search
    done: dict[str, Result] = {}
    while more := [label for label in of.search(done, like) if label not in done]:
        done |= {label: every[label] for label in more}
    return done


@pytest.mark.parametrize("full_at", [51_000.0, 90_000.0, 150_000.0, 240_000.0])
@pytest.mark.parametrize("ratio", [0.6, 0.9, 1.2, 2.0])
def test_a_search_that_begins_elsewhere_finds_the_same(full_at: float, ratio: float) -> None:
    of = ANSWERS["relay.imbalance"]
    every, like = (
        {
            label: _run(int(dict(case.settings)["relay.rate"]), full, 1.1, 1e9, 1e9)
            for label, case in of.cases.items()
        }
        for full in (full_at, full_at * ratio)
    )
    assert of.numbers(_searched(of, every, _searched(of, like, {}))) == of.numbers(every)
