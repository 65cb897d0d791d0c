"""Source trees of simnet that tests build and run in processes of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_MOST_S = 600
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Tree:
    """A source tree of simnet, complete or in miniature."""

    root: Path

    @property
    def package(self) -> Path:
        return self.root / "simnet"

    @property
    def compiled_files(self) -> set[str]:
        return {file.name for file in (self.package / "_compiled").glob("*.so")}

    def python(
        self, *arguments: str, engine: str | None = None, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run Python with this tree's simnet."""
        return run(
            sys.executable,
            *arguments,
            cwd=self.root,
            PYTHONPATH=str(self.root),
            SIMNET_ENGINE=engine or "",
            **environment,
        )

    def build(self, **environment: str) -> subprocess.CompletedProcess[str]:
        return self.python("simnet/_build", **environment)

    def copy(self, target: Path) -> Tree:
        shutil.copytree(self.root, target, symlinks=True)
        return Tree(target)


def inherited() -> dict[str, str]:
    """Return the variables of a program under test: none of coverage or an outer test run."""
    mine = ("SIMNET_", "COV_", "COVERAGE_", "PYTEST_", "PYTHONPATH")
    # bytecode knows a source by its second and size, and tests edit within a second
    kept = {name: value for name, value in os.environ.items() if not name.startswith(mine)}
    return kept | {"PYTHONDONTWRITEBYTECODE": "1"}


def run(*command: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command with some variables changed; the caller judges its exit status."""
    return run_within(_MOST_S, *command, cwd=cwd, environment=environment)


def run_within(
    most_s: float, *command: str, cwd: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """The same with a bound of time of its own."""
    return subprocess.run(
        command,
        cwd=cwd,
        env={**inherited(), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=most_s,
    )
