"""The effective configuration: every value that a simulation reads, defaults included.

:class:`Effective` is what ``simnet.scenario.system.build.build`` consumes. All values are plain
``int`` (``bool``, ``str``, tuples) in base units, with the unit in the attribute's name::

    effective.scenario                          "x460-out-of-box"
    effective.host.machine.nodes                NUMA nodes; .sockets_per_node, .buses_per_node,
                                                .memory_per_node_bytes, .memory_bandwidth_bps,
                                                .bus_bandwidth_bps, .link_bandwidth_bps,
                                                .io_bandwidth_bps, .links ((0, 1), ...), .apic
    effective.host.cpu.clock_hz                 .threads_per_core, .cores_per_socket,
                                                .cache_line_bytes, .cache_bytes,
                                                .smt_slowdown_permille
    effective.host.cpu.costs.hardirq_cycles     see host.schema.Costs
    effective.host.cpu.memory.local_latency_ps  see host.schema.Memory
    effective.host.kernel.tcp_rmem_bytes        (minimum, default, maximum); see host.schema.Kernel
    effective.host.ports[3].name, .node, .irq
    effective.host.ports[3].nic.rx_usecs_ps     see parts/nic/drivers; each port has its own
    effective.host.ports[3].smp_affinity        CPUs of the mask, ascending: (5,)
    effective.host.cpu_count, .online, .cpus_of(node), .node_of(cpu)
    effective.host.ports[3].enslaved            and what else knobs set of a port by its name
    effective.host.ports[3].set_of(0, "rps_cpus")   likewise of a queue
    effective.peers[1]                          a Host, too; its ports[k] likewise
    effective.switch.latency_ps                 parts that subjects announce, by their places:
    effective.host.bonding.mode                 see the schema of each; None or () where absent
    effective.irqbalance                        "off", "settled" (smp_affinity holds its
                                                result) or "daemon" (to be simulated)
    effective.balancer.daemon                   which, with its options
    effective.workload.type, .test, .nodes, .message_bytes, .recv_size_bytes
    effective.flows[3].name                     "eth3"; .port (index in host.ports),
                                                .peer (index in peers), .peer_port,
                                                .receives, .message_bytes, .recv_bytes,
                                                .cpubind_node, .preferred_node (None: free),
                                                .cpus, .peer_cpus (empty: free)
    effective.run.warm_up_ps, .duration_ps, .seed

``effective.host`` is the system under test; ``effective.cpu``, ``.kernel``, ``.machine`` and
``.ports`` are short for its parts. ``effective.provenance["host.cpu.clock_hz"]`` is the
:class:`~simnet.scenario.core.parameter.Parameter` behind a value, with source, state and range.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field, SerializeAsAny, create_model

from simnet.scenario.commands.captured import Captured
from simnet.scenario.core.files import Run, Workload
from simnet.scenario.core.knob import AppliedKnob
from simnet.scenario.core.knobs import OF_PORTS, OF_QUEUES
from simnet.scenario.core.parameter import Parameter
from simnet.scenario.core.places import irqs_of
from simnet.scenario.core.section import Section
from simnet.scenario.core.subject import host_parts, model_section, parts, ways


def _of_driver(nic: Any) -> Any:
    """Return a port's values as the section of their driver."""
    if not isinstance(nic, dict):
        return nic
    return model_section("nic").variants()[nic["driver"]](**nic)


def _with_knobs(base: type[Section]) -> Any:
    """Return a port with what knobs set of ports, and of each of their queues."""
    fields: dict[str, Any] = {name: (type(value), value) for name, value in OF_PORTS.items()}
    for name in (*OF_QUEUES["rx"], *OF_QUEUES["tx"]):
        fields[name] = (tuple[Any, ...], ())
    return create_model("_PortWithKnobs", __base__=base, **fields)


class _Port(Section):
    name: str
    node: int
    irq: int
    next_irqs: tuple[int, ...] = ()
    smp_affinity: tuple[int, ...]
    queue_affinity: tuple[tuple[int, ...], ...] = ()
    nic: Annotated[SerializeAsAny[Section], BeforeValidator(_of_driver)]


# what subjects announce has types that nothing here knows
if TYPE_CHECKING:

    class _PortWithKnobs(_Port):
        nic: Any

        def __getattr__(self, name: str) -> Any: ...

else:
    _PortWithKnobs = _with_knobs(_Port)


