from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.mutants.sites import ROOT, modules_of, mutants_in, mutants_of
from tests.mutants.unread import unread_in

MODULE = b'''\
"""A module of a mechanism."""

LIMIT = 3


def left(level, *, step=1):
    while level > 0:
        level -= step
    return level


def inside(value):
    return value < LIMIT


class Meter:
    def __init__(self):
        self.total = 0
        self.hint = 5

    @property
    def empty(self):
        return not self.total

    def never(self):
        self.total = 8
'''
TESTS = """\
from simnet.host.meter import Meter, inside, left


def test_nothing_is_left():
    assert left(5) == 0


def test_limit_is_outside():
    assert inside(2)
    assert not inside(3)


def test_starts_empty():
    assert Meter().empty


def test_late():
    from simnet.host.late import late

    assert late(2) == 3
"""
WITHOUT_EFFECT = """\
[[equivalent]]
module = "simnet.host.meter"
scope = "Meter.__init__"
diff = '''
-self.hint = 5
+self.hint = 4

-self.hint = 5
+pass
'''
reason = "nobody reads it"
"""


def diffs(body: str) -> list[str]:
    """Return what is put in place of the lines of a function."""
    text = "def f(a: int = 0) -> bool:\n" + "".join(f"    {line}\n" for line in body.splitlines())
    mutants = [mutant for mutant in mutants_in("simnet.host.x", text.encode()) if mutant.line > 1]
    return [mutant.diff.partition("\n+")[2].strip() for mutant in mutants]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x = a < b", ["x = a <= b"]),
        ("x = a not in b", ["x = a in b"]),
        ("x = (a) - (b)", ["x = (a) + (b)"]),
        ("x //= b", ["x *= b"]),
        ("x = -(a)", ["x = (a)"]),
        ("x = not a", ["x = a"]),
        ("x = 0", ["x = (-1)", "x = 1"]),
        ("x = True", ["x = False"]),
        ("x = a and b", ["x = a or b"]),
        ("if a > b:\n    pass", ["if not (a > b):", "if a >= b:"]),
        ("if a is b:\n    pass", ["if a is not b:"]),
        ("x = min(a, b)", ["x = max(a, b)"]),
        ("f(a)", ["pass"]),
        ("self.x = a", ["pass"]),
        ("return f(a)", ["return not (f(a))"]),
    ],
)
def test_mistakes_of_all_kinds_are_made(body: str, expected: list[str]) -> None:
    assert diffs(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        "x: list[3]",
        "x = 'a' 'b'",
        "x = f'{a + 1}'",
        "x = cython.declare(cython.int)",
        "raise ValueError(1 + a)",
        "if TYPE_CHECKING:\n    x = 1",
        "if cython.compiled:\n    prefetch(a, 64)",
        "prefetch(a, 64)",
    ],
)
def test_what_only_hints_or_describes_is_left_out(body: str) -> None:
    assert diffs(body) == []


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("begins", ["__init__(self):", "_start(self):\n        {told}"])
def test_a_compiled_object_begins_with_zeros_anyway(begins: str, *, compiled: bool) -> None:
    mark = "@cython.cclass\n" * compiled
    head = begins.replace("{told}", '"""Begin, as `__init__` says, without numbers."""')
    text = f"{mark}class A:\n    y: int = 0\n    def {head}\n        self.x = 0\n"
    texts = [mutant.text for mutant in mutants_in("simnet.host.x", text.encode())]
    assert (b"pass" in texts) == (not compiled)
    assert texts.count(b"1") == (1 if compiled else 2)


COMPONENT = """\
class Component:
    def on_event(self, kind, arg):
        raise NotImplementedError(f"{kind} {arg}")


class Port(Component):
    def on_event(self, kind, arg):
        self.run({number})

    def run(self, wanted: cython.longlong) -> cython.int:
        self.sim.at(5, self, kind, 7, priority)
        self.other.run(3)
        return 0


class Fast(Port):
    def run(self, wanted: cython.longlong) -> cython.int:
        if wanted > 6:
            return self.late(8)
        return 0

    def late(self, wanted: cython.longlong) -> cython.int:
        return 0


class Other:
    def run(self) -> cython.int:
        return 0


def read(port: {type}):
    return port.run(kind) - 1
"""


@pytest.mark.parametrize(
    ("kind", "silent"),
    [
        ("Other", {"Port.run", "Fast.run", "Fast.late"}),
        ("Port", {"Other.run"}),
        ("Fast", {"Other.run"}),
        ("Public[Any]", set()),
    ],
)
def test_a_procedure_whose_result_nothing_reads_cannot_return_a_wrong_one(
    kind: str, silent: set[str]
) -> None:
    text = COMPONENT.replace("{type}", kind).replace("{number}", "kind").encode()
    found = mutants_in("simnet.net.x", text, unread_in({"simnet.net.x": text}))
    returns = {its.scope for its in found if its.diff.endswith("return 1")}
    assert returns == {"Port.run", "Fast.run", "Fast.late", "Other.run"} - silent
    # what it passes on matters all the same
    assert "-            return self.late(8)\n+            return self.late(9)" in {
        its.diff for its in found
    }


