"""Cells of notebooks: they call the package, and ask for a number before they show it."""

import ast
import json
from pathlib import Path

import pytest

from tests.house.trees import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
_MOST_LINES = 25
_MOST_FUNCTIONS = 3
_LEAST_QUESTIONS = 2


def cells(path: Path) -> list[str]:
    """The sources of a notebook's code cells."""
    found = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in found if cell["cell_type"] == "code"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_no_cell_is_longer_than_one_reads_at_a_glance(path: Path) -> None:
    longer = [cell for cell in cells(path) if len(cell.splitlines()) > _MOST_LINES]
    assert not longer


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_defines_no_more_than_some_small_functions(path: Path) -> None:
    nodes = [node for cell in cells(path) for node in ast.parse(cell).body]
    defined = [node.name for node in nodes if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    assert len(defined) <= _MOST_FUNCTIONS, defined


def numbers_given(tree: ast.Module) -> set[str]:
    """Names that a cell gives a number."""
    return {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name) and isinstance(node.value.value, int | float)
    }


def guesses(tree: ast.Module) -> list[ast.expr]:
    """What a cell's questions take for the reader's guess."""
    asked = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "Prediction"
    ]
    return [
        next((word.value for word in one.keywords if word.arg == "guess"), None) or one.args[1]
        for one in asked
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_reader_says_a_number_before_it_is_shown(path: Path) -> None:
    given: set[str] = set()
    asked = 0
    for tree in map(ast.parse, cells(path)):
        given |= numbers_given(tree)
        for guess in guesses(tree):
            asked += 1
            assert isinstance(guess, ast.Name), ast.unparse(guess)
            assert guess.id in given, guess.id
    assert asked >= _LEAST_QUESTIONS
