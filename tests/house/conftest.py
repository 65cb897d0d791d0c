"""A miniature of simnet to build and break: the real engine and build around two tiny modules."""

import re
import shutil
from pathlib import Path

import pytest

from tests.house.trees import ROOT, Tree

BASE_PY = '''"""A base class."""

import cython

_STEP: cython.longlong = 1


@cython.cclass
class Base:
    total: cython.longlong = 0
    calls: cython.int = 2 - _STEP - 1

    def add(
        self,
        amount: cython.longlong,
        times: cython.int = 1,
    ) -> cython.longlong:
        """Count an amount.

        ZeroDivisionError if it is 0.
        """
        self.total += amount * _STEP * times
        if amount == 0:
            raise ZeroDivisionError
        return self.total
'''
DERIVED_PY = '''"""Inherits and calls across rooms."""

import cython

from simnet.kernel.base import Base


@cython.cclass
class Derived(Base):
    first: cython.int = 7

    def add_twice(self, amount: cython.longlong) -> cython.longlong:
        self.add(amount)
        return self.add(amount)


def compiled() -> bool:
    return bool(cython.compiled)
'''


CLI_PY = '''"""Says what is installed."""

import json

from simnet import _engine, _share
from simnet.net.derived import Derived, compiled


def main() -> None:
    """Print facts that only a working installation has."""
    print(
        json.dumps(
            {
                "active": _engine.active(),
                "compiled": compiled(),
                "result": Derived().add_twice(3),
                "package": str(_share._PACKAGE),
                "models": str(_share.folder("models")),
                "scenarios": str(_share.folder("scenarios")),
                "validation": str(_share.folder("validation")),
            }
        )
    )
'''
DATA = {
    "models/nic/tiny.toml": "ring = 1\n",
    "scenarios/tiny.toml": "seed = 1\n",
    "scenarios/tiny.ipynb": "{}\n",
    "validation/measurements/tiny.csv": "1\n",
    "validation/test_tiny.py": "",
}


@pytest.fixture(scope="session")
def built_miniature(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    tree = Tree(tmp_path_factory.mktemp("miniature") / "tree")
    kernel = tree.package / "kernel"
    kernel.mkdir(parents=True)
    for name in ("__init__.py", "_engine.py", "errors.py", "_share.py", "time_units.py"):
        shutil.copy(ROOT / "simnet" / name, tree.package / name)
    engine = tree.package / "_engine.py"
    # Nothing here needs fast code, and the compiler takes half the time.
    engine.write_text(
        re.sub(r'"-O\d"', '"-O0"', engine.read_text(encoding="utf-8")), encoding="utf-8"
    )
    shutil.copytree(
        ROOT / "simnet" / "_build",
        tree.package / "_build",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    (kernel / "__init__.py").touch()
    (kernel / "base.py").write_text(BASE_PY, encoding="utf-8")
    (tree.package / "net").mkdir()
    (tree.package / "net" / "__init__.py").touch()
    (tree.package / "net" / "derived.py").write_text(DERIVED_PY, encoding="utf-8")
    (tree.package / "cli.py").write_text(CLI_PY, encoding="utf-8")
    (tree.package / "py.typed").touch()
    for name in ("pyproject.toml", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(ROOT / name, tree.root / name)
    for name, text in DATA.items():
        file = tree.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    made = tree.build()
    if made.returncode:
        pytest.fail(f"the miniature does not build here:\n{made.stderr}")
    return tree


@pytest.fixture
def miniature(built_miniature: Tree, tmp_path: Path) -> Tree:
    """A built miniature that the test may change."""
    return built_miniature.copy(tmp_path / "tree")
