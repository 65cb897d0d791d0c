"""Cells of notebooks call the package: what is long, or a class, belongs in simnet/study/lesson."""

from __future__ import annotations

import ast
import json
from typing import TYPE_CHECKING

import pytest

from tests.house.trees import ROOT

if TYPE_CHECKING:
    from pathlib import Path

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
_MOST_LINES = 25
_MOST_FUNCTIONS = 3


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
