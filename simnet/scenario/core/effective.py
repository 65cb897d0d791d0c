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
    effective.host.ports[3].nic.rx_usecs_ps     see nic.schema.Nic; each port has its own
    effective.host.ports[3].smp_affinity        CPUs of the mask, ascending: (5,)
    effective.host.cpu_count, .cpus_per_node, .node_of(cpu)
    effective.host.ports[3].enslaved            a slave of the bond; .unplugged_ps, .plugged_ps
    effective.host.ports[3].quickack            of the routes through it
    effective.host.bonding.mode                 see bonding.schema.Bonding
    effective.host.application.delack_max_ps    TCP_DELACK_MAX_US of its sockets; 0: not set
    effective.peers[1]                          a Host, too; its ports[k] likewise
    effective.switch.latency_ps                 see network.schema.Switch
    effective.fabric.switch_latency_ps          see infiniband.schema.Fabric; fabric may be None
    effective.hypervisor.dispatch_window_ps     see partition.schema.Hypervisor; may be None
    effective.host.disks[0].queue.scheduler     see storage.schema.HostDisk
    effective.vscsi.request_limit               see storage.schema.Vscsi; may be None
    effective.ffsb[0].num_threads               see storage.schema.FfsbGroup
    effective.pool.processors                   see partition.schema.Pool; may be None
    effective.host.partition.procs              see partition.schema.Partition; may be None
    effective.lpars.cores                       see scale.schema.Lpars; may be None, as the next
    effective.scale.pagepool_bytes              see scale.schema.Scale
    effective.storage.adapters                  see nsd.schema.Storage
    effective.disk.outer_rate_bps               see disks.schema.Disk; log_disk alike
    effective.filesystem.vdisks                 see nsd.schema.Filesystem
    effective.sas.data_bytes                    see sas.schema.SasMix
    effective.gpfsperf.threads                  see sas.schema.Gpfsperf
    effective.irqbalance                        "off", "settled" (smp_affinity holds its
                                                result) or "daemon" (to be simulated)
    effective.balancer.daemon                   which, with its options
    effective.workload.type, .test, .nodes, .message_bytes, .recv_size_bytes
    effective.relay.rate                        see relay.schema.Relay; relay may be None
    effective.flows[3].name                     "eth3"; .port (index in host.ports),
                                                .peer (index in peers), .peer_port,
                                                .receives, .message_bytes, .recv_bytes,
                                                .cpubind_node, .preferred_node (None: free)
    effective.run.warm_up_ps, .duration_ps, .seed

