"""A host as its files tell it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from simnet.errors import InputError
from simnet.importing.counted import counted, on_a_small_machine
from simnet.importing.cpuset import allowed
from simnet.importing.evidence import Evidence
from simnet.importing.files.files import Files
from simnet.importing.files.together import ListedFiles, TogetherFiles
from simnet.importing.kind import Told
from simnet.importing.loose import Loose, gather
from simnet.importing.nics import read_nics
from simnet.importing.outputs import Outputs, Part
from simnet.importing.parser import parsers
from simnet.importing.parsers.cpus.clocks import base_clock_of, clock_of
from simnet.importing.parsers.cpus.cpuinfo import cpuinfo_fields, cpuinfo_topology
from simnet.importing.parsers.cpus.lscpu import lscpu_fields, lscpu_table, lscpu_topology
from simnet.importing.parsers.cpus.lstopo import lstopo_topology
from simnet.importing.parsers.cpus.numactl import numactl_distances, numactl_nodes
from simnet.importing.parsers.interrupts import QueueInterrupt, queue_interrupts
from simnet.importing.parsers.pci import Slot, slot_of
from simnet.importing.parsers.roles.routers import seen_of_router
from simnet.importing.parsers.sysstat import line_speeds
from simnet.importing.rates import NetworkTest, Rates, Use
from simnet.importing.read_nic import Read, ReadNic
from simnet.importing.roles import Role
from simnet.importing.sysfs_topology import sysfs_distances, sysfs_topology
from simnet.importing.topology import Topology

# more is no rate: counters began anew in between
_MOST_BPS: Final = 10**12


@dataclass(frozen=True)
class ReadHost:
    """What was read."""

    label: str  # what the user called it
    topology: Topology  # of its CPUs
    nics: tuple[ReadNic, ...]  # its ports
    # by name: `architecture`, `vendor`, `cpu_model`, `clock_hz`, `kernel`, `distribution`,
    # `irqbalance`, and what else parsers know
    facts: dict[str, Read]
    told: tuple[Told, ...]  # its settings, by the names of knobs
    interrupts: dict[str, dict[int, QueueInterrupt]]  # of receive queues, by port and queue
    slots: dict[str, Slot]  # of ports, by name
    notes: tuple[str, ...]  # what parsers remark, one line each
    rates: tuple[Rates, ...]  # what ports carried, of the first parser that knows it
    tests: tuple[NetworkTest, ...]  # of the network that were run
    uses: dict[str, Use]  # what else was observed, by name
    roles: tuple[Role, ...]  # what it does with its packets, where it is no end of TCP's streams
    loose: Loose  # what was collected by hand
    # the kinds of output that each file of it holds, with the interface each is of
    seen: dict[str, list[tuple[str, str]]]
    parts: tuple[Part, ...]  # each of these outputs
    # what was typed for the parts of it whose format nobody knows, by file and line
    unknown: dict[str, str]


def read_host(files: Files, loose: Iterable[str] = (), cpus: int | None = None) -> ReadHost:
    """Read all that is understood of a host's files.

    Args:
        files: of the host.
        loose: names of files that somebody collected by hand.
        cpus: how many the host has, where nothing else says it.

    Raises:
        InputError: nothing in the files is understood.
    """
    gathered = gather(files, loose)
    if gathered.virtual:
        files = TogetherFiles([(files, ()), (ListedFiles("", gathered.virtual), ())], files.label)
    outputs = Outputs(files, gathered.pieces)
    topology = _topology(files, outputs)
    if topology is not None and not topology.cpus:
        raise InputError("no CPU of this host is on line", file=files.label)
    if topology is None:
        if cpus is None and not gathered.virtual and not any(outputs.seen.values()):
            raise InputError(NOTHING, file=files.label)
        topology = counted(files, outputs) if cpus is None else None
        topology = topology or on_a_small_machine(cpus, outputs.queues())
    evidence = Evidence(files, outputs, read_nics(files, outputs, topology))
    values: dict[str, Read] = {}
    _processor(files, outputs, values)
    for parser in parsers():
        for key, value, source in parser.facts(evidence):
            if value:
                values.setdefault(key, Read(value, source))
    slots = {nic.name: slot for nic in evidence.nics if (slot := slot_of(evidence, nic))}
    for nic in evidence.nics:
        slot = slots.get(nic.name)
        if slot is not None and slot.node in {node.number for node in topology.nodes}:
            nic.put("node", slot.node, slot.source)
    rates = next((found for parser in parsers() if (found := tuple(parser.rates(evidence)))), ())
    tests = tuple(test for parser in parsers() for test in parser.tests(evidence))
    _carried(evidence.nics, rates, tests)
    _speeds(evidence.nics, outputs)
    seen_of_router(evidence, values)
    return ReadHost(
        files.label,
        topology,
        evidence.nics,
        values,
        tuple(told for parser in parsers() for told in parser.settings(evidence)),
        queue_interrupts(evidence),
        slots,
        tuple(note for parser in parsers() for note in parser.notes(evidence)),
        rates,
        tests,
        {
            name: Use(value, source)
            for parser in parsers()
            for name, value, source in parser.uses(evidence)
        },
        tuple(role for parser in parsers() for role in parser.roles(evidence)),
        gathered,
        outputs.seen,
        tuple(outputs.parts),
        outputs.unknown,
    )


def _carried(nics: Sequence[ReadNic], rates: Sequence[Rates], tests: Sequence[NetworkTest]) -> None:
    """Note what each port is seen to carry: its link cannot be slower."""
    seen = [(one.port, one.wire_bps, one.source) for one in rates]
    if len(nics) == 1:
        seen += [(nics[0].name, one.rate_bps, one.source) for one in tests]
    for nic in nics:
        most = max(
            (one for one in seen if one[0] == nic.name), key=lambda one: one[1], default=None
        )
        if most is not None and most[1] < _MOST_BPS:
            nic.put("carried_bps", round(most[1]) or None, most[2])


def _speeds(nics: Sequence[ReadNic], outputs: Outputs) -> None:
    """Note how fast a port's link is, where only the share that it carried tells it."""
    speeds = line_speeds(outputs)
    for nic in nics:
        if nic.name in speeds:
            nic.put("link_bps", *speeds[nic.name])


