import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet import _share
from simnet.errors import InputError
from simnet.scenario.core import toml
from simnet.scenario.core.toml import KeyPath

TEXT = '''\
# a comment = "[not.a.table]"
top = 1
"quoted key" = 2
dotted.inner = 3
inline = {a = 1, b = {c = "]"}}
several = [
  "[x]",  # x = 1
  [1, 2],
]
long = """
[no.table]
no = "key"
"""
raw = \'\'\'
also = 1\'\'\'

[first]
key = "a # b"

[first.second]
key = 'it''

[[row]]
key = 1
[row.part]
key = 2
[[row]]
  key = 3
'''.replace("'it''", "'it'")

LINES: dict[KeyPath, int] = {
    ("top",): 2,
    ("quoted key",): 3,
    ("dotted", "inner"): 4,
    ("inline",): 5,
    ("several",): 6,
    ("long",): 10,
    ("raw",): 14,
    ("first",): 17,
    ("first", "key"): 18,
    ("first", "second"): 20,
    ("first", "second", "key"): 21,
    ("row",): 23,
    ("row", 0): 23,
    ("row", 0, "key"): 24,
    ("row", 0, "part"): 25,
    ("row", 0, "part", "key"): 26,
    ("row", 1): 27,
    ("row", 1, "key"): 28,
}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_every_key_has_its_line(tmp_path: Path, newline: str) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes(TEXT.replace("\n", newline).encode())
    document = toml.read(path)
    assert {key: document.line(key) for key in LINES} == LINES
    assert set(document.lines) == {*LINES, ("dotted",)}


def test_a_key_inside_an_inline_table_has_the_line_of_the_table(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(TEXT)
    assert toml.read(path).line(("inline", "b", "c")) == 5


def _leaves(data: Any, path: KeyPath = ()) -> Iterator[KeyPath]:
    if isinstance(data, dict):
        for key, value in data.items():
            yield (*path, key)
            yield from _leaves(value, (*path, key))
    elif isinstance(data, list):
        for number, value in enumerate(data):
            yield from _leaves(value, (*path, number))


@pytest.mark.parametrize("folder", ["models", "scenarios"])
def test_the_line_of_every_key_that_comes_with_simnet_holds_the_key(
    folder: Literal["models", "scenarios"],
) -> None:
    for path in sorted(_share.folder(folder).rglob("*.toml")):
        document = toml.read(path)
        lines = path.read_text("utf-8").splitlines()
        for leaf in _leaves(document.data):
            line = document.line(leaf)
            assert line is not None, (path, leaf)
            assert isinstance(leaf[-1], int) or leaf[-1] in lines[line - 1], (path, leaf)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = 1\nb = = 2\n", "a.toml:2: broken TOML: invalid value"),
        (
            "a = 1\n[b\nc = 1\n",
            "a.toml:2: broken TOML: expected ']' at the end of a table declaration",
        ),
        ('a = 1\nb = "x\n', "a.toml:2: broken TOML: illegal character '\\n'"),
        ("a = 1\na = 2\n", "a.toml:2: broken TOML: cannot overwrite a value"),
        ("a = 1\nb = [1,\n", "a.toml:3: broken TOML: invalid value"),
    ],
)
def test_broken_toml_names_file_and_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.toml").write_text(text)
    with pytest.raises(InputError) as caught:
        toml.read(Path("a.toml"))
    assert str(caught.value) == message


def test_a_file_that_cannot_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("latin.toml").write_bytes(b'a = "\xff"')
    Path("large.toml").write_bytes(b"#" * (2 << 20))
    Path("deep.toml").write_text("a = " + "[" * 5000)
    messages = {
        "gone.toml": "gone.toml: cannot be read: No such file or directory",
        ".": ".: cannot be read: Is a directory",
        "latin.toml": "latin.toml:1: is not UTF-8 text",
        "large.toml": "large.toml: larger than 1 MiB, which is no model or scenario",
        "deep.toml": "deep.toml: broken TOML: nested too deeply",
    }
    for name, message in messages.items():
        with pytest.raises(InputError) as caught:
            toml.read(Path(name))
        assert str(caught.value) == message


@given(
    names=st.lists(st.from_regex(r"[a-z][a-z0-9_-]{0,6}", fullmatch=True), unique=True, max_size=8),
    value=st.sampled_from(["1", '"a = 1"', "'#'", '"""\nx = 1\n"""', "[\n1,\n2]", "{x = 1}"]),
)
def test_keys_below_any_value_keep_their_line(names: list[str], value: str) -> None:
    text = "".join(f"{name} = {value}\n" for name in names)
    height = value.count("\n") + 1
    found = dict(toml._scan(text))
    assert found == {(name,): 1 + number * height for number, name in enumerate(names)}


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a = 1\n" + ".".join("a" * 60_000) + " = 1\n", 2, "expected a key of at most 32 parts"),
        ("[" + " . ".join("a" * 60_000) + "]\n", 1, "expected a key of at most 32 parts"),
        (".".join(["'a'", '"b"'] * 30_000) + " = 1\n", 1, "expected a key of at most 32 parts"),
        ("x = {" + ".".join("a" * 60_000) + " = 1}\n", 1, "expected a key of at most 32 parts"),
        ("a = " + "1" * 5000 + "\n", None, "expected an integer of at most 64 bits"),
    ],
    ids=["key", "header", "quoted", "inline", "digits"],
)
def test_what_would_take_minutes_is_refused_at_once(
    text: str, line: int | None, message: str
) -> None:
    began = time.monotonic()
    with pytest.raises(InputError) as caught:
        toml.parse(text, "f.toml")
    assert time.monotonic() - began < 2
    assert (caught.value.line, caught.value.message) == (line, f"broken TOML: {message}")


@pytest.mark.parametrize("number", [1 << 63, -(1 << 63) - 1, "0x" + "f" * 17, "0x" + "f" * 10_000])
def test_an_integer_has_64_bits(number: int | str) -> None:
    assert toml.parse(f"a = {(1 << 63) - 1}\nb = {-(1 << 63)}\n", "f").data["a"] == (1 << 63) - 1
    with pytest.raises(InputError) as caught:
        toml.parse(f"a = 1\n[b]\nc = [1, {{d = {number}}}]\n", "f.toml")
    assert str(caught.value) == "f.toml:3: b.c[1].d: expected an integer of at most 64 bits"


@given(st.lists(st.sampled_from(["1.5", '"a.b"', "'c.d'", '"""e.\nf."""', "# g.\n"]), min_size=33))
def test_dots_elsewhere_are_no_parts_of_a_key(values: list[str]) -> None:
    given = [value if value.startswith("#") else f"{value}," for value in values]
    found = toml.parse(f"a = [{' '.join(given)}]\n", "f").data["a"]
    assert len(found) == sum(not value.startswith("#") for value in values)
