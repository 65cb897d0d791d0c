"""Every notebook runs from top to bottom, and its plots say what they show."""

import ast
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simnet import _engine
from tests.docs.notebook import Runner
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


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    with Runner(tmp_path_factory.mktemp("executed")) as runner:
        yield runner


def watched(path: Path, folder: Path) -> Path:
    """A copy of a notebook that says at its end what its plots have."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(_WATCH))
    notebook.cells.append(nbformat.v4.new_code_cell(_REPORT))
    nbformat.write(notebook, folder / path.name)
    return folder / path.name


def by_a_kernel(path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run a notebook as Jupyter does, with this simnet, on this engine."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("SIMNET_ENGINE", _engine.active())
    # The kernel draws into the notebook, and chooses for that itself.
    monkeypatch.delenv("MPLBACKEND", raising=False)
    for name in [name for name in os.environ if name.startswith("COV_CORE")]:
        monkeypatch.delenv(name)
    return nbclient.NotebookClient(nbformat.read(path, as_version=4), timeout=60).execute()


def shown(notebook: Any) -> list[dict[str, Any]]:
    """What one sees below the cells of a notebook."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return [output.get("data") or {output["name"]: output["text"]} for output in outputs]


def without_pictures(output: dict[str, Any]) -> dict[str, Any]:
    """An output; of a picture only that it is one."""
    return {"image/png": ""} if "image/png" in output else output


@pytest.mark.compiled
@pytest.mark.nightly
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_it_runs_and_its_plots_have_units(path: Path, runner: Runner, tmp_path: Path) -> None:
    executed = runner.run(watched(path, tmp_path))
    outputs = shown(executed)
    assert [output["stderr"] for output in outputs if "stderr" in output] == []
    pictures = [output for output in outputs if "image/png" in output]
    plots = ast.literal_eval(outputs[-1]["stdout"])
    assert len(plots) == len(pictures) > 0
    for titles, below, beside in plots:
        assert any(titles), "a sentence that says what to see"
        # Axes that share one leave its label to the lowest.
        assert all("(" in label for label in (*filter(None, below), *beside)), "units"
        assert any(below) or not beside
    kept = nbformat.read(path, as_version=4)
    nbformat.validate(kept)
    if not shown(kept):
        pytest.skip(f"no outputs are stored: python -m tests.docs.store {path.name}")
    executed.cells = executed.cells[1:-1]
    assert [without_pictures(one) for one in shown(kept)] == [
        without_pictures(one) for one in shown(executed)
    ], f"not what is shown now. When that is right: python -m tests.docs.store {path.name}"


_CELLS = (
    "import matplotlib.pyplot as plt\nimport pandas as pd\nimport simnet, sys",
    "ran = simnet.run('ipoib-sunway', duration='1 ms', warm_up='0 s')\nprint(ran.fingerprint)",
    "figure, axes = plt.subplots()\naxes.plot([1, 2], [3, 1])\nplt.show()",
    "pd.DataFrame({'a': [1, 2]})",
    "plt.plot([1, 2])[0].get_color()",
    "print('warned', file=sys.stderr)",
)


@pytest.mark.nightly
def test_it_is_run_as_by_a_kernel(
    runner: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in _CELLS])
    nbformat.write(notebook, tmp_path / "small.ipynb")
    found = shown(runner.run(tmp_path / "small.ipynb"))
    assert len(found) == 6
    assert found == shown(by_a_kernel(tmp_path / "small.ipynb", monkeypatch))


@pytest.mark.nightly
def test_a_cell_that_fails_is_noticed(runner: Runner, tmp_path: Path) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 / 0")])
    nbformat.write(notebook, tmp_path / "broken.ipynb")
    with pytest.raises(AssertionError, match=r"broken\.ipynb"):
        runner.run(tmp_path / "broken.ipynb")
