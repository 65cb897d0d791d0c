"""Settings: scenario parameters, model values and knobs, put into the tree of values."""

from __future__ import annotations

import contextlib
import copy
import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from simnet.errors import InputError
from simnet.scenario.commands.captured import Captured
from simnet.scenario.core.entries import EACH_PORT, PEER, in_rows, is_peer, parsed
from simnet.scenario.core.files import Run, Workload
from simnet.scenario.core.knob import AppliedKnob, CpuList, CpuMask, Knob, Stage
from simnet.scenario.core.knobs import KNOBS, MODELS, OF_QUEUES, UNREAD, knob_of
from simnet.scenario.core.parameter import Spec
from simnet.scenario.core.places import Places, lacking
from simnet.scenario.core.section import Section
from simnet.scenario.core.subject import Part, host_parts, model_section, parts, steps, subjects
from simnet.scenario.core.tree import Entry, Path, Table, Tree, copied, dotted, walk
from simnet.spelling import family, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from simnet.scenario.core.files import ScenarioFile
    from simnet.scenario.core.toml import Document

_HOST_SECTIONS: Final = {
    part.place: part.section for part in host_parts() if (part.key or part.kind) and not part.item
}
_QUEUES: Final = ("rx_queues", "tx_queues")
_OF_QUEUES: Final = ("irq", "rx-queue", "tx-queue")
_IGNORED: Final = "accepted, but not modelled: it changes nothing here"


@dataclass(frozen=True)
class _Target:
    """What a name stands for: places with their spec, a knob on top; nothing: its subject knows."""

    paths: tuple[Path, ...] = ()
    spec: Spec | None = None
    knob: Knob | None = None
    parts: tuple[tuple[str, str], ...] = ()

    @property
    def stage(self) -> Stage:
        """When it applies."""
        return self.knob.stage if self.knob else Stage.VALUES

    @property
    def sets_queues(self) -> bool:
        """Whether it says how many queues there are."""
        return self.stage is Stage.QUEUES or any(path[-1] in _QUEUES for path in self.paths)


class Aim(NamedTuple):
    """A setting, and what it stands for."""

    entry: Entry
    target: _Target


