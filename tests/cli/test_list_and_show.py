import json
import shutil
import sys
from pathlib import Path

import pytest

import simnet as package
from simnet.cli import _simnet, commands
from simnet.scenario.core import jsonschema
from simnet.scenario.core.library import MODEL_FOLDERS, find_model, model_names
from simnet.scenario.core.load import load, present
from simnet.scenario.scenarios import scenario_names
from tests.cli.conftest import Simnet
from tests.house.trees import ROOT, run

SCENARIO = "x460-out-of-box"
ALL_MODELS = [name for kind in MODEL_FOLDERS for name in model_names(kind)]


def test_version(simnet: Simnet) -> None:
    assert simnet("--version") == (0, f"simnet, version {package.__version__}\n", "")


@pytest.mark.parametrize("command", [(), ("list",), ("show",), ("run",), ("validate",)])
def test_help_says_what_a_command_does(simnet: Simnet, command: tuple[str, ...]) -> None:
    status, out, err = simnet(*command, "--help")
    assert (status, err) == (0, "")
    assert out.startswith("Usage: simnet")


def test_modules_of_the_folder_are_the_commands() -> None:
    names = {one.stem for one in Path(commands.__file__).parent.glob("*.py")} - {"__init__"}
    assert {name.rstrip("_") for name in names} == set(_simnet.commands)
    assert {name: command.name for name, command in _simnet.commands.items()} == {
        name: name for name in _simnet.commands
    }


def test_a_command_imports_no_other() -> None:
    script = (
        "import sys; from simnet.cli import _simnet; _simnet.get_command(None, 'list')\n"
        "print(sorted(name for name in sys.modules if name.startswith('simnet.cli.commands.')))"
    )
    done = run(sys.executable, "-c", script, cwd=ROOT)
    assert done.stdout == "['simnet.cli.commands.list']\n"


def test_a_list_imports_no_library_and_nothing_that_simulates() -> None:
    script = (
        "import sys; before = set(sys.modules)\n"
        "from simnet.cli.commands.list import list_command\n"
        "list_command([], standalone_mode=False)\n"
        "print(*set(sys.modules) - before)"
    )
    done = run(sys.executable, "-c", script, cwd=ROOT)
    imported = done.stdout.splitlines()[-1].split()
    libraries = {name.partition(".")[0] for name in imported} - set(sys.stdlib_module_names)
    assert libraries == {"simnet", "click"}
    needed = ("_engine", "_share", "cli", "errors", "files", "printable", "report", "scenario")
    ours = [name.split(".") for name in imported if name.startswith("simnet.")]
    assert {parts[1] for parts in ours} <= {*needed, "spelling", "terminal", "time_units"}
    assert {parts[2] for parts in ours if parts[1:2] == ["scenario"] and parts[2:]} == {"headings"}
    assert {parts[2] for parts in ours if parts[1:2] == ["report"] and parts[2:]} == {"columns"}


def test_nothing_typed_gets_help(simnet: Simnet) -> None:
    status, out, err = simnet()
    assert (status, out) == (2, "")
    assert err.startswith("Usage: simnet")


def test_list_names_every_scenario_and_model(simnet: Simnet) -> None:
    status, out, err = simnet("list")
    assert (status, err) == (0, "")
    for name in (*scenario_names(), *ALL_MODELS):
        assert f" {name} " in out.replace("\n", "\n ")


def test_list_json_holds_the_same(simnet: Simnet) -> None:
    found = json.loads(simnet("list", "--json").out)
    assert [row["name"] for row in found["scenarios"]] == list(scenario_names())
    assert sorted(row["name"] for row in found["models"]) == sorted(ALL_MODELS)


def test_list_knobs_says_which_are_modelled(simnet: Simnet) -> None:
    rows = json.loads(simnet("list", "knobs", "--json").out)["knobs"]
    modelled = {row["name"]: row["modelled"] for row in rows}
    assert modelled["net.ipv4.tcp_rmem"] is True
    assert modelled["net.ipv4.tcp_fack"] is False
    assert "net.ipv4.tcp_rmem" in simnet("list", "knobs").out