``effective.host`` is the system under test; ``effective.cpu``, ``.kernel``, ``.machine`` and
``.ports`` are short for its parts. ``effective.provenance["host.cpu.clock_hz"]`` is the
:class:`~simnet.scenario.core.parameter.Parameter` behind a value, with source, state and range.
"""

from __future__ import annotations

import hashlib
import json
from typing import Annotated

from pydantic import ConfigDict, Field, SerializeAsAny

from simnet.scenario.commands.captured import Captured
from simnet.scenario.core.files import Run, Workload
from simnet.scenario.core.knob import AppliedKnob
from simnet.scenario.core.parameter import Parameter
from simnet.scenario.core.section import Section
from simnet.scenario.parts.bonding.schema import Bonding
from simnet.scenario.parts.disks.schema import Disk
from simnet.scenario.parts.host.schema import Cpu, Kernel, Machine
from simnet.scenario.parts.infiniband.schema import Fabric
from simnet.scenario.parts.irqbalance.schema import Balancer
from simnet.scenario.parts.network.schema import Switch
from simnet.scenario.parts.nic.schema import Nic
from simnet.scenario.parts.nsd.schema import Filesystem, Storage
from simnet.scenario.parts.partition.schema import Hypervisor, Partition, Pool
from simnet.scenario.parts.relay.schema import Relay
from simnet.scenario.parts.sas.schema import Gpfsperf, SasMix
from simnet.scenario.parts.scale.schema import Lpars, Scale
from simnet.scenario.parts.storage.schema import FfsbGroup, HostDisk, Vscsi

__all__ = ["Application", "Effective", "Flow", "Host", "Port"]


class Port(Section):
    """A network port with its driver's settings.

    Attributes:
        name: interface, as in ``eth0``.
        node: NUMA node that the NIC is attached to.
        irq: interrupt number; of a port with several queues that of the first, the others follow.
        smp_affinity: CPUs of the interrupt's mask, ascending.
        queue_affinity: of a port with several queues, the mask of each queue's interrupt.
        enslaved: whether the port is a slave of the host's bond.
        unplugged_ps: when its cable is pulled, from the start of the simulation; 0 for never.
        plugged_ps: when it is plugged in again; 0 for never.
        quickack: whether each segment by a route through it is acknowledged at once.
        rps_cpus: CPUs that each receive queue's packets are spread over; empty for none.
        rps_flow_cnt: size of each receive queue's flow table; 0 for none.
        xps_cpus: CPUs that each transmit queue is for; empty for none.
        recvspace_bytes: of AIX, buffer of connections by it; 0 for that of no(1).
        sendspace_bytes: likewise.
        nic: the chip and its driver's settings.
    """

    name: str
    node: int
    irq: int
    smp_affinity: tuple[int, ...]
    enslaved: bool = False
    unplugged_ps: int = 0
    plugged_ps: int = 0
    quickack: bool = False
    queue_affinity: tuple[tuple[int, ...], ...] = ()
    rps_cpus: tuple[tuple[int, ...], ...] = ()
    rps_flow_cnt: tuple[int, ...] = ()
    xps_cpus: tuple[tuple[int, ...], ...] = ()
    recvspace_bytes: int = 0
    sendspace_bytes: int = 0
    nic: Nic


class Application(Section):
    """What the test's processes on a host ask of their sockets.

    Attributes:
        delack_max_ps: TCP_DELACK_MAX_US; 0 where it is not set.
        socket_buffer_bytes: SO_SNDBUF of who sends, SO_RCVBUF of who receives, as `iperf -w` sets
            them; 0 where it is not set.
        nodelay: TCP_NODELAY.
    """

    delack_max_ps: int = 0
    socket_buffer_bytes: int = 0
    nodelay: bool = False


class Host(Section):
    """A machine with CPUs, kernel and ports.

    Attributes:
        name: the server model's name.
        machine: nodes, buses, links.
        cpu: the processor, all sockets alike.
        kernel: constants and sysctls.
        ports: in the order of the server model.
        bonding: how the ports that are slaves are one interface.
        application: socket options of the test's processes.
        partition: its share of the machine, if it is one of a hypervisor's partitions.
        disks: in the order of the scenario.
    """

    name: str
    machine: Machine
    cpu: Cpu
    kernel: Kernel
    ports: tuple[Port, ...]
    bonding: Bonding = Bonding()
    application: Application = Application()
    partition: Partition | None = None
    disks: tuple[HostDisk, ...] = ()

    @property
    def cpus_per_node(self) -> int:
        """Logical CPUs of a node."""
        if self.partition is not None:
            return self.partition.logical_cpus
        return self.machine.sockets_per_node * self.cpu.cores_per_socket * self.cpu.threads_per_core

    @property
    def cpu_count(self) -> int:
        """Logical CPUs of the machine."""
        return self.machine.nodes * self.cpus_per_node

    def node_of(self, cpu: int) -> int:
        """Return the node of a logical CPU."""
        return cpu // self.cpus_per_node


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


class Effective(Section):
    """Every value that a simulation reads; the module's docstring lists the access paths.

    A part that a subject announces, and that has no field here, is an attribute all the same.

    Attributes:
        scenario: its name.
        host: the system under test.
        peers: the machines at the other ends.
        switch: the switch between them; None where nothing is on a network.
        fabric: the InfiniBand fabric that is there in place of the switch, if any.
        hypervisor: what the hosts are partitions of, if they are.
        pool: its physical processors; None for all of the server's.
        lpars: partitions of the host that are clients of a file system, if that is what runs.
        scale: the file system on them.
        storage: what serves it.
        disk: the disks of its arrays.
        log_disk: the disks of its logs.
        filesystem: where on that it is.
        sas: what the jobs on them do.
        gpfsperf: its arguments.
        irqbalance: ``"off"``, ``"settled"`` or ``"daemon"``.
        balancer: which daemon.
        occupied_cpus: those that serve other devices, as far as a simulated daemon has to know.
        workload: what runs.
        relay: what is relayed, if that is what runs; there are no flows then.
        vscsi: how the peer's disks are the system's, if they are.
        ffsb: thread groups of FFSB, if that is what runs.
        flows: one per stream.
        run: how long.
        provenance: where each value comes from, by dotted path.
        models: name of the model at each place, by dotted path.
        applied: the knobs that the scenario or the caller set.
        remarks: one line each: settings that are accepted but have no effect, and the like.
        tunings: names of the scenario's tunings that the caller chose, in order.
        captured: what listings of a real machine's attributes set.
    """

    model_config = ConfigDict(frozen=True, extra="allow", arbitrary_types_allowed=True)
    __pydantic_extra__: dict[str, SerializeAsAny[Section] | tuple[SerializeAsAny[Section], ...]]

    scenario: str
    host: Host
    peers: tuple[Host, ...]
    switch: Switch | None = None
    fabric: Fabric | None = None
    hypervisor: Hypervisor | None = None
    pool: Pool | None = None
    lpars: Lpars | None = None
    scale: Scale | None = None
    storage: Storage | None = None
    disk: Disk | None = None
    log_disk: Disk | None = None
    filesystem: Filesystem | None = None
    sas: SasMix | None = None
    gpfsperf: Gpfsperf | None = None
    irqbalance: str
    balancer: Balancer = Balancer()
    occupied_cpus: tuple[int, ...] = ()
    workload: Workload
    relay: Relay | None = None
    vscsi: Vscsi | None = None
    ffsb: tuple[FfsbGroup, ...] = ()
    flows: tuple[Flow, ...]
    run: Run
    provenance: Annotated[dict[str, Parameter], Field(exclude=True, repr=False)]
    models: Annotated[dict[str, str], Field(exclude=True, repr=False)]
    applied: Annotated[tuple[AppliedKnob, ...], Field(exclude=True, repr=False)] = ()
    remarks: Annotated[tuple[str, ...], Field(exclude=True, repr=False)] = ()
    tunings: Annotated[tuple[str, ...], Field(exclude=True, repr=False)] = ()
    captured: Annotated[Captured, Field(exclude=True, repr=False)] = Captured((), (), ())

    @property
    def lan(self) -> Switch:
        """The switch; ValueError where nothing is on a network."""
        if self.switch is None:
            raise ValueError(f"{self.scenario}: no switch")
        return self.switch

    @property
    def machine(self) -> Machine:
        """Nodes, buses and links of the system under test."""
        return self.host.machine

    @property
    def cpu(self) -> Cpu:
        """Processor of the system under test."""
        return self.host.cpu

    @property
    def kernel(self) -> Kernel:
        """Kernel of the system under test."""
        return self.host.kernel

    @property
    def ports(self) -> tuple[Port, ...]:
        """Ports of the system under test."""
        return self.host.ports

    def digest(self) -> str:
        """Return 16 hexadecimal digits that depend on every value, and on nothing else.

        What is at its default does not enter: an option that is added leaves all digests as they
        were.
        """
        values = self.model_dump(mode="json", exclude_defaults=True)
        text = json.dumps(values, sort_keys=True, separators=(",", ":"))
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
