"""Puts the printed attributes of a real machine into a scenario, and says what became of each.

`--apply FILE` takes what `lsattr -El`, `no -a` or `mmlsconfig` printed. An attribute that is a knob
is set as if it were typed after `--set`; one that simnet knows and does not model, or does not
know, is told as such. Nothing is set unless all of it can be.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Final, Literal

from simnet.errors import InputError
from simnet.scenario.commands.attribute_listing import Attribute, Command, Listing, read_listing
from simnet.scenario.core.entries import Entry
from simnet.scenario.core.knobs import KNOBS
from simnet.scenario.parts.aix.lsattr import LSATTR
from simnet.scenario.parts.aix.no import NO
from simnet.scenario.parts.scale.attributes import SCALE_ATTRIBUTES, of_servers
from simnet.scenario.parts.scale.knobs import SERVERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from simnet.scenario.core.knob import Knob
    from simnet.scenario.core.tree import Path, Tree

__all__ = ["Captured", "CapturedAttribute", "attributes", "captured"]

State = Literal["modelled", "not modelled", "unknown", "elsewhere"]
_PEER: Final = "peer"
_KNOWN: Final[dict[Command, dict[str, tuple[str, str]]]] = {
    "lsattr": LSATTR,
    "no": NO,
    "mmlsconfig": SCALE_ATTRIBUTES,
}
_KNOBS: Final[dict[Command, str]] = {
    "lsattr": "chdev -l {{port}} -a {}",
    "no": "no -o {}",
    "mmlsconfig": "mmchconfig {}",
}
_BY_NAME: Final = {knob.name: knob for knob in KNOBS}
_SYSTEMS: Final = {"linux": "Linux", "aix": "AIX"}
_CLIENTS: Final = "scale"


@dataclass(frozen=True)
class CapturedAttribute:
    """One attribute of a listing, and what became of it.

    Attributes:
        file: where it was printed.
        line: there.
        command: that printed it.
        nodes: of mmlsconfig, the nodes that it is for; empty for all.
        name: as printed.
        value: as printed.
        unit: of the value; empty for none, or where it is not known.
        meaning: one line; empty where it is not known.
        state: `modelled`: it is set. `not modelled`: known, and no simulation depends on it.
            `unknown`: simnet has never heard of it. `elsewhere`: it is for other nodes.
        settings: names that `--set` would take, of what it sets.
        note: caveat; empty when there is none.
    """

    file: str
    line: int
    command: str
    nodes: str
    name: str
    value: str
    unit: str
    meaning: str
    state: State
    settings: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Captured:
    """What some files set.

    Attributes:
        attributes: all, in the order of the files.
        entries: what is set, in the order in which it applies.
        remarks: one line a file.
    """

    attributes: tuple[CapturedAttribute, ...]
    entries: tuple[Entry, ...]
    remarks: tuple[str, ...]


def attributes() -> Iterator[tuple[str, str, str, str, Knob | None]]:
    """Yield command, name, unit, meaning and knob of every attribute that simnet knows."""
    for command, known in _KNOWN.items():
        for name, (unit, meaning) in known.items():
            knob = _knob(command, name) or _knob(command, name, servers=True)
            yield command, name, unit, meaning, knob


def _knob(command: Command, attribute: str, *, servers: bool = False) -> Knob | None:
    """The knob that an attribute is, of the servers where a file system has both."""
    name = _KNOBS[command].format(attribute)
    return _BY_NAME.get(f"{name} {SERVERS}" if servers else name)


def captured(tree: Tree, files: Sequence[str], overrides: Mapping[str, str]) -> Captured:
    """Return what the files set in a scenario.

    Args:
        tree: the scenario's values; they are not changed.
        files: as typed: FILE, `peer:FILE` for the peers, or of mmlsconfig `NODECLASS:FILE` for what
            is printed of a node class.
        overrides: what sets a knob again, by the knob's name: `--set`, or a tuning.

    Raises:
        InputError: a file cannot be read, is cut or foreign, or is of another system.
    """
    found: list[CapturedAttribute] = []
    entries: list[Entry] = []
    remarks: list[str] = []
    for typed in files:
        scope, listing = _read(typed)
        target = _Target(tree, scope, listing)
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
    return Captured(tuple(_noted(row, places, stronger) for row in found), kept, tuple(remarks))


def _noted(
    row: CapturedAttribute,
    kept: set[tuple[str, str, int | None]],
    stronger: Mapping[str, str],
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
    counts = [
        f"{len(same)} {state}"
        for state in ("modelled", "not modelled", "unknown", "elsewhere")
        if (same := [row for row in rows if row.state == state])
    ]
    unknown = ", ".join(row.name for row in rows if row.state == "unknown")
    names = f" ({unknown})" if unknown else ""
    many = f"{len(rows)} attribute{'s' * (len(rows) != 1)}"
    text = f"{listing.file}: {title}, {many}: {', '.join(counts)}{names}"
    return text.replace("elsewhere", "of other nodes")


class _Target:
    """The hosts that a listing is for."""

    def __init__(self, tree: Tree, scope: str, listing: Listing) -> None:
        self._tree = tree
        self._listing = listing
        self._peers = scope == _PEER
        self._nodes = "" if self._peers else scope
        self._servers = listing.of_servers(self._nodes)
        self.remarks: list[str] = []
        peers = range(len(tree.get(("peers",)))) if self._peers else ()
        self._hosts: list[Path] = [("peers", n) for n in peers] if self._peers else [("host",)]
        if listing.command == "mmlsconfig":
            self._check_nodes()
        else:
            self._check_system()

    @property
    def title(self) -> str:
        """The command, and of a file system whose configuration it is taken for."""
        if self._listing.command != "mmlsconfig":
            return self._listing.title
        return f"{self._listing.title} of the {'servers' if self._servers else 'clients'}"

    def _error(self, message: str) -> InputError:
        return InputError(f"{self._listing.title}: {message}", file=self._listing.file)

    def _check_system(self) -> None:
        if self._nodes:
            raise self._error(f"only mmlsconfig has node classes, got {self._nodes!r}")
        kernels = [self._tree.get((*host, "kernel")) for host in self._hosts]
        if not any(kernel["system"] == "aix" for kernel in kernels):
            others = [("peers", n) for n in range(len(self._tree.get(("peers",))))]
            aix = any(self._tree.get((*o, "kernel", "system")) == "aix" for o in others)
            hint = "; peer:FILE is for its peers" if aix and not self._peers else ""
            host = self._hosts[0] if self._hosts else ("host",)
            kernel, name = self._tree.get((*host, "kernel")), self._tree.get((*host, "name"))
            runs = f"{_SYSTEMS[kernel['system']]} {kernel['version']}"
            raise self._error(f"a command of AIX, but {name} runs {runs}{hint}")
        self._hosts = [
            host
            for host, kernel in zip(self._hosts, kernels, strict=True)
            if kernel["system"] == "aix"
        ]

    def _check_nodes(self) -> None:
        if self._peers:
            raise self._error("the peers of a scenario are no nodes of a file system")
        if _CLIENTS not in self._tree.values:
            raise self._error("the scenario has no file system of Spectrum Scale")
        sections = self._listing.nodes
        classes = [name for section in sections for name in section.split(",")]
        if self._nodes and self._nodes not in classes:
            known = ", ".join(classes) or "none"
            raise self._error(f"no node class {self._nodes!r}: the listing has {known}")
        if sections and not self._nodes:
            names = ", ".join(f"[{section}]" for section in sections)
            self.remarks.append(
                f"{self._listing.file}: what holds of {names} alone is not set;"
                f" --apply {classes[0]}:{self._listing.file} does"
            )

    def apply(self) -> tuple[list[CapturedAttribute], list[Entry]]:
        """Return what becomes of each attribute, and what is set; what is for all nodes first."""
        rows: list[CapturedAttribute] = []
        entries: list[tuple[bool, Entry]] = []
        for one in self._listing.attributes:
            row, found = self._one(one)
            rows.append(row)
            entries += [(bool(one.nodes), entry) for entry in found]
        entries.sort(key=lambda pair: pair[0])
        return rows, [entry for _, entry in entries]

    def _one(self, one: Attribute) -> tuple[CapturedAttribute, list[Entry]]:
        listing = self._listing
        unit, meaning = _KNOWN[listing.command].get(one.name, ("", ""))
        knob = _knob(listing.command, one.name, servers=self._servers)
        state: State = "unknown"
        note, entries = "", list[Entry]()
        if one.nodes and not one.is_of(self._nodes):
            state, note = "elsewhere", f"of {one.nodes}"
        elif listing.command == "mmlsconfig" and not self._servers and of_servers(one.name):
            state, note = "elsewhere", "of a server with disks of its own"
        elif knob is not None and knob.modelled:
            entries, note = self._entries(one, knob)
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

    def _entries(self, one: Attribute, knob: Knob) -> tuple[list[Entry], str]:
        """What an attribute sets, and what is to be said of it."""
        prefix = "peer:" if self._peers else ""
        if self._listing.command == "mmlsconfig":
            return [self._entry(one, knob.name)], ""
        ports = [port["name"] for host in self._hosts for port in self._tree.get((*host, "ports"))]
        if not ports:
            return [], "no connection of TCP is simulated here"
        if self._listing.command == "no":
            return [self._entry(one, prefix + knob.name)], ""
        names = dict.fromkeys(self._ports(ports))
        return [self._entry(one, prefix + knob.name.format(port=name)) for name in names], ""

    def _entry(self, one: Attribute, name: str) -> Entry:
        source = f"{self._listing.file}:{one.line}: {self._listing.title}"
        return Entry(name, one.value, self._listing.file, one.line, source, "measured")

    def _ports(self, ports: Sequence[str]) -> list[str]:
        """The ports that lsattr's device is, or all where it is none of them."""
        device = self._listing.device
        digits = device.lstrip("abcdefghijklmnopqrstuvwxyz")
        same = {device, f"en{digits}", f"ent{digits}"} if device else set()
        if chosen := [name for name in ports if name in same]:
            return chosen
        which = ", ".join(dict.fromkeys(ports))
        said = f"{device} is no port here" if device else "the listing names no device"
        remark = f"{self._listing.file}: {said}: it is taken for {which}"
        if remark not in self.remarks:
            self.remarks.append(remark)
        return list(ports)
