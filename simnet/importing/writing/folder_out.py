"""The folder that an import writes: `models/`, `scenario.toml`, `IMPORT.md`."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, Final

import tomlkit

from simnet.errors import InputError
from simnet.files import write_text
from simnet.folders import write_folder
from simnet.host.cpulist import cpulist_text
from simnet.importing.kind import NOT_MODELLED
from simnet.importing.lookup import nearest_kernel
from simnet.importing.named_ports import not_simulated
from simnet.importing.parsers.cpus.clocks import IDLE_SHARE
from simnet.importing.read_nic import ReadNic
from simnet.importing.writing import bonding, gateway, guest, neutral
from simnet.importing.writing import peer as peers
from simnet.importing.writing.file_list import FILES, PARTS, files_of, parts_of
from simnet.importing.writing.idle_states import set_idle_states
from simnet.importing.writing.leftover import leftover
from simnet.importing.writing.lines import number_interrupts, place_interrupts, spread
from simnet.importing.writing.link_rates import link_of
from simnet.importing.writing.models import (
    Draft,
    cpu_draft,
    kernel_draft,
    nic_draft,
    nodes_of,
    placed,
    plain,
    server_draft,
    switch_draft,
)
from simnet.importing.writing.ranked import Note, Rank, ranked
from simnet.importing.writing.tuning import Tuning, Unused, settle
from simnet.importing.writing.workload import Load, load_of, put_first
from simnet.printable import few, markdown
from simnet.scenario.core.entries import PEER
from simnet.scenario.core.specs import PORT_NAME
from simnet.scenario.parts.nic.schema import MOST_QUEUES
from simnet.scenario.scenarios import SCENARIO_FILE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pandas as pd

    from simnet.importing.host import ReadHost
    from simnet.importing.writing.lines import PortLines

HEALTHY: Final = "healthy"
PEERS: Final[Mapping[str, str]] = {
    HEALTHY: "the peer is assumed to be a machine like this one, with the defaults of its kernel"
    " and drivers, and its interrupts spread over the CPUs of the port's node: --peer same makes"
    " it a twin",
    "same": "the peer is a machine like this one: nothing says what it is",
}
"""What a user may take for the machine at the other end, with what is said of it."""
_MOST_PORTS: Final = 8
_MOST_REFUSALS: Final = 5
# what is off on the host is missing in no model
_OFF: Final = ("0", "off")
_COLUMNS: Final = ("file", "name", "value", "state", "source")
_UNUSED: Final = ("name", "value", "source", "why")
# of a model's value; all others are assumed
_STATES: Final = {"measured": "read", "datasheet": "looked up"}


@dataclass(frozen=True)
class Imported:
    """What an import makes of a host."""

    host: ReadHost  # as it was read
    drafts: dict[str, Draft]  # the models, by file name
    scenario: str  # text of the scenario, without its tuning
    tuning: Tuning  # the host's settings
    notes: tuple[str, ...]  # one line each: what is assumed of the whole, what was left out
    # the file that shows what the host carries; empty where streams are assumed, or nothing
    # can be simulated
    load: str = ""
    role: str = ""  # what the host is, where it is no end of streams: `a router`; empty elsewhere
    leftover: tuple[Unused, ...] = ()  # what was understood and has no part in the scenario
    # what hurts the host and its load may not do, by the knob that would help
    unexplained: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The host's own, if a file says it."""
        found = self.host.facts.get("hostname")
        return plain(str(found.value), 64) if found is not None else ""

    @property
    def runs(self) -> bool:
        """Whether the load can be simulated."""
        return bool(self.load) or not self.role

    def settle(self) -> None:
        """Leave out what the models refuse.

        Raises:
            InputError: the host cannot be modelled.
        """
        try:
            settle(self.tuning, self._put, self._refuse)
        except InputError as error:
            raise InputError(
                f"{_CANNOT}{error.message}", file=self.host.label, key=error.key
            ) from error

    def _refuse(self, error: InputError) -> bool:
        """Leave out the value of a model that an error is about."""
        draft = self.drafts.get(FilePath(error.file or "").name)
        return draft is not None and draft.refuse(error.key or "", error.message)

    def _put(self, folder: FilePath) -> None:
        """Write models and scenario into a folder, over what is there."""
        (folder / "models").mkdir(exist_ok=True)
        for name, text in self._models().items():
            write_text(folder / name, text)

    def _models(self) -> dict[str, str]:
        texts = {f"models/{name}": draft.text() for name, draft in self.drafts.items()}
        shown = tomlkit.dumps({"unexplained": dict(self.unexplained)}) if self.unexplained else ""
        text = "\n".join(filter(None, (self.scenario, self.tuning.text(), shown)))
        return {**texts, SCENARIO_FILE: text}

    def values(self) -> list[dict[str, str]]:
        """Return every value of the models: file, name, value, state, source."""
        found = []
        for file, draft in self.drafts.items():
            for name, table in _tables(draft.document):
                found.append(
                    {
                        "file": f"models/{file}",
                        "name": name,
                        "value": str(table["value"]),
                        "state": _STATES.get(table["state"], "assumed"),
                        "source": str(table["source"]),
                    }
                )
        for one in (*self.tuning.settings.values(), *self.tuning.placed):
            if not one.name.startswith(PEER):
                source = f"read from {one.source}" if one.state == "read" else one.source
                row = {"file": SCENARIO_FILE, "name": one.name, "value": one.raw}
                found.append({**row, "state": one.state, "source": source})
        return found

    def unused(self) -> list[dict[str, str]]:
        """Return what was read and is not used: name, value, source, why."""
        refused = (
            Unused(f"models/{file} {key}", value, source, why)
            for file, draft in self.drafts.items()
            for key, value, source, why in draft.refused
        )
        told = (*self.tuning.unused, *refused)
        return [asdict(one) for one in (*told, *self.tuning.passed, *self.leftover)]

    def files(self) -> list[dict[str, str]]:
        """Return what became of each file that was collected by hand: name, state, why."""
        return files_of(self.host, self.values(), self.unused())

    def parts(self) -> list[dict[str, str]]:
        """Return what became of each output in files with several: part, output, values, why."""
        return parts_of(self.host, self.values(), self.unused())

    def to_frame(self) -> pd.DataFrame:
        """One row a value: what was read, looked up and assumed."""
        import pandas as pd  # the command needs no data frame

        return pd.DataFrame(self.values(), columns=list(_COLUMNS))

    def write(self, folder: FilePath) -> None:
        """Write the folder, all of it or nothing.

        Raises:
            InputError: the folder exists and is not empty, or cannot be written.
            OutputError: the disk is full or fails.
        """
        write_folder(folder, {**self._models(), "IMPORT.md": self.report()})

    def report(self) -> str:
        """Return IMPORT.md: what was read and from where, what is assumed."""
        topology = self.host.topology
        lines = [
            f"# {markdown(self.name)}" if self.name else "# Imported host",
            "",
            (
                f"{len(topology.nodes)} NUMA nodes, {len(topology.packages)} packages,"
                f" {len(topology.cores)} cores, {len(topology.cpus)} CPUs on line"
                f" ({cpulist_text(topology.cpus)})."
                + (f" {_GUESSED}" if "cpus" in topology.guessed else "")
            ),
            "",
            *(f"- {markdown(note)}" for note in self.notes),
            "",
            *_markdown(_COLUMNS, self.values()),
            "",
            "## Read, and not used",
            "",
            *_markdown(_UNUSED, self.unused()),
            "",
            *(["## Files", "", *_markdown(FILES, listed), ""] if (listed := self.files()) else ()),
            *(["## Parts", "", *_markdown(PARTS, parts), ""] if (parts := self.parts()) else ()),
        ]
        return "\n".join(lines)

    def summary(self) -> dict[str, Any]:
        """Return what `simnet import --json` prints."""
        topology = self.host.topology
        return {
            "schema": "simnet.import/1",
            "nodes": len(topology.nodes),
            "packages": len(topology.packages),
            "cores": len(topology.cores),
            "cpus": len(topology.cpus),
            "offline_cpus": sorted(topology.offline),
            "caches": [
                {
                    "level": cache.level,
                    "size_bytes": cache.size_bytes,
                    "line_bytes": cache.line_bytes,
                    "cpus": cpulist_text(cache.cpus),
                }
                for cache in topology.caches
            ],
            "host": {name: found.value for name, found in self.host.facts.items()},
            "role": self.role,
            "nics": [
                {
                    "name": nic.name,
                    "node": nic.number("node", -1) if "node" in nic.facts else None,
                    "driver": nic.text("driver") or None,
                    "queues": nic.number("rx_queues", 0) or None,
                }
                for nic in self.host.nics
            ],
            "notes": list(self.notes),
            "values": self.values(),
            "unused": self.unused(),
            "files": self.files(),
            "parts": self.parts(),
            "unexplained": dict(self.unexplained),
            "assumed_of_cpus": dict(topology.guessed),
            "observed": {
                "ports": [asdict(one) for one in self.host.rates],
                "uses": {name: found.value for name, found in self.host.uses.items()},
            },
        }


