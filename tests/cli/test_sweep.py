"""Sweeps as a user makes them; runs are short, because the interpreted engine makes them too."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from simnet import _engine
from tests.cli.conftest import Simnet

SCENARIO = "x460-out-of-box"
SHORT = ("--set", "nodes=1", "--warm-up", "15 ms", "--duration", "2 ms", "--jobs", "1")


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that results are kept in."""
    monkeypatch.setenv("SIMNET_CACHE_DIR", str(tmp_path / "kept"))
    return tmp_path / "kept"


@pytest.mark.usefixtures("kept")
def test_a_grid_is_a_table_with_files_beside_it(simnet: Simnet, tmp_path: Path) -> None:
    grid = (SCENARIO, "--over", "seed=1,2", "--tuning", "none", "--tuning", "numactl", *SHORT)
    names = [tmp_path / f"grid.{kind}" for kind in ("csv", "json", "png", "parquet")]
    status, out, err = simnet("sweep", *grid, *(f"--out={name}" for name in names))
    ignored = "simnet: numactl --preferred: accepted, but not modelled: it changes nothing here\n"
    assert (status, err) == (0, ignored)
    lines = out.splitlines()
    assert lines[0].split()[:4] == ["tuning", "runs", "Mbit/s", "±"]
    assert [line.split()[:2] for line in lines[1:3]] == [["none", "2"], ["numactl", "2"]]
    assert lines[-1].startswith("best throughput (Mbit/s): ")
    document = json.loads(names[1].read_text(encoding="utf-8"))
    assert document["schema"] == "simnet.sweep/1"
    frame = pd.read_csv(names[0])
    pd.testing.assert_frame_equal(pd.read_parquet(names[3]), frame, check_dtype=False)
    assert list(zip(frame["tuning"].fillna("none"), frame["seed"], strict=True)) == [
        ("none", 1), ("none", 2), ("numactl", 1), ("numactl", 2),
    ]  # fmt: skip
    assert frame["fingerprint"].tolist() == [row["fingerprint"] for row in document["rows"]]
    assert frame["fingerprint"].nunique() == 4
    assert names[2].read_bytes().startswith(b"\x89PNG")
    again = simnet("sweep", *grid, "--json")
    assert json.loads(again.out) == document


@pytest.mark.usefixtures("kept")
def test_a_setting_may_be_one_that_only_the_tuning_allows(simnet: Simnet) -> None:
    setting = ("--set", "ethtool -C eth0 tx-usecs=40")
    grid = (
        "--over",
        "ethtool -C eth0 rx-usecs=40",
        *setting,
        "--warm-up=1 ms",
        "--duration=100 us",
    )
    status, out, _ = simnet("sweep", "web-25g", "--tuning", "fixed-50us", *grid, "--jobs=1")
    assert (status, out.splitlines()[1].split()[0]) == (0, "40")
    status, _, err = simnet("sweep", "web-25g", *grid, "--jobs=1")
    assert (status, "refuses" in err) == (2, True)


@pytest.mark.usefixtures("kept")
def test_a_run_of_a_grid_is_the_run_alone(simnet: Simnet) -> None:
    swept = simnet("sweep", SCENARIO, "--over", "message=1 KiB", *SHORT, "--json")
    alone = simnet("run", SCENARIO, "--set", "message=1 KiB", *SHORT[:-2], "--json")
    (row,) = json.loads(swept.out)["rows"]
    assert row["fingerprint"] == json.loads(alone.out)["fingerprint"]
    replicated = simnet("sweep", SCENARIO, "--over", "message=1 KiB", "--seed", "7",
                        "--replications", "2", *SHORT, "--json")  # fmt: skip
    eighth = simnet("run", SCENARIO, "--set", "message=1 KiB", *SHORT[:-2], "--seed=8", "--json")
    rows = json.loads(replicated.out)["rows"]
    assert [row["seed"] for row in rows] == [7, 8]
    assert rows[1]["fingerprint"] == json.loads(eighth.out)["fingerprint"]


