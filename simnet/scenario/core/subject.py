"""How a subject announces itself: one object in its folder, found by name.

Each folder of :mod:`simnet.scenario.parts` has a ``SUBJECT``; nothing else lists the folders. What
takes time to import is announced by its place (:func:`late`), so a command imports what it uses.
"""

from __future__ import annotations

import copy
import functools
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, TypeAlias

from simnet.announced import names_below

if TYPE_CHECKING:
    from simnet.host.delayed_action import DelayedAction
    from simnet.scenario.commands.together import Together
    from simnet.scenario.core.knob import Knob, Stage
    from simnet.scenario.core.parameter import Spec
    from simnet.scenario.core.section import Section
    from simnet.scenario.core.tree import Entry, Path, Table, Tree

_PARTS: Final = "simnet.scenario.parts"
_BUILDERS: Final = ("build", "resources", "streams")

# They are made of what subjects announce, so their modules import this one, and it does not theirs.
_Effective: TypeAlias = Any
_Driver: TypeAlias = Any
_Ground: TypeAlias = Any
_Lifting: TypeAlias = Any
_Listed: TypeAlias = Any
_Settings: TypeAlias = Any


def late(place: str) -> Callable[..., Any]:
    """Return what imports ``SUBJECT.MODULE:NAME`` when it is called: it calls a function there.

    Of anything else, as a tuple of knobs or a class, it returns what it found.
    """
    module, name = place.split(":")

    def call(*given: Any, **named: Any) -> Any:
        found = getattr(import_module(f"{_PARTS}.{module}"), name)
        plain = isinstance(found, type) or not callable(found)
        return found if plain else found(*given, **named)

    return call


def _pass(*_: object) -> None:
    pass


def _none(*_: object, **_more: object) -> tuple[()]:
    return ()


@dataclass(frozen=True)
class ModelFiles:
    """One kind of model."""

    kind: str  # what its files say that they are
    folder: str  # where they lie, below the folder of models
    section: type[Section]  # what a model consists of
    order: int = 1000  # where the kind stands among all


@dataclass(frozen=True)
class Part:
    """A part of a configuration that stands at its top, beside the hosts.

    It is a table of the scenario's file, a model whose name stands there or in the model of another
    part, or neither, where other code puts it in.
    """

    place: str  # where it is in the tree of values
    section: type[Section]  # what it consists of
    key: str = ""  # its key in the file: a table, or in ``[system]`` the name of its model
    doc: str = ""  # what the file's schema says of that key
    kind: str = ""  # the kind of model that is named; empty for a table
    named_by: str = ""  # place of the part whose model names this one, in place of ``[system]``
    several: bool = False  # there are several such tables, each with a name of its own
    early: bool = False  # it is listed before the workload
    always: bool = False  # it is there with its defaults where the file has no such table
    absent: str = ""  # what a message says of its knobs where it is not there
    prefix: str = ""  # what its values' names begin with in settings; the place if empty
    # of a table, its form in a file where that has more than the section's values
    form: Callable[[], Any] = _pass
    # values that stand beside it, which no file has: by name, type and default
    beside: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    order: int = 1000  # where it stands among all


@dataclass(frozen=True)
class HostPart:
    """A part of each host, beside its ports."""

    place: str  # where it is in the host; its values' names begin with it in settings
    section: type[Section]  # what it consists of
    # its key in a file's table of a host; empty for what is always there and only knobs
    # change
    key: str = ""
    doc: str = ""  # what the file's schema says of that key
    # the kind of model that has its values: the one that the key of this name in a file's
    # table of a host names, or in the model of another part
    kind: str = ""
    named_by: str = ""  # place of that part
    # its attribute that gives how many logical CPUs a host with it has, whose method `seen`
    # then returns machine and processor as the operating system sees them; empty for those of
    # the sockets
    cpus: str = ""
    # what a message says of its knobs on a host without it; the host's name goes first
    absent: str = ""
    # there are several in a host, each with a name; what ``{...}`` stands for them in knobs
    # and messages, as ``disk``
    item: str = ""
    form: Callable[[], Any] = _pass  # of several, what each is in a file
    load: Callable[..., None] = _pass  # of several, puts them into the tree
    order: int = 1000  # where it stands among all