class Settings(Table):
    """Applies settings to a tree that holds the models' values."""

    def __init__(self, tree: Tree, form: ScenarioFile, document: Document) -> None:
        super().__init__(tree, document)
        self.places = Places(tree)  # of the tree
        self.form = form  # the scenario
        self.kept: dict[str, Any] = {}  # what subjects keep here for others
        self.applied: list[AppliedKnob] = []  # the knobs that were set
        self.captured = Captured((), (), ())  # what listings of a real machine's attributes set
        self._given: dict[str, int] = {}
        self._gone: dict[str, list[str]] = {}
        self._steps = [step(self) for step in steps()]

    def copy(self) -> Settings:
        """Return the same, to which further settings can be applied."""
        same = copy.copy(self)
        same.tree = self.tree.copy()
        same.places = Places(same.tree)
        same.remarks, same.origins = self.remarks.copy(), self.origins.copy()
        same.kept, same.applied = copied(self.kept), self.applied.copy()
        same._given, same._gone = self._given.copy(), copied(self._gone)  # noqa: SLF001 - its own
        same._steps = [one.copy(same) for one in self._steps]  # noqa: SLF001 - likewise
        return same

    def of_each_port(self, given: Iterable[Entry]) -> list[Entry]:
        """Return settings, those of each port for every port; of equal names the last one."""
        return list({one.name: one for entry in given for one in self._each_port(entry)}.values())

    def aimed(self, given: Iterable[Entry]) -> list[Aim]:
        """Return settings with what each stands for.

        Raises:
            InputError: an unknown name.
        """
        return [Aim(entry, self._target(entry)) for entry in given]

    def late(self, entry: Entry) -> Aim | None:
        """Return a knob that an option turns when all else is set; None of any other setting."""
        if entry.line is not None:
            return None
        with contextlib.suppress(InputError):  # to be raised in its turn
            target = self._target(entry)
            if target.knob and target.stage is Stage.KNOBS:
                return Aim(entry, target)
        return None

    def apply(self, aims: Sequence[Aim]) -> None:
        """Apply settings, one stage after the other: `Stage` says what comes first, and why.

        Within a stage they apply in the order in which they are given. A value that is given after
        a knob of the same place is stronger all the same.

        Raises:
            InputError: a value that cannot be used.
        """
        self._given = {entry.name: number for number, (entry, _) in enumerate(aims)}
        reached = self._reached(aims)
        for one in self._steps:
            one.begin([entry for entry, target in aims if not target.knob])
        for stage in Stage:
            for entry, target in aims:
                if target.stage is stage:
                    self._apply(entry, target, reached.get(entry.name))
            if stage is Stage.KNOBS:
                return  # more may follow
            if stage is Stage.CPUS:
                self._check_masks(aims)
            for one in self._steps:
                one.after(stage)
            if stage is Stage.VALUES:
                self._size_queues()

    def turn(self, aims: Iterable[Aim]) -> None:
        """Turn knobs that are `late`, after all that has been applied.

        Raises:
            InputError: a value that cannot be used.
        """
        for entry, target in aims:
            self._given[entry.name] = len(self._given)
            self._apply(entry, target, None)

    def end(self) -> None:
        """Remark on what has been set, when nothing more is."""
        for one in self._steps:
            one.end()
        for name, names in self._gone.items():
            self.remarks += [f"{one}: gone with {name}" for one in in_rows(names)]

    def _each_port(self, entry: Entry) -> Iterator[Entry]:
        """Yield a setting once for every port if its name has `{port}`, else as it is."""
        if EACH_PORT not in entry.name:
            yield entry
            return
        hosts = self.places.hosts(peers=is_peer(entry))
        ports = [port["name"] for host in hosts for port in self.tree.get((*host, "ports"))]
        if not ports:
            raise entry.error("there are no ports")
        for name in dict.fromkeys(ports):
            yield entry._replace(name=entry.name.replace(EACH_PORT, name))

    def _apply(self, entry: Entry, target: _Target, gone: Entry | None) -> None:
        """Turn a knob, or give the places of a parameter its value."""
        if target.knob:
            self._turn(entry, target, target.knob, gone)
        elif target.spec:
            self._set(entry, target, target.spec)

    def _reached(self, aims: Sequence[Aim]) -> dict[str, Entry]:
        """Return what is given after a setting and says how many queues there are.

        By the names of settings of queues that the adapter has before that.
        """
        found: dict[str, Entry] = {}
        after: Entry | None = None
        for entry, target in reversed(aims):
            if target.sets_queues:
                after = entry
            if after and target.knob and target.knob.scope in _OF_QUEUES:
                with contextlib.suppress(InputError):
                    self._paths(entry, target)
                    found[entry.name] = after
        return found

    def _set(self, entry: Entry, target: _Target, spec: Spec) -> None:
        """Give the places of a parameter its value."""
        value = parsed(entry, spec)
        for path in target.paths:
            self._put(path, entry, spec, value)
        if target.paths[0][-1] in UNREAD:
            self.remarks.append(f"{entry.name}: {_IGNORED}")

    def _check_masks(self, aims: Sequence[Aim]) -> None:
        """Refuse CPUs in the value of a parameter that the machine does not have."""
        for entry, target in aims:
            if isinstance(target.spec, CpuMask) and target.paths:
                self.places.check_cpus(entry, self.tree.get(target.paths[0]), ("host",))

    def _size_queues(self) -> None:
        """Give each queue of a port what can be set of it, if there are several a mask, too."""
        for host in (*self.places.hosts(peers=False), *self.places.hosts(peers=True)):
            for number in range(len(self.tree.get((*host, "ports")))):
                port: Path = (*host, "ports", number)
                for way, settings in OF_QUEUES.items():
                    count = self.places.queues(port, way)
                    if way == "rx":
                        masks = [()] * count if count > 1 else []
                        self.tree.put_plain((*port, "queue_affinity"), masks)
                    for setting, value in settings.items():
                        self.tree.put_plain((*port, setting), [value] * count)

    def _shrink_queues(self, entry: Entry, count: int, path: Path) -> None:
        """Refuse more queues than the adapter has; those that go take their settings along."""
        port, way = path[:-2], str(path[-1]).removesuffix("_queues")
        most = self.tree.get(path)
        if count > most:
            name = self.tree.get((*port, "name"))
            raise entry.error(f"{name} has {most} queues: expected 1 to {most}")
        for setting in OF_QUEUES[way]:
            del self.tree.get((*port, setting))[count:]
        if way == "rx":
            del self.tree.get((*port, "queue_affinity"))[count if count > 1 else 0 :]

    def _overriding(self, entry: Entry, paths: tuple[Path, ...]) -> Entry | None:
        """Return the parameter that is given after a knob and sets all of its places."""
        position = self._given[entry.name]
        found = [self.origins.get(dotted(path)) for path in paths]
        values = [other for other in found if other is not None and other.name in self._known]
        later = all(self._given[other.name] > position for other in values)
        return values[0] if paths and len(values) == len(paths) and later else None

    def present(self, entry: Entry) -> tuple[Spec, Any]:
        """Return what a setting takes and its value at the first place that it stands for.

        Raises:
            InputError: an unknown name, or a knob of something that is no value of its own.
        """
        target = self._target(entry)
        spec = target.knob.spec if target.knob else target.spec
        paths = self._paths(entry, target)
        if not paths or spec is None or target.knob in MODELS:
            raise entry.error("expected the name of a value")
        return spec, self.tree.get(paths[0])

    def _put(self, path: Path, entry: Entry, spec: Spec, value: Any) -> None:
        self.tree.put(path, entry.parameter(spec, value))
        self.origins[dotted(path)] = entry

    # -- names -----------------------------------------------------------------------------

    def _target(self, entry: Entry) -> _Target:
        name = entry.name
        if any(name in one.names for one in self._steps):
            return _Target()
        plain = name.removeprefix(PEER)
        if is_peer(entry) and not self.places.hosts(peers=True):
            raise entry.error("the scenario has no peers")
        if name in self._known:
            return _Target(*self._known[name])
        found = knob_of(plain)
        if found is None:
            raise entry.error(self._unknown(entry))
        knob, parts = found
        return _Target((), knob.spec, knob, tuple(parts.items()))

    def _unknown(self, entry: Entry) -> str:
        """Say that there is no such name here, or no such value of the ports' drivers."""
        name, legal = entry.name, set(self.legal_names())
        plain = name.removeprefix(PEER)
        having = [
            driver
            for driver, section in model_section("nic").variants().items()
            if any(plain == f"nic.{key}" for key, _, _ in _named(section))
        ]
        drivers = {
            port["nic"]["driver"]
            for host in self.places.hosts(peers=is_peer(entry))
            for port in self.tree.get((*host, "ports"))
        }
        if having and drivers:
            return lacking(" and ".join(sorted(drivers)), having)
        # what a program's option sets has a constant's name in the interface of sockets
        constant = plain.isupper() and "_" in plain
        option = next((one.name for one in KNOBS if constant and plain in one.doc.split()), "")
        meant = f"; did you mean {option}?" if option else ""
        # who mistypes what this system lacks is told so once the name is right
        others = (knob.name for knob in KNOBS)
        near = nearest(name, legal) or nearest(name, others, whole=True)
        return f"unknown knob{meant or near or family(name, legal)}"

    def _paths(self, entry: Entry, target: _Target) -> tuple[Path, ...]:
        """Return the places that a name stands for; those of a knob depend on other values."""
        if not target.knob:
            return target.paths
        hosts = self.places.hosts(peers=is_peer(entry))
        return self.places.everywhere(entry, target.knob, dict(target.parts), hosts)

    @functools.cached_property
    def _known(self) -> dict[str, tuple[tuple[Path, ...], Spec]]:
        """Places and spec of every parameter by name; no setting changes which those are."""
        return {name: (paths, spec) for name, paths, spec in self._parameters()}

    def _parameters(self) -> Iterator[tuple[str, tuple[Path, ...], Spec]]:
        """Yield name, places and spec of every scenario parameter and model value."""
        tables: tuple[tuple[str, type[Section]], ...] = (("workload", Workload), ("run", Run))
        for top, section in tables:
            for name, path, spec in _named(section):
                yield name, ((top, *path),), spec
        for part in parts():
            for prefix, place in self._beside(part):
                for name, path, spec in _named(part.section):
                    yield f"{prefix}.{name}", ((*place, *path),), spec
        for prefix, peers in (("", False), (PEER, True)):
            hosts = self.places.hosts(peers=peers)
            found: dict[str, tuple[list[Path], Spec]] = {}
            for host in hosts:
                for name, place, spec in self._of_host(host):
                    found.setdefault(name, ([], spec))[0].append(place)
            for name, (paths, spec) in found.items():
                yield f"{prefix}{name}", tuple(paths), spec
            for subject in subjects():
                for name, places, spec in subject.settings(self.tree, hosts, shared=not peers):
                    yield f"{prefix}{name}", places, spec

    def _beside(self, part: Part) -> Iterator[tuple[str, Path]]:
        """Yield what a part's settings begin with, and its place, if it is there."""
        if part.place not in self.tree.values:
            return
        prefix = part.prefix or part.place
        if not part.several:
            yield prefix, (part.place,)
            return
        for number, table in enumerate(self.tree.get((part.place,))):
            yield f"{prefix}.{table['name']}", (part.place, number)

    def _of_host(self, host: Path) -> Iterator[tuple[str, Path, Spec]]:
        """Yield name, place and spec of every value of a host and of its ports' drivers."""
        values = self.tree.get(host)
        for top, section in _HOST_SECTIONS.items():
            if top not in values:
                continue
            unused = section.unused(values[top])
            for name, path, spec in _named(section):
                if path[0] not in unused:
                    yield f"{top}.{name}", (*host, top, *path), spec
        for number, port in enumerate(values["ports"]):
            section = model_section("nic").variants()[port["nic"]["driver"]]
            for name, path, spec in _named(section):
                yield f"nic.{name}", (*host, "ports", number, "nic", *path), spec

    def legal_names(self) -> Iterator[str]:
        """Yield every name that can be set here, those of all queues with ``*``."""
        for one in self._steps:
            yield from one.names
        for name, _, _ in self._parameters():
            yield name
        for prefix, peers in (("", False), (PEER, True)):
            hosts = self.places.hosts(peers=peers)
            if not hosts:
                continue
            ports = [p for host in hosts for p in self.tree.get((*host, "ports"))]
            items = self.places.items(hosts)
            for knob in KNOBS:
                item = next((one for one in items if f"{{{one}}}" in knob.name), None)
                if item:
                    for name in items[item]:
                        yield prefix + knob.name.format(**{item: name})
                    continue
                if "{" not in knob.name:
                    if self._takes(knob, prefix, hosts):
                        yield prefix + knob.name
                    continue
                for port in ports:
                    name = knob.name.format(port=port["name"], irq=port["irq"], queue="*")
                    yield prefix + name

    def _takes(self, knob: Knob, prefix: str, hosts: tuple[Path, ...]) -> bool:
        """Return whether hosts have a knob that names no part of theirs."""
        try:
            self.places.everywhere(Entry(f"{prefix}{knob.name}", "", ""), knob, {}, hosts)
        except InputError:
            return False
        return True

    # -- values ----------------------------------------------------------------------------

    def _turn(self, entry: Entry, target: _Target, knob: Knob, shrunk: Entry | None = None) -> None:
        """Turn a knob; one of a queue that `shrunk` has taken away since then is gone, too."""
        try:
            paths = self._paths(entry, target)
        except InputError:
            if shrunk is None:
                raise
            self._gone.setdefault(shrunk.name, []).append(entry.name)
            return
        stronger = self._overriding(entry, paths)
        if stronger:
            self.remarks.append(f"{entry.name}: overridden by {stronger.name}")
            return
        value = parsed(entry, knob)
        if isinstance(knob.spec, CpuMask | CpuList):
            for path in (path for path in paths if "ports" in path):
                self.places.check_cpus(entry, value, path[: path.index("ports")])
        turning = next((one for one in self._steps if knob.scope in one.scopes), None)
        if turning:
            before = turning.turn(entry, knob, value)
        else:
            before = self._value_at(paths[0], knob) if paths else None
            for path in paths:
                if knob.stage is Stage.QUEUES:
                    self._shrink_queues(entry, value, path)
                self._put(path, entry, knob.spec, value)
        for one in self._steps:
            one.turned(entry, knob, value)
        hosts = self.places.hosts(peers=is_peer(entry))
        why = "" if paths else self.places.unknown(knob, dict(target.parts), hosts)
        self._record(entry, target, value, before, why)

    def _value_at(self, path: Path, knob: Knob) -> Any:
        """Return the value at a place; of a queue of which none was set, its NIC's."""
        value = self.tree.get(path)
        if value is None and knob.scope == "rx-queue":
            return self.tree.get((*path[:-2], "nic", knob.target))
        return value

    def _record(self, entry: Entry, target: _Target, value: Any, before: Any, unknown: str) -> None:
        """Note a knob that has been turned; `unknown`: why nobody knows what that does."""
        knob, parts = target.knob, dict(target.parts)
        if knob is None:
            return
        new = knob.admin_text(value)
        old = "" if before is None else knob.admin_text(before)
        where = "on each peer: " if is_peer(entry) else ""

        def command(text: str) -> str:
            return where + knob.typed(text, parts)

        self.applied.append(
            AppliedKnob(
                name=entry.name,
                value=new,
                before=old,
                apply=command(new),
                undo=command(old) if old and knob.undone else "",
                modelled=knob.modelled and not unknown,
                note=knob.note,
                source=entry.said_by,
                unknown=unknown,
            )
        )
        note = f"; {knob.note}" if knob.note else ""
        if unknown:
            self.remarks.append(f"{entry.name}: {unknown}")
        elif not knob.modelled:
            self.remarks.append(f"{entry.name}: {_IGNORED}{note if knob.scope == 'kernel' else ''}")
        remark = knob.remark(value) if knob.remark else ""
        if remark:
            self.remarks.append(f"{entry.name}: {remark}")
        if knob.compile_time:
            self.remarks.append(f"{entry.name}: compile-time constant: {command(new)}{note}")


@functools.cache
def _named(section: type[Section]) -> tuple[tuple[str, Path, Spec], ...]:
    """Key, attribute path and spec of every value of a section and its subsections."""
    return tuple(
        (".".join((*map(str, path[:-1]), spec.key(str(path[-1])))), path, spec)
        for path, spec in walk(section)
    )
