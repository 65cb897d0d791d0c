"""The values of a configuration while it is put together: a tree of numbers, and what set them."""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, get_origin

from simnet.errors import InputError
from simnet.scenario.core.parameter import Parameter, Spec, State
from simnet.scenario.core.schema import section_in, spec_of
from simnet.scenario.core.section import Section

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import BaseModel

    from simnet.scenario.core.toml import Document, KeyPath

Path: TypeAlias = tuple[str | int, ...]

_CONTAINERS: Final = (dict, list)
# the source of what no file says
DEFAULT: Final = "default"


def dotted(path: Path) -> str:
    """Return ``("ports", 3, "nic")`` as ``"ports[3].nic"``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".")


class Tree:
    """Nested values in base units, and the parameter behind each."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}  # what becomes the effective configuration
        self.provenance: dict[str, Parameter] = {}  # by dotted path
        # file and key of what a model or scenario consists of, by dotted path
        self.written: dict[str, tuple[Document, KeyPath]] = {}

    def copy(self) -> Tree:
        """Return a tree of the same values, which changes apart from this one."""
        tree = Tree()
        tree.values = copied(self.values)
        tree.provenance = self.provenance.copy()
        tree.written = self.written.copy()
        return tree

    def put(self, path: Path, parameter: Parameter) -> None:
        """Set one value."""
        self.put_plain(path, parameter.value)
        self.provenance[dotted(path)] = parameter

    def put_plain(self, path: Path, value: Any) -> None:
        """Set a value that has no provenance of its own, such as a name."""
        place: Any = self.values
        for part, following in itertools.pairwise(path):
            if isinstance(part, int):
                place = place[part]
            else:
                place = place.setdefault(part, [] if isinstance(following, int) else {})
            if isinstance(following, int) and following == len(place):
                place.append({})
        place[path[-1]] = value

    def graft(
        self,
        path: Path,
        section: type[Section],
        form: BaseModel,
        written: tuple[Document, KeyPath] | None = None,
    ) -> None:
        """Put a checked file form of a section at a place of the tree.

        Args:
            path: the place.
            section: what it becomes there.
            form: what was read.
            written: the file, and its table; a value that names no source has its line as one.
        """
        for attribute, info in section.model_fields.items():
            spec = spec_of(section, attribute)
            here = (*path, attribute)
            key = spec.key(attribute) if spec else attribute
            there = (written[0], (*written[1], key)) if written else None
            if there:
                self.written[dotted(here)] = there
            if spec is None:
                given = getattr(form, attribute)
                inner = section_in(info.annotation)
                if inner is None:
                    self.put_plain(here, given)
                else:
                    self.graft(here, inner, given, there)
                continue
            parameter = getattr(form, key) or _default(section, attribute)
            if there and not parameter.source:
                source = f"{there[0].file}:{there[0].line(there[1])}"
                parameter = parameter.model_copy(update={"source": source})
            self.put(here, parameter)
        for attribute in section.unused(self.get(path)):
            del self.provenance[dotted((*path, attribute))]

    def get(self, path: Path) -> Any:
        """Return the value or subtree at a place."""
        place: Any = self.values
        for part in path:
            place = place[part]
        return place


def copied(value: Any) -> Any:
    """A dict or list with containers of its own; what they hold at last is never changed."""
    # of a host with hundreds of queues, to call this for each value would take most of a load
    if isinstance(value, dict):
        return {
            key: copied(one) if isinstance(one, _CONTAINERS) else one for key, one in value.items()
        }
    return [copied(one) if isinstance(one, _CONTAINERS) else one for one in value]


@functools.cache
def _default(section: type[Section], attribute: str) -> Parameter:
    spec, value = spec_of(section, attribute), section.model_fields[attribute].default
    if spec is None:
        raise LookupError(attribute)
    return Parameter(
        value=value,
        unit=spec.unit,
        source=DEFAULT,
        state="chosen",
        text=spec.when_missing or spec.text(value),
    )


@functools.cache
def walk(section: type[Section]) -> tuple[tuple[Path, Spec], ...]:
    """Return the attribute path and spec of every value of a section and its subsections."""
    return tuple(_walked(section, ()))


def _walked(section: type[Section], path: Path) -> Iterator[tuple[Path, Spec]]:
    for attribute, info in section.model_fields.items():
        spec = spec_of(section, attribute)
        here = (*path, attribute)
        if spec is not None:
            yield here, spec
        else:
            inner = section_in(info.annotation)
            if inner is not None and get_origin(info.annotation) is not tuple:
                yield from _walked(inner, here)


class Entry(NamedTuple):
    """One setting as given."""

    name: str  # as typed, runs of blanks made one
    raw: Any  # the value as typed
    file: str  # the scenario's file, or the option
    line: int | None = None  # line in the file; None for an option
    source: str = ""  # a better provenance than file and line, where the scenario gives one
    state: State = "chosen"  # how sure it is

    def error(self, message: str) -> InputError:
        """Return an error that names this setting."""
        return InputError(message, file=self.file, line=self.line, key=self.name)

    @property
    def said_by(self) -> str:
        """Where its value comes from."""
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        return self.source or where

    def parameter(self, spec: Spec, value: Any) -> Parameter:
        """Return the parsed value with this setting's provenance."""
        return Parameter(
            value=value,
            unit=spec.unit,
            source=self.said_by,
            state=self.state,
            text=spec.text(value),
        )


class Table:
    """The settings behind the values of a tree."""

    def __init__(self, tree: Tree, document: Document) -> None:
        self.tree = tree  # the values
        self.remarks: list[str] = []  # one line each, for people
        # the setting behind a changed value or another model, by dotted path
        self.origins: dict[str, Entry] = {}
        self.document = document  # the scenario's file

    def error(self, path: Path, key: str, message: str, *others: Path) -> InputError:
        """Return an error at the setting of a value, or where its file has it.

        Args:
            path: the value at fault.
            key: a key of the scenario's file, where no file has the value itself.
            message: what was expected.
            others: values that it does not fit; the fault is that of the one which was set.
        """
        set_ = [self.origins[at] for at in map(dotted, (path, *others)) if at in self.origins]
        # an option overrides the file, so the option's value is at fault
        entry = min(set_, key=lambda one: one.line is not None, default=None)
        if entry:
            return entry.error(message)
        given = tuple(key.split("."))
        document, place = self.tree.written.get(dotted(path), (self.document, given))
        if document is self.document and place[: len(given)] != given:
            place = given
        return document.error(message, place)
