"""``simnet compare``: a saved prediction and files of tools in, exit status and a table out."""

import json
import shutil
from pathlib import Path

import jsonschema
import pytest

from simnet import _share
from simnet.study.calibrate.conditions import conditions
from simnet.study.compare.compare import schema
from tests.cli.conftest import Simnet

RUN = ("run", "x460-out-of-box", "--set", "nodes=1", "--warm-up", "5 ms", "--duration", "10 ms")


@pytest.fixture
def saved(simnet: Simnet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The file of a prediction, and netperf's output of the same run beside it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.json").write_text(simnet(*RUN, "--json").out, "utf-8")
    (tmp_path / "netperf.txt").write_text(simnet(*RUN, "--format", "netperf").out, "utf-8")
    return "p.json"


def test_what_is_inside_ends_with_0(simnet: Simnet, saved: str) -> None:
    status, out, err = simnet("compare", saved, "netperf.txt", "--members", "0")
    assert (status, err) == (0, "")
    assert "No difference proven at 95 % confidence" in out
    assert "throughput_bps" in out


def test_what_is_outside_ends_with_1_and_json_has_it(
    simnet: Simnet, saved: str, tmp_path: Path
) -> None:
    (tmp_path / "x.csv").write_text("metric,value\nthroughput_bps,1000\n", "utf-8")
    status, out, _ = simnet("compare", saved, "x.csv", "--members", "0")
    assert (status, "OUTSIDE" in out) == (1, True)
    assert "Difference at 95 % confidence: 1 of 1 metrics" in out
    status, out, _ = simnet("compare", saved, "x.csv", "--members", "2", "--json")
    document = json.loads(out)
    jsonschema.validate(document, schema())
    assert (status, document["exit_status"], document["members"]) == (1, 1, 3)
    assert document["schema"] == "simnet.compare/1"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("nowhere.json", "netperf.txt"), "nowhere.json: cannot be read: No such file"),
        (("netperf.txt", "netperf.txt"), "netperf.txt: expected what simnet run or whatif --json"),
        (("p.json", "nowhere.txt"), "nowhere.txt: cannot be read: No such file or directory"),
        (("p.json", "p.json"), "p.json: expected an output of one of /proc/interrupts, "),
        (
            ("p.json", "netperf.txt", "--scenario", "x460-out-of-bax"),
            "unknown scenario; did you mean",
        ),
        (
            ("p.json", "netperf.txt", "--seconds", "0"),
            "--seconds: expected a time above 0, got 0.0",
        ),
        (("p.json",), "compare: missing argument 'CAPTURE...'"),
    ],
)
@pytest.mark.usefixtures("saved")
def test_bad_input_gets_one_line(simnet: Simnet, arguments: tuple[str, ...], line: str) -> None:
    status, out, err = simnet("compare", *arguments)
    assert (status, out) == (2, "")
    assert line in err
    assert err.count("\n") == 1


def test_update_keeps_the_captures_beside_a_scenario_of_ones_own(
    simnet: Simnet, saved: str, tmp_path: Path
) -> None:
    own = tmp_path / "own" / "x460-mine.toml"
    own.parent.mkdir()
    shutil.copy(_share.folder("scenarios") / "x460-out-of-box.toml", own)
    arguments = ("own/x460-mine.toml", *RUN[2:], "--json")
    (tmp_path / "own" / "p.json").write_text(simnet("run", *arguments).out, "utf-8")
    status, _, err = simnet("compare", "own/p.json", "netperf.txt", "--members", "0", "--update")
    assert (status, err) == (
        0, "simnet: kept in own/measured/nodes-1-1: simnet calibrate fits to it\n",
    )  # fmt: skip
    (found,) = conditions(own)
    assert found.case.settings == (("nodes", "1"),)
    refused = simnet("compare", saved, "netperf.txt", "--members", "0", "--update")
    assert refused.status == 2
    assert "--update: expected a prediction from a scenario of one's own" in refused.err


@pytest.mark.slow
def test_a_change_of_a_host_of_ones_own_finds_its_scenario(
    simnet: Simnet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scenario that says no name is called after its folder, as an import writes it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "host").mkdir()
    text = (_share.folder("scenarios") / "x460-out-of-box.toml").read_text("utf-8")
    (tmp_path / "host" / "scenario.toml").write_text(text, "utf-8")
    short = ("--seeds", "2", "--members", "0", "--warm-up", "2 ms", "--duration", "2 ms")
    one = ("--set", "nodes=1", "--jobs", "1", *short)
    found = simnet("whatif", "host/scenario.toml", "affinity", *one, "--json")
    (tmp_path / "host" / "whatif.json").write_text(found.out, "utf-8")
    (tmp_path / "now.toml").write_text("cpu.all.softirq = 2.0\n", "utf-8")
    captures = ("now.toml", "--before", "now.toml", "--members", "0")
    status, out, _ = simnet("compare", "host/whatif.json", *captures)
    assert status in {0, 3}
    assert "Predicted and measured change of host" in out
