"""From a scenario's name and a few settings to the effective configuration."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from simnet import _share
from simnet.errors import InputError
from simnet.scenario.commands.captured import captured
from simnet.scenario.commands.ready import ready_names, ready_tuning
from simnet.scenario.commands.typed import knob_named
from simnet.scenario.core import library
from simnet.scenario.core.checks import check_whole
from simnet.scenario.core.effective import Effective, Port
from simnet.scenario.core.entries import entries, tuning_names
from simnet.scenario.core.files import Run, Workload
from simnet.scenario.core.knob import AppliedKnob
from simnet.scenario.core.knobs import MODELS, knob_of
from simnet.scenario.core.schema import file_model
from simnet.scenario.core.settings import Settings
from simnet.scenario.core.subject import host_parts, model_section, parts, subjects
from simnet.scenario.core.tree import Entry, Path, Tree, dotted
from simnet.scenario.core.unread import idle_settings
from simnet.scenario.scenarios import called, find_scenario
from simnet.spelling import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path as FilePath

    from pydantic import BaseModel

    from simnet.scenario.core.files import PeerTable, ScenarioFile, SystemTable
    from simnet.scenario.core.knob import Knob
    from simnet.scenario.core.parameter import Spec, Value
    from simnet.scenario.core.schema import ModelKind
    from simnet.scenario.core.section import Section
    from simnet.scenario.core.subject import Part, Proposal
    from simnet.scenario.core.toml import Document, KeyPath

_MOST_KEPT: Final = 16
# of each, the settings of its file, and those without one that a search varies, take turns
_MOST_SETTLED: Final = 4
# scenarios that were put together, by path, document, exchanged models and the folder of models;
# the last used is last
_KEPT: dict[tuple[str, int, tuple[tuple[str, str], ...], FilePath], _Assembly] = {}


def load(
    scenario: str | FilePath,
    *,
    settings: Mapping[str, str] | None = None,
    tunings: Sequence[str] = (),
    seed: int | None = None,
    duration: str | None = None,
    warm_up: str | None = None,
    precision: str | None = None,
    apply: Sequence[str] = (),
) -> Effective:
    """Return everything that a simulation of the scenario reads, defaults included.

    Args:
        scenario: name of a scenario that comes with simnet, or path of a file.
        settings: by name, as typed after ``--set``: scenario parameters (``nodes``,
            ``message``), knobs (``net.ipv4.tcp_rmem``, ``/proc/irq/177/smp_affinity``,
            ``ethtool -C eth0 rx-usecs``), model values (``cpu.costs.hardirq``); with ``peer:`` in
            front those of the peers.
        tunings: names of the scenario's tunings; each applies on top of the one before, and
            settings on top of all. ``"a+b"`` is the same as ``"a", "b"``.
        seed: seed of all random numbers; the scenario's when None.
        duration: measured simulated time with unit; the scenario's when None.
        warm_up: simulated time before that, with unit; the scenario's when None.
        precision: relative half width that ends the run, as in ``"1 %"``; the scenario's when None.
        apply: files with what ``lsattr -El``, ``no -a`` or ``mmlsconfig`` printed on the system,
            see :mod:`simnet.scenario.commands.captured`; they apply before the tunings.

    Raises:
        InputError: a file, a value or a knob that cannot be used, with file, line and key.
    """
    options = {"seed": seed, "duration": duration, "warm_up": warm_up, "precision": precision}
    asked = {name: str(value) for name, value in options.items() if value is not None}
    names = tuning_names(tunings)
    assembly, table, name = _assembled(scenario, settings or {}, names, asked, apply)
    return assembly.finish(table, name, names)


def present(
    scenario: str | FilePath,
    name: str,
    *,
    settings: Mapping[str, str] | None = None,
    tunings: Sequence[str] = (),
    apply: Sequence[str] = (),
    option: str = "--set",
) -> tuple[Spec, Value]:
    """Return what a setting takes, and its value in a scenario with other settings, in base units.

    Args:
        scenario: name of a scenario that comes with simnet, or path of a file.
        name: as typed after ``--set``; where it stands for several places, the first counts.
        settings: by name, see :func:`load`.
        tunings: names of the scenario's tunings.
        apply: files, see :func:`load`.
        option: where the name was given, for errors.

    Raises:
        InputError: no such setting, or something of the above cannot be used.
    """
    _, table, _ = _assembled(scenario, settings or {}, tuning_names(tunings), {}, apply)
    return table.present(Entry(name, "", option))


def setting_names(scenario: str | FilePath) -> list[str]:
    """Return the names of all that can be set in a scenario, as typed after ``--set``.

    Raises:
        InputError: no such scenario.
    """
    _, table, _ = _assembled(scenario, {}, (), {})
    return sorted(set(table.legal_names()))


def _assembled(
    scenario: str | FilePath,
    settings: Mapping[str, str],
    tunings: tuple[str, ...],
    options: Mapping[str, str],
    apply: Sequence[str] = (),
) -> tuple[_Assembly, Settings, str]:
    """Return a scenario's models, with all settings applied, and its name."""
    path = find_scenario(str(scenario))
    form, document = library.read_scenario(path)
    settings = {knob_named(" ".join(name.split())): value for name, value in settings.items()}
    ready = _ready(form, scenario, settings, tunings, apply)
    given = entries(form, document, tunings, settings, options, ready=ready)
    models = [(entry, knob) for entry in given for knob in MODELS if knob.name == entry.name]
    chosen = {knob.target: _model_name(entry, knob, path) for entry, knob in models}
    used = form.model_copy(update={"system": form.system.model_copy(update=chosen)})
    assembly = _assembly(used, document, path, tuple(chosen.items()))
    defined = {name: tuple(one.settings) for name, one in form.tunings.items()}
    knobs = defined | {name: tuple(knob for knob, _ in one.settings) for name, one in ready.items()}
    overrides = {
        " ".join(knob.split()): f"--tuning {name}" for name in tunings for knob in knobs[name]
    } | dict.fromkeys(settings, "--set")
    found = captured(assembly.tree, apply, overrides)
    if apply:
        given = entries(form, document, tunings, settings, options, found.entries, ready=ready)
    exchanged = [entry for entry, _ in models]
    table = assembly.settings(
        _Given(
            tuple(entry for entry in given if entry not in exchanged),
            tuple(_exchanged(form.system, *model) for model in models),
            tuple((f"host.{knob.target}", entry) for entry, knob in models),
            found.remarks,
        )
    )
    table.captured = found
    return assembly, table, form.name or called(path)


