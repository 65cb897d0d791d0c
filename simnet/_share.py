"""Where the data folders are: inside an installed package, or beside it in a checkout."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Literal

from simnet.errors import SimnetError

Folder = Literal["models", "scenarios", "validation"]

_PACKAGE = Path(__file__).resolve().parent


def folder(name: Folder, *, package: Path = _PACKAGE) -> Path:
    """Return the directory that holds the models, the scenarios or the validation data.

    A wheel carries the folders as ``simnet/_share/NAME``. In a checkout they lie beside the
    package, and are taken from there only if ``pyproject.toml`` lies beside them too: a
    folder that happens to be called ``models`` in site-packages is another package's.

    Raises:
        SimnetError: the data is in neither place, so the installation is damaged.
    """
    return _found(name, package)


@functools.cache
def _found(name: Folder, package: Path) -> Path:
    installed = package / "_share" / name
    if installed.is_dir():
        return installed
    root = package.parent
    if (root / "pyproject.toml").is_file() and (root / name).is_dir():
        return root / name
    message = f"the {name} folder is neither at {installed} nor at {root / name}: reinstall simnet"
    raise SimnetError(message)
