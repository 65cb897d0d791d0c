"""A user's own host: its captures fitted to, what they tell, what to measure next."""

import json
import shutil
from pathlib import Path
from random import Random

import pytest

from simnet.errors import InputError
from simnet.importing.source import read_source
from simnet.importing.writing.folder_out import imported
from simnet.report.formats import FORMATS
from simnet.report.measured import host_calibration
from simnet.scenario.core.load import load
from simnet.scenario.scenarios import find_scenario
from simnet.study.calibrate.calibrate import Runs
from simnet.study.calibrate.conditions import add, conditions, is_host, targets_of
from simnet.study.calibrate.host import HostFit, calibrate_host, write
from simnet.study.calibrate.plan import plan
from simnet.study.validate.document import draws_for
from simnet.study.work.cases import Case, Member, simulate_all, uncertain
from simnet.study.work.kept import beside
from tests.importing.trees import folder, port, sysfs

HOST = {
    **sysfs([[0], [1]], [[0, 1]], [[0, 1]]),
    **port("eth0", 1),
    "sys/class/net/eth0/speed": "1000\n",
    "proc/cpuinfo": "processor : 0\nvendor_id : GenuineIntel\nmodel name : Intel Xeon @ 2.60GHz\n",
    "proc/version": "Linux version 5.14.0-362.8.1.el9_3.x86_64 (builder) #1 SMP\n",
}
LOADS = {"receive": (), "requests": (("test", "tcp_rr"),)}
SHORT = Runs("10 ms", "5 ms", (1,), jobs=1)
MEMBERS = 24


def host_with(place: Path, seed: int) -> dict[str, int]:
    """Import a host, and put what tools would have measured of it; return its true values."""
    source = folder(place / "files", HOST)
    imported(read_source(str(source)), "stream").write(place / "host")
    scenario = str(place / "host" / "scenario.toml")
    random = Random(seed)  # noqa: S311 - no secret
    true = {one.path: random.randint(one.low, one.high) for one in uncertain(Case(scenario))}
    for name, settings in LOADS.items():
        here = place / "host" / "measured" / name
        here.mkdir(parents=True)
        lines = "".join(f'{knob} = "{value}"\n' for knob, value in settings)
        (here / "case.toml").write_text(f"[settings]\n{lines}", "utf-8")
        values = tuple(sorted(true.items()))
        (done,) = simulate_all([Member(Case(scenario, settings), 77, "20 ms", "5 ms", values)])
        for tool in ("mpstat", "netperf"):
            (here / f"{tool}.txt").write_text(FORMATS[tool](done), "utf-8")
    return true


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, int], HostFit]:
    """A host whose costs were drawn, these, and what its captures say."""
    place = tmp_path_factory.mktemp("drawn")
    true = host_with(place, 3)
    return place / "host", true, calibrate_host(place / "host", runs=SHORT, members=MEMBERS)


@pytest.mark.nightly
def test_true_costs_lie_inside_what_the_captures_tell(
    drawn: tuple[Path, dict[str, int], HostFit],
) -> None:
    _, true, found = drawn
    told = [one for one in found.moved.known if one.told]
    inside = [one.name for one in told if one.low <= true[one.name] <= one.high]
    assert len(told) >= 2
    assert len(inside) >= len(told) - 1
    for one in found.calibration.fit.estimates:
        assert one.low <= one.value <= one.high


def test_what_no_capture_tells_keeps_its_range(drawn: tuple[Path, dict[str, int], HostFit]) -> None:
    scenario, _, found = drawn
    ranges = {one.path: one for one in uncertain(Case(str(scenario / "scenario.toml")))}
    untold = {one.name: one for one in found.untold}
    # no frame of this host crosses nodes, none is of a bond
    for name in ("cpu.toml.costs.bond_tx_cycles", "models/server.toml.link_bandwidth_bps"):
        assert untold[name].share > 0.8
        assert untold[name].high - untold[name].low > 0.8 * (ranges[name].high - ranges[name].low)
    text = host_calibration.host(found)
    assert "these captures cannot tell" in text
    assert json.loads(host_calibration.as_json(found))["untold"] == list(untold)


def test_what_was_fitted_is_written_into_the_users_model_and_draws_beside_it(
    drawn: tuple[Path, dict[str, int], HostFit], tmp_path: Path
) -> None:
    host, _, found = drawn
    copy = tmp_path / "copy"
    shutil.copytree(host, copy)
    changes, file = write(HostFit(copy / "scenario.toml", found.calibration, found.moved))
    assert {one.file.parent for one in changes} <= {copy, copy / "models"}
    values = load(str(copy / "scenario.toml")).provenance.values()
    assert sum(one.state == "calibrated" for one in values) >= len(changes) >= 1
    assert file == beside(copy / "scenario.toml")
    case = Case(str(copy / "scenario.toml"))
    assert len(draws_for(case)) == MEMBERS
    Member(case, values=tuple(draws_for(case)[0].values.items())).effective()
    assert draws_for(Case(str(host / "scenario.toml"))) == ()


