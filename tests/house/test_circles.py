"""No two files of simnet import each other, by whatever way round.

Imports at the top of a file count, those inside its functions, and those under
``if TYPE_CHECKING``, which name types. Subjects, documents, commands and pictures are found by
name; what is announced by its place (`late`, `drawn`) is no import either.
"""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.house.trees import ROOT


def _imports(file: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def circle_in(package: Path) -> list[str]:
    """Return the modules of one circle, the first one again at the end; none if there is none."""
    files = {
        ".".join(file.relative_to(package.parent).with_suffix("").parts): file
        for file in package.rglob("*.py")
        if file.name != "__init__.py"
    }
    graph = {module: _imports(file) & files.keys() for module, file in files.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_file_imports_one_that_imports_it() -> None:
    assert circle_in(ROOT / "simnet") == []


@pytest.mark.parametrize(
    "back",
    [
        "from simnet.a import A\n",
        "def f():\n    from simnet.a import A\n",
        "if TYPE_CHECKING:\n    from simnet.a import A\n",
    ],
)
def test_a_circle_is_found(tmp_path: Path, back: str) -> None:
    package = tmp_path / "simnet"
    package.mkdir()
    (package / "a.py").write_text("from simnet.b import B\n", encoding="utf-8")
    (package / "b.py").write_text("B = 1\n", encoding="utf-8")
    assert circle_in(package) == []
    (package / "b.py").write_text(back, encoding="utf-8")
    assert set(circle_in(package)) == {"simnet.a", "simnet.b"}
