"""Runs as a user makes them; short, because the interpreted engine makes them too."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from simnet.host.ledger import MECHANISMS, PLACEMENT
from simnet.scenario.system.system import System
from tests.cli.conftest import Simnet

SHORT = ("x460-out-of-box", "--set", "nodes=1", "--warm-up", "20 ms", "--duration", "2 ms")


def test_the_result_is_json_with_its_schema(simnet: Simnet) -> None:
    status, out, err = simnet("run", *SHORT, "--json")
    assert (status, err) == (0, "")
    result = json.loads(out)
    assert result["schema"] == "simnet.result/1"
    assert result["scenario"] == "x460-out-of-box"
    assert result["seed"] == 1
    assert result["simulated_s"] == pytest.approx(0.002)
    assert [cpu["id"] for cpu in result["cpus"]] == list(range(64))
    assert [port["name"] for port in result["ports"]] == [f"eth{number}" for number in range(8)]
    assert [flow["name"] for flow in result["flows"]] == ["eth0", "eth1"]
    busy = [port["rx_bps"] > 0 for port in result["ports"]]
    assert busy == [True, True, *[False] * 6]


def test_both_directions_and_what_work_goes_where(simnet: Simnet) -> None:
    settings = ("--set", "test=bidirectional")
    result = json.loads(simnet("run", *SHORT, *settings, "--json").out)
    assert [(flow["name"], flow["port"]) for flow in result["flows"]] == [
        ("eth0.netserver", "eth0"),
        ("eth0.netperf", "eth0"),
    ]
    assert min(flow["goodput_bps"] for flow in result["flows"]) > 0
    total = sum(flow["goodput_bps"] for flow in result["flows"])
    assert result["throughput_bps"] == pytest.approx(total)
    work = {row["mechanism"]: row for row in result["work"]}
    assert {name for name, row in work.items() if row["placement"]} == {
        MECHANISMS[name] for name in PLACEMENT
    }
    # what this host has not: disks, a hypervisor, a sized cache, datagrams, routes, XDP, an IOMMU
    elsewhere = {
        *("storage", "hypervisor", "pages", "copy_misses"),
        *("udp_receive", "udp_send", "forwarding", "xdp", "iommu"),
    }
    assert list(work) == [text for name, text in MECHANISMS.items() if name not in elsewhere]
    # in percent of one CPU, before SMT siblings slow each other; those of 64 are busy with it
    busy = 64 * result["cpu_busy_percent"]
    assert 0.6 * busy < sum(row["percent"] for row in result["work"]) < 1.02 * busy


def test_formats_follow_one_another(simnet: Simnet) -> None:
    together = simnet("run", *SHORT, "--format", "sar, interrupts").out
    apart = [simnet("run", *SHORT, "--format", name).out for name in ("sar", "interrupts")]
    assert together == "\n".join(apart)
    assert together.startswith("CPU   %user")


def test_stalls_are_told_with_what_they_wait_for(simnet: Simnet) -> None:
    asked = ("test=tcp_rr", "nodes=1", "workload.writes=100,200", "workload.read=10")
    settings = [word for text in asked for word in ("--set", text)]
    run = ("run", "x460-out-of-box", *settings, "--warm-up", "100 ms", "--duration", "200 ms")
    (told,) = (line for line in simnet(*run).out.splitlines() if line.startswith("# stalls: "))
    assert "41 ms on average (eth0, eth1)" in told
    assert "the other end delays the ACK" in told
    assert "iperf -N=on" in told
    assert "stalls" not in simnet(*run, "--set", "iperf -N=on").out


def test_a_seed_chooses_the_run(simnet: Simnet) -> None:
    runs = [json.loads(simnet("run", *SHORT, "--json", "--seed", seed).out) for seed in "334"]
    fingerprints = [run["fingerprint"] for run in runs]
    assert fingerprints[0] == fingerprints[1]
    assert fingerprints[0] != fingerprints[2]


def test_a_trace_is_complete_json(
    simnet: Simnet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert simnet("run", *SHORT, "--trace", "run.json").status == 0
    events = json.loads((tmp_path / "run.json").read_text("utf-8"))["traceEvents"]
    assert any(event["ph"] == "X" for event in events)
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


def test_what_is_not_modelled_is_said_while_it_runs(simnet: Simnet) -> None:
    status, out, err = simnet("run", *SHORT, "--set", "net.ipv4.tcp_fack=0")
    assert status == 0
    assert err == "simnet: net.ipv4.tcp_fack: accepted, but not modelled: it changes nothing here\n"
    assert out


def test_a_failed_run_leaves_no_trace_file(
    simnet: Simnet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = simnet("run", *SHORT, "--format", "compare", "--set", "message=64", "--trace", "t")
    assert outcome.status == 2
    assert list(tmp_path.iterdir()) == []


def test_the_command_from_outside(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from simnet.cli import main; main()", "run", *SHORT],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "PYTHONWARNINGS": "ignore",
        },
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "x460-out-of-box" in done.stdout


def test_an_interrupt_ends_a_long_simulation_at_once(
    simnet: Simnet, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = System.run
    began: list[float] = []

    def interrupted(self: System, duration_ps: int) -> None:
        began.append(time.monotonic())
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        run(self, duration_ps)

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(System, "run", interrupted)
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        outcome = simnet("run", *SHORT[:3], "--duration", "60 s")
    finally:
        signal.signal(signal.SIGALRM, before)
    assert outcome == (130, "", "simnet: interrupted\n")
    assert time.monotonic() - began[0] < 5


# what is registered before the command's own is called after it
PROCESS = """
import atexit, gc, os
atexit.register(lambda: print(len(os.listdir("/proc/self/task")), gc.get_freeze_count() > 0))
from simnet.cli import main
main(["run", "x460-out-of-box", "--set", "nodes=1", "--warm-up", "0 s", "--duration", "1 ms"])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_command_has_one_thread_and_leaves_its_memory_to_the_system(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    command = [sys.executable, "-W", "ignore", "-c", PROCESS]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == "1 True"
