"""Files of strangers: damaged, endless, hostile to terminals. Nothing fails, nothing takes long."""

import io
import json
import os
import re
import tarfile
import time
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simnet.cli import main
from simnet.diagnose.diagnosis import Diagnosis, diagnose
from simnet.report.diagnosis import diagnosis
from simnet.report.html.make import saved_parts
from simnet.report.html.page import page
from tests.diagnose.table import RULES
from tests.house.examples import examples

CASES: Final = Path(__file__).parents[2] / "validation" / "cases"
PASTES: Final = Path(__file__).parent / "pastes"
TEXTS: Final = [
    *(path.read_text("utf-8") for path in sorted(CASES.glob("*/*.txt"))),
    *(path.read_text("utf-8") for path in sorted(PASTES.glob("*.txt"))),
    *(pair.fires for pair in RULES.values()),
]
_LINES: Final = sorted({line for text in TEXTS for line in text.splitlines()})
_ODD: Final = [
    "\0",
    "\x1b[2J",
    "9" * 400,
    "-1",
    "nan",
    "1e999",
    "\u202e",
    "é",
    "$(reboot)",
    "\r",
    "<script>",
    "&quot;\"'>",
]


def diagnosed(folder: Path, text: str, name: str = "paste.txt") -> Diagnosis:
    file = folder / name
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    return diagnose([str(file)])


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """Lines of all texts, in any order, with pieces cut, doubled and replaced."""
    lines = draw(st.lists(st.sampled_from(_LINES), max_size=30))
    text = "\n".join(lines)
    for _ in range(draw(st.integers(0, 6))):
        at = draw(st.integers(0, len(text)))
        end = at + draw(st.integers(0, 20))
        piece = draw(st.sampled_from([*_ODD, "", " ", "\n", ":", text[at:end] * 3]))
        text = text[:at] + piece + text[end:]
    return text


@settings(
    max_examples=examples(300),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(mutated())
def test_whatever_is_pasted_there_is_an_answer(tmp_path: Path, text: str) -> None:
    found = diagnosed(tmp_path, text)
    assert found.exit_status in {0, 1, 3}
    saved = tmp_path / "found.json"
    saved.write_text(found.to_json(), encoding="utf-8")
    text = page(saved_parts([saved], simulate=False))
    assert text.count("<script>") == 1
    assert not re.search(r"[\0\x1b\u202e\r]", text)
    shown = diagnosis(found, ["paste.txt"])
    assert all(line.isprintable() for line in shown.split("\n"))
    assert len(shown.splitlines()) <= 40
    for one in found.findings:
        assert 0 < one.hit.weight <= 100
        assert all(action.do.isprintable() for action in one.hit.actions)
        assert not any("$(reboot)" in action.do.replace("'$(reboot)'", "")
                       for action in one.hit.actions)  # fmt: skip


@pytest.mark.parametrize("line", ["a" * 3_000_000, ": " * 100_000, "x-" * 100_000, "1 " * 200_000])
def test_endless_lines_take_no_time(tmp_path: Path, line: str) -> None:
    start = time.process_time()
    diagnosed(tmp_path, f"NIC statistics:\n{line}\nrx_x: 1\nCPU0 CPU1\n1: 2 3 PCI-MSI {line}\n")
    assert time.process_time() - start < 20


@pytest.mark.nightly
def test_many_lines_take_seconds(tmp_path: Path) -> None:
    start = time.process_time()
    diagnosed(tmp_path, "\n".join(_LINES * 200)[: 8 << 20])
    assert time.process_time() - start < 60


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as caught:
        main(["diagnose", *arguments])
    assert isinstance(caught.value.code, int)
    out, err = capsys.readouterr()
    return caught.value.code, out, err


def test_a_hostile_name_of_a_port_stays_in_quotes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "/sys/class/net/$(reboot)/queues/rx-0/rps_cpus:1\n\x1b[2J: \x07\n"
    (tmp_path / "a.txt").write_text(text, "utf-8")
    status, out, _ = run(capsys, str(tmp_path / "a.txt"))
    assert status in {1, 3}
    assert "echo" not in out or "net/eth0/queues" in out
    assert "\x1b" not in out


def test_standard_input_what_a_command_prints_folder_and_archive_say_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = RULES["ring-full"].fires
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.txt").write_text(text, "utf-8")
    with tarfile.open(tmp_path / "a.tar.xz", "w:xz") as archive:
        archive.add(tmp_path / "folder", "folder")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    # as a shell does for `<(command)`
    end, other = os.pipe()
    os.write(other, text.encode())
    os.close(other)
    paths = (tmp_path / "folder", tmp_path / "a.tar.xz", f"/dev/fd/{end}")
    for source in ("-", *map(str, paths)):
        status, out, _ = run(capsys, source, "--json")
        document = json.loads(out)
        assert status == 1
        assert document["schema"] == "simnet.diagnose/1"
        assert document["verdict"] == "found"
        assert document["findings"][0]["rule"] == "ring-full"
        assert document["findings"][0]["evidence"][0]["line"] == 5


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        (RULES["ring-full"].fires, 1, "Packets are lost before the receive ring of eth0."),
        (RULES["ring-full"].quiet, 0, "Nothing is wrong"),
        ("driver: i40e\n", 3, "Cannot tell"),
        ("nothing that anybody knows\n", 3, "Cannot tell"),
        ("", 3, "Cannot tell"),
        ("\x00\xff\xfe", 3, "Cannot tell"),
    ],
)
def test_the_exit_status_says_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, status: int, said: str
) -> None:
    (tmp_path / "a.txt").write_text(text, "utf-8")
    ended, out, _ = run(capsys, str(tmp_path / "a.txt"))
    assert ended == status
    assert said in out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"sysstat": {"hosts": [{"nodename": "x",\n', "(JSON that breaks off, or is no JSON)"),
        ("<?xml version='1.0'?>\n<node id='x'>\n", "(XML that breaks off, or is no XML)"),
        ("{ print $1 }\n", "Nothing known in: a.txt"),
    ],
)
def test_a_document_that_breaks_off_is_said_to_be_that(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    (tmp_path / "a.txt").write_text(text, "utf-8")
    ended, out, _ = run(capsys, str(tmp_path / "a.txt"))
    assert ended == 3
    assert said in out
    assert ("breaks off" in out) == ("breaks off" in said)


def test_what_is_said_of_one_port_hides_nothing_of_another(tmp_path: Path) -> None:
    dropped = RULES["link-dropped"].fires
    text = RULES["ring-full"].fires + "\n" + dropped + dropped.replace("eth0", "eth7")
    found = {(one.rule.name, one.hit.subject) for one in diagnosed(tmp_path, text).findings}
    assert ("ring-full", "eth0") in found
    assert ("link-dropped", "eth7") in found
    assert ("link-dropped", "eth0") not in found


@pytest.mark.parametrize("arguments", [(), ("--live", "a"), ("/nowhere",)])
def test_bad_input_is_one_line(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1


def test_all_findings_and_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("ring-full", "udp-buffer", "steal"):
        (tmp_path / f"{name}.txt").write_text(RULES[name].fires, "utf-8")
    out_file = tmp_path / "found.json"
    sources = [str(tmp_path / f"{name}.txt") for name in ("ring-full", "udp-buffer", "steal")]
    _, short, _ = run(capsys, *sources)
    status, out, _ = run(capsys, *sources, "--all", "--out", str(out_file))
    assert status == 1
    assert "Also:" in short
    assert "Also:" not in out
    assert len(json.loads(out_file.read_text("utf-8"))["findings"]) == 3
