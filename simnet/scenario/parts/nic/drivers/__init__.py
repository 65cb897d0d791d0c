"""One module a driver: its ``DRIVER`` is the section of its models, and is found by its name."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simnet.scenario.parts.nic.schema import Nic


def drivers() -> tuple[type[Nic], ...]:
    """Return the drivers of this folder."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return tuple(import_module(f"{__name__}.{name}").DRIVER for name in names)
