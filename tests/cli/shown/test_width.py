"""A terminal of 80 columns has room for each line of each command, on stdout and on stderr."""

import re
import sys
from pathlib import Path

import click
import pytest

from simnet.cli import commands
from simnet.study.work import task
from tests.cli.conftest import Simnet
from tests.house.trees import ROOT
from tests.study.synthetic import relayed

COLUMNS = 80
PASTE = """\
gw:~# uname -a
Linux gw 4.19.0-21-amd64 #1 SMP Debian 4.19.249-2 (2022-06-30) x86_64 GNU/Linux
gw:~# ethtool -i eth0
driver: ixgbe
gw:~# ethtool -S eth0
     rx_packets: 1000000
     rx_missed_errors: 50000
     rx_no_dma_resources: 0
gw:~# nproc
4
gw:~# netstat -su
Udp:
    9712345 packets received
    1412345 packet receive errors
    1412345 receive buffer errors
"""
ONE_NODE = ("x460-out-of-box", "--set", "nodes=1", "--warm-up", "5 ms")
SHORT = (*ONE_NODE, "--duration", "4 ms")
PAIRS = ("--seeds", "2", "--members", "2", "--jobs", "1")
FRAMES = ("--knobs", "ethtool -C {port} rx-frames")
BACKLOG = "net.core.netdev_max_backlog"
FORMS = (
    ("list",),
    ("list", "models"),
    ("list", "knobs"),
    ("list", "attributes"),
    ("show", "web-25g"),
    ("show", "ess-sas"),
    ("show", "samsung-980-pro-1tb"),
    ("run", "web-25g", "--duration", "1 ms"),
    ("run", "xdp-firewall", "--duration", "2 ms"),
    ("run", "nvme-980pro", "--duration", "2 ms"),
    ("run", "media-udp", "--duration", "2 ms"),
    ("run", "memcached-100g", "--set", "memcached.rate=1000", "--duration", "1 ms"),
    ("run", "x460-out-of-box", "--duration", "2 ms", "--format", "compare"),
    ("explain", "web-25g", "--duration", "1 ms"),
    ("explain", "nvme-980pro", "--duration", "2 ms"),
    ("whatif", *SHORT, "affinity", "numactl", *PAIRS, "--intervals", "--commands"),
    ("whatif", *SHORT, "affinity", *PAIRS, "--check"),
    ("whatif", *SHORT, "affinity", *PAIRS, "--goal", "p99"),
    ("sweep", *SHORT, "--over", "message=512 B,1 KiB", "--tuning", "none", "--tuning", "affinity"),
    ("sweep", "router-connectx5", "--over", "forward.rate=10000,20000", "--duration", "1 ms"),
    ("screen", *SHORT, "--paths", "2", *FRAMES, "--knobs", "net.ipv4.tcp_sack"),
    ("recommend", *SHORT, *FRAMES, "--runs", "6", "--jobs", "1", "--goal", "p99"),
    ("capacity", "x460-out-of-box", "--max-loss", "0.1%", "--max-p99", "1ms", "--load", BACKLOG,
     "--set", f"{BACKLOG}=90000", "--precision", "20 %", "--duration", "1 s", "--jobs", "1"),
    ("compare", "run.json", "measured.csv", "--members", "0"),
    ("diagnose", "paste.txt"),
    ("diagnose", "paste.txt", "--all"),
    ("import", "paste.txt"),
    ("import", "paste.txt", "nowhere.txt"),
    ("validate", "--frozen"),
    ("validate", "--changes"),
    ("validate", "linux.receiver_traces"),
    ("conform", str(ROOT / "validation" / "packetdrill" / "tail-loss.pkt")),
    ("run", "x460-out-of-box", "--set", "ethtool -C eth0 rx-usecs-that-nobody-knows=12 us"),
)  # fmt: skip
OTHERS = {
    "calibrate": "fits for minutes; its tables are those of `validate`",
    "page": "prints an address",
    "report": "prints nothing",
}


@pytest.fixture
def files(simnet: Simnet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files that commands name, in an empty folder where one is."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "paste.txt").write_text(PASTE, "utf-8")
    (tmp_path / "run.json").write_text(simnet("run", *SHORT, "--json").out, "utf-8")
    (tmp_path / "measured.csv").write_text("metric,value\nthroughput_bps,1000\n", "utf-8")


def printed(text: str) -> list[str]:
    """The lines that a person sees: what a bar has drawn over itself is of a line's width, too."""
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "\r", click.unstyle(text))
    return [line for line in re.split("[\r\n]", plain) if line]


@pytest.mark.parametrize("command", FORMS, ids=" ".join)
@pytest.mark.usefixtures("files")
@pytest.mark.compiled
def test_80_columns_are_enough(
    simnet: Simnet, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    if command[0] == "capacity":
        # a search of real runs takes a minute
        monkeypatch.setattr(task, "simulate", relayed)
    for file in (sys.stdout, sys.stderr):
        monkeypatch.setattr(file, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    monkeypatch.setenv("TERM", "xterm")
    shown = simnet(*command)
    assert shown.status in {0, 1, 2, 3}
    lines = [*printed(shown.out), *printed(shown.err)]
    assert lines
    assert [line for line in lines if len(line) > COLUMNS] == []


def every_command() -> set[str]:
    files = Path(commands.__path__[0]).glob("[a-z]*.py")
    return {file.stem.rstrip("_") for file in files}


def test_no_command_is_left_out() -> None:
    assert {form[0] for form in FORMS}.isdisjoint(OTHERS)
    assert {form[0] for form in FORMS} | set(OTHERS) == every_command()
