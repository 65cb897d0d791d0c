"""Resources of a network path: CPUs, ports, links, and the windows of TCP.

What a stream waits for is what Linux's `tcp_info` counts from version 4.9 on (net/ipv4/tcp.c,
`tcp_chrono_start`): the receiver's window, the send buffer; and what it does not count, the
congestion window.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from simnet.net.link.skb import SwitchedPath
from simnet.net.link.switch import Egress, PortChannel
from simnet.scenario.system.resource import NETWORK, Resource, Wait, busy, carried, cpus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from simnet.host.machine import Machine
    from simnet.host.scheduler import Task
    from simnet.net.link.skb import Port
    from simnet.net.nic.multiqueue import MultiqueuePort
    from simnet.net.nic.port import Nic
    from simnet.net.remote.hosts import RemoteHosts
    from simnet.net.remote.link import RemoteLink
    from simnet.net.remote.receiver import RemoteReceiver
    from simnet.net.remote.sender import RemoteSender
    from simnet.net.tcp.send.sender import TcpSender
    from simnet.scenario.core.effective import Effective
    from simnet.scenario.core.effective import Port as EffectivePort
    from simnet.scenario.parts.bonding.build import BondedFlow
    from simnet.scenario.parts.tcp.columns import ReceivingHalf, SendingHalf

# a dual-port adapter: `io_bandwidth` is of both ports
_PORTS_PER_BUS: Final = 2


def wait_of(flow: str, sender: TcpSender) -> Wait:
    """What a connection that sends a stream waits for now."""
    unsent = sender.seq.write_seq - sender.seq.snd_nxt
    if unsent > 0:
        if sender.seq.snd_una + sender.seq.snd_wnd - sender.seq.snd_nxt < min(
            unsent, sender.seq.mss
        ):
            return Wait(flow, "receive window", sender.seq.snd_wnd, bound=True)
        if sender.packets_out() >= sender.congestion.cwnd:
            window = sender.congestion.cwnd * sender.seq.mss
            return Wait(flow, "congestion window", window, bound=True)
    queued = sender.seq.wmem_queued()
    # `sk_stream_write_space`: the writer is not woken before a third is free; what is less than a
    # segment waits for Nagle, and it is the writer's to fill it up
    if unsent < sender.seq.mss and sender.seq.sndbuf - queued < queued // 2:
        return Wait(flow, "send buffer", sender.seq.write_seq - sender.seq.snd_una, bound=True)
    return Wait(flow, "path" if unsent > 0 else "application")


@dataclass(frozen=True)
class PeerPort:
    """A port of a machine that is no part of the system."""

    name: str  # with its machine's, as in `peer0.eth0`
    nic: Nic | MultiqueuePort  # the port
    rate_bps: int  # at which it sends
    owner: str  # prefix of the names of its machine's CPUs
    flows: tuple[str, ...]  # that pass it


@dataclass
class NetworkPath:
    """The parts of a network scenario, noted while it is built."""

    effective: Effective  # the configuration
    machine: Machine  # the system under test
    ports: Sequence[Nic | MultiqueuePort]  # of it
    # flow, process, and the prefix of its machine's CPUs
    tasks: list[tuple[str, Task, str]] = field(default_factory=list)
    # flow, and TCP's half that sends its payload
    senders: list[tuple[str, TcpSender]] = field(default_factory=list)
    # flows of requests, each with one outstanding at a time
    asking: list[str] = field(default_factory=list)
    # prefix of the CPUs' names, and machine
    far_machines: list[tuple[str, Machine]] = field(default_factory=list)
    far_ports: list[PeerPort] = field(default_factory=list)  # of these machines
    # name of the port, what sends by it, its rate, and flows; of hosts that are no machines
    far_links: list[tuple[str, RemoteLink | RemoteHosts, int, tuple[str, ...] | None]] = field(
        default_factory=list
    )
    # name and flows of a host that is one CPU for each stream
    ends: list[tuple[str, RemoteSender | RemoteReceiver, str]] = field(default_factory=list)
    # yields resources of a way in place of a switch, by its part
    between: dict[str, Callable[[NetworkPath], Iterable[Resource]]] = field(default_factory=dict)
    bonded: list[BondedFlow] = field(default_factory=list)  # flows by a bond of the system
    # of all connections, whatever they send
    halves: list[SendingHalf] = field(default_factory=list)
    receiving: list[tuple[str, ReceivingHalf]] = field(default_factory=list)

    def waits(self) -> Iterator[Wait]:
        """What each stream waits for; a transaction waits for its response all the time."""
        for flow in self.asking:
            yield Wait(flow, "response", 1, "request", bound=True)
        for flow, sender in self.senders:
            yield wait_of(flow, sender)

    def resources(self) -> Iterator[Resource]:
        """CPUs, ports and links of both ends."""
        yield from cpus(self.machine, flows=self._flows_by_cpu("", self._own_ports()))
        if not self.effective.linked:
            # as fast as the processors that copy
            yield from self._far_cpus()
            yield from self._between()
            return
        for index, port in enumerate(self.effective.ports):
            yield from self._port(self.ports[index], port, self._flows_of(index))
        yield from self._far_cpus()
        for far in self.far_ports:
            coming = self._link_bps(far.rate_bps)
            yield _port(f"{far.name} send", "peer port", far.nic.tx_bytes, far.rate_bps, far.flows)
            yield _port(f"{far.name} receive", "peer port", far.nic.rx_bytes, coming, far.flows)
        for name, link, rate, flows in self.far_links:
            path = link.path_out
            if isinstance(path, SwitchedPath):
                sent = path.bytes - link.waiting_bytes(path.sim.now)
                yield _port(f"{name} send", "peer port", sent, rate, flows)
        for name, end, flow in self.ends:
            yield busy(f"{name} cpu", "peer cpu", end.busy_ps, flows=(flow,))
        yield from self._between()
        yield from self._buses()

    def _between(self) -> Iterator[Resource]:
        for resources in self.between.values():
            yield from resources(self)

    def _far_cpus(self) -> Iterator[Resource]:
        for prefix, machine in self.far_machines:
            ports = [(far.nic, far.flows) for far in self.far_ports if far.owner == prefix]
            by_cpu = self._flows_by_cpu(prefix, ports)
            yield from cpus(machine, kind="peer cpu", prefix=prefix, flows=by_cpu)

    # -- the system's ports ------------------------------------------------------------------

    def _port(
        self, made: Nic | MultiqueuePort, port: EffectivePort, flows: tuple[str, ...] | None
    ) -> Iterator[Resource]:
        """Both directions; what comes is as fast as the switch's port to it."""
        rate = port.nic.link_rate_bps
        coming = self._link_bps(rate)
        name = port.name
        yield carried(
            f"{name} receive", "port", made.rx_bytes, coming, flows=flows, group=NETWORK,
            drops=made.drops,
        )  # fmt: skip
        yield _port(f"{name} send", "port", made.tx_bytes, rate, flows)

    def _link_bps(self, rate_bps: int) -> int:
        """Rate at which frames come by a port: the switch's, the fabric's, or on a chip its own."""
        own = self.effective.fabric or self.effective.gateway
        return rate_bps if own else self.effective.lan.link_rate_bps

    def _flows_of(self, index: int) -> tuple[str, ...] | None:
        """Flows of a port; those of a relay, and of a home router, pass all ports."""
        effective = self.effective
        if effective.relay or effective.gateway:
            return None
        if effective.ports[index].enslaved:
            return tuple(
                bonded.flow.name
                for bonded in self.bonded
                if self._slave_of(bonded) in {None, self.ports[index]}
            )
        return tuple(flow.name for flow in effective.flows if flow.port == index)

    def _slave_of(self, bonded: BondedFlow) -> Port | None:
        """The slave that a flow comes by, as the switch chooses now; None for any of them."""
        remote: Any = bonded.remote
        header = getattr(remote.path_out, "header", None)
        if header is None or not bonded.flow.receives:
            return None
        outlet = header.destination.outlet
        if isinstance(outlet, PortChannel) and outlet.members:
            outlet = outlet.members[outlet.bucket(header) % len(outlet.members)]
        return outlet.destination if isinstance(outlet, Egress) else None

    def _own_ports(self) -> Iterator[tuple[Nic | MultiqueuePort, tuple[str, ...] | None]]:
        for index, port in enumerate(self.ports):
            yield port, self._flows_of(index)

    def _flows_by_cpu(
        self, prefix: str, ports: Iterable[tuple[Nic | MultiqueuePort, tuple[str, ...] | None]]
    ) -> dict[int, tuple[str, ...]] | None:
        """Which flows each CPU takes interrupts or packets for, or runs a process of now."""
        if self.effective.relay or self.effective.gateway:
            return None
        host = self.effective.host
        found: dict[int, dict[str, None]] = {}
        for number, (port, flows) in enumerate(ports):
            serving = {cpu for line in port.lines for cpu, count in enumerate(line.counts) if count}
            if not prefix:
                serving.update(*host.ports[number].rps_cpus)
            for cpu in serving:
                found.setdefault(cpu, {}).update(dict.fromkeys(flows or ()))
        for flow, task, owner in self.tasks:
            if owner == prefix:
                found.setdefault(task.cpu.cpu_id, {})[flow] = None
        return {cpu: tuple(flows) for cpu, flows in found.items()}

    # -- between -----------------------------------------------------------------------------

    def _buses(self) -> Iterator[Resource]:
        """The bus of each adapter, which no mechanism queues for."""
        machine = self.effective.machine
        by_node: dict[int, list[int]] = {}
        for index, port in enumerate(self.effective.ports):
            by_node.setdefault(port.node, []).append(index)
        for node, indices in by_node.items():
            for first in range(0, len(indices), _PORTS_PER_BUS):
                both = indices[first : first + _PORTS_PER_BUS]
                ports = [self.ports[index] for index in both]
                names = "+".join(self.effective.ports[index].name for index in both)
                flows = [flow for index in both for flow in self._flows_of(index) or ()]
                yield carried(
                    f"I/O bus of {names}, node {node}",
                    "I/O bus",
                    sum(port.rx_bytes + port.tx_bytes for port in ports),
                    machine.io_bandwidth_bps,
                    flows=None if self.effective.relay else tuple(dict.fromkeys(flows)),
                    simulated=False,
                )


def _port(
    name: str, kind: str, sent_bytes: int, rate_bps: int, flows: tuple[str, ...] | None
) -> Resource:
    return carried(name, kind, sent_bytes, rate_bps, flows=flows, group=NETWORK)
