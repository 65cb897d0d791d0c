"""A slip in what is typed is told before what takes long is imported or started."""

import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest

from simnet.cli.options import case_to_simulate, scenario_argument
from simnet.scenario.scenarios import find_scenario
from simnet.study.work import workers
from simnet.study.work.cases import Member

SCENARIO = "web-25g"
LOADED = """
import sys
from simnet.cli import main
try:
    main(sys.argv[1:])
finally:
    print(*sys.modules)
"""
# what reads models; what simulates, and what starts processes for it
READS = "pydantic"
SIMULATES = ("numpy", "simnet.study.run.run", "simnet.study.work.workers")


def _loaded(*arguments: str) -> tuple[str, set[str]]:
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    return done.stderr, set(done.stdout.split())


@pytest.mark.parametrize("command", ["run", "explain", "sweep", "capacity", "screen", "recommend"])
def test_a_scenario_that_is_not_there_is_missed_before_any_is_read(command: str) -> None:
    said, loaded = _loaded(command, "web-25")
    assert said == "simnet: web-25: unknown scenario; did you mean web-25g?\n"
    assert READS not in loaded


def test_a_file_that_breaks_off_is_not_taken_for_a_scenario(tmp_path: Path) -> None:
    file = tmp_path / "cut.toml"
    file.write_text('kind = "scenario"\ndescription = "A serv', "utf-8")
    said, loaded = _loaded("run", str(file))
    assert said == f"simnet: {file}:2: broken TOML: unterminated string\n"
    assert READS not in loaded


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ("whatif", SCENARIO, "fixed-50uss"),
            "fixed-50uss: unknown tuning; did you mean fixed-50us?",
        ),
        (
            ("whatif", SCENARIO, "irqbalanc=off"),
            "irqbalanc: unknown knob; did you mean irqbalance?",
        ),
        (
            ("whatif", SCENARIO, "fixed-50us+rps-al"),
            "rps-al: unknown tuning; did you mean rps-all?",
        ),
        (
            ("recommend", SCENARIO, "--tuning", "rps-al"),
            "--tuning: rps-al: unknown tuning; did you mean rps-all?",
        ),
        (
            ("recommend", SCENARIO, "--knobs", "rx-usec"),
            (
                "--knobs: rx-usec: no tuning or knob that can be turned here;"
                " did you mean ethtool -C {port} rx-usecs?"
            ),
        ),
        (
            ("run", SCENARIO, "--set", "rp_cpus=1"),
            "--set: rp_cpus: unknown knob; did you mean /sys/class/net/eth0/queues/rx-*/rps_cpus?",
        ),
        (
            ("run", SCENARIO, "--set", "listen backlg=1"),
            "--set: listen backlg: unknown knob; did you mean listen backlog?",
        ),
        (
            ("sweep", SCENARIO, "--over", "nodes=1", "--set", "irqbalanc=off"),
            "--set: irqbalanc: unknown knob; did you mean irqbalance?",
        ),
        (
            ("sweep", SCENARIO, "--over", "nods=1,2"),
            "--over: nods: unknown knob; did you mean nodes?",
        ),
        (
            ("sweep", SCENARIO, "--over", "nodes=1", "--tuning", "rps-al"),
            "--tuning: rps-al: unknown tuning; did you mean rps-all?",
        ),
        (
            ("run", SCENARIO, "--set", "nodes=0"),
            "--set: nodes: 0 is outside the legal range 1 to 64",
        ),
    ],
)
def test_what_simulates_is_not_imported_for_a_slip(
    arguments: tuple[str, ...], expected: str
) -> None:
    said, loaded = _loaded(*arguments)
    assert said == f"simnet: {expected}\n"
    assert loaded.isdisjoint(SIMULATES)


@pytest.mark.parametrize(
    ("tuning", "expected"),
    [("rps-all", ["workers", "read", "workers"]), ("affinity", ["read", "workers"])],
)
def test_workers_start_at_once_for_names_of_the_scenario_s_file(
    tuning: str, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    monkeypatch.setattr(workers, "expected", lambda _jobs: order.append("workers"))
    monkeypatch.setattr(Member, "effective", lambda _member: order.append("read"))
    case_to_simulate(SCENARIO, (), (tuning,), (), jobs=2)
    assert order == expected


def test_a_scenario_s_file_is_parsed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "own.toml"
    text = find_scenario(SCENARIO).read_text("utf-8") + f"# {tmp_path}\n"
    file.write_text(text, "utf-8")
    parsed: list[str] = []
    loads = tomllib.loads

    def noted(given: str) -> dict[str, object]:
        parsed.append(given)
        return loads(given)

    monkeypatch.setattr(tomllib, "loads", noted)
    monkeypatch.setattr(workers, "expected", lambda _jobs: None)
    context = click.Context(click.Command("whatif"))
    assert scenario_argument(lambda: None).__click_params__[0].process_value(context, str(file))  # type: ignore[attr-defined]
    case = case_to_simulate(str(file), (), ("rps-all",), (), jobs=1, asked=("fixed-50us",))
    assert Member(case).effective().scenario == "own"
    assert parsed.count(text) == 1