def _ready(
    form: ScenarioFile,
    scenario: str | FilePath,
    settings: Mapping[str, str],
    tunings: tuple[str, ...],
    apply: Sequence[str],
) -> dict[str, Proposal]:
    """Return the tunings that the scenario does not define, as the system has them ready.

    Raises:
        InputError: neither has a tuning; the message names the nearest.
    """
    defined = tuple(name for name in tunings if name in form.tunings)
    if len(defined) == len(tunings):
        return {}
    plain = load(scenario, settings=settings, tunings=defined, apply=apply)
    found = {}
    for name in tunings:
        if name in form.tunings:
            continue
        ready = ready_tuning(name, plain)
        if ready is None:
            raise unknown_tuning(name, form.tunings, plain)
        found[name] = ready
    return found


def unknown_tuning(name: str, defined: Iterable[str], plain: Effective) -> InputError:
    """Return the error of a tuning that neither a scenario defines nor its system has ready."""
    known = tuple(defined)
    ready = [one for one in ready_names(plain) if one not in known]
    has = f": the scenario has {', '.join(known) or 'none'}"
    has += f"; this system takes {', '.join(ready)}" if ready else ""
    message = f"unknown tuning{nearest(name, (*known, *ready)) or has}"
    return InputError(message, file="--tuning", key=name)


def _model_name(entry: Entry, knob: Knob, scenario: FilePath) -> str:
    """Return the model that a setting names; a file is relative to where the setting stands."""
    kind: ModelKind = "server" if knob.target == "server" else "kernel"
    name = str(entry.raw)
    try:
        found = library.find_model(kind, name, beside=scenario if entry.line else None)
    except InputError as error:
        raise entry.error(error.message) from error
    if not name.endswith(".toml"):
        return name
    try:
        return os.path.realpath(found)
    except (OSError, ValueError) as error:  # no current folder, or no path at all
        raise entry.error(f"cannot be read: {error}") from error


def _exchanged(system: SystemTable, entry: Entry, knob: Knob) -> AppliedKnob:
    """Record that the system got another model than the scenario's."""
    before = str(getattr(system, knob.target))
    value = str(entry.raw)
    return AppliedKnob(
        name=entry.name,
        value=value,
        before=before,
        apply=knob.typed(value, {}),
        undo=knob.typed(before, {}),
        modelled=knob.modelled,
        note="",
        source=entry.said_by,
    )


def _assembly(
    form: ScenarioFile, document: Document, path: FilePath, chosen: tuple[tuple[str, str], ...]
) -> _Assembly:
    """Put models together, or take what has been: a search loads one scenario hundreds of times."""
    key = str(path), id(document), chosen, _share.folder("models")
    kept = _KEPT.pop(key, None)
    if kept is None or kept.document is not document or not kept.up_to_date:
        kept = _Assembly(form, document, path)
    _KEPT[key] = kept
    if len(_KEPT) > _MOST_KEPT:
        del _KEPT[next(iter(_KEPT))]
    return kept


