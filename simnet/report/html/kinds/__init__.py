"""Documents that a report can show: each module here announces one `KIND`, found by name."""

import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from simnet.report.html.blocks import Part


@dataclass(frozen=True)
class Kind:
    """What a report makes of one kind of document."""

    command: str  # that prints it
    matches: Callable[[Any], bool]  # whether a value of JSON claims to be one
    read: Callable[[bytes], Any]  # makes the document of JSON; raises pydantic's ValidationError
    # of the report, of all documents of this kind with their files; the flag says whether it
    # may simulate what the documents lack
    parts: Callable[[Sequence[tuple[str, Any]], bool], Sequence[Part]]


def each(name: str, part: Callable[[str, str, Any], Part]) -> Callable[..., list[Part]]:
    """Return what makes a part of each document; `part` takes its own name, file and document."""

    def parts(found: Sequence[tuple[str, Any]], _simulate: bool) -> list[Part]:  # noqa: FBT001
        return [part(f"{name}{number}", file, one) for number, (file, one) in enumerate(found)]

    return parts


def has_schema(name: str) -> Callable[[Any], bool]:
    """Return what tells whether a document says that it follows a schema."""
    return lambda tree: isinstance(tree, dict) and tree.get("schema") == name


@cache
def kinds() -> tuple[Kind, ...]:
    """Every kind, by name."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return tuple(import_module(f"{__name__}.{name}").KIND for name in names)