def test_show_a_model_gives_values_with_sources(simnet: Simnet) -> None:
    for name in ALL_MODELS:
        status, out, err = simnet("show", name)
        assert (status, err) == (0, ""), name
        document = json.loads(simnet("show", name, "--json").out)
        assert document["schema"] == "simnet.model/1"
        assert document["values"], name
        for key, value in document["values"].items():
            assert f"\n{key} " in out, name
            assert value["source"] in out, name
        # what a file leaves to its default is no part
        assert None not in document.values(), name
        assert " None" not in out, name


def test_show_a_scenario_gives_every_effective_value(simnet: Simnet) -> None:
    status, out, err = simnet("show", SCENARIO)
    assert (status, err) == (0, "")
    for row in (
        "cpu.clock 3 GHz datasheet",
        "kernel.tcp_rmem 4 KiB, 87380 B, 174760 B",
        "peer:kernel.tcp_wmem 4 KiB, 16 KiB, 32 KiB calibrated",
        "message 8 KiB chosen scenarios/x460-out-of-box.toml:23",
        "eth3 1 201 20 measured",
    ):
        assert row in " ".join(out.split()), row


def test_show_names_are_those_that_set_takes(simnet: Simnet) -> None:
    changed = simnet("show", SCENARIO, "--set", "cpu.costs.hardirq=5000 cycles").out
    row = next(line for line in changed.splitlines() if line.startswith("cpu.costs.hardirq "))
    assert row.split() == ["cpu.costs.hardirq", "5000", "cycles", "chosen", "--set"]


def test_show_takes_every_scenario(simnet: Simnet) -> None:
    for name in scenario_names():
        status, out, _ = simnet("show", name)
        assert status == 0, name
        assert out.startswith(f"# scenario {name}, digest ")


def test_show_has_disks_and_what_uses_them(simnet: Simnet) -> None:
    out = simnet("show", "vscsi-parallel").out
    names = {line.split()[0] for line in out.splitlines() if line and line[0] not in "# "}
    shown = ("vscsi.request_limit", "ffsb.random-read.num_threads", "sdb.read_ahead")
    theirs = ("peer:disk.rpm", "peer:sdc.queue_depth", "peer:sdc1.start")
    assert {*shown, *theirs} <= names
    assert "# interrupts" not in out
    for name in (*shown, *theirs):
        present("vscsi-parallel", name)


def test_show_json_is_the_configuration_that_runs(simnet: Simnet) -> None:
    document = json.loads(simnet("show", SCENARIO, "--set", "nodes=2", "--seed", "9", "--json").out)
    effective = load(SCENARIO, settings={"nodes": "2"}, seed=9)
    assert document["schema"] == "simnet.effective/1"
    assert document["digest"] == effective.digest()
    assert document["configuration"] == effective.model_dump(mode="json")
    hardirq = document["values"]["host.cpu.costs.hardirq_cycles"]
    assert hardirq["state"] in {"assumed", "calibrated"}
    assert hardirq["value"] == effective.cpu.costs.hardirq_cycles


def test_show_says_on_stderr_what_is_not_modelled(simnet: Simnet) -> None:
    status, out, err = simnet("show", SCENARIO, "--set", "net.ipv4.tcp_fack=0")
    assert status == 0
    assert err == "simnet: net.ipv4.tcp_fack: accepted, but not modelled: it changes nothing here\n"
    row = next(line for line in out.splitlines() if line.startswith("net.ipv4.tcp_fack "))
    assert row.split()[:4] == ["net.ipv4.tcp_fack", "0", "no", "--set"]


@pytest.mark.parametrize("kind", jsonschema.NAMES)
def test_show_prints_the_schema_of_a_kind_of_file(simnet: Simnet, kind: str) -> None:
    assert simnet("show", "--schema", kind) == (0, jsonschema.text(kind), "")


def test_a_model_file_of_ones_own_is_shown(
    simnet: Simnet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(find_model("nic", "intel-82546"), "mine.toml")
    ours, theirs = simnet("show", "mine.toml").out, simnet("show", "intel-82546").out
    assert ours.splitlines()[1:] == theirs.splitlines()[1:]