def _tables(document: Any, before: str = "") -> list[tuple[str, Any]]:
    found = []
    for key, value in document.items():
        if isinstance(value, dict):
            if "state" in value:
                found.append((f"{before}{key}", value))
            else:
                found += _tables(value, f"{before}{key}.")
    return found


def _markdown(columns: Sequence[str], rows: Iterable[Mapping[str, str]]) -> list[str]:
    return [
        f"| {' | '.join(columns)} |",
        f"|{' --- |' * len(columns)}",
        *(f"| {' | '.join(markdown(plain(row[key], 200)) for key in columns)} |" for row in rows),
    ]


def imported(host: ReadHost, workload: str | None = None, peer: str = HEALTHY) -> Imported:
    """Return models and scenario of a host.

    Args:
        host: as it was read.
        workload: one of `WORKLOADS`; None for one like what was observed.
        peer: one of `PEERS`.

    Raises:
        InputError: it cannot be modelled.
    """
    notes: list[Note] = []
    chosen = _ports(host, notes)
    if workload is None and (port := gateway.port_of(host)) is not None:
        # the others are ports of the switch
        chosen, notes = [port], []
    if guest.is_guest(host, chosen[0]):
        told = [*notes, *guest.describe(chosen[0], len(chosen) - 1)]
        try:
            return _imported(host, workload, chosen[:1], told, peer, below=True)
        except InputError as error:
            said = f"{chosen[0].name}: simulated as a port of a real host: {error.message}"
            notes.append(Note(said, Rank.NOT_SIMULATED))
    return _imported(host, workload, chosen, notes, peer, below=False)


