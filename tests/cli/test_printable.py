"""Whatever names, values and descriptions consist of: no output obeys them."""

import ast
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet import _share
from simnet.printable import lines, one_line, printable, typed
from tests.cli.conftest import Simnet
from tests.house.trees import ROOT

_NAMES = sorted(path.stem.rstrip("_") for path in (ROOT / "simnet/cli/commands").glob("[a-z]*.py"))
# a command, and in the same text what is filled in
_COMMAND = re.compile(rf"\bsimnet ({'|'.join(_NAMES)}) [^\n:;,]*\Z")
_OWN = "simnet/printable.py"
HOSTILE = "a\nrm -rf ~ \x1b[2J\a\x9b31m\u202ez\x00".rstrip("\x00")
FRIENDLY = "b"
SHORT = ("--warm-up", "15 ms", "--duration", "1 ms", "--set", "nodes=1")
COMMANDS = {
    "show": ("show", "FILE"),
    "show --set": ("show", "FILE", "--set", "message=VALUE"),
    "run": ("run", "FILE", *SHORT, "--tuning", "affinity", "--capture", "LISTING"),
    "run --set": ("run", "FILE", *SHORT, "--set", "irqbalance=o\nff"),
    "run --format": ("run", "FILE", *SHORT, "--format", "VALUE"),
    "whatif": ("whatif", "FILE", "affinity", *SHORT, "--commands", "--seeds", "2", "--members", "0",
               "--jobs", "1"),
    "explain": ("explain", "FILE", *SHORT, "--tuning", "affinity"),
    "sweep": ("sweep", "FILE", *SHORT, "--tuning", "affinity", "--over", "seed=1", "--jobs", "1"),
    "capture": ("run", "FILE", *SHORT, "--capture", "VALUE"),
    "apply": ("run", "FILE", *SHORT, "--apply", "VALUE"),
    "conform": ("conform", "TRACE"),
    "unknown": ("show", "VALUE"),
    "option": ("run", "FILE", "--VALUE"),
}  # fmt: skip


def _prepared(folder: Path, name: str) -> dict[str, str]:
    """A scenario, a model, a listing and a trace whose names and words consist of `name`."""
    folder.mkdir()
    plain = name.replace("/", "")
    text = (_share.folder("scenarios") / "x460-out-of-box.toml").read_text("utf-8")
    text = text.replace('server = "ibm-x460"', f"server = {json.dumps(f'm{plain}.toml')}")
    model = (_share.folder("models") / "servers/ibm-x460.toml").read_text("utf-8")
    for file, content in ((plain, text), (f"m{plain}", model)):
        (folder / f"{file}.toml").write_text(_described(content, name), encoding="utf-8")
    captures = _share.folder("validation") / "captures"
    shutil.copy(captures / "sar-x460-out-of-box-8k-4nodes.txt", folder / f"{plain}.txt")
    traces = _share.folder("validation") / "external/linux-tcp-receiver-traces.jsonl"
    trace = json.loads(traces.read_text("utf-8").partition("\n")[0])
    (folder / "t.jsonl").write_text(json.dumps({**trace, "name": name}), encoding="utf-8")
    return {
        "FILE": str(folder / f"{plain}.toml"),
        "LISTING": str(folder / f"{plain}.txt"),
        "TRACE": str(folder / "t.jsonl"),
        "NAME": name,
    }


def _described(text: str, name: str) -> str:
    line = re.compile(r'^description = ".*"$', re.MULTILINE)
    return line.sub(lambda _: f"description = {json.dumps(name)}", text)


def _run(simnet: Simnet, command: tuple[str, ...], places: dict[str, str]) -> tuple[int, str]:
    typed = [places.get(word, word.replace("VALUE", places["NAME"])) for word in command]
    status, out, err = simnet(*typed)
    return status, out + err


