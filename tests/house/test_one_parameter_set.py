"""One set of parameters explains every configuration: no code knows which one it runs in.

But for the documents, which say what was measured of which configuration.
"""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from simnet import _share
from simnet.scenario.core.library import read_scenario
from simnet.scenario.scenarios import find_scenario, scenario_names

ROOT = Path(__file__).parents[2] / "simnet"
FLOORS = (
    *("kernel", "host", "net", "storage", "workload"),
    *("scenario", "study", "report", "cli"),
)
# What the system has of its own, beside tunings and maps that are called after it: a command, a
# rule of irqbalance, a mode of partitions, tunings that any system has ready. Knobs are spelled on
# this floor only.
VOCABULARY = {"scenario": {"numactl", "first-fit", "uncapped", "affinity", "one-queue", "jumbo"}}


@functools.cache
def _names() -> set[str]:
    """Names of scenarios, of their tunings and interrupt maps, and of models."""
    found = {path.stem for path in _share.folder("models").rglob("*.toml")}
    for name in scenario_names():
        form, _ = read_scenario(find_scenario(name))
        found |= {name, *form.tunings, *form.irqbalance.maps}
    return found


def _words(source: str) -> Iterator[str]:
    """Yield identifiers and strings of a module; what is said in docstrings does not matter."""
    tree = ast.parse(source)
    said = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.arg):
            yield node.arg
        elif (
            isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said
        ):
            yield node.value


def _pattern(names: set[str]) -> re.Pattern[str]:
    """Return what finds a name in a word; an identifier has underscores for its hyphens."""
    forms = names | {name.replace("-", "_") for name in names}
    return re.compile("|".join(rf"\b{re.escape(name)}\b" for name in sorted(forms)))


def _known(source: str, pattern: re.Pattern[str]) -> list[str]:
    """Return the words that hold a name."""
    return [word for word in _words(source) if pattern.search(word)]


@pytest.mark.parametrize("floor", FLOORS)
def test_nothing_below_the_documents_names_a_configuration(floor: str) -> None:
    pattern = _pattern(_names() - VOCABULARY.get(floor, set()))
    modules = sorted((ROOT / floor).rglob("*.py"))
    assert modules
    known = {module: _known(module.read_text("utf-8"), pattern) for module in modules}
    assert {module: words for module, words in known.items() if words} == {}


@pytest.mark.parametrize(
    "line", ['if tuning == "numactl": cost *= 2', "out_of_box = 3", 'name == "listing-1"']
)
def test_a_name_would_be_found(line: str) -> None:
    pattern = _pattern({"numactl", "x460-out-of-box", "out-of-box", "listing-1"})
    assert _known(f'"""About numactl."""\n{line}\n', pattern)
    assert not _known('"""About numactl."""\n', pattern)