@dataclass(frozen=True)
class Setup:
    """What is simulated in place of streams between ports of the host and those of its peers."""

    # makes the system of a configuration; see `simnet.scenario.system.build.build`
    build: Callable[..., Any]
    # refuses values that do not fit together; None for what streams need
    check: Callable[[Tree, Table], None] | None = None
    # it is there where this part of a configuration is; empty: where the test is one of
    # `tests`
    part: str = ""
    tests: tuple[str, ...] = ()  # what ``[workload] test`` may be then
    types: tuple[str, ...] = ()  # likewise, its ``type``
    doc: str = ""  # what the file's schema says of these tests, after those of streams
    # what kind of load it is, which says by what its runs are judged: ``bulk`` carries as
    # much as it can, ``requests`` each wait for an answer, ``offered`` comes whether or not
    # it is answered, ``media`` is not sent again when it is lost, ``jobs`` end
    load: str = "bulk"
    rate: str = ""  # setting of what comes, whether or not it is taken; empty where senders wait
    order: int = 1000  # where its tests stand among all


@dataclass(frozen=True)
class Exchange:
    """What crosses a network between ports of the host and those of its peers, by flows."""

    tests: tuple[str, ...]  # what ``[workload] test`` may be
    doc: str = ""  # what the file's schema says of them
    types: tuple[str, ...] = ()  # what ``[workload] type`` may be then
    load: str = "bulk"  # what kind of load it is, see `Setup`
    asks: bool = False  # one end sends requests, and waits for responses
    whole: str = ""  # why both ends have to be whole machines; empty where a peer may be a mere end
    # makes the sockets and processes of a flow between two machines, if they are not those of
    # TCP; see `simnet.scenario.parts.network.streams`
    connect: Callable[..., Any] | None = None


@dataclass(frozen=True)
class Way:
    """How ports of the host and of its peers are linked, in place of a switch."""

    part: str  # where this part of a configuration is there
    # links two ports, and returns what yields the resources between, or None; see
    # `simnet.scenario.parts.network.streams`
    connect: Callable[..., Any]
    copied: bool = False  # no frame crosses a wire: CPUs copy them from one memory to another


@dataclass(frozen=True)
class Measure:
    """A number of a result that runs are compared by, declared once for every view."""

    label: str  # what it is, with the unit that it is shown in
    heading: str  # the same for a column, short
    of: Callable[[Any], float | None]  # its value of a result; None where that has none
    scale: float = 1.0  # shown units in one of its own
    digits: int = 0  # decimals that are shown
    largest: bool = False  # whether more of it is better
    listed: bool = False  # a table of runs has it, whatever they are compared by
    metric: str = ""  # what verdicts, limits and effects call it; empty where they do not know it
    # of the quantity, of those that a what-if shows: what predictions of it are like
    kind: str = ""
    unit: str = ""  # of its values; of the known metrics only
    offset: float = 0.0  # what is added to both sides of a change, as of what is often nothing
    changes: bool = False  # a what-if shows its change
    most: tuple[float, str] | None = None  # what it can be at most, and that as text
    goal: str = ""  # what ``--goal`` calls it; empty where nobody tunes for it alone

    @property
    def said(self) -> str:
        """What it is, without a unit."""
        return self.label.partition(" (")[0]

    def titled(self, unit: str = "") -> str:
        """What it is, and the unit that it is shown in, or another one: ``throughput, Mbit/s``."""
        unit = unit or self.label.partition(" (")[2].removesuffix(")")
        return f"{self.said}/s" if unit == "1/s" else f"{self.said}, {unit}"

    def shown(self, value: float) -> str:
        """A value in the unit that it is shown in."""
        return f"{value * self.scale:.{self.digits}f}"


@dataclass(frozen=True)
class Column:
    """A field of the result, of counters that only some systems have."""

    name: str  # of the field
    form: Any  # its type
    doc: str  # what the result's schema says of it
    # of two snapshots of one system, what it is; the default where that has no such counters
    value: Callable[..., Any]
    default: Any = ()  # the field's
    table: bool = False  # it is a table of rows, each with a name
    # numbers of it that runs are compared by, by name with unit
    measures: Mapping[str, Measure] = field(default_factory=dict)
    order: int = 1000  # where it stands among all


@dataclass(frozen=True)
class Need:
    """What a system of so many objects takes before its first event, as measured."""

    place: Path  # of the value that says how many
    value: int  # what that is
    count: int  # how many objects there are
    noun: str  # what they are
    each_bytes: int  # memory of one
    each_ps: int  # processor time to make one
    others: tuple[Path, ...] = ()  # places of values that it is multiplied by


