"""Writes what the cells of the notebooks show now into the notebooks, so that they read on the web.

`python -m tests.docs.store [NAME...]` at the top of a checkout; all notebooks by default.
"""

import sys
import tempfile
from base64 import b64decode, b64encode
from importlib import import_module
from pathlib import Path

from tests.docs.notebook import Runner
from tests.docs.pictures import small
from tests.house.trees import ROOT


def store(path: Path, runner: Runner) -> None:
    """Run a notebook and keep its outputs, the pictures with few colours."""
    notebook = runner.run(path)
    for output in (one for cell in notebook.cells for one in cell.get("outputs", [])):
        data = output.get("data", {})
        if "image/png" in data:
            picture = b64encode(small(b64decode(data["image/png"]))).decode()
            output.data = {"image/png": picture}
    import_module("nbformat").write(notebook, path)


if __name__ == "__main__":
    names = sys.argv[1:] or [path.name for path in sorted(ROOT.glob("notebooks/*.ipynb"))]
    with tempfile.TemporaryDirectory() as folder, Runner(Path(folder)) as runner:
        for name in names:
            store(ROOT / "notebooks" / name, runner)