@dataclass(frozen=True)
class _Given:
    """What is applied to models."""

    entries: tuple[Entry, ...]  # settings, in the order in which they apply
    exchanged: tuple[AppliedKnob, ...]  # models that have taken the place of the scenario's
    origins: tuple[tuple[str, Entry], ...]  # the setting behind each of those, by dotted path
    remarks: tuple[str, ...]  # one line each, for people


class _Assembly:
    """Puts the models of a scenario into one tree, and applies settings to copies of it.

    A study loads a scenario hundreds of times, each time with a few other knobs behind the hundreds
    of settings that its file has. A knob that an option gives is turned last; so what is set before
    it is applied once, and each load goes on from there.
    """

    def __init__(self, form: ScenarioFile, document: Document, path: FilePath) -> None:
        self.tree = Tree()
        self.models: dict[str, str] = {}
        self.document = document
        self.path = path
        self._read: dict[FilePath, tuple[ModelKind, BaseModel, Document]] = {}
        # what names models of parts: the scenario's [system], and models by place
        self._named: dict[str, tuple[Any, Document, FilePath]] = {"": (form.system, document, path)}
        self._host(("host",), form.system, ("system",))
        if form.name:
            self.tree.put_plain(("host", "name"), form.name)
        self.tree.put_plain(("peers",), [])
        self.tree.put_plain(("cables",), list(form.system.cables))
        number = 0
        for row, peer in enumerate(form.system.peers):
            for _ in range(peer.count):
                self._host(("peers", number), peer, ("system", "peers", row))
                number += 1
        for part in parts():
            if part.kind:
                self._model_of(part)
        self._tables(form, early=True)
        self._table("workload", Workload, form.workload)
        self._tables(form, early=False)
        self._table("run", Run, form.run)
        self._plain = Settings(self.tree, form, document)
        self._kept = lru_cache(_MOST_SETTLED)(self._settled)
        # the values of the last load, and what was made of them
        self._last: tuple[dict[str, Any], Effective] | None = None

    def _model_of(self, part: Part) -> None:
        """Put in a part whose model a key of another form names, if it does."""
        if part.named_by not in self._named:
            return
        form, document, path = self._named[part.named_by]
        name = getattr(form, part.key)
        if name or part.named_by:
            key: KeyPath = (part.key,) if part.named_by else ("system", part.key)
            model = self.model(part.kind, name, document, path, key)
            self.tree.graft((part.place,), part.section, model[0], (model[1], ()))
            self.models[part.place] = name
            self._named[part.place] = model

    def _tables(self, form: ScenarioFile, *, early: bool) -> None:
        """Put in the parts that are tables, before the workload or after it."""
        for part in parts():
            if part.key and not part.kind and part.early == early:
                self._tables_of(part, getattr(form, part.key))

    def _tables_of(self, part: Part, given: Any) -> None:
        """Put in a part that is a table, or several, each under its name."""
        if not part.several:
            if given is not None:
                self._table(part.place, part.section, given, part.key)
            elif part.always:
                form: Any = file_model(part.section, bare=True)
                self.tree.graft((part.place,), part.section, form(), None)
            return
        self.tree.put_plain((part.place,), [])
        names: list[str] = []
        for number, table in enumerate(given):
            there: KeyPath = (part.key, number)
            if table.name in names:
                raise self.document.error(f"{table.name} is used twice", (*there, "name"))
            names.append(table.name)
            self.tree.graft((part.place, number), part.section, table, (self.document, there))

    def _table(self, name: str, section: type[Section], form: BaseModel, table: str = "") -> None:
        self.tree.graft((name,), section, form, (self.document, (table or name,)))

    def model(
        self, kind: ModelKind, name: str, document: Document, beside: FilePath, key: KeyPath
    ) -> tuple[Any, Document, FilePath]:
        """Return the model that a key of a document names, its document and its file."""
        try:
            path = library.find_model(kind, name, beside=beside)
        except InputError as error:
            raise document.error(error.message, key) from error
        if path not in self._read:
            self._read[path] = (kind, *library.read_model(kind, path))
        _, form, written = self._read[path]
        return form, written, path

    @property
    def up_to_date(self) -> bool:
        """Whether the models that it was put together from are as they were."""
        return all(
            library.read_model(kind, path)[1] is document
            for path, (kind, _, document) in self._read.items()
        )

    def _host(self, place: Path, table: SystemTable | PeerTable, key: KeyPath) -> None:
        known = (self.document, self.path)
        self.tree.put_plain((*place, "name"), table.server)
        made = [part for part in host_parts() if part.kind]
        models: dict[str, tuple[Any, Document, FilePath]] = {}
        names: dict[str, str] = {}
        for part in sorted(made, key=lambda one: one.named_by):  # what the table names first
            form, written, path = models.get(part.named_by, (table, *known))
            there = (part.kind,) if part.named_by else (*key, part.kind)
            names[part.place] = name = getattr(form, part.kind)
            models[part.place] = self.model(part.kind, name, written, path, there)
        for part in made:
            form, written, _ = models[part.place]
            self.tree.graft((*place, part.place), part.section, form, (written, ()))
        server, document, path = models["machine"]
        self.tree.put_plain((*place, "ports"), [])
        self._host_parts(place, table, key, several=False)
        cabled = getattr(table, "cabled", None) or len(server.ports)
        slaves = getattr(table, "slaves", ())
        for slave in slaves:
            if slave not in [port.name for port in server.ports[:cabled]]:
                raise self.document.error(f"no cabled port {slave}", (*key, "slaves"))
        for number, port in enumerate(server.ports[:cabled]):
            row: KeyPath = ("ports", number)
            nic, written, _ = self.model("nic", port.nic, document, path, (*row, "nic"))
            here: Path = (*place, "ports", number)
            for field in ("name", "node", "irq", "next_irqs"):
                self.tree.written[dotted((*here, field))] = (document, (*row, field))
            self.tree.put_plain((*here, "name"), port.name)
            self.tree.put_plain((*here, "node"), port.node)
            self.tree.put_plain((*here, "irq"), port.irq)
            for field, info in Port.model_fields.items():
                if not info.is_required():
                    self.tree.put_plain((*here, field), info.default)
            self.tree.put_plain((*here, "next_irqs"), port.next_irqs)
            self.tree.put_plain((*here, "enslaved"), port.name in slaves)
            section = model_section("nic").variants()[nic.driver]
            self.tree.graft((*here, "nic"), section, nic, (written, ()))
            self.models[dotted((*here, "nic"))] = port.nic
        self._host_parts(place, table, key, several=True)
        for part in made:
            self.models[dotted((*place, part.place))] = names[part.place]

    def _host_parts(
        self, host: Path, table: SystemTable | PeerTable, key: KeyPath, *, several: bool
    ) -> None:
        """Put in the parts that the table of a host has, and those that are there in any case."""
        for part in host_parts():
            if part.kind:
                continue
            form: Any = file_model(part.section, bare=True)
            given = getattr(table, part.key) if part.key else form()
            if bool(part.item) != several or given is None:
                continue
            if several:
                part.load(self, host, given, key)
            else:
                there = (self.document, (*key, part.key)) if part.key else None
                self.tree.graft((*host, part.place), part.section, given, there)

    def settings(self, given: _Given) -> Settings:
        """Return the values with all settings applied.

        Raises:
            InputError: an unknown name, or a value that cannot be used.
        """
        entries, late = self._plain.of_each_port(given.entries), []
        while entries and (aim := self._plain.late(entries[-1])):
            late.append(aim)
            entries.pop()
        table = self._kept(replace(given, entries=tuple(entries))).copy()
        table.turn(reversed(late))
        table.end()
        return table

    def _settled(self, given: _Given) -> Settings:
        aims = self._plain.aimed(given.entries)
        table = self._plain.copy()
        table.applied += given.exchanged
        table.origins |= given.origins
        table.remarks += given.remarks
        table.apply(aims)
        return table

    def finish(self, table: Settings, scenario: str, tunings: tuple[str, ...]) -> Effective:
        """Return the configuration with its streams, checked as a whole.

        Raises:
            InputError: values that are legal one by one do not fit together.
        """
        tree = table.tree
        check_whole(tree, table)
        tree.put_plain(("scenario",), scenario)
        flows = [flow for subject in subjects() for flow in subject.flows(table)]
        tree.put_plain(("flows",), flows)
        del tree.values["cables"]  # the flows say what they connect
        effective = Effective(
            **(_validated(tree.values, *self._last) if self._last else tree.values),
            provenance=tree.provenance,
            models=self.models,
            applied=tuple(table.applied),
            captured=table.captured,
            tunings=tunings,
            unexplained=_unexplained(table, self.document),
        )
        self._last = tree.values, effective
        idle = idle_settings(effective, table.origins)
        remarks = (
            *table.remarks,
            *idle,
            *effective.assumed,
            *effective.shown,
            *effective.uncalibrated,
        )
        return effective.model_copy(update={"remarks": remarks})


def _validated(
    values: Mapping[str, Any], known: Mapping[str, Any], made: BaseModel
) -> dict[str, Any]:
    """Return values, in place of those that are known what was made of them."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        before = known.get(name)
        if name in known and value == before:
            found[name] = getattr(made, name)
        elif name == "host":
            found[name] = _validated(value, before or {}, getattr(made, name))
        else:
            found[name] = value
    return found


def _unexplained(table: Settings, document: Document) -> dict[str, str]:
    for name in table.form.unexplained:
        if knob_of(name) is None:
            guess = nearest(name, table.legal_names())
            raise document.error(f"unknown knob{guess}", ("unexplained", name))
    return table.form.unexplained