def _imported(
    host: ReadHost,
    workload: str | None,
    chosen: list[ReadNic],
    notes: list[Note],
    peer: str,
    *,
    below: bool,
    refused: str = "",
) -> Imported:
    """Return models and scenario.

    Args:
        host: as it was read.
        workload: as `imported` has it.
        chosen: the ports.
        notes: of their choice.
        peer: as `imported` has it.
        below: with the host below, which a guest cannot see.
        refused: why the models do not take the load that was observed.
    """
    whole, given, before = host, chosen, notes
    nodes = [host.topology.cpus] if below else placed(host)[0]
    if not below:
        chosen = [neutral.with_queues(nic, host) for nic in chosen]
    places = nodes_of(host, chosen, len(nodes))
    lines = number_interrupts(host, chosen)
    drafts = {"cpu.toml": cpu_draft(host), "kernel.toml": kernel_draft(host)}
    model = host.facts.get("cpu_model")
    set_idle_states(drafts["cpu.toml"], host, str(model.value) if model is not None else "")
    for nic in chosen:
        drafts[f"nic-{nic.name}.toml"] = nic_draft(nic, lines[nic.name].most, guest=below)
    if not below:
        host = replace(host, told=neutral.of_cards(host.told, chosen, drafts))
    ports = [(name, place, lines[name]) for name, place in places.items()]
    drafts["server.toml"] = server_draft(host, ports)
    first = chosen[0].name
    load = load_of(
        host,
        workload,
        nodes=1 + max(places.values()),
        cpus=nodes[places[first]],
        queues=_queues(chosen[0], drafts[f"nic-{first}.toml"], lines[first].queues),
        refused=refused,
    )
    rate = max(link_of(nic)[0] for nic in chosen)
    _add_switch(drafts, host, load, rate)
    at_home = load.test == gateway.TEST
    far_end = gateway.SAID if at_home else PEERS[peer]
    notes = [*notes, *load.notes, *_remarks(host, () if below else chosen, far_end)]
    tuning = Tuning()
    bonded = bonding.of_bond(host.told)
    why = bonding.refused(bonded, places, load.test, below=below)
    told = tuple(replace(one, why=why) if one in bonded else one for one in host.told)
    host = replace(host, told=told)
    tuning.screen(told, places, host.topology.cpus)
    notes += bonding.describe(bonded, why) if bonded else []
    simulated = bool(bonded) and not why
    if simulated:
        drafts["switch.toml"].assume("load_balance", *bonding.LOAD_BALANCE)
    near = {n: nodes[p] for n, p in places.items()}
    balanced = place_interrupts(host, tuning, lines, near)
    kvm = table = ""
    # a peer without a fault has all the queues that its card can have
    far_server = guest.PEER_SERVER if below else "server.toml"
    far: Mapping[str, PortLines] = {n: replace(p, queues=p.most) for n, p in lines.items()}
    if peer == HEALTHY and not below and not simulated and not at_home:
        far_server, far, said = peers.healthy(drafts, chosen, lines, far, near)
        notes += said
    if below:
        guest.above_host(drafts, host, lines[first])
        guest.outside(drafts, first, lines[first].numbers[0], rate)
        kvm, table = guest.guest_tables(host, lines[first])
    scenario = _SCENARIO.format(
        **_named(host),
        kvm=kvm,
        guest=table,
        **(gateway.SIDES if at_home else _far_end(far_server, len(chosen) * simulated)),
        workload=load.text,
        irqbalance=balanced,
    )
    healthy = tuple(spread(far, near, _SPREAD)) if peer == HEALTHY else None
    lacks = bonding.lacking(lines) if simulated else _lacks_nothing
    if not at_home:
        tuning.twin(lacks, healthy)
    left = tuple(leftover(whole, set(places), load.source, below=below))
    found = Imported(host, drafts, scenario, tuning, (), load.source, load.called, left)
    try:
        found.settle()
    except InputError as error:
        why = error.message.removeprefix(_CANNOT)
        odd = neutral.odd_of(chosen, getattr(error.__cause__, "file", None), why)
        if odd is None and (refused or not (load.role and load.source)):
            raise
        refused = why if odd is None else refused
        return _imported(whole, workload, odd or given, before, peer, below=below, refused=refused)
    return replace(found, notes=ranked((*notes, *_refusals(found))))