@dataclass(frozen=True)
class Proposal:
    """Settings that belong together and that an expert would try first on a system."""

    name: str  # short, as a tuning's
    doc: str  # what it does, one line
    settings: tuple[tuple[str, str], ...]  # knobs with their values, as typed
    short: str = ""  # another name, the one that people type first; empty for none
    # it takes a number, as in ``queues=4``, which stands for ``{number}`` in values
    numbered: bool = False
    # whether a search tries it by itself; not where its knobs are tried one by one
    searched: bool = True


class Steps:
    """What a subject does while settings apply; made anew whenever some do.

    Args:
        settings: the settings, see `simnet.scenario.core.settings.Settings`.

    Attributes:
        names: what can be set of it that is neither a value nor a knob.
        scopes: of its knobs that it turns itself, as they have no place in the tree.
    """

    names: ClassVar[tuple[str, ...]] = ()
    scopes: ClassVar[tuple[str, ...]] = ()

    def __init__(self, settings: _Settings) -> None:
        self.settings = settings

    def copy(self, settings: _Settings) -> Self:
        """Return the same for a copy of the settings: no attribute may be changed in place."""
        same = copy.copy(self)
        same.settings = settings
        return same

    def begin(self, given: list[Entry]) -> None:
        """Look at all settings that are no knobs, before any applies."""

    def after(self, stage: Stage) -> None:
        """Go on when the settings of a stage have applied; `end` comes after the last."""

    def turn(self, entry: Entry, knob: Knob, value: Any) -> Any:
        """Turn a knob of `scopes`, and return what it was; None where that is not known."""
        raise NotImplementedError

    def turned(self, entry: Entry, knob: Knob, value: Any) -> None:
        """Take note of a knob that has been turned."""

    def end(self) -> None:
        """Remark on what has been set."""


@dataclass(frozen=True)
class Subject:
    """What one subject adds to models, scenarios and settings."""

    name: str  # that of its folder
    order: int = 1000  # where its part of a listing stands; subjects of the same order go by name
    models: tuple[ModelFiles, ...] = ()  # its kinds of models
    parts: tuple[Part, ...] = ()  # its parts of a configuration
    host_parts: tuple[HostPart, ...] = ()  # its parts of each host
    # what it adds to models that are another subject's: section by kind of model
    adds: Mapping[str, Callable[[], type[Section]]] = field(default_factory=dict)
    # attributes of its values that no mechanism reads, see `simnet.scenario.core.knobs`
    unread: tuple[str, ...] = ()
    drivers: Callable[[], tuple[_Driver, ...]] = tuple  # its drivers of network interfaces
    # its knobs, in the order of a listing; those of its drivers come after them
    knobs: Callable[[], tuple[Knob, ...]] = tuple
    # yields names, places and specs of values that no part names after its own place, of some
    # hosts, and with `shared` of what belongs to no host
    settings: Callable[..., Iterable[tuple[str, tuple[Path, ...], Spec]]] = _none
    # the class of what it does while settings apply
    steps: Callable[[], type[Steps]] = lambda: Steps
    # yields what streams there are, as values of `simnet.scenario.core.effective.Flow`
    flows: Callable[[_Settings], Iterable[dict[str, Any]]] = _none
    # refuses values that do not fit together, where streams cross a network
    check: Callable[[Tree, Table], None] = _pass
    # likewise, of one host, at whose place it looks
    check_host: Callable[[Tree, Path, Table], None] = _pass
    # yields what a system takes before its first event
    needs: Callable[[Tree], Iterable[Need]] = _none
    # what of it acts only after a while
    delayed_actions: Callable[[_Effective], Iterable[DelayedAction]] = _none
    setups: tuple[Setup, ...] = ()  # what is simulated of it in place of streams
    # makes the system of a configuration that has streams
    streams: Callable[..., Any] | None = None
    exchanges: tuple[Exchange, ...] = ()  # its kinds of streams
    ways: tuple[Way, ...] = ()  # its ways between ports
    # adds to a machine that was made, before its ports
    join: Callable[[_Ground, Any, Any], None] = _pass
    # adds to the simulated host and its ports, before streams or a setup
    equip: Callable[[_Ground], None] = _pass
    columns: Callable[[], tuple[Column, ...]] = tuple  # its fields of a result
    lifts: Callable[[], tuple[_Lifting, ...]] = tuple  # what of it `explain --lift` tries larger
    listings: Callable[[], tuple[_Listed, ...]] = tuple  # commands whose output `--apply` takes
    # yields places of values, dotted, that nothing reads in a configuration, and why
    idle: Callable[[_Effective], Iterable[tuple[str, str]]] = _none
    # likewise, of such as another load would read
    unused: Callable[[_Effective], Iterable[tuple[str, str]]] = _none
    # yields why two configurations that differ in its values do the same in a simulation
    same: Callable[[_Effective, _Effective], Iterable[str]] = _none
    # yields what is typed for several settings at once, of the configurations before and
    # after a tuning
    typed: Callable[[_Effective, _Effective], Iterable[Together]] = _none
    # yields what is worth trying on a configuration, from what its parts are
    proposals: Callable[[_Effective], Iterable[Proposal]] = _none