@pytest.mark.parametrize("name", COMMANDS)
def test_a_hostile_name_is_printed_and_nothing_else(
    simnet: Simnet, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMNET_CACHE_DIR", "")
    command = COMMANDS[name]
    hostile = _run(simnet, command, _prepared(tmp_path / "one", HOSTILE))
    friendly = _run(simnet, command, _prepared(tmp_path / "two", FRIENDLY))
    assert hostile[0] == friendly[0], hostile[1]
    for said in hostile[1].split("\n"):
        assert said.isprintable(), said
        assert not said.startswith("rm -rf")
    assert hostile[1].count("\n") == friendly[1].count("\n")


@pytest.mark.parametrize("command", [("show", "FILE", "--json"), ("run", "FILE", *SHORT, "--json")])
def test_json_holds_the_name_as_it_is(
    simnet: Simnet, tmp_path: Path, command: tuple[str, ...]
) -> None:
    places = _prepared(tmp_path / "one", HOSTILE)
    status, said = _run(simnet, command, places)
    assert status == 0
    assert all(line.isprintable() for line in said.split("\n"))
    assert json.loads(said)["scenario"] == HOSTILE


@given(st.text())
def test_what_is_printed_is_printable(text: str) -> None:
    assert printable(text).isprintable()
    assert one_line(text).isprintable()
    assert all(line.replace("\t", " ").isprintable() for line in lines(text).split("\n"))
    assert lines(text).count("\n") == text.count("\n")
    assert text != printable(text) or text.isprintable()


@given(st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_json_stays_the_same_json(value: object) -> None:
    assert json.loads(lines(json.dumps(value, ensure_ascii=False))) == value


def test_a_message_of_megabytes_is_short() -> None:
    assert len(one_line("x" * 10**6)) < 2100


def _process(redirect: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = "from simnet.cli import main; main()"
    return subprocess.run(
        ["bash", "-c", f'"$@" {redirect}', "bash", sys.executable, "-c", command, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONWARNINGS": "ignore", **variables},
    )


def test_a_closed_output_is_said_before_anything_is_done(tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    arguments = ("run", "x460-out-of-box", *SHORT, "--trace", str(trace))
    done = _process(">&-", *arguments)
    assert (done.returncode, done.stdout) == (74, "")
    assert done.stderr == "simnet: output: standard output is closed\n"
    assert not trace.exists()


@pytest.mark.parametrize(
    "redirect",
    [
        pytest.param("2>&-", marks=pytest.mark.nightly),
        pytest.param("<&-", marks=pytest.mark.nightly),
        "<&- 2>&-",
    ],
)
def test_other_closed_files_are_no_matter(tmp_path: Path, redirect: str) -> None:
    trace = tmp_path / "trace.json"
    arguments = ("run", "x460-out-of-box", *SHORT, "--trace", str(trace))
    done = _process(redirect, *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Mbit/s" in done.stdout
    json.loads(trace.read_text("utf-8"))
    assert _process(redirect, "show", "nothing").returncode == 2


def test_an_output_without_the_characters_gets_them_escaped(tmp_path: Path) -> None:
    places = _prepared(tmp_path / "one", "\u6a21")
    done = _process("", "show", places["FILE"], PYTHONIOENCODING="latin-1")
    assert done.returncode == 0, done.stderr
    assert "\\u6a21" in done.stdout


def _unquoted(tree: ast.AST) -> list[int]:
    """Lines with a text that begins like a command and goes on with a value."""
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.JoinedStr):
            continue
        for before, after in zip(node.values, node.values[1:], strict=False):
            text = str(before.value) if isinstance(before, ast.Constant) else ""
            if isinstance(after, ast.FormattedValue) and _COMMAND.search(text):
                found.append(node.lineno)
    return found


def test_no_command_has_an_unquoted_value() -> None:
    found = {
        f"{path.relative_to(ROOT)}:{line}"
        for path in (ROOT / "simnet").rglob("*.py")
        if "simnet " in (text := path.read_text(encoding="utf-8"))
        for line in _unquoted(ast.parse(text))
    }
    assert found == set()
    assert _unquoted(ast.parse('f"simnet run {folder}/scenario.toml"'))


def test_nothing_else_quotes() -> None:
    found = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "simnet").rglob("*.py")
        if "shlex.quote" in (text := path.read_text(encoding="utf-8")) or "shlex.join" in text
    }
    assert found == {_OWN}


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_what_can_be_read_is_quoted_as_everywhere(words: list[str]) -> None:
    line = typed(*words)
    assert line.isprintable()
    if all(word.isprintable() for word in words):
        assert shlex.split(line) == words


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
@pytest.mark.parametrize(
    "name",
    ["a b", "$(id)", "`id`", "a\nrm -rf x", "'", "\\'\n", "\x1b[2J", "\u202ea", "\udcff", "!x", ""],
)
def test_a_shell_takes_the_words_as_they_were(name: str) -> None:
    line = typed("printf", "%s\\0", name, Path("-x", name or "y"))
    assert line.isprintable()
    done = subprocess.run(["bash", "-c", line], capture_output=True, check=True)
    words = (name, f"./{Path('-x', name or 'y')}")
    assert done.stdout == b"".join(w.encode("utf-8", "surrogateescape") + b"\0" for w in words)
