"""How a subject announces itself: one object in its folder, found by name.

Each folder of :mod:`simnet.scenario.parts` has a ``SUBJECT``; nothing else lists the folders. What
takes time to import is announced as a function, so a command imports what it uses.
"""

from __future__ import annotations

import functools
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from simnet.scenario.core.knob import Knob
    from simnet.scenario.core.section import Section

__all__ = ["ModelFiles", "Subject", "subjects"]

_PARTS: Final = "simnet.scenario.parts"


@dataclass(frozen=True)
class ModelFiles:
    """One kind of model.

    Attributes:
        kind: what its files say that they are.
        folder: where they lie, below the folder of models.
        section: what a model consists of.
        order: where the kind stands among all.
    """

    kind: str
    folder: str
    section: type[Section]
    order: int = 1000


@dataclass(frozen=True)
class Subject:
    """What one subject adds to models, scenarios and settings.

    Attributes:
        name: that of its folder.
        order: where its part of a listing stands; subjects of the same order go by name.
        models: its kinds of models.
        knobs: its knobs, in the order of a listing.
    """

    name: str
    order: int = 1000
    models: tuple[ModelFiles, ...] = ()
    knobs: Callable[[], tuple[Knob, ...]] = tuple


@functools.cache
def subjects() -> tuple[Subject, ...]:
    """Return all subjects, by order and name."""
    folder = import_module(_PARTS)
    names = [module.name for module in pkgutil.iter_modules(folder.__path__) if module.ispkg]
    found: list[Subject] = [import_module(f"{_PARTS}.{name}").SUBJECT for name in names]
    return tuple(sorted(found, key=lambda one: (one.order, one.name)))