def test_a_plan_names_the_load_that_tells_most_and_what_to_type(
    drawn: tuple[Path, dict[str, int], HostFit],
) -> None:
    host, _, _ = drawn
    found = plan(host, runs=SHORT, members=12)
    assert len(found) == 3
    assert found[0].nats > 1
    assert len({one.load.name for one in found}) == 3
    shown = host_calibration.plan(found)
    assert f"mkdir -p {host}/measured/{found[0].load.name}" in shown
    assert "mpstat -P ALL -o JSON 30 1" in shown
    assert len(json.loads(host_calibration.plan_json(found))["loads"]) == 3


def test_captures_of_a_comparison_become_conditions(tmp_path: Path) -> None:
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(find_scenario("x460-out-of-box").read_text("utf-8"), "utf-8")
    file = tmp_path / "mine.csv"
    file.write_text("metric,value\nthroughput_bps,1e9\ncpu.all.kernel,20\n", "utf-8")
    case = Case(str(scenario), (("message", "4 KiB"), ("nodes", "1")), ("affinity",))
    for _ in range(2):
        add(scenario, case, [file], None)
    first, second = conditions(scenario)
    assert first.case == second.case == case
    assert first.name != second.name
    kinds = {one.id.partition(": ")[2]: one.keys for one in targets_of([first])}
    assert kinds == {"throughput": ("throughput_bps",), "CPU share": ("cpu.all.kernel",)}


CAPTURED = {"measured/a/x.csv": "metric,value\nthroughput_bps,1e9\n"}


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "measured: expected a folder with captures"),
        ({"measured/x/case.toml": "settings = 3\n"}, "case.toml:1: settings: expected a table"),
        ({"measured/x.csv": "metric,value\nfoo,1\n"}, "x.csv: foo: unknown metric"),
        (
            {"measured/x.csv": "metric,value\ncpu.all.softirk,1\n"},
            "cpu.all.softirk: unknown metric; did you mean cpu.all.softirq?",
        ),
        (
            {"measured/x.csv": "metric,value\ncpu.all.softirq,1200\n"},
            "cpu.all.softirq: expected 0 to 100 percent, got 1200",
        ),
        (
            {"measured/x.csv": "metric,value\nthroughput_bps,-1\n"},
            "throughput_bps: expected 0 or more, got -1",
        ),
        (
            {"measured/x.csv": "metric,value\nthroughput_bps,fast\n"},
            "expected a number for throughput_bps, got 'fast'",
        ),
        (
            {"measured/x.csv": "metric,value\ncpu.3.idle,1\n"},
            "measured: expected captures with one of",
        ),
        (
            {**CAPTURED, "measured/a/case.toml": '[settings]\ntezt = "tcp_rr"\n'},
            "case.toml: tezt: unknown knob; did you mean test?",
        ),
        (
            {**CAPTURED, "measured/a/case.toml": 'tunings = ["afinity"]\n'},
            "case.toml: afinity: unknown tuning; did you mean affinity?",
        ),
        ({"measured/x/case.toml": "seconds = -1\n"}, "seconds: expected more than 0"),
        ({"measured/x.txt": "hello\n"}, "x.txt: expected an output of one of"),
    ],
)
def test_what_cannot_be_used_gets_one_line(
    tmp_path: Path, files: dict[str, str], message: str
) -> None:
    text = find_scenario("x460-out-of-box").read_text("utf-8")
    folder(tmp_path, {"scenario.toml": text, **files})
    with pytest.raises(InputError) as caught:
        targets_of(conditions(tmp_path / "scenario.toml"))
    assert message in caught.value.typed


def test_a_host_is_a_folder_with_a_scenario_or_a_file(tmp_path: Path) -> None:
    folder(tmp_path, {"host/scenario.toml": "", "other/readme": ""})
    assert is_host(str(tmp_path / "host"))
    assert is_host("mine.toml")
    assert not is_host(str(tmp_path / "other"))
    assert not is_host("x460-out-of-box")


def test_a_simulation_too_short_to_tell_a_number_is_refused(tmp_path: Path) -> None:
    shutil.copy(find_scenario("stream-100g"), tmp_path / "scenario.toml")
    (tmp_path / "measured").mkdir()
    (tmp_path / "measured" / "a.toml").write_text('"latency_us.p50" = 12.0\n', "utf-8")
    with pytest.raises(InputError, match=r"has no latency_us\.p50: expected a longer one"):
        calibrate_host(tmp_path, runs=Runs("100 us", "0 s", (1,), jobs=1), members=8)


def test_a_plan_has_only_loads_that_the_scenario_takes(tmp_path: Path) -> None:
    shutil.copy(find_scenario("x460-bonding"), tmp_path / "scenario.toml")
    advice = plan(tmp_path, runs=Runs("1 ms", "0 s", (1,), jobs=1), members=8)
    assert "requests" not in {one.load.name for one in advice}
