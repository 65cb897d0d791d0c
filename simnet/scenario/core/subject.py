"""How a subject announces itself: one object in its folder, found by name.

Each folder of :mod:`simnet.scenario.parts` has a ``SUBJECT``; nothing else lists the folders. What
takes time to import is announced as a function, so a command imports what it uses.
"""

from __future__ import annotations

import functools
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from simnet.host.onset import Onset
    from simnet.scenario.core.effective import Effective
    from simnet.scenario.core.knob import Knob
    from simnet.scenario.core.section import Section
    from simnet.scenario.core.settings import Table
    from simnet.scenario.core.tree import Path, Tree

__all__ = ["ModelFiles", "Part", "Subject", "parts", "subjects"]

_PARTS: Final = "simnet.scenario.parts"


def _pass(*_: object) -> None:
    pass


def _none(_effective: Effective) -> tuple[Onset, ...]:
    return ()


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
class Part:
    """A part of a configuration that stands at its top, beside the hosts.

    It is a table of the scenario's file, a model whose name stands there or in the model of another
    part, or neither, where other code puts it in.

    Attributes:
        place: where it is in the tree of values.
        section: what it consists of.
        key: its key in the file: a table, or in ``[system]`` the name of its model.
        doc: what the file's schema says of that key.
        kind: the kind of model that is named; empty for a table.
        named_by: place of the part whose model names this one, in place of ``[system]``.
        several: there are several such tables, each with a name of its own.
        early: it is listed before the workload.
        absent: what a message says of its knobs where it is not there.
        prefix: what its values' names begin with in settings; the place if empty.
        order: where it stands among all.
    """

    place: str
    section: type[Section]
    key: str = ""
    doc: str = ""
    kind: str = ""
    named_by: str = ""
    several: bool = False
    early: bool = False
    absent: str = ""
    prefix: str = ""
    order: int = 1000


@dataclass(frozen=True)
class Subject:
    """What one subject adds to models, scenarios and settings.

    Attributes:
        name: that of its folder.
        order: where its part of a listing stands; subjects of the same order go by name.
        models: its kinds of models.
        parts: its parts of a configuration.
        unread: attributes of its values that no mechanism reads, see `simnet.scenario.core.unread`.
        knobs: its knobs, in the order of a listing.
        check: refuses values that do not fit together, where streams cross a network.
        check_host: likewise, of one host, at whose place it looks.
        onsets: what of it acts only after a while.
    """

    name: str
    order: int = 1000
    models: tuple[ModelFiles, ...] = ()
    parts: tuple[Part, ...] = ()
    unread: tuple[str, ...] = ()
    knobs: Callable[[], tuple[Knob, ...]] = tuple
    check: Callable[[Tree, Table], None] = _pass
    check_host: Callable[[Tree, Path, Table], None] = _pass
    onsets: Callable[[Effective], Iterable[Onset]] = _none


@functools.cache
def subjects() -> tuple[Subject, ...]:
    """Return all subjects, by order and name."""
    folder = import_module(_PARTS)
    names = [module.name for module in pkgutil.iter_modules(folder.__path__) if module.ispkg]
    found: list[Subject] = [import_module(f"{_PARTS}.{name}").SUBJECT for name in names]
    return tuple(sorted(found, key=lambda one: (one.order, one.name)))


@functools.cache
def parts() -> tuple[Part, ...]:
    """Return the parts of a configuration that all subjects announce, in order."""
    found = (part for subject in subjects() for part in subject.parts)
    return tuple(sorted(found, key=lambda one: one.order))