@functools.cache
def subjects() -> tuple[Subject, ...]:
    """Return all subjects, by order and name."""
    folder = import_module(_PARTS)
    names = [module.name for module in pkgutil.iter_modules(folder.__path__) if module.ispkg]
    found: list[Subject] = [import_module(f"{_PARTS}.{name}").SUBJECT for name in names]
    return tuple(sorted(found, key=lambda one: (one.order, one.name)))


@functools.cache
def models() -> tuple[ModelFiles, ...]:
    """Return the kinds of models, with what all subjects add to each, in order."""
    found = [
        replace(one, section=_whole(one.kind, one.section))
        for subject in subjects()
        for one in subject.models
    ]
    return tuple(sorted(found, key=lambda one: one.order))


@functools.cache
def model_section(kind: str) -> type[Section]:
    """Return what models of a kind consist of."""
    return next(one.section for one in models() if one.kind == kind)


@functools.cache
def _whole(kind: str, section: type[Section]) -> type[Section]:
    """Return a section with what subjects add to models of its kind."""
    added = [subject.adds[kind]() for subject in subjects() if kind in subject.adds]
    if not added:
        return section
    from pydantic import create_model

    bases = (*reversed(added), section)  # the fields of the last base come first
    return create_model(section.__name__, __base__=bases, __doc__=section.__doc__)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> type[Section]:
        """Return a section that subjects add to, by its name: to unpickle what is made of it."""
        known = () if name.startswith("_") else (one.section for one in models())
        for section in known:
            if (section.__module__, section.__name__) == (__name__, name):
                return section
        raise AttributeError(name)


@functools.cache
def parts() -> tuple[Part, ...]:
    """Return the parts of a configuration that all subjects announce, in order."""
    found = (part for subject in subjects() for part in subject.parts)
    return tuple(sorted(found, key=lambda one: one.order))


@functools.cache
def host_parts() -> tuple[HostPart, ...]:
    """Return the parts of each host that all subjects announce, in order."""
    found = [
        replace(part, section=_whole(part.kind, part.section))
        for subject in subjects()
        for part in subject.host_parts
    ]
    return tuple(sorted(found, key=lambda one: one.order))


@functools.cache
def setups() -> tuple[Setup, ...]:
    """Return what can be simulated in place of streams, in order."""
    found = (setup for subject in subjects() for setup in subject.setups)
    return tuple(sorted(found, key=lambda one: one.order))


@functools.cache
def steps() -> tuple[type[Steps], ...]:
    """Return what subjects do while settings apply, by their order."""
    found = (subject.steps() for subject in subjects())
    return tuple(one for one in found if one is not Steps)


@functools.cache
def exchanges() -> tuple[Exchange, ...]:
    """Return what can cross a network, by the order of subjects."""
    return tuple(exchange for subject in subjects() for exchange in subject.exchanges)


@functools.cache
def ways() -> tuple[Way, ...]:
    """Return the ways between ports that subjects announce, by the order of subjects."""
    return tuple(way for subject in subjects() for way in subject.ways)


def setup_of(test: str, has: Callable[[str], bool]) -> Setup | None:
    """Return what a configuration has in place of streams; None for streams.

    Args:
        test: of its workload.
        has: whether it has a part.
    """
    return next((o for o in setups() if (has(o.part) if o.part else test in o.tests)), None)


def column_field(column: str, name: str) -> Callable[[Any], float | None]:
    """Return what reads a field of a column of a result, for `Measure.of`."""

    def of(result: Any) -> float | None:
        row = getattr(result, column)
        return None if row is None else float(getattr(row, name))

    return of


@functools.cache
def columns() -> tuple[Column, ...]:
    """Return the fields of a result that all subjects announce, in order."""
    found = (column for subject in subjects() for column in subject.columns())
    return tuple(sorted(found, key=lambda one: one.order))


def builders() -> tuple[str, ...]:
    """Return the modules that put systems together, by name: a first simulation imports some."""
    parts = import_module(_PARTS)
    return tuple(one for one in names_below(parts) if one.rpartition(".")[2] in _BUILDERS)