def _add_switch(drafts: dict[str, Draft], host: ReadHost, load: Load, rate_bps: int) -> None:
    """Add the switch, as fast as the fastest port, or as what the load is held to."""
    drafts["switch.toml"] = switch_draft(rate_bps)
    if load.switch_bps:
        drafts["switch.toml"].read("link_rate", f"{load.switch_bps} bit/s", load.source)
    if load.test == gateway.TEST:
        gateway.around(drafts, host)


def _far_end(server: str, bonded: int) -> dict[str, str]:
    """Return what the scenario says of the peer, of which there is one for each port of a bond."""
    return {
        "peer": f"models/{server}",
        "peer_kernel": "models/kernel.toml",
        "peers": f"count = {bonded}\ncabled = 1\n" if bonded else "",
        "before": "50 ms",
        "during": "100 ms",
    }


def _queues(nic: ReadNic, draft: Draft, known: int) -> int:
    """The receive queues of a port: those that files tell, or those of its driver's model."""
    if "rx_queues" in nic.facts or "rx_queues" not in draft.document:
        return known
    return int(draft.document["rx_queues"]["value"])


def _named(host: ReadHost) -> dict[str, str]:
    """Return what the scenario says of the host's name."""
    name = _name(host)
    called = f'name = "{name}"\n' if name else ""
    return {"called": called, "name": name or "An imported host"}


def _name(host: ReadHost) -> str:
    """The host's own name, as far as a scenario may have it; empty where no file says it."""
    said = host.facts.get("hostname")
    return _UNSAFE.sub("", str(said.value)).lstrip("_.-")[:64] if said is not None else ""


def _refusals(found: Imported) -> Iterator[Note]:
    """Yield what was read, would have an effect, and no model takes."""
    # a parser's note says them
    quiet = [asdict(one) for one in (*found.tuning.passed, *found.leftover)]
    noted = {NOT_MODELLED, *(one.why for one in found.host.told)} - {""}
    lines = [
        plain(f"{one['name']} = {one['value']}: read, not used: {one['why']}", 200)
        for one in found.unused()
        if one["why"] not in noted and one["value"] not in _OFF and one not in quiet
    ]
    yield from (Note(line) for line in lines[:_MOST_REFUSALS])
    if len(lines) > _MOST_REFUSALS:
        yield Note(f"{len(lines) - _MOST_REFUSALS} further values are not used: see IMPORT.md")


