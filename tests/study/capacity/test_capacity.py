"""Capacities: from the question to the document, with a made-up relay in place of simulations."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import simnet
from simnet.errors import InputError
from simnet.report.capacity import capacity as text
from simnet.scenario.core.effective import Effective
from simnet.study.capacity.document import Capacity, schema
from simnet.study.run.result import Result
from simnet.study.work import task
from simnet.study.work.store import Store
from tests.study.synthetic import CARRIED_PER_S, relayed, simulated

SCENARIO = "x460-out-of-box"
LOAD = "net.core.netdev_max_backlog"


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Effective]:
    """What was simulated."""
    done: list[Effective] = []

    def simulate(effective: Effective, **options: Any) -> Result:
        done.append(effective)
        return relayed(effective, **options)

    monkeypatch.setattr(task, "simulate", simulate)
    return done


def ask(**more: Any) -> Capacity:
    given: dict[str, Any] = {
        "max_loss": "0.1 %",
        "load": LOAD,
        "settings": {LOAD: "50000"},
        "precision": "10 %",
        "duration": "1 s",
        "jobs": 1,
        "store": Store(None),
    }
    return simnet.capacity(SCENARIO, **(given | more))


@pytest.mark.usefixtures("runs")
def test_the_answer_holds_the_capacity_and_says_what_it_is_made_of() -> None:
    found = ask(max_p99="1 ms")
    assert found.low is not None
    assert found.high is not None
    assert found.low <= CARRIED_PER_S < found.high <= 1.1 * found.low
    assert (found.precise, found.exit_status, found.exceptions) == (True, 0, ())
    carried = found.carried
    assert carried is not None
    assert carried.rx_bps == pytest.approx(1600 * found.low)
    assert carried.rx_packets_per_s == pytest.approx(found.low, rel=0.01)
    assert carried.offered_per_s == pytest.approx(found.low, rel=0.01)
    assert {p.name for p in carried.ports} == {"eth0"}
    assert set(carried.drops) == {"ring eth0"}
    document = json.loads(found.to_json())
    jsonschema.validate(document, schema())
    assert document["schema"] == "simnet.capacity/1"
    assert Capacity.model_validate_json(found.to_json()) == found
    shown = text(found)
    assert f"between {found.low:,.0f} and {found.high:,.0f} " in shown
    assert "95 % confidence" in shown


@pytest.mark.usefixtures("runs")
def test_it_is_a_frame_and_a_plot() -> None:
    found = ask(max_p99="1 ms")
    frame = found.to_frame()
    assert list(frame.index) == [one.load for one in found.loads]
    passed = frame[frame["verdict"] == "pass"]
    assert passed["late_high"].max() <= 0.01
    assert passed["latency_us_p99"].max() <= 1_000
    assert passed["loss_high"].max() <= 0.001
    assert frame["late"].max() <= 1
    assert {"rx_packets_per_s", "eth0_rx_bps", "latency_us_p999"} <= set(frame.columns)
    axes = found.plot().axes
    assert [a.get_ylabel() for a in axes] == [
        "packets lost (%)", "later than p99's limit (%)", "messages piling up (%)",
    ]  # fmt: skip
    assert axes[-1].get_xlabel() == f"{LOAD} ({found.meaning.partition(',')[0]})"
    assert f"{found.low:,.0f} meets the limits" in axes[0].figure.get_suptitle()


def test_a_p99_that_falls_where_the_load_grows_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few messages wait for a timer, many for none."""

    def simulate(effective: Effective, **options: Any) -> Result:
        made = relayed(effective, **options)
        assert made.messages is not None
        if effective.kernel.netdev_max_backlog > 60_000:
            return made
        slow = tuple((50 * late_us, count) for late_us, count in made.messages.histogram)
        messages = made.messages.model_copy(update={"histogram": slow})
        return made.model_copy(update={"messages": messages})

    monkeypatch.setattr(task, "simulate", simulate)
    (remark,) = [one for one in ask().remarks if one.startswith("p99 falls")]
    slow, fast = re.findall(r"([\d,]+) us at ", remark)
    assert int(slow.replace(",", "")) > 4 * int(fast.replace(",", ""))
    assert remark.endswith("; both meet the limits")
    monkeypatch.setattr(task, "simulate", relayed)
    assert not [one for one in ask().remarks if one.startswith("p99 falls")]


def test_all_loads_have_the_same_seeds_and_no_run_is_asked_for_twice(runs: list[Effective]) -> None:
    found = ask(seed=40)
    seeds: dict[int, set[int]] = {}
    for effective in runs[1:]:  # the first tells how long runs have to be
        seeds.setdefault(effective.kernel.netdev_max_backlog, set()).add(effective.run.seed)
    assert set(seeds) == {one.load for one in found.loads}
    assert all(used == set(range(40, 40 + len(used))) for used in seeds.values())
    assert len(runs) - 1 == sum(map(len, seeds.values())) == found.simulations
    assert ask(seed=40) == found


