"""Puts the printed attributes of a real machine into a scenario, and says what became of each.

`--apply FILE` takes what commands printed that subjects announce, as `no -a`. An attribute that is
a knob is set as if it were typed after `--set`; one that simnet knows and does not model, or does
not know, is listed as such. Nothing is set unless all of it can be.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import Final, Literal

from simnet.errors import InputError
from simnet.scenario.commands.attribute_listing import (
    Attribute,
    Listed,
    Listing,
    listed_commands,
    read_listing,
)
from simnet.scenario.core.entries import PEER
from simnet.scenario.core.knob import Knob
from simnet.scenario.core.knobs import KNOBS
from simnet.scenario.core.tree import Entry, Path, Tree

State = Literal["modelled", "not modelled", "unknown", "elsewhere"]
_PEER: Final = "peer"
_BY_NAME: Final = {knob.name: knob for knob in KNOBS}
_SYSTEMS: Final = {"linux": "Linux", "aix": "AIX"}


@dataclass(frozen=True)
class CapturedAttribute:
    """One attribute of a listing, and what became of it."""

    file: str  # where it was printed
    line: int  # there
    command: str  # that printed it
    nodes: str  # where the listing has sections, the nodes that it is for; empty for all
    name: str  # as printed
    value: str  # as printed
    unit: str  # of the value; empty for none, or where it is not known
    meaning: str  # one line; empty where it is not known
    # `modelled`: it is set. `not modelled`: known, and no simulation depends on it.
    # `unknown`: simnet has never heard of it. `elsewhere`: it is for other nodes.
    state: State
    settings: tuple[str, ...] = ()  # names that `--set` would take, of what it sets
    note: str = ""  # caveat; empty when there is none


@dataclass(frozen=True)
class Captured:
    """What some files set."""

    attributes: tuple[CapturedAttribute, ...]  # all, in the order of the files
    entries: tuple[Entry, ...]  # what is set, in the order in which it applies
    remarks: tuple[str, ...]  # one line a file


def attributes() -> Iterator[tuple[str, str, str, str, Knob | None]]:
    """Yield command, name, unit, meaning and knob of every attribute that simnet knows."""
    for listed in listed_commands():
        for name, (unit, meaning) in listed.known.items():
            knob = knob_of(listed, name) or knob_of(listed, name, listed.suffix)
            yield listed.command, name, unit, meaning, knob


def knob_of(listed: Listed, attribute: str, suffix: str = "") -> Knob | None:
    """The knob that an attribute is, with a suffix of its name where that is of other nodes."""
    return _BY_NAME.get(f"{listed.knob.format(attribute)}{suffix}")


def captured(tree: Tree, files: Sequence[str], overrides: Mapping[str, str]) -> Captured:
    """Return what the files set in a scenario.

    Args:
        tree: the scenario's values; they are not changed.
        files: as typed: FILE, `peer:FILE` for the peers, or `NODECLASS:FILE` for what is printed
            of a node class.
        overrides: what sets a knob again, by the knob's name: `--set`, or a tuning.

    Raises:
        InputError: a file cannot be read, is cut or foreign, or is of another system.
    """
    found: list[CapturedAttribute] = []
    entries: list[Entry] = []
    remarks: list[str] = []
    for typed in files:
        scope, listing = _read(typed)
        target: Target = listing.listed.target(tree, scope, listing)
        rows, set_here = target.apply()
        remarks.append(_summary(listing, target.title, rows))
        remarks += target.remarks
        found += rows
        entries += set_here
    last = {entry.name: entry for entry in entries}
    stronger = {name: f"overridden by {option}" for name, option in overrides.items()}
    stronger |= {
        entry.name: f"overridden by {last[entry.name].file}"
        for entry in entries
        if last[entry.name] is not entry and entry.name not in overrides
    }
    kept = tuple(e for e in entries if last[e.name] is e and e.name not in overrides)
    places = {(entry.name, entry.file, entry.line) for entry in kept}
    return Captured(
        tuple(_attribute_row(row, places, stronger) for row in found), kept, tuple(remarks)
    )


def _attribute_row(
    row: CapturedAttribute, kept: set[tuple[str, str, int | None]], stronger: Mapping[str, str]
) -> CapturedAttribute:
    """Say that what a row sets is overridden."""
    for name in row.settings:
        if (name, row.file, row.line) not in kept and name in stronger:
            return replace(row, note=stronger[name])
    return row


def _read(typed: str) -> tuple[str, Listing]:
    """Return what stands before the file's name, and the listing."""
    scope, colon, file = typed.partition(":")
    if not colon or FilePath(typed).is_file():
        scope, file = "", typed
    if not file:
        raise InputError("expected FILE, peer:FILE or NODECLASS:FILE", file="--apply", key=typed)
    return scope, read_listing(FilePath(file))


def _summary(listing: Listing, title: str, rows: Sequence[CapturedAttribute]) -> str:
    """``FILE: no -a, 146 attributes: 10 modelled, 135 not modelled, 1 unknown (foo)``."""
    unknown = ", ".join(row.name for row in rows if row.state == "unknown")
    counted: dict[State, str] = {
        "modelled": "modelled",
        "not modelled": "not modelled",
        "unknown": f"unknown ({unknown})",
        "elsewhere": "of other nodes",
    }
    counts = [
        f"{count} {words}"
        for state, words in counted.items()
        if (count := sum(row.state == state for row in rows))
    ]
    many = f"{len(rows)} attribute{'s' * (len(rows) != 1)}"
    return f"{listing.file}: {title}, {many}: {', '.join(counts)}"