NOTHING: Final = (
    "nothing here is understood: expected /proc and /sys, a sosreport, or outputs of commands such"
    " as lscpu, uname -a, ethtool -i PORT, cat /proc/interrupts"
)
"""The message of an import that finds nothing that describes a host."""


def _topology(files: Files, outputs: Outputs) -> Topology | None:
    """Return the topology from the best source that there is."""
    found = sysfs_topology(files)
    if found is not None:
        cpus, nodes = allowed(files)
        if cpus is not None or nodes is not None:
            found = found.restricted(found.cpus if cpus is None else cpus, nodes)
        return replace(found, distances=sysfs_distances(files, found.nodes))
    for kind, parser in _SOURCES:
        told = outputs.one(kind)
        if found is None and told is not None:
            found = parser(told.text, told.name)
    numa = outputs.one("numactl -H")
    return found if numa is None else _with_nodes(found, numa.text, numa.name)


# the best first
_SOURCES: Final = (
    ("lscpu -e", lscpu_table),
    ("lstopo", lstopo_topology),
    ("lscpu", lscpu_topology),
    ("cpuinfo", cpuinfo_topology),
)


def _with_nodes(found: Topology | None, text: str, source: str) -> Topology | None:
    """Return a topology with the nodes that numactl lists, if it knows them with their memory."""
    nodes = numactl_nodes(text)
    cpus = frozenset().union(*(node.cpus for node in nodes))
    if not nodes or not cpus:
        return found
    if found is None:
        single = tuple(frozenset((cpu,)) for cpu in sorted(cpus))
        packages = tuple(node.cpus for node in nodes if node.cpus)
        guessed = {
            "packages": "numactl does not say it: a package for each node",
            "cores": "numactl does not say it: each CPU is a core",
            "threads": "numactl does not say it: each CPU is a core",
            "cores_per_socket": "numactl does not say it: CPUs by nodes",
        }
        found = Topology(cpus, single, packages, nodes, source=source, guessed=guessed)
    guessed = {key: why for key, why in found.guessed.items() if key != "nodes"}
    distances = numactl_distances(text, nodes)
    return replace(found, nodes=nodes, distances=distances, guessed=guessed)


def _processor(files: Files, outputs: Outputs, values: dict[str, Read]) -> None:
    """Note the processor's maker, model and clock."""

    def put(key: str, value: int | str | None, source: str) -> None:
        if value:
            values.setdefault(key, Read(value, source))

    if (clock := clock_of(files, outputs)) is not None:
        values.setdefault("clock_hz", clock)
    if (clock := base_clock_of(files, outputs)) is not None:
        values.setdefault("base_clock_hz", clock)
    listed = outputs.one("lscpu")
    told = outputs.one("cpuinfo")
    if listed is not None:
        fields = lscpu_fields(listed.text)
        put("architecture", fields.get("Architecture"), listed.name)
        put("vendor", fields.get("Vendor ID"), listed.name)
        put("cpu_model", fields.get("Model name"), listed.name)
        put("hypervisor", fields.get("Hypervisor vendor"), listed.name)
    if told is not None:
        fields = cpuinfo_fields(told.text)
        put("vendor", fields.get("vendor_id"), told.name)
        put("cpu_model", fields.get("model name"), told.name)
