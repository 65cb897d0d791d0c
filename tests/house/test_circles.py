"""No two files of simnet import each other, by whatever way round.

What counts is what runs: imports at the top of a file and those inside its functions. What stands
under ``if TYPE_CHECKING`` does not: it names types, and nothing is imported then. Subjects and
documents are found by name; what is announced by its place (`late`) is no import either.
"""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from tests.house.trees import ROOT

if TYPE_CHECKING:
    from pathlib import Path


class _Run(ast.NodeTransformer):
    """Takes off what is only there for type checkers."""

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        """Keep what else there is."""
        if ast.unparse(node.test) == "TYPE_CHECKING":
            return [self.visit(one) for one in node.orelse] or ast.Pass()
        return self.generic_visit(node)


def _imports(file: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(_Run().visit(ast.parse(file.read_text(encoding="utf-8")))):
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


def test_a_circle_is_found_and_types_do_not_count(tmp_path: Path) -> None:
    package = tmp_path / "simnet"
    package.mkdir()
    (package / "a.py").write_text("from simnet.b import B\n", encoding="utf-8")
    typed = "if TYPE_CHECKING:\n    from simnet.a import A\nelse:\n    A = 1\n"
    (package / "b.py").write_text(typed, encoding="utf-8")
    assert circle_in(package) == []
    late = "def f():\n    from simnet.a import A\n"
    (package / "b.py").write_text(late, encoding="utf-8")
    assert set(circle_in(package)) == {"simnet.a", "simnet.b"}
