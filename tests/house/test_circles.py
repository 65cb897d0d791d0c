"""No two files of simnet import each other, by whatever way round.

What counts is what runs: imports at the top of a file and those inside its functions. What stands
under ``if TYPE_CHECKING`` names types, and nothing is imported then: it counts in those floors
where types go one way, too. Subjects, documents and pictures are found by name; what is announced
by its place (`late`, `drawn`) is no import either.
"""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

import pytest

from tests.house.trees import ROOT

if TYPE_CHECKING:
    from pathlib import Path

# the floors where the types of two files do not name each other either
ONE_WAY = (
    *("kernel", "host", "net", "storage", "workload"),
    *("scenario/parts", "scenario/commands", "scenario/system"),
    *("study", "importing", "report", "cli", "documents"),
)


class _Run(ast.NodeTransformer):
    """Takes off what is only there for type checkers."""

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        """Keep what else there is."""
        if ast.unparse(node.test) == "TYPE_CHECKING":
            return [self.visit(one) for one in node.orelse] or ast.Pass()
        return self.generic_visit(node)


def _imports(file: Path, *, types: bool) -> set[str]:
    found: set[str] = set()
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree if types else _Run().visit(tree)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def circle_in(package: Path, floor: str = "", *, types: bool = False) -> list[str]:
    """Return the modules of one circle, the first one again at the end; none if there is none.

    Args:
        package: the folder of simnet.
        floor: look at one folder of it; all when empty.
        types: whether imports for type checkers count.
    """
    files = {
        ".".join(file.relative_to(package.parent).with_suffix("").parts): file
        for file in (package / floor).rglob("*.py")
        if file.name != "__init__.py"
    }
    assert files, f"no module in {package / floor}"
    graph = {module: _imports(file, types=types) & files.keys() for module, file in files.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_file_imports_one_that_imports_it() -> None:
    assert circle_in(ROOT / "simnet") == []


@pytest.mark.parametrize("floor", ONE_WAY)
def test_no_file_of_a_floor_names_types_of_one_that_imports_it(floor: str) -> None:
    assert circle_in(ROOT / "simnet", floor, types=True) == []


def test_a_circle_is_found_and_types_do_not_count(tmp_path: Path) -> None:
    package = tmp_path / "simnet"
    package.mkdir()
    (package / "a.py").write_text("from simnet.b import B\n", encoding="utf-8")
    typed = "if TYPE_CHECKING:\n    from simnet.a import A\nelse:\n    A = 1\n"
    (package / "b.py").write_text(typed, encoding="utf-8")
    assert circle_in(package) == []
    assert set(circle_in(package, types=True)) == {"simnet.a", "simnet.b"}
    late = "def f():\n    from simnet.a import A\n"
    (package / "b.py").write_text(late, encoding="utf-8")
    assert set(circle_in(package)) == {"simnet.a", "simnet.b"}