class Port(_PortWithKnobs):
    """A network port with its driver's settings, and with what knobs set of it and of its queues.

    Attributes:
        name: interface, as in ``eth0``.
        node: NUMA node that the NIC is attached to.
        irq: interrupt number; of a port with several queues that of the first.
        next_irqs: of the queues behind the first; those that are not listed follow the last one.
        smp_affinity: CPUs of the interrupt's mask, ascending.
        queue_affinity: of a port with several queues, the mask of each queue's interrupt.
        nic: the chip and its driver's settings.
    """

    def set_of(self, queue: int, target: str) -> Any:
        """What knobs with this target set of a queue; their default for one that has none."""
        given = getattr(self, target)
        if queue < len(given):
            return given[queue]
        return (OF_QUEUES["rx"] | OF_QUEUES["tx"]).get(target, ())

    def irq_of(self, queue: int) -> int:
        """The interrupt number of a queue."""
        return irqs_of(self.irq, self.next_irqs, queue + 1)[queue]


def _with_host_parts(base: type[Section]) -> Any:
    """Return a host with the parts that subjects announce."""
    fields: dict[str, Any] = {}
    for part in host_parts():
        form: Any = part.section
        if part.kind:
            fields[part.place] = (form, ...)
        elif part.item:
            fields[part.place] = (tuple[form, ...], ())
        elif part.key:
            fields[part.place] = (form | None, None)
        else:
            fields[part.place] = (form, form())
    return create_model("_HostWithParts", __base__=base, **fields)


def _with_parts(base: type[Section], *, late: bool) -> Any:
    """Return a configuration with the tables that come after the workload, or all other parts."""
    fields: dict[str, Any] = {}
    for part in parts():
        if part.key and late == (not part.kind and not part.early):
            fields |= part.beside
            form: Any = part.section
            if part.always:
                fields[part.place] = (form, form())
            else:
                several = part.several
                fields[part.place] = (tuple[form, ...], ()) if several else (form | None, None)
    return create_model("_WithParts", __base__=base, **fields)


class _Host(Section):
    name: str
    ports: tuple[Port, ...]


if TYPE_CHECKING:

    class _HostWithParts(_Host):
        def __getattr__(self, part: str) -> Any: ...

else:
    _HostWithParts = _with_host_parts(_Host)


class Host(_HostWithParts):
    """A machine with CPUs, kernel and ports, and with the parts that subjects announce.

    Attributes:
        name: the server model's name.
        ports: in the order of the server model.
    """

    @property
    def seen(self) -> tuple[Any, Any]:
        """Machine and processor as the host's operating system sees them."""
        for part in host_parts():
            if part.cpus and (found := getattr(self, part.place)) is not None:
                machine, cpu = found.seen(self.machine, self.cpu)
                return machine, cpu
        return self.machine, self.cpu

    @property
    def _cpus_per_node(self) -> int:
        """Logical CPUs of a node, where all have as many."""
        machine, cpu = self.seen
        return int(machine.sockets_per_node * cpu.cores_per_socket * cpu.threads_per_core)

    @property
    def cpu_count(self) -> int:
        """Logical CPUs of the machine."""
        return max(self.online) + 1 if self.seen[0].node_cpus else len(self.online)

    @property
    def online(self) -> tuple[int, ...]:
        """The logical CPUs that run."""
        machine = self.seen[0]
        if machine.node_cpus:
            return tuple(sorted(cpu for cpus in machine.node_cpus for cpu in cpus))
        return tuple(range(machine.nodes * self._cpus_per_node))

    def cpus_of(self, node: int) -> tuple[int, ...]:
        """Return the logical CPUs of a node."""
        listed: tuple[tuple[int, ...], ...] = self.seen[0].node_cpus
        if listed:
            return listed[node]
        return tuple(range(node * self._cpus_per_node, (node + 1) * self._cpus_per_node))

    def node_of(self, cpu: int) -> int:
        """Return the node of a logical CPU."""
        return next(node for node in range(self.seen[0].nodes) if cpu in self.cpus_of(node))


class Flow(Section):
    """One TCP stream between a port of the system and a port of a peer.

    Attributes:
        name: name of the system's port; with the process's name where a port has two streams.
        port: index in ``effective.ports``.
        peer: index in ``effective.peers``.
        peer_port: index in that peer's ``ports``.
        receives: the system receives; otherwise it sends.
        message_bytes: bytes per send(); of a request.
        recv_bytes: bytes asked for per recv(), at the receiving end; of a response.
        cpubind_node: node that the process on the system is bound to; None when it is free.
        preferred_node: node that its memory comes from; None for the node where it runs.
        cpus: CPUs that the process on the system may use; empty for those of `cpubind_node`.
        peer_cpus: CPUs that the process on the peer may use; empty for all.
        asks: the system sends requests and gets responses, in place of a stream.
    """

    name: str
    port: int
    peer: int
    peer_port: int
    receives: bool
    message_bytes: int
    recv_bytes: int
    cpubind_node: int | None = None
    preferred_node: int | None = None
    cpus: tuple[int, ...] = ()
    peer_cpus: tuple[int, ...] = ()
    asks: bool = False