@pytest.mark.usefixtures("kept")
def test_what_tcp_did_is_in_the_rows_and_may_decide(simnet: Simnet, tmp_path: Path) -> None:
    grid = (SCENARIO, "--over", "net.ipv4.tcp_timestamps=1,0", *SHORT)
    by = "tcp_acks_per_segment"
    status, out, _ = simnet("sweep", *grid, "--best", by, f"--out={tmp_path / 'grid.csv'}")
    assert status == 0
    assert out.splitlines()[0].endswith("ACKs/segment")
    assert out.splitlines()[-1].startswith("best ACKs per segment (number): ")
    frame = pd.read_csv(tmp_path / "grid.csv")
    assert "window_held_packets" not in frame  # there is no reorder window
    alone = simnet("run", SCENARIO, "--set", "net.ipv4.tcp_timestamps=0", *SHORT[:-2], "--json")
    streams = json.loads(alone.out)["tcp"]
    acks, segments, quick = (
        sum(stream[name] for stream in streams) for name in ("acks", "segments", "quick_acks")
    )
    assert frame[by][1] == pytest.approx(acks / segments)
    assert frame["tcp_quick_acks_per_s"][1] * 0.002 == pytest.approx(quick)


@pytest.mark.usefixtures("kept")
def test_requests_are_compared_by_transactions(simnet: Simnet) -> None:
    asks = ("--set", "test=tcp_rr", *SHORT)
    status, out, _ = simnet("sweep", SCENARIO, "--over", "request=1 B,100 B", *asks)
    assert status == 0
    assert out.splitlines()[0].split()[:2] == ["request", "transactions/s"]
    found = json.loads(
        simnet("sweep", SCENARIO, "--over", "request=1 B,100 B", *asks, "--json").out
    )
    assert found["optimum"]["measure"] == "transactions_per_s"