def _ports(host: ReadHost, notes: list[Note]) -> list[ReadNic]:
    """Return the ports of the model: those whose link is up, or the first, or one made up.

    The one that carried most comes first.
    """

    def say(text: str, rank: Rank = Rank.PORTS) -> None:
        notes.append(Note(text, rank))

    there = []
    for nic in host.nics:
        if why := not_simulated(nic.name):
            say(f"{nic.name} is left out: {why}")
        else:
            there.append(nic)
    nics = [nic for nic in there if re.fullmatch(PORT_NAME, nic.name)]
    odd = [nic.name for nic in there if nic not in nics]
    if odd:
        say(
            f"left out: {few(odd)}: a port of the model has a name of letters, digits, '_', '.' and"
            " '-' that begins with a letter or '_'"
        )
    nics, needed = put_first(host, nics)
    # what joins ports needs all of them, whether or not a file says how fast each is
    joined = {*needed, *bonding.slaves_of(host.told)}
    joined = joined if joined <= {nic.name for nic in nics} else set()
    up = [nic for nic in nics if "link_bps" in nic.facts or nic.name in joined]
    for nic in up[:_MOST_PORTS]:
        if "link_bps" not in nic.facts:
            rate, why = link_of(nic)
            say(f"no port says how fast its link is: {nic.name} has {rate / 1e9:g} Gbit/s: {why}")
    if up:
        if len(up) > _MOST_PORTS:
            say(f"only the first {_MOST_PORTS} ports with a link are in the model")
        return up[:_MOST_PORTS]
    if nics:
        rate, why = link_of(nics[0])
        say(
            f"no port says how fast its link is: {nics[0].name} is in the model, with"
            f" {rate / 1e9:g} Gbit/s: {why}"
        )
        return [nics[0]]
    said = "no network port was found: eth0 is assumed, with one link of the NIC's model"
    say(said, Rank.MACHINE)
    return [ReadNic("eth0")]


def _remarks(host: ReadHost, chosen: Sequence[ReadNic], far_end: str) -> list[Note]:
    topology = host.topology
    found = [
        Note(
            "the processor's costs are those of a related one and not calibrated: see"
            " models/cpu.toml",
            Rank.COSTS,
        )
    ]
    clock = host.facts.get("clock_hz")
    if clock is not None and clock.why:
        mhz = int(clock.value) // 10**6
        said = f"a clock of {int(IDLE_SHARE * mhz)} to {mhz} MHz is assumed: {clock.why}"
        found.append(Note(said, Rank.COSTS))
    kernel = host.facts.get("kernel")
    if kernel is not None:
        distribution = host.facts.get("distribution")
        named = str(distribution.value) if distribution is not None else ""
        nearest = nearest_kernel(str(kernel.value), named)
        said = f"Linux {plain(str(kernel.value), 80)}: rules and constants of {nearest}"
        found.append(Note(said, Rank.KERNEL))
    below = host.facts.get("hypervisor")
    if below is not None and chosen:
        said = f"{below.source}: a guest of {plain(str(below.value), 40)}: what a hypervisor takes"
        found.append(Note(f"{said} is not simulated for this port", Rank.RULES))
    found += [Note(one) for one in host.notes]
    there = {nic.name for nic in host.nics}
    found += [line for nic in chosen if nic.name in there for line in neutral.remarks(nic)]
    if topology.offline:
        found.append(Note(f"CPUs off line: {cpulist_text(topology.offline)}"))
    if topology.disallowed:
        cpus = cpulist_text(topology.disallowed)
        found.append(Note(f"CPUs that the snapshot's process could not use: {cpus}"))
    if max(map(len, topology.cores)) > 2:  # noqa: PLR2004 - two threads are modelled
        said = "cores have more than two threads: that these slow each other is left out"
        found.append(Note(said, Rank.RULES))
    many = [
        f"{nic.name} has {nic.number('rx_queues', 0)} receive queues: a port of the model has at"
        f" most {MOST_QUEUES}: the first are simulated, and each carries more than the host's"
        for nic in chosen
        if nic.number("rx_queues", 0) > MOST_QUEUES
    ]
    found += [Note(one, Rank.MACHINE) for one in many]
    if "cpus" in topology.guessed:
        said = f"{len(topology.cpus)} CPUs are assumed: {topology.guessed['cpus']}"
        found.insert(0, Note(said, Rank.MACHINE))
    elif "nodes" in topology.guessed:
        said = f"NUMA nodes are assumed: {topology.guessed['nodes']}"
        found.insert(0, Note(said, Rank.RULES))
    found.append(Note(far_end, Rank.PEER))
    return found


def _lacks_nothing(_name: str) -> bool:
    """Whether the peer is without what a setting is of: its ports are those of the host."""
    return False


_SPREAD: Final = "assumed of the peer: a CPU of the port's node for each queue"
_GUESSED: Final = "How many CPUs there are is **assumed**: no file says it."
_CANNOT: Final = "the host cannot be modelled: "
_UNSAFE: Final = re.compile(r"[^\w.-]", re.ASCII)


_SCENARIO: Final = """\
kind = "scenario"
{called}description = "{name} and a peer like it"

[system]
server = "models/server.toml"
kernel = "models/kernel.toml"
switch = "models/switch.toml"
{kvm}
{guest}
[[system.peers]]
server = "{peer}"
kernel = "{peer_kernel}"
{peers}
{workload}
{irqbalance}
[run]
warm_up = "{before}"
duration = "{during}"
seed = 1
"""
