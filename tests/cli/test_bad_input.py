"""Bad input: one line on stderr that says what and where, nothing on stdout, exit status 2."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import simnet.study.run.run as study_run
from simnet import _share
from simnet.errors import LostRunError, SimulationError
from tests.cli.conftest import Simnet

SCENARIO = "x460-out-of-box"


@pytest.fixture
def in_tmp_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _own(folder: Path, old: str = "", new: str = "") -> str:
    """Write a copy of the scenario with one change; return its name."""
    text = (_share.folder("scenarios") / f"{SCENARIO}.toml").read_text("utf-8")
    assert old in text
    (folder / "mine.toml").write_text(text.replace(old, new, 1), "utf-8")
    return "mine.toml"


@pytest.mark.parametrize("command", ["run", "show"])
@pytest.mark.parametrize(
    ("setting", "line"),
    [
        ("net.ipv4.tcp_rmme=1",
         "--set: net.ipv4.tcp_rmme: unknown knob; did you mean net.ipv4.tcp_rmem?"),
        ("message=64", "--set: message: missing unit in '64': expected a size such as '256 KiB'"),
        ("message=64 us",
         "--set: message: wrong kind of unit in '64 us': expected a size such as '256 KiB'"),
        ("message=-64 B", "--set: message: -64 B is outside the legal range 1 B to 16 MiB"),
        ("message=64 GiB", "--set: message: 64 GiB is outside the legal range 1 B to 16 MiB"),
        ("nodes=5", "--set: nodes: 5 nodes: ibm-x460 has 4"),
        ("numactl --cpubind=7",
         "--set: numactl --cpubind: NUMA node 7 does not exist: ibm-x460 has nodes 0 to 3"),
        ("/proc/irq/177/smp_affinity=1,00000000,00000000",
         ("--set: /proc/irq/177/smp_affinity: CPU 64 is beyond the machine:"
         " ibm-x460 has CPUs 0 to 63")),
        ("nodes", "--set: nodes: expected NAME=VALUE"),
        ("=4", "--set: =4: expected NAME=VALUE"),
    ],
)  # fmt: skip
def test_a_bad_setting(simnet: Simnet, command: str, setting: str, line: str) -> None:
    assert simnet(command, SCENARIO, "--set", setting) == (2, "", f"simnet: {line}\n")


@pytest.mark.parametrize("command", ["run", "show"])
@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ('server = "ibm-x460"', 'server = "ibm-x461"',
         "mine.toml:LINE: system.server: unknown server model 'ibm-x461'; did you mean ibm-x460?"),
        ('message = "8 KiB"', "message = 8192",
         ("mine.toml:LINE: workload.message: missing unit in 8192:"
         " expected a size such as '256 KiB'")),
        ('warm_up = "500 ms"', 'warm_up = "500 MB"',
         ("mine.toml:LINE: run.warm_up: wrong kind of unit in '500 MB':"
         " expected a time such as '20 us'")),
        ('duration = "2 s"', 'duration = "-2 s"',
         "mine.toml:LINE: run.duration: -2 s is outside the legal range 1 us to 100000 s"),
        ('irqbalance = "on"', 'irqbalanced = "on"',
         "mine.toml:LINE: irqbalanced: unknown knob; did you mean irqbalance?"),
        ('irqbalance = "on"', '"numactl --cpubind" = 4',
         ("mine.toml:LINE: numactl --cpubind: NUMA node 4 does not exist:"
         " ibm-x460 has nodes 0 to 3")),
        ('irqbalance = "on"', "irqbalance =", "mine.toml:LINE: broken TOML: invalid value"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("in_tmp_path")
def test_a_bad_scenario_file(
    simnet: Simnet, tmp_path: Path, command: str, old: str, new: str, line: str
) -> None:
    file = _own(tmp_path, old, new)
    lines = (tmp_path / "mine.toml").read_text(encoding="utf-8").splitlines()
    number = next(n for n, text in enumerate(lines, 1) if new in text)
    expected = line.replace("LINE", str(number))
    assert simnet(command, file) == (2, "", f"simnet: {expected}\n")


@pytest.mark.parametrize("command", ["run", "show"])
@pytest.mark.usefixtures("in_tmp_path")
def test_an_unreadable_file(simnet: Simnet, tmp_path: Path, command: str) -> None:
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "binary.toml").write_bytes(bytes(range(128, 256)))
    lines = {
        "gone.toml": "gone.toml: cannot be read: No such file or directory",
        "folder.toml": "folder.toml: cannot be read: Is a directory",
        "binary.toml": "binary.toml:1: is not UTF-8 text",
    }
    for name, line in lines.items():
        assert simnet(command, name) == (2, "", f"simnet: {line}\n")


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs /proc")
def test_a_file_that_fails_while_it_is_read(simnet: Simnet) -> None:
    line = "simnet: /proc/self/mem: cannot be read: Input/output error\n"
    assert simnet("run", "/proc/self/mem") == (2, "", line)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
@pytest.mark.usefixtures("in_tmp_path")
def test_a_file_without_permission(simnet: Simnet, tmp_path: Path) -> None:
    Path(_own(tmp_path)).chmod(0)
    line = "simnet: mine.toml: cannot be read: Permission denied\n"
    assert simnet("run", "mine.toml") == (2, "", line)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["run", "x460-out-of-bx"],
         "x460-out-of-bx: unknown scenario; did you mean x460-out-of-box?"),
        (["run", SCENARIO, "--duration", "10"],
         "--duration: missing unit in '10': expected a time such as '20 us'"),
        (["run", SCENARIO, "--warm-up", "1 B"],
         "--warm-up: wrong kind of unit in '1 B': expected a time such as '20 us'"),
        (["run", SCENARIO, "--format", "sarr"],
         ("--format: expected one of text, json, sar, interrupts, mpstat, vmstat, netperf, iostat,"
          " iperf, fio, fio-json, ethtool, prometheus, compare, got 'sarr'; did you mean sar?")),
        (["run", SCENARIO, "--format", "sar", "--json"],
         "--format: give it or --json, not both"),
        (["run", "relay-tuned", "--format", "netperf"],
         "--format: netperf shows flows of netperf, and there are none"),
        (["run", "ess-sas", "--format", "vmstat"],
         "--format: vmstat shows one host, and here are partitions with jobs"),
        (["run", "nowhere"], "nowhere: unknown scenario: simnet list scenarios shows all"),
        (["run", "."],
         ".: a folder without scenario.toml: expected the name of a scenario, or a file"),
        (["run", "./"],
         "./: a folder without scenario.toml: expected the name of a scenario, or a file"),
        (["run", SCENARIO, "--duration", "1 kg"],
         "--duration: unknown unit 'kg': expected a time such as '20 us'"),
        (["run", SCENARIO, "--duration", "1e99 s"],
         "--duration: 1e+99 s is outside the legal range 1 us to 100000 s"),
        (["run", SCENARIO, "--seed", "-1"],
         "run: invalid value for '--seed': expected a whole number, 0 or more, got '-1'"),
        (["whatif", SCENARIO, "affinity", "--seeds", "few"],
         "whatif: invalid value for '--seeds': expected a whole number from 2 to 1,000, got 'few'"),
        (["whatif", SCENARIO, "seed=3"],
         "seed: no tuning: both runs of a pair have the same one, see --seed"),
        (["screen", SCENARIO, "--knobs", "all"],
         "--knobs: all: no tuning or knob that can be turned here"),
        (["report", SCENARIO, "--out", "report.txt"],
         "--out: report.txt: expected a name that ends with .html"),
        # what is far off is not suggested
        (["run", SCENARIO, "--goal", "p99"], "run: no such option '--goal'"),
        (["show", SCENARIO, "--out", "all.json"], "show: no such option '--out'"),
        (["run", SCENARIO, "--durtion", "1 s"],
         "run: no such option '--durtion'; did you mean --duration?"),
        (["runn", SCENARIO], "no such command 'runn'; did you mean run?"),
        (["run", SCENARIO, "--set", "zz=1"], "--set: zz: unknown knob"),
        (["run", "nvme-local", "--set", "peer:vm.dirty_ratio=1"],
         "--set: peer:vm.dirty_ratio: the scenario has no peers"),
        (["whatif", "nvme-local", "peer:taskset --cpu-list=1"],
         "peer:taskset --cpu-list: the scenario has no peers"),
        (["show"], "show: expected the name of a scenario or model, or --schema KIND"),
        (["show", "x460", "--schema", "cpu"],
         "show: expected the name of a scenario or model, or --schema KIND"),
        (["run", ""], "SCENARIO: expected the name of a scenario, or a file, got ''"),
        (["whatif", "web-25g", "rfs+queues=all"],
         "queues=all: expected a whole number, as in queues=4"),
        (["import", ".", "--cpus", "0"],
         ("import: invalid value for '--cpus': expected a whole number from 1 to 8,192,"
          " got '0'")),
        (["conform", "--kernel", "linux-6.66", "a.pkt"],
         "--kernel: unknown kernel model 'linux-6.66'; did you mean linux-6.6?"),
        (["show", "nosuch"],
         ("nosuch: no scenario and no model has this name: simnet list shows scenarios,"
          " and simnet list models the rest")),
        (["show", "intel-82546x"],
         "intel-82546x: no scenario and no model has this name; did you mean intel-82546?"),
        (["show", "intel-82546", "--set", "nodes=1"],
         "intel-82546: a model takes no settings, only a scenario does"),
        (["show", "--schema", "nick"],
         ("--schema: expected one of model, cpu, server, nic, switch, fabric, kernel, disk,"
          " hypervisor, kvm, storage, filesystem, lpars, client, workload, scenario, got 'nick';"
          " did you mean nic?")),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_a_bad_command_line(simnet: Simnet, arguments: list[str], line: str) -> None:
    assert simnet(*arguments) == (2, "", f"simnet: {line}\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rum"], "simnet: no such command 'rum'"),
        (["run"], "simnet: run: missing argument 'SCENARIO'"),
        (["run", SCENARIO, "--sed", "1"], "simnet: run: no such option"),
        (
            ["list", "nobs"],
            "simnet: list: invalid value for '[scenarios|models|knobs|attributes]': 'nobs'",
        ),
        (["list", "a", "b"], "simnet: list: "),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_misused_command(simnet: Simnet, arguments: list[str], said: str) -> None:
    status, out, err = simnet(*arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    # the rest is the wording of the library that reads the command line
    assert err.replace("[[", "[").replace("]]", "]").startswith(said)


def test_an_unknown_measurement(simnet: Simnet) -> None:
    outcome = simnet("validate", "x460.listing1.cpu_busy")
    assert outcome.status == 2
    assert outcome.out == ""
    assert outcome.err.count("\n") == 1
    assert outcome.err.startswith("simnet: x460.listing1.cpu_busy: ")
    assert "x460.listing1.cpu_busy_percent" in outcome.err


@pytest.mark.usefixtures("in_tmp_path")
def test_a_trace_that_cannot_be_written(simnet: Simnet) -> None:
    outcome = simnet("run", SCENARIO, "--trace", "no/where.json")
    assert outcome.status == 2
    assert outcome.out == ""
    assert outcome.err.startswith("simnet: no/where.json: --trace: ")
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (SimulationError("ran dry", component="sut.eth0", time_ps=1500),
         70, "sut.eth0: at 0.0000000015 s: ran dry"),
        (ZeroDivisionError("division\nby zero"), 70,
         "defect in simnet: ZeroDivisionError: division by zero (SIMNET_DEBUG=1 shows where)"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (MemoryError(), 3, "memory ran out"),
        (LostRunError("a run: it was killed"), 3, "a run: it was killed"),
    ],
    ids=["simulation", "defect", "interrupt", "memory", "lost"],
)  # fmt: skip
def test_what_goes_wrong_inside_is_one_line_too(
    simnet: Simnet, monkeypatch: pytest.MonkeyPatch, error: BaseException, status: int, line: str
) -> None:
    def fail(*_arguments: object, **_options: object) -> None:
        raise error

    monkeypatch.setattr(study_run, "simulate", fail)
    assert simnet("run", SCENARIO) == (status, "", f"simnet: {line}\n")


@pytest.mark.usefixtures("in_tmp_path")
def test_debugging_shows_the_traceback(simnet: Simnet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMNET_DEBUG", "1")
    outcome = simnet("run", "gone.toml")
    assert outcome.status == 2
    assert outcome.err.startswith("Traceback (most recent call last):")
    assert outcome.err.endswith("\nsimnet: gone.toml: cannot be read: No such file or directory\n")
    outcome = simnet("run", "a\x1b[2J.toml")
    assert all(line.isprintable() for line in outcome.err.split("\n"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_said_once() -> None:
    done = _process("list", stdout=Path("/dev/full"))
    assert (done.returncode, done.stderr) == (74, "simnet: output: No space left on device\n")


@pytest.mark.parametrize(
    ("command", "status"),
    [(f"show {SCENARIO} | true", 141), ("show nothing 2>&1 | true", 2), ("list 2>&1 | true", 141)],
)
def test_a_reader_that_has_left_is_told_nothing(command: str, status: int) -> None:
    typed = f"(sleep 0.2; {sys.executable} -c 'from simnet.cli import main; main()' {command}"
    typed = typed.replace(" |", "; echo $? > status) |")
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["bash", "-c", typed],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONWARNINGS": "ignore"},
        )
        assert (done.stdout, done.stderr) == ("", "")
        assert int(Path(folder, "status").read_text("utf-8")) == status


def _process(*arguments: str, stdout: Path) -> subprocess.CompletedProcess[str]:
    with stdout.open("w") as stream:
        return subprocess.run(
            [sys.executable, "-c", "from simnet.cli import main; main()", *arguments],
            stdout=stream,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env={**os.environ, "PYTHONWARNINGS": "ignore"},
        )


def test_a_capture_that_is_cut(simnet: Simnet, tmp_path: Path) -> None:
    whole = _share.folder("validation") / "captures" / "sar-x460-out-of-box-8k-4nodes.txt"
    text = whole.read_text("utf-8")
    cut = tmp_path / "cut.txt"
    cut.write_text(text[: len(text) // 2], "utf-8")
    status, out, error = simnet("run", SCENARIO, "--capture", str(cut))
    assert (status, out) == (2, "")
    assert error.count("\n") == 1
    assert error.startswith(f"simnet: {cut}:")


def test_a_capture_without_a_comparison(simnet: Simnet) -> None:
    line = "--capture: only with --format compare"
    answer = simnet("run", SCENARIO, "--capture", "any.txt", "--format", "sar")
    assert answer == (2, "", f"simnet: {line}\n")
