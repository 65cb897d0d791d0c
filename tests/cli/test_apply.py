"""Files with a machine's attributes, as a user gives them."""

import json
from pathlib import Path

import pytest

from simnet._share import folder
from tests.cli.conftest import Simnet
from tests.scenario.parts.test_delayed_ack_knobs import SCENARIO

FILE = str(folder("validation") / "captures" / "aix-no-a.txt")


@pytest.fixture
def scenario(tmp_path: Path) -> str:
    file = tmp_path / "aix.toml"
    file.write_text(SCENARIO.format(kernel="aix-7.2-ess"), "utf-8")
    return str(file)


def test_show_has_a_row_for_every_attribute(simnet: Simnet, scenario: str) -> None:
    status, out, err = simnet("show", scenario, "--apply", FILE)
    assert status == 0
    assert f"simnet: {FILE}: no -a, 146 attributes: 10 modelled, 136 not modelled\n" in err
    rows = out[out.index(f"# no -a: {FILE}") :].splitlines()[2:]
    assert len([row for row in rows if row]) == 146
    assert rows[14].split()[:5] == ["15", "fasttimo", "100", "ms", "modelled"]
    document = json.loads(simnet("show", scenario, "--apply", FILE, "--json").out)
    assert document["captured"][14]["settings"] == ["no -o fasttimo"]


def test_a_run_says_which_files_were_applied(simnet: Simnet, scenario: str) -> None:
    status, out, err = simnet("run", scenario, "--apply", FILE, "--json")
    assert status == 0
    assert "10 modelled" in err
    assert json.loads(out)["settings"] == {"--apply": FILE}


def test_a_file_is_part_of_what_is_compared_with(simnet: Simnet, scenario: str) -> None:
    times = ("--seeds", "2", "--members", "0", "--jobs", "1")
    _, out, err = simnet(
        "whatif", scenario, "no -o tcp_nodelayack=1", "--apply", FILE, *times, "--duration", "1 ms"
    )
    assert "10 modelled" in err
    assert "no difference: that is how the system is already" in out


def test_a_file_is_applied_to_all_runs_of_a_grid(
    simnet: Simnet, scenario: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMNET_CACHE_DIR", str(tmp_path / "kept"))
    file = tmp_path / "listing.txt"
    file.write_text("tcp_nodelayack = 1\n", "utf-8")
    over = ("--over", "no -o tcp_nodelayack=0,1", "--duration", "4 ms", "--warm-up", "10 ms")
    _, both, _ = simnet("sweep", scenario, *over, "--jobs", "1", "--json")
    applied = ("--over", "seed=1", *over[2:], "--apply", str(file))
    status, out, err = simnet("sweep", scenario, *applied, "--jobs", "1", "--json")
    assert status == 0
    assert err.splitlines()[0] == f"simnet: {file}: no -a, 1 attribute: 1 modelled"
    plain, acked = (row["fingerprint"] for row in json.loads(both)["rows"])
    assert plain != acked == json.loads(out)["rows"][0]["fingerprint"]


@pytest.mark.parametrize(
    "command",
    [
        ("run",),
        ("show",),
        ("explain",),
        ("sweep", "--over", "seed=1,2"),
        ("capacity", "--max-loss", "1 %"),
    ],
)
def test_a_file_of_another_system_is_refused(simnet: Simnet, command: tuple[str, ...]) -> None:
    name, *more = command
    status, out, err = simnet(name, "x460-out-of-box", *more, "--apply", FILE)
    assert (status, out) == (2, "")
    assert err.startswith(f"simnet: {FILE}: no -a: a command of AIX, but ibm-x460 runs Linux")
    assert err.count("\n") == 1


def test_a_model_takes_no_file(simnet: Simnet) -> None:
    assert simnet("show", "aix-7.2-ess", "--apply", FILE).status == 2


def test_known_attributes_are_listed(simnet: Simnet) -> None:
    status, out, _ = simnet("list", "attributes", "--json")
    assert status == 0
    rows = {(row["command"], row["name"]): row for row in json.loads(out)["attributes"]}
    assert rows["no", "fasttimo"]["modelled"]
    assert rows["mmlsconfig", "pagepool"]["unit"] == "B"
