"""The modules of a folder and of those below it, each of which announces something."""

import pkgutil
from importlib import import_module
from types import ModuleType


def names_below(folder: ModuleType) -> tuple[str, ...]:
    """Return the names of the modules below a package, in their order."""
    found = pkgutil.walk_packages(folder.__path__, f"{folder.__name__}.")
    return tuple(one.name for one in found if not one.ispkg)


def modules_below(folder: ModuleType) -> tuple[ModuleType, ...]:
    """Return the modules below a package, in the order of their names."""
    return tuple(map(import_module, names_below(folder)))
