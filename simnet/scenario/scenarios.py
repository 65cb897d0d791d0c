"""Which scenarios there are, and the file of each.

Nothing of what scenarios consist of is imported: a slip in a name is told at once.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from simnet import _share
from simnet.errors import InputError
from simnet.spelling import nearest

SCENARIO_FILE: Final = "scenario.toml"
"""What the file of a scenario is called in a folder of its own, with its models."""


def scenario_names() -> tuple[str, ...]:
    """Return the names of all scenarios that come with simnet."""
    return tuple(sorted(path.stem for path in _share.folder("scenarios").glob("*.toml")))


def find_scenario(name: str) -> Path:
    """Return the file of a scenario.

    Args:
        name: a scenario that comes with simnet, or a path: of a file, or of a folder as an import
            writes it.

    Raises:
        InputError: no such scenario; the message names the nearest.
    """
    if not name.strip():
        raise InputError(
            f"expected the name of a scenario, or a file, got {name!r}", key="SCENARIO"
        )
    known = _share.folder("scenarios") / f"{name}.toml"
    if known.stem == name and os.path.isfile(known):  # noqa: PTH113 (no error for a long name)
        return known
    path = Path(name)
    if is_folder(name):
        return path / SCENARIO_FILE
    if os.path.isdir(path) and not name.endswith(".toml"):  # noqa: PTH112 (as above)
        message = f"a folder without {SCENARIO_FILE}: expected the name of a scenario, or a file"
        raise InputError(message, key=name)
    if name.endswith(".toml") or "/" in name or os.path.isfile(path):  # noqa: PTH113
        return path
    hint = nearest(name, scenario_names()) or ": simnet list scenarios shows all"
    raise InputError(f"unknown scenario{hint}", key=name)


def is_folder(name: str) -> bool:
    """Return whether a name is that of a folder with a scenario, as an import writes it."""
    return os.path.isfile(Path(name) / SCENARIO_FILE)  # noqa: PTH113 (as above)


def called(path: Path) -> str:
    """Return what a scenario that says no name is called: as its file, or as an import's folder."""
    return path.stem if path.name != SCENARIO_FILE else path.resolve().parent.name or path.stem