@pytest.mark.usefixtures("kept")
def test_order_before_and_after_a_window_is_in_the_rows(simnet: Simnet) -> None:
    over = ("--over", "seed=1", "--warm-up", "5 ms", "--duration", "5 ms", "--jobs", "1")
    status, out, _ = simnet("sweep", "ipoib-sunway", *over, "--json")
    assert status == 0
    names = {"out_of_order_before_percent", "out_of_order_after_percent", "window_held_packets"}
    assert names <= set(json.loads(out)["rows"][0])


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "--over: expected something to vary: KNOB=VALUES, or tunings"),
        (["--over", "nodes"], "--over: nodes: expected KNOB=VALUES"),
        (["--over", "nodes=1", "--over", "nodes=2"], "--over: nodes: expected every knob once"),
        (["--over", "nods=1,2"], "--over: nods: unknown knob; did you mean nodes?"),
        (["--over", "nodes=1..5"], "--over: nodes: 5 nodes: ibm-x460 has 4"),
        (["--over", "message=64..512"],
         "--over: message: missing unit in '64': expected a size such as '256 KiB'"),
        (["--over", "message=1 KiB..64 us"],
         ("--over: message=1 KiB..64 us: wrong kind of unit in '1 KiB':"
         " expected a time such as '20 us'")),
        (["--over", "nodes=1", "--set", "mesage=1 KiB"],
         "--set: mesage: unknown knob; did you mean message?"),
        (["--tuning", "numaclt"], "--tuning: numaclt: unknown tuning; did you mean numactl?"),
        (["--over", "nodes=1", "--out", "a.xls"],
         ("--out: a.xls: expected a name that ends with one of"
          " .csv, .parquet, .json, .png, .svg, .pdf")),
        (["--over", "nodes=1", "--out", "no/where.csv"],
         "--out: no: expected a folder that exists"),
        (["--over", "nodes=1", "--out", "a.csv", "--into", "rows"],
         "--out: not with --into: its files are the table"),
        (["--over", "seed=1,a"], "--over: seed: expected whole numbers, got 'a'"),
        (["--over", "seed=1,2", "--replications", "3"],
         "--replications: --over seed=... says already which seeds"),
        (["--over", "nodes=4..1"],
         "--over: nodes=4..1: expected a range from the smaller to the larger value"),
        (["--over", "nodes="],
         "--over: nodes=: expected values as in 1,2,4 or a range as in 10 us..50 us:10 us"),
        (["--over", "nodes=1", "--best", "throughput"],
         "--best: throughput: unknown measure; did you mean throughput_bps?"),
        (["--over", "nodes=1", "--precision", "1"],
         "--precision: 1 is outside the legal range 0 to 0.5"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(simnet: Simnet, arguments: list[str], line: str) -> None:
    assert simnet("sweep", SCENARIO, *arguments) == (2, "", f"simnet: {line}\n")


def test_a_seed_of_thousands_of_digits_is_no_number(simnet: Simnet) -> None:
    status, out, err = simnet("sweep", SCENARIO, "--over", f"seed={'1' * 5000}", *SHORT)
    assert (status, out) == (2, "")
    assert err.startswith("simnet: --over: seed: expected whole numbers, got '111")


def test_a_grid_of_a_million_says_how_long_it_takes(simnet: Simnet) -> None:
    million = ("--over", "message=64 B..1063 B:1 B", "--replications", "1000", *SHORT)
    status, out, err = simnet("sweep", SCENARIO, *million)
    assert (status, out) == (2, "")
    assert re.fullmatch(
        r"simnet: --over: 1,000,000 simulations, about [\d.,]+ (minutes|hours|days)"
        r" with 1 at a time: --yes allows it\n",
        err,
    )


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL], ids=["interrupt", "kill"])
@pytest.mark.nightly
def test_what_was_done_before_the_end_is_not_done_again(
    simnet: Simnet, kept: Path, ending: signal.Signals
) -> None:
    duration = "600 ms" if _engine.active() == "compiled" else "12 ms"
    grid = (SCENARIO, "--set", "nodes=1", "--warm-up", "0 s", "--duration", duration)
    many = ("--over", "seed=1..300")  # far more than is done before the end comes
    command = subprocess.Popen(
        [sys.executable, "-m", "simnet", "sweep", *grid, *many, "--jobs", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
        start_new_session=True,
        # whoever runs the tests may ignore interrupts, and pass that on
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    while len(_files(kept)) < 2 and command.poll() is None:
        time.sleep(0.01)
    if ending == signal.SIGINT:
        os.killpg(command.pid, ending)  # as a terminal does: to the workers, too
    else:
        command.send_signal(ending)
    out, err = command.communicate()  # the workers have ended, too: they hold the pipes
    assert out == ""
    if ending == signal.SIGINT:
        assert (command.returncode, err) == (130, "simnet: interrupted\n")
    before = _files(kept)
    assert len(before) >= 2
    seeds = [*_seeds(kept), 1001, 1002]
    over = f"seed={','.join(map(str, seeds))}"
    status, out, _ = simnet("sweep", *grid, "--over", over, "--jobs", "1", "--json")
    assert status == 0
    assert [row["seed"] for row in json.loads(out)["rows"]] == seeds
    after = _files(kept)
    assert len(after) == len(seeds)
    assert before.items() <= after.items()


def _seeds(folder: Path) -> list[int]:
    texts = [gzip.decompress(path.read_bytes()) for path in folder.glob("*.gz")]
    return [json.loads(text.partition(b"\n")[2])["seed"] for text in texts]


def _files(folder: Path) -> dict[str, int]:
    """Inode of every kept result: a result that is written again gets another one."""
    return {path.name: path.stat().st_ino for path in folder.glob("*.gz")}


def test_rows_go_into_a_folder(simnet: Simnet, tmp_path: Path) -> None:
    folder = tmp_path / "rows"
    grid = (SCENARIO, "--over", "seed=1,2", "--tuning", "numactl", *SHORT, "--into", str(folder))
    status, out, err = simnet("sweep", *grid)
    ignored = "simnet: numactl --preferred: accepted, but not modelled: it changes nothing here\n"
    assert (status, err) == (0, ignored)
    assert out.splitlines()[0] == f"2 runs in 2 files in {folder}"
    whole = simnet("sweep", *grid[:-2], "--json")
    prints = [row["fingerprint"] for row in json.loads(whole.out)["rows"]]
    assert pd.read_parquet(folder)["fingerprint"].tolist() == prints
    again = json.loads(simnet("sweep", *grid, "--json").out)
    assert (again["schema"], again["runs"], again["best"]["runs"]) == ("simnet.rows/1", 2, 2)
