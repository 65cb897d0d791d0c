"""The settings of a host, as `[tuning]` of a scenario: what of them simnet takes, and what not.

Each is a knob, under the name that `--set` takes. A setting that no simulation depends on, that is
outside of what its knob takes, or that the models of this host do not have is noted as read and not
used, with the reason.
"""

import re
import tempfile
from collections.abc import Callable, Container, Iterable, Mapping, Sized
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import tomlkit

from simnet.errors import InputError
from simnet.folders import scratch_folder
from simnet.host.cpulist import parse_cpumask
from simnet.importing.kind import NOT_MODELLED, Told
from simnet.scenario.core.entries import PEER
from simnet.scenario.core.knob import CpuMask, Knob, cpu_mask_text
from simnet.scenario.core.knobs import knob_of
from simnet.scenario.core.load import load
from simnet.scenario.core.units import UnitError
from simnet.scenario.scenarios import SCENARIO_FILE

LIKE: Final = "the peer is taken for a machine like this one"
# of a folder's name in TMPDIR
_SCRATCH: Final = "simnet-import-"
# what only the system under test has
_OWN: Final = ("flows", "irqbalance")
# tables of RFS: that they have no entries only says that it is off
_TABLES: Final = ("rps_flow_cnt", "rps_sock_flow_entries")
# a feature that only RFS uses, as far as rules are read
_OF_RFS: Final = "ntuple"
_QUEUE: Final = re.compile(r"(?<=-)\d+(?=/)")


@dataclass(frozen=True)
class Unused:
    """What was read and is not used."""

    name: str  # of the setting, or the key of a model
    value: str  # as read
    source: str  # the file
    why: str  # one line


@dataclass
class Tuning:
    """Settings that are used, and those that are not."""

    settings: dict[str, Told] = field(default_factory=dict)  # by name, those of peers, too
    # of interrupts where irqbalance runs: the scenario's map of it has them
    placed: list[Told] = field(default_factory=list)
    # the others, in the order in which they were read
    unused: list[Unused] = field(default_factory=list)
    passed: list[Unused] = field(default_factory=list)  # those of these that would change nothing

    def screen(self, told: Iterable[Told], ports: Iterable[str], online: frozenset[int]) -> None:
        """Take the settings that are knobs and have legal values.

        Args:
            told: as read.
            ports: of the model; what is of others is left out.
            online: CPUs that a mask may have.
        """
        names, told = set(ports), tuple(told)
        tables = {name for name in _TABLES for one in told if name in one.name and one.raw != "0"}
        for one in told:
            if one.why:
                self.leave(one, one.why)
                continue
            found = knob_of(one.name)
            if found is None:
                self.leave(one, "simnet has no such knob")
                continue
            knob, parts = found
            if why := _passed(knob, parts, one, names, tables):
                self.passed.append(Unused(one.name, one.raw, one.source, why))
                continue
            if not knob.modelled:
                self.leave(one, NOT_MODELLED)
                continue
            there = _on_line(one, online) if isinstance(knob.spec, CpuMask) else one
            try:
                knob.parse(there.raw)
            except UnitError as error:
                self.leave(one, str(error))
            else:
                before = self.settings.setdefault(there.name, there)
                if before is not there:
                    why = f"{before.source} says it before"
                    self.passed.append(Unused(one.name, one.raw, one.source, why))

    def leave(self, one: Told, why: str) -> None:
        """Note a setting as not used."""
        self.unused.append(Unused(one.name, one.raw, one.source, why))

    def drop(self, name: str, why: str) -> bool:
        """Leave out a setting that the models refuse, and those of the port's other queues.

        Returns:
            Whether there was such a setting.
        """
        if name not in self.settings:
            return False
        for other in [one for one in self.settings if _QUEUE.sub("", one) == _QUEUE.sub("", name)]:
            gone = self.settings.pop(other)
            if not other.startswith(PEER):
                self.leave(gone, why)
        return True

    def twin(self, lacks: Callable[[str], bool], healthy: Iterable[Told] | None = None) -> None:
        """Give the peers the same settings, or a healthy host's, as far as peers have them.

        Args:
            lacks: whether a peer is without what a setting is of.
            healthy: where its interrupts are, all else being the defaults of its kernel and of its
                drivers; None for a twin of the host.
        """
        every = (*self.settings.values(), *self.placed) if healthy is None else tuple(healthy)
        for one in every:
            name, found = one.name, knob_of(one.name)
            if found is not None and found[0].scope not in _OWN and not lacks(name):
                why = LIKE if healthy is None else one.source
                self.settings[PEER + name] = Told(PEER + name, one.raw, why, "assumed")

    def text(self) -> str:
        """Return the table `[tuning]` of the scenario's file."""
        table = tomlkit.table()
        for one in self.settings.values():
            value = tomlkit.inline_table()
            read = one.state == "read"
            state = "measured" if read else "assumed"
            source = f"read from {one.source}" if read else one.source
            value.update({"value": one.raw, "state": state, "source": source})
            table[one.name] = value
        document = tomlkit.document()
        document["tuning"] = table
        return tomlkit.dumps(document)


def settle(
    tuning: Tuning, write: Callable[[Path], None], refuse: Callable[[InputError], bool]
) -> None:
    """Leave out settings until the scenario can be loaded.

    Args:
        tuning: the scenario's.
        write: writes models and scenario into a folder.
        refuse: leaves out the value of a model that an error is about; False if there is none.

    Raises:
        InputError: the models cannot be loaded even so.
    """
    with scratch_folder(Path(tempfile.gettempdir()), _SCRATCH) as folder:
        while True:
            write(folder)
            try:
                load(folder / SCENARIO_FILE)
            except InputError as error:
                if not tuning.drop(error.key or "", error.message) and not refuse(error):
                    raise
            else:
                return


def _passed(
    knob: Knob, parts: Mapping[str, str], one: Told, ports: Container[str], tables: Sized
) -> str:
    """Return why a setting would change nothing; empty if it may.

    Args:
        knob: of the setting.
        parts: of its name.
        one: the setting.
        ports: of the model.
        tables: of RFS that have entries.
    """
    if "port" in parts and parts["port"] not in ports:
        return "its port is not in the model"
    if one.raw == "0" and knob.target in _TABLES:
        return "it only says that RFS is off"
    if knob.target == _OF_RFS and len(tables) < len(_TABLES):
        return "only RFS uses it, and that is off"
    return ""


def _on_line(one: Told, online: frozenset[int]) -> Told:
    """Return a mask without the CPUs that are off line, if any is left."""
    cpus = parse_cpumask(one.raw)
    kept = tuple(sorted((cpus or frozenset()) & online))
    return replace(one, raw=cpu_mask_text(kept)) if kept else one