class _Start(Section):
    scenario: str
    host: Host
    peers: tuple[Host, ...]


if TYPE_CHECKING:

    class _Beside(_Start):
        def __getattr__(self, part: str) -> Any: ...

else:
    _Beside = _with_parts(_Start, late=False)


class _Running(_Beside):
    workload: Workload


if TYPE_CHECKING:
    _WithParts = _Running
else:
    _WithParts = _with_parts(_Running, late=True)


class Effective(_WithParts):
    """Every value that a simulation reads; the module's docstring lists the access paths.

    The parts that subjects announce are attributes by their places.

    Attributes:
        scenario: its name.
        host: the system under test.
        peers: the machines at the other ends.
        workload: what runs.
        flows: one per stream.
        run: how long.
        provenance: where each value comes from, by dotted path.
        models: name of the model at each place, by dotted path.
        applied: the knobs that the scenario or the caller set.
        remarks: one line each: settings that are accepted but have no effect, and the like.
        tunings: names of the scenario's tunings that the caller chose, in order.
        captured: what listings of a real machine's attributes set.
        unexplained: what the host's files show and a load may not do, by the knob that would help.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    flows: tuple[Flow, ...]
    run: Run
    provenance: Annotated[dict[str, Parameter], Field(exclude=True, repr=False)]
    models: Annotated[dict[str, str], Field(exclude=True, repr=False)]
    applied: Annotated[tuple[AppliedKnob, ...], Field(exclude=True, repr=False)] = ()
    remarks: Annotated[tuple[str, ...], Field(exclude=True, repr=False)] = ()
    tunings: Annotated[tuple[str, ...], Field(exclude=True, repr=False)] = ()
    captured: Annotated[Captured, Field(exclude=True, repr=False)] = Captured((), (), ())
    unexplained: Annotated[Mapping[str, str], Field(exclude=True, repr=False, default_factory=dict)]

    @property
    def places(self) -> dict[str, Host]:
        """All hosts, by where they stand: ``host``, and ``peers[0]`` and so on."""
        peers = {f"peers[{number}]": peer for number, peer in enumerate(self.peers)}
        return {"host": self.host, **peers}

    @property
    def lan(self) -> Any:
        """The switch; ValueError where nothing is on a network."""
        if self.switch is None:
            raise ValueError(f"{self.scenario}: no switch")
        return self.switch

    @property
    def linked(self) -> bool:
        """Whether frames cross links; else CPUs copy them from one memory to another."""
        return not any(way.copied and getattr(self, way.part) for way in ways())

    @property
    def machine(self) -> Any:
        """Nodes, buses and links of the system under test."""
        return self.host.machine

    @property
    def cpu(self) -> Any:
        """Processor of the system under test."""
        return self.host.cpu

    @property
    def kernel(self) -> Any:
        """Kernel of the system under test."""
        return self.host.kernel

    @property
    def ports(self) -> tuple[Port, ...]:
        """Ports of the system under test."""
        return self.host.ports

    @property
    def uncalibrated(self) -> tuple[str, ...]:
        """A line for people if streams meet a processor of which every cost is an estimate."""
        costs = "host.cpu.costs."
        states = {one.state for path, one in self.provenance.items() if path.startswith(costs)}
        if not self.flows or not states.isdisjoint({"calibrated", "measured"}):
            return ()
        line = "uncalibrated: every cost of the system's processor is an estimate"
        return (f"{line}, so trust comparisons more than numbers",)

    @property
    def assumed(self) -> tuple[str, ...]:
        """A line for people if nothing tells what the system really carries."""
        if not self.workload.assumed:
            return ()
        line = "the load is assumed: no file says what this host carries"
        return (f"{line}; --set assumed=off says that the scenario's [workload] is right",)

    @property
    def shown(self) -> tuple[str, ...]:
        """A line for people if the host's files show what a load may not do."""
        found = list(dict.fromkeys(self.unexplained.values()))
        if not found:
            return ()
        more = f", and {len(found) - 1} more" if len(found) > 1 else ""
        return (f"this host's files show what this load may not do: {found[0]}{more}",)

    def digest(self) -> str:
        """Return 16 hexadecimal digits that depend on every value, and on nothing else.

        What is at its default does not enter: an option that is added leaves all digests as they
        were.
        """
        values = self.model_dump(mode="json", exclude_defaults=True)
        text = json.dumps(values, sort_keys=True, separators=(",", ":"))
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
