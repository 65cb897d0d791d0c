"""The modules of a folder and of those below it: each announces what it reads or means."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType


def modules_below(folder: ModuleType) -> tuple[ModuleType, ...]:
    """Return the modules below a package, in the order of their names."""
    found = pkgutil.walk_packages(folder.__path__, f"{folder.__name__}.")
    return tuple(import_module(one.name) for one in found if not one.ispkg)