@pytest.mark.parametrize("number", ["kind", "arg"])
def test_an_event_s_number_that_its_component_does_not_read_cannot_be_wrong(number: str) -> None:
    text = COMPONENT.replace("{type}", "Port").replace("{number}", number).encode()
    found = mutants_in("simnet.net.x", text, unread_in({"simnet.net.x": text}))
    numbers = {its.text for its in found if "sim.at" in its.diff}
    assert (b"8" in numbers) == (number == "arg")
    assert b"6" in numbers


@pytest.mark.parametrize(
    ("body", "boundary"),
    [
        ("if x < a.b:\n    x = a.b", False),
        ("if a.b > x:\n    x = a.b", False),
        ("y = x if x < a else a", False),
        ("return a if x < a else x", False),
        ("if x < a:\n    x = a\n    f(x)", True),
        ("if x < a:\n    y = a", True),
        ("if x < a:\n    x += a", True),
        ("if x < a:\n    x = a\nelse:\n    f(x)", True),
        ("y = x if x < a else b", True),
    ],
)
def test_of_two_equal_numbers_either_is_the_larger_one(body: str, *, boundary: bool) -> None:
    made = diffs(body)
    assert any("<=" in line or ">=" in line for line in made) == boundary
    assert any("not (" in line for line in made)


def test_each_mistake_has_a_name_of_its_own_that_does_not_depend_on_its_line() -> None:
    twice = b"def f(a):\n    a += 1\n    a += 1\n"
    before = [mutant.key for mutant in mutants_in("simnet.host.x", twice)]
    after = [mutant.key for mutant in mutants_in("simnet.host.x", b"\n\n" + twice)]
    assert len(set(before)) == len(before) == 6
    assert before == after


@pytest.mark.nightly
def test_a_mistake_is_still_a_module() -> None:
    for module in modules_of(["storage"])[::9]:
        for mutant in mutants_of(module)[::50]:
            ast.parse(mutant.source())


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A project of one module."""
    for folder in ("simnet/host", "simnet/net", "simnet/storage", "tests/host"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "simnet" / "__init__.py").touch()
    (tmp_path / "simnet" / "host" / "meter.py").write_bytes(MODULE)
    (tmp_path / "simnet" / "host" / "late.py").write_text("def late(x):\n    return x + 1\n")
    (tmp_path / "tests" / "host" / "test_meter.py").write_text(TESTS)
    shutil.copytree(ROOT / "tests" / "mutants", tmp_path / "tests" / "mutants")
    (tmp_path / "tests" / "mutants" / "equivalent.toml").write_text(WITHOUT_EFFECT)
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\npythonpath = .\naddopts = --import-mode=importlib"
    )
    return tmp_path


def mutants(tree: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.mutants", *options],
        cwd=tree,
        env=os.environ | {"PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.nightly
def test_what_the_tests_notice_is_told_from_what_they_do_not(tree: Path) -> None:
    told = mutants(tree, "--workers", "2", "--require", "90")
    assert told.returncode == 1, told.stderr
    results = tree / "out" / "mutants" / "results.jsonl"
    rows: list[dict[str, Any]] = [json.loads(line) for line in results.read_text().splitlines()]
    found = {row["key"].rpartition("\n+")[2].strip(): (row["state"], row["by"]) for row in rows}
    test = "tests/host/test_meter.py::test_"
    assert found["level += step"][0] == "timeout"
    assert found["while level > 1:"] == ("killed", f"{test}nothing_is_left")
    assert found["return value <= LIMIT"] == ("killed", f"{test}limit_is_outside")
    assert found["LIMIT = 4"] == ("killed", f"{test}limit_is_outside")
    assert found["def left(level, *, step=2):"] == ("killed", f"{test}nothing_is_left")
    assert found["return self.total"] == ("killed", f"{test}starts_empty")
    # of a module that nothing has imported before the test runs
    assert found["return x - 1"] == ("killed", f"{test}late")
    assert found["self.hint = 6"] == ("survived", "")
    assert found["self.total = 9"] == ("unreached", "")
    survivors = (tree / "out" / "mutants" / "survivors.txt").read_text()
    assert "simnet/host/meter.py:19 Meter.__init__\n-        self.hint = 5\n" in survivors
    assert survivors.count("self.hint") == 2
    assert "equivalent" in told.stdout

    # nothing is tried twice, and what is asked for may be reached
    again = mutants(tree, "--require", "50")
    assert again.returncode == 0, again.stderr
    assert again.stdout == told.stdout
    assert len(results.read_text().splitlines()) == len(rows)
    assert (tree / "simnet" / "host" / "meter.py").read_bytes() == MODULE
