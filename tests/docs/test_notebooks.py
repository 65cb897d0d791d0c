"""Every notebook runs from top to bottom, and its plots say what they show."""

from __future__ import annotations

import ast
import os
from pathlib import Path
from typing import Any

import pytest

from simnet import _engine
from tests.docs.session import ONE_PROCESS
from tests.house.trees import ROOT

nbformat: Any = pytest.importorskip("nbformat")
nbclient: Any = pytest.importorskip("nbclient")

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
# Runs in the notebook's kernel: takes note of what stands beside and above the axes of each plot.
_WATCH = """
import matplotlib.pyplot as _plt
_plots, _show = [], _plt.show
def _noted(*args, **kwargs):
    shown = [axes for axes in _plt.gcf().axes]
    titles = [axes.get_title("left") for axes in shown]
    drawn = [axes for axes in shown if axes.axison]
    labels = [[axes.get_xlabel() for axes in drawn], [axes.get_ylabel() for axes in drawn]]
    _plots.append((titles, *labels))
    _show(*args, **kwargs)
_plt.show = _noted
"""
_REPORT = "print(_plots)"


def executed(path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run a notebook with this simnet, on this engine."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("SIMNET_ENGINE", _engine.active())
    for name, value in ONE_PROCESS.items():
        monkeypatch.setenv(name, value)
    # The kernel draws into the notebook, and chooses for that itself.
    monkeypatch.delenv("MPLBACKEND", raising=False)
    for name in [name for name in os.environ if name.startswith("COV_CORE")]:
        monkeypatch.delenv(name)
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(_WATCH))
    notebook.cells.append(nbformat.v4.new_code_cell(_REPORT))
    nbclient.NotebookClient(
        notebook, timeout=60, resources={"metadata": {"path": str(path.parent)}}
    ).execute()
    return notebook


@pytest.mark.compiled
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_it_runs_and_its_plots_have_units(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = executed(path, monkeypatch)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert [output["text"] for output in outputs if output.get("name") == "stderr"] == []
    pictures = [output for output in outputs if "image/png" in output.get("data", {})]
    plots = ast.literal_eval(outputs[-1]["text"])
    assert len(plots) == len(pictures) > 0
    for titles, below, beside in plots:
        assert any(titles), "a sentence that says what to see"
        # Axes that share one leave its label to the lowest.
        assert all("(" in label for label in (*filter(None, below), *beside)), "units"
        assert any(below) or not beside


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_it_is_stored_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
