"""One real, short simulation from a scenario's name to its result."""

import gc
import json
from pathlib import Path

import pytest

from simnet.errors import InputError
from simnet.net.tcp.socket import TcpSocket
from simnet.study.run.result import Result
from simnet.study.run.run import run
from simnet.study.work.cases import Case, Member, simulate_all
from simnet.study.work.store import Store

SCENARIO = "x460-out-of-box"
SETTINGS = {"nodes": "1"}


def short(**changes: object) -> Result:
    options = {"settings": SETTINGS, "duration": "12 ms", "warm_up": "8 ms"} | changes
    return run(SCENARIO, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def result() -> Result:
    return short()


def test_a_run_measures_the_time_it_was_asked_to(result: Result) -> None:
    assert (result.warmup_s, result.simulated_s) == (0.008, 0.012)
    assert len(result.cpus) == 64
    assert result.settings == SETTINGS
    assert result.configuration["workload"]["nodes"] == 1
    assert result.throughput_bps > 0


def test_what_a_flow_delivers_came_through_its_port(result: Result) -> None:
    received = {port.name: port.rx_bps for port in result.ports}
    assert len(result.flows) == 2
    for flow in result.flows:
        assert 0 < flow.goodput_bps < received[flow.port]


def test_equal_runs_have_equal_fingerprints_and_another_seed_another(result: Result) -> None:
    assert short() == result
    assert short(seed=result.seed + 1).fingerprint != result.fingerprint


def test_a_trace_changes_nothing_and_has_a_track_for_every_working_cpu(
    result: Result, tmp_path: Path
) -> None:
    path = tmp_path / "run.json"
    assert short(trace=path) == result
    events = json.loads(path.read_text(encoding="ascii"))["traceEvents"]
    tracks = {e["args"]["name"] for e in events if e["name"] == "thread_name"}
    working = {cpu.id for cpu in result.cpus if cpu.softirq > 0}
    assert working
    assert len(tracks) >= len(working)


def test_processes_give_the_results_of_one_process(tmp_path: Path) -> None:
    case = Case(SCENARIO, tuple(SETTINGS.items()))
    members = [Member(case, seed, "3 ms", "2 ms") for seed in (1, 2)]
    alone = simulate_all(members, jobs=1, store=Store(None))
    assert simulate_all(members, jobs=2, store=Store(tmp_path)) == alone
    assert simulate_all(members, jobs=1, store=Store(tmp_path)) == alone


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"settings": {"nodse": "2"}}, r'settings\["nodse"\]: .*did you mean'),
        ({"duration": "2"}, "duration: "),
        ({"trace": "/nowhere/at/all.json"}, r"all\.json: trace: cannot be written: No such"),
    ],
)
def test_bad_input_is_one_clear_line(changes: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        short(**changes)
    assert "\n" not in str(caught.value)


def test_an_unknown_scenario_is_one_clear_line() -> None:
    with pytest.raises(InputError, match="x460-out-of-bx"):
        run("x460-out-of-bx")


def test_a_run_needs_no_warm_up() -> None:
    result = short(warm_up="0 s", duration="2 ms")
    assert (result.warmup_s, result.simulated_s) == (0, 0.002)


def test_a_run_by_precision_finds_its_warm_up(result: Result) -> None:
    precise = short(precision="20 %", duration="60 ms")
    assert set(precise.half_width_percent) == {"throughput_bps", "cpu_busy_percent"}
    assert precise.warmup_s + precise.simulated_s == pytest.approx(0.06)
    assert 0 < precise.warmup_s <= 0.03
    assert not result.half_width_percent


@pytest.mark.parametrize(
    "test", ["netserver", pytest.param("bidirectional", marks=pytest.mark.nightly)]
)
def test_a_finished_system_is_freed(test: str) -> None:
    def alive() -> int:
        gc.collect()
        return sum(type(thing).__name__ == "Cpu" for thing in gc.get_objects())

    before = alive()
    for seed in range(2):
        short(seed=seed, duration="4 ms", settings={**SETTINGS, "test": test})
    assert alive() == before


def test_connections_are_freed_without_the_collector() -> None:
    def sockets() -> int:
        return sum(isinstance(found, TcpSocket) for found in gc.get_objects())

    def relay() -> None:
        settings = {"relay.connections": "300", "relay.rate": "20000"}
        run("relay-untuned", settings=settings, duration="10 ms", warm_up="10 ms")

    relay()
    gc.collect()
    before = sockets()
    gc.disable()
    try:
        relay()
        # what a worker has in hand stays with it
        assert sockets() - before < 60
    finally:
        gc.enable()
