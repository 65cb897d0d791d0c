"""Runs notebooks, each in a process forked from one that has imported what they import.

To start a kernel and to import all that takes longer than some notebooks simulate. Cells run as in
a kernel. `python -m tests.docs.notebook FOLDER` reads names of notebooks from its standard input,
runs one at a time, writes it with its outputs into the folder, and answers with a line.
"""

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import simnet
from simnet import _engine
from tests.docs.session import ONE_PROCESS
from tests.house.trees import ROOT, inherited

_INLINE = "module://matplotlib_inline.backend_inline"
"""The backend that draws into a notebook; a kernel chooses it by this name."""
_DONE = "done\n"


class Runner:
    """That process; it ends when its input does."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        mine = {
            "SIMNET_ENGINE": _engine.active(),
            "SIMNET_CACHE_DIR": os.environ.get("SIMNET_CACHE_DIR", ""),
            "MPLBACKEND": _INLINE,
            # a copy of a notebook elsewhere needs what stands beside it, too
            "PYTHONPATH": str(ROOT / "notebooks"),
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.docs.notebook", str(folder)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=inherited() | ONE_PROCESS | mine,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def run(self, path: Path) -> Any:
        """Return a notebook with its outputs.

        Raises:
            AssertionError: a cell failed.
        """
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(f"{path}\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == _DONE, path.name
        return import_module("nbformat").read(self._folder / path.name, as_version=4)


def _serve(folder: Path) -> None:
    shell = _shell()
    for line in sys.stdin:
        path = Path(line.rstrip("\n"))
        child = os.fork()
        if child == 0:
            os._exit(_executed(shell, path, folder / path.name))
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        sys.stdout.write(f"failed with {status}\n" if status else _DONE)
        sys.stdout.flush()


def _shell() -> Any:
    """What runs cells, when all is imported that notebooks import."""
    for name in simnet.__all__:
        getattr(simnet, name)
    for name in ("networkx", "pandas", "scipy.stats"):
        import_module(name)
    # it has a thread, which a fork leaves behind
    import_module("IPython.core.history").HistoryManager.enabled = False
    shell = import_module("IPython.core.interactiveshell").InteractiveShell.instance()
    import_module("matplotlib_inline.backend_inline").configure_inline_support(shell, _INLINE)
    return shell


def _executed(shell: Any, path: Path, target: Path) -> int:
    """Run the cells and write the notebook with what they show; 1 when one failed."""
    formats = import_module("nbformat")
    new_output = formats.v4.new_output
    os.chdir(path.parent)
    notebook = formats.read(path, as_version=4)
    for cell in (cell for cell in notebook.cells if cell.cell_type == "code"):
        with import_module("IPython.utils.capture").capture_output() as shown:
            shell.display_trap.hook = sys.displayhook  # it is shown the value of a cell
            done = shell.run_cell(cell.source)
        if not done.success:
            sys.stderr.write(f"{shown.stdout}{shown.stderr}")
            return 1
        texts = {"stdout": shown.stdout, "stderr": shown.stderr}
        cell.outputs = [
            new_output("stream", name=n, text=text) for n, text in texts.items() if text
        ]
        cell.outputs += [new_output("display_data", data=one.data) for one in shown.outputs]
    formats.write(notebook, target)
    return 0


if __name__ == "__main__":
    _serve(Path(sys.argv[1]))