class Target:
    """The hosts that a listing is for: the system under test, or its peers.

    Args:
        tree: the scenario's values; they are not changed.
        scope: what was typed before the file's name.
        listing: what was printed.

    Attributes:
        tree, listing: as given.
        peers: it is for the peers.
        nodes: a node or node class that was typed.
        remarks: one line each, for people.
        hosts: places of those that it is for.
    """

    def __init__(self, tree: Tree, scope: str, listing: Listing) -> None:
        self.tree = tree
        self.listing = listing
        self.peers = scope == _PEER
        self.nodes = "" if self.peers else scope
        self.remarks: list[str] = []
        peers: list[Path] = [("peers", number) for number in range(len(tree.get(("peers",))))]
        self.hosts: list[Path] = peers if self.peers else [("host",)]
        self.check()

    @property
    def title(self) -> str:
        """The command, and whose attributes they are taken for where that can differ."""
        return self.listing.title

    @property
    def ports(self) -> list[str]:
        """Names of all ports of the hosts."""
        return [port["name"] for host in self.hosts for port in self.tree.get((*host, "ports"))]

    def error(self, message: str) -> InputError:
        """Return an error at the listing."""
        return InputError(f"{self.listing.title}: {message}", file=self.listing.file)

    def check(self) -> None:
        """Refuse a node class, and hosts none of which runs the command's system."""
        if self.nodes:
            raise self.error(f"it has no node classes, got {self.nodes!r}")
        system = self.listing.listed.system
        if not system:
            return
        kernels = [self.tree.get((*host, "kernel")) for host in self.hosts]
        if not any(kernel["system"] == system for kernel in kernels):
            others = [peer["kernel"]["system"] for peer in self.tree.get(("peers",))]
            hint = "; peer:FILE is for its peers" if system in others and not self.peers else ""
            host = self.hosts[0] if self.hosts else ("host",)
            kernel, name = self.tree.get((*host, "kernel")), self.tree.get((*host, "name"))
            runs = f"{_SYSTEMS[kernel['system']]} {kernel['version']}"
            raise self.error(f"a command of {_SYSTEMS[system]}, but {name} runs {runs}{hint}")
        pairs = zip(self.hosts, kernels, strict=True)
        self.hosts = [host for host, kernel in pairs if kernel["system"] == system]

    def apply(self) -> tuple[list[CapturedAttribute], list[Entry]]:
        """Return what becomes of each attribute, and what is set; what is for all nodes first."""
        rows: list[CapturedAttribute] = []
        entries: list[tuple[bool, Entry]] = []
        for one in self.listing.attributes:
            row, found = self._one(one)
            rows.append(row)
            entries += [(bool(one.nodes), entry) for entry in found]
        entries.sort(key=lambda pair: pair[0])
        return rows, [entry for _, entry in entries]

    def knob(self, attribute: str) -> Knob | None:
        """The knob that an attribute is."""
        return knob_of(self.listing.listed, attribute)

    def elsewhere(self, one: Attribute) -> str:  # noqa: ARG002 - for others
        """Whose attribute it is, if it is not of these hosts; empty if it is."""
        return ""

    def _one(self, one: Attribute) -> tuple[CapturedAttribute, list[Entry]]:
        listing = self.listing
        unit, meaning = listing.listed.known.get(one.name, ("", ""))
        knob = self.knob(one.name)
        state: State = "unknown"
        note, entries = self.elsewhere(one), list[Entry]()
        if note:
            state = "elsewhere"
        elif knob is not None and knob.modelled:
            entries, note = self.entries(one, knob)
            state = "modelled" if entries else "not modelled"
        elif knob is not None or meaning:
            state, note = "not modelled", knob.note if knob else ""
        if one.repeats:
            note = "; ".join(filter(None, ("said before", note)))
        row = CapturedAttribute(
            file=listing.file,
            line=one.line,
            command=listing.title,
            nodes=one.nodes,
            name=one.name,
            value=one.value,
            unit=unit,
            meaning=meaning or (knob.doc if knob else ""),
            state=state,
            settings=tuple(entry.name for entry in entries),
            note=note,
        )
        return row, [] if one.repeats else entries

    def entries(self, one: Attribute, knob: Knob) -> tuple[list[Entry], str]:
        """What an attribute sets, and what is to be said of it."""
        prefix = PEER if self.peers else ""
        if "{port}" not in knob.name:
            return [self._entry(one, prefix + knob.name)], ""
        names = dict.fromkeys(self._ports(self.ports))
        return [self._entry(one, prefix + knob.name.format(port=name)) for name in names], ""

    def _entry(self, one: Attribute, name: str) -> Entry:
        source = f"{self.listing.file}:{one.line}: {self.listing.title}"
        return Entry(name, one.value, self.listing.file, one.line, source, "measured")

    def _ports(self, ports: Sequence[str]) -> list[str]:
        """The ports that the listing's device is, or all where it is none of them."""
        device = self.listing.device
        digits = device.lstrip("abcdefghijklmnopqrstuvwxyz")
        same = {device, f"en{digits}", f"ent{digits}"} if device else set()
        if chosen := [name for name in ports if name in same]:
            return chosen
        which = ", ".join(dict.fromkeys(ports))
        said = f"{device} is no port here" if device else "the listing names no device"
        remark = f"{self.listing.file}: {said}: it is taken for {which}"
        if remark not in self.remarks:
            self.remarks.append(remark)
        return list(ports)