def test_runs_are_as_long_as_the_limit_needs(runs: list[Effective]) -> None:
    found = ask(max_loss="0.02 %", duration=None, warm_up="0 s")
    scenario_s = runs[0].run.duration_ps / 1e12
    lengths = {}
    for effective in runs[1:]:
        needed_s = 100 / (0.0002 * effective.kernel.netdev_max_backlog)
        lengths[effective.run.duration_ps / 1e12] = max(needed_s, scenario_s), needed_s / 8
    assert all(
        min(abs(one / long - 1), abs(one / short - 1)) < 0.02
        for one, (long, short) in lengths.items()
    )
    # close to the capacity they are long, far from it short
    assert {round(one.simulated_s * 0.0002 * one.load / 100, 1) for one in found.loads} == {0.1, 1}
    assert found.remarks == ()
    hasty = ask(max_loss="0.02 %", duration="100 ms")
    assert "runs of 0.1 s see fewer than 10 losses or late messages" in hasty.remarks[0]


def test_an_interrupted_search_goes_on_where_it_stopped(
    runs: list[Effective], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    whole = ask()
    everything = len(runs)
    runs.clear()
    store = Store(tmp_path)

    def interrupted(effective: Effective, **options: Any) -> Result:
        if len(runs) == everything // 2:
            raise KeyboardInterrupt
        runs.append(effective)
        return relayed(effective, **options)

    with monkeypatch.context() as patch:
        patch.setattr(task, "simulate", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ask(store=store)
    assert ask(store=store) == whole
    # the run that tells how long others are is the first of its load
    assert len(runs) == everything - 1


@pytest.mark.usefixtures("runs")
def test_the_ends_of_the_range_say_that_there_may_be_more_or_nothing() -> None:
    more = ask(between="20000..80000")
    assert (more.low, more.high, more.exit_status) == (80_000, None, 0)
    assert "there may be more" in more.remarks[-1]
    assert "at least 80,000" in text(more)
    none = ask(between="200000..800000")
    assert (none.low, none.exit_status, none.carried) == (None, 1, None)
    assert "no load from 200,000 " in text(none)


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"max_loss": None}, "expected a limit: --max-loss, --max-p99, or both"),
        ({"max_loss": "0"}, "--max-loss: expected a share above 0 and at most 50 %, got '0'"),
        ({"max_loss": "1 ms"},
         "--max-loss: wrong kind of unit in '1 ms': expected a share such as '0.1 %'"),
        ({"max_p99": "5"}, "--max-p99: missing unit in '5': expected a time such as '20 us'"),
        ({"max_p99": "0 ms"}, "--max-p99: expected a time above 0, got '0 ms'"),
        ({"precision": "0 %"},
         "--precision: expected a share above 0 and at most 50 %, got '0 %'"),
        ({"load": "net.core.netdev_max_backlg", "settings": {}},
         ("--load: net.core.netdev_max_backlg: unknown knob;"
          " did you mean net.core.netdev_max_backlog?")),
        ({"load": "irqbalance", "settings": {}},
         "--load: irqbalance: expected the name of a value"),
        ({"load": "system.server", "settings": {}},
         "--load: system.server: expected the name of a value"),
        ({"load": "net.ipv4.tcp_rmem", "settings": {}},
         "--load: net.ipv4.tcp_rmem: expected a setting that is one number"),
        ({"load": "test", "settings": {}},
         "--load: test: expected a setting that is one number"),
        ({"between": "100"}, "--between: 100: expected LOWEST..HIGHEST"),
        ({"between": "9..3"},
         "--between: 9..3: expected loads above 0, the smaller one first"),
        ({"between": "1..lots"},
         "--between: 1..lots: expected a plain number such as '64', got 'lots'"),
        ({"load": "recv_size", "settings": {}},
         (f"{SCENARIO}: no open-loop load, whose rate does not wait for answers:"
          " recv_size is 0 B")),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(given: dict[str, Any], line: str) -> None:
    with pytest.raises(InputError) as caught:
        ask(**given)
    assert caught.value.typed == line


def test_a_load_that_waits_for_answers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task, "simulate", simulated)
    with pytest.raises(InputError, match=r"no open-loop load, .* sends as fast as it is answered"):
        ask()


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    ("unit", "meaning", "counted"),
    [
        (
            "",
            "requests a second that the clients try to make (-q); 0: as many as",
            "requests a second",
        ),
        ("", "datagrams a second of each flow; 0: by bit_rate", "datagrams a second of each flow"),
        ("", "messages a second, both directions together", "messages a second"),
        ("Mbit/s", "of the link", "Mbit/s"),
    ],
)
def test_an_answer_says_what_is_counted_without_its_conditions(
    unit: str, meaning: str, counted: str
) -> None:
    found = ask().model_copy(update={"unit": unit, "meaning": meaning})
    assert found.counted == counted
    assert f"{counted} ({LOAD})" in text(found)
