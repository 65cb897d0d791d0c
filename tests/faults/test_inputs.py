"""Every command that reads a file: whatever is wrong with it is one line, soon, and no defect."""

import os
import shutil
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from simnet import _share
from tests.cli.conftest import Outcome, Simnet
from tests.faults.conftest import FailingOs

SHORT = ("--set", "nodes=1", "--warm-up", "15 ms", "--duration", "1 ms")
CAPTURES = _share.folder("validation") / "captures"
# file, where it is from, and the command that reads it
INPUTS = {
    "scenario": ("a.toml", "scenarios/x460-out-of-box.toml", ("show", "a.toml")),
    "named model": ("a.toml", "models/servers/ibm-x460.toml", ("show", "a.toml")),
    "model of a scenario": ("a.toml", "models/servers/ibm-x460.toml", ("show", "b.toml")),
    "capture": (
        "a.txt",
        "validation/captures/sar-x460-out-of-box-8k-4nodes.txt",
        ("run", "x460-out-of-box", *SHORT, "--capture", "a.txt"),
    ),
    "apply": (
        "a.txt",
        "validation/captures/mmlsconfig-aix-client.txt",
        ("show", "ess-sas", "--apply", "a.txt"),
    ),
    "traces": (
        "a.jsonl",
        "validation/external/linux-tcp-receiver-traces.jsonl",
        ("conform", "a.jsonl"),
    ),
    "script": ("a.pkt", "validation/packetdrill/delayed-ack.pkt", ("conform", "a.pkt")),
    "script of a script": ("a.sh", "", ("conform", "b.pkt")),
}


@pytest.fixture(params=INPUTS)
def asked(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, simnet: Simnet
) -> tuple[Path, Callable[[], Outcome]]:
    """The file, and the command that reads it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIMNET_CACHE_DIR", "")
    name, source, command = INPUTS[request.param]
    folder, _, rest = source.partition("/")
    if folder:
        shutil.copy(_share.folder(folder) / rest, name)  # type: ignore[arg-type]
    else:
        Path(name).write_text("sysctl -q net.ipv4.tcp_abc=0\n", "utf-8")
    scenario = (_share.folder("scenarios") / "x460-out-of-box.toml").read_text("utf-8")
    named = scenario.replace('server = "ibm-x460"', 'server = "a.toml"')
    Path("b.toml").write_text(named, "utf-8")
    script = (_share.folder("validation") / "packetdrill/delayed-ack.pkt").read_text("utf-8")
    Path("b.pkt").write_text(f"`./a.sh`\n{script}", "utf-8")
    return tmp_path / name, lambda: simnet(*command)


def _is_one_line(outcome: Outcome) -> None:
    status, out, err = outcome
    # what remarks there are comes before
    assert (status, out) == (2, "")
    assert err.endswith("\n")
    assert all(line.startswith("simnet: ") for line in err.splitlines())


def test_each_call_of_the_system_fails_once(
    asked: tuple[Path, Callable[[], Outcome]], failing_os: FailingOs
) -> None:
    _, run = asked
    with failing_os.failing(None):
        assert run().status in {0, 2}
    calls = list(failing_os.calls)
    assert {"open", "read"} <= set(calls)
    failed = set()
    for number in range(min(len(calls), 12)):
        with failing_os.failing(number):
            outcome = run()
        if outcome.err.endswith("cannot be read: Input/output error\n"):
            _is_one_line(outcome)
            failed.add(calls[number])
        else:  # what was read before is remembered
            assert outcome.status in {0, 2}
    assert failed >= {"open", "read"}


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("zero", "expected a regular file, got a device"),
        ("pipe", "expected a regular file, got a pipe"),
        ("folder", "cannot be read: Is a directory"),
        ("gone", "cannot be read: No such file or directory"),
        ("loop", "cannot be read: Too many levels of symbolic links"),
        ("huge", "larger than"),
        ("binary", "is not UTF-8 text"),
    ],
)
def test_what_is_no_such_file_is_refused_at_once(
    asked: tuple[Path, Callable[[], Outcome]], kind: str, said: str
) -> None:
    file, run = asked
    file.unlink()
    if kind in {"zero", "loop"}:
        file.symlink_to("/dev/zero" if kind == "zero" else file.name)
    elif kind == "pipe":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    elif kind == "huge":
        with file.open("wb") as stream:
            stream.truncate(1 << 40)
    elif kind == "binary":
        file.write_bytes(bytes(range(128, 256)))
    run()  # which imports what it needs
    tracemalloc.start()
    began = time.monotonic()
    outcome = run()
    assert time.monotonic() - began < 20
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 200 << 20
    _is_one_line(outcome)
    assert file.name in outcome.err
    assert said in outcome.err


def test_a_cut_file_is_no_defect(asked: tuple[Path, Callable[[], Outcome]]) -> None:
    file, run = asked
    data = file.read_bytes()
    for count in (0, 1, len(data) // 3, len(data) // 2, len(data) - 2):
        file.write_bytes(data[:count])
        outcome = run()
        assert outcome.status in {0, 1, 2}
        if outcome.status == 2:
            _is_one_line(outcome)


def test_a_folder_that_is_gone_matters_only_to_what_is_in_it(
    simnet: Simnet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "a.toml"
    shutil.copy(_share.folder("scenarios") / "x460-out-of-box.toml", own)
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert simnet("show", "x460-out-of-box").status == 0
    assert simnet("show", str(own)).status == 0
    assert simnet("show", "a.toml") == (
        2, "", "simnet: a.toml: cannot be read: No such file or directory\n",
    )  # fmt: skip
    for setting in ("a.toml", "b\0.toml"):
        status, out, err = simnet("show", str(own), "--set", f"system.server={setting}")
        assert (status, out, err.count("\n")) == (2, "", 1)


@pytest.mark.parametrize("model", ["loop.toml", "pipe.toml", "/dev/zero.toml"])
def test_a_model_that_a_setting_names_is_a_regular_file(
    simnet: Simnet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("loop.toml").symlink_to("loop.toml")
    os.mkfifo("pipe.toml")
    status, out, err = simnet("show", "x460-out-of-box", "--set", f"system.server={model}")
    assert (status, out, err.count("\n")) == (2, "", 1)
