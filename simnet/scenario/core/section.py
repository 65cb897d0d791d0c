"""What every group of values of a model or a scenario is."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock, get_ident
from types import MappingProxyType
from typing import Any, ClassVar, Final

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A frozen group of values; unknown keys are errors.

    Attributes:
        by: attribute that chooses one of the section's variants; empty where there are none.
        beside: keys that a model's file may have beside values, as pydantic takes them: no part
            of what is modelled.
    """

    model_config = ConfigDict(defer_build=True, frozen=True, extra="forbid")
    by: ClassVar[str] = ""
    beside: ClassVar[Mapping[str, Any]] = MappingProxyType({})

    @classmethod
    def variants(cls) -> Mapping[str, type[Section]]:
        """Return what a model consists of, by the value of the attribute `by`."""
        return {}

    @classmethod
    def unused(cls, values: Mapping[str, Any]) -> Collection[str]:  # noqa: ARG003 - for others
        """Return the attributes that nothing reads beside such values: they cannot be set."""
        return ()


class Reads:
    """What was read so far."""

    def __init__(self) -> None:
        # the sections stay alive as long as their numbers count
        self._found: dict[tuple[int, str], Section] = {}

    def add(self, section: Section, name: str) -> None:
        """Take note that an attribute of a section is read."""
        self._found[id(section), name] = section

    def had(self, section: Section, name: str) -> bool:
        """Whether an attribute of a section was read."""
        return (id(section), name) in self._found


_LOCK: Final = Lock()
_LOOKING: Final[list[tuple[int, Reads]]] = []


@contextmanager
def reads() -> Iterator[Reads]:
    """Take note of every value that this thread reads meanwhile."""
    found = Reads()
    looking = get_ident(), found
    with _LOCK:
        _LOOKING.append(looking)
        Section.__getattribute__ = _noted  # type: ignore[method-assign]
    try:
        yield found
    finally:
        with _LOCK:
            _LOOKING.remove(looking)
            if not _LOOKING:
                del Section.__getattribute__  # that of every object is left


def _noted(self: Any, name: str) -> Any:
    here = get_ident()
    for thread, found in _LOOKING:
        if thread == here:
            found.add(self, name)
    return object.__getattribute__(self, name)
