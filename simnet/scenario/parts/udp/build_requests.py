"""Build processes that send datagrams from host to host, and their sockets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from simnet.host.costs import cycles_ps
from simnet.net.link.skb import Header
from simnet.net.udp.output import UdpOutput
from simnet.net.udp.reader import UdpReader
from simnet.scenario.parts.nic.build import tx_queue, tx_rules
from simnet.scenario.parts.nic.schema import UDP_HEADERS_BYTES
from simnet.scenario.parts.udp.build_sockets import Sockets
from simnet.scenario.parts.udp.columns import DatagramCounts, SentCounts
from simnet.scenario.parts.udp.worker import Worker
from simnet.workload.netperf import DatagramRequester, DatagramResponder, DatagramSender, Start

if TYPE_CHECKING:
    from simnet.host.machine import Machine
    from simnet.host.scheduler import Task
    from simnet.net.nic.multiqueue import MultiqueuePort
    from simnet.net.nic.port import Nic
    from simnet.net.udp.socket import UdpSocket
    from simnet.scenario.core.effective import Effective, Flow, Host, Port
    from simnet.scenario.parts.network.transactions import FlowEnds
    from simnet.scenario.parts.steering.build import HostSteering
    from simnet.scenario.parts.udp.schema import Datagrams as Given
    from simnet.scenario.system.ground import Ground
    from simnet.scenario.system.system import Receiver


@dataclass(kw_only=True)
class DatagramHost(Sockets):
    """A host whose processes send and receive datagrams."""

    given: Given  # what datagrams cost
    name: str  # as results call it
    # that it has
    outputs: list[UdpOutput] = field(default_factory=list)
    nics: list[Any] = field(default_factory=list)

    def socket(self, path: str, port: Port, length: int) -> UdpSocket:
        """A socket whose program sets no buffer."""
        return self.make(path, port, length, self.host.kernel.rmem_default_bytes)

    def counts(self) -> DatagramCounts:
        """Its counters now."""
        return DatagramCounts(
            name=self.name,
            out_datagrams=sum(one.out_datagrams for one in self.outputs),
            sndbuf_errors=sum(one.sndbuf_errors for one in self.outputs),
            in_datagrams=sum(one.received for one in self.sockets),
            rcvbuf_errors=sum(one.rcvbuf_errors for one in self.sockets),
            mem_errors=sum(one.mem_errors for one in self.sockets),
        )


@dataclass(frozen=True)
class DatagramEnd:
    """One end of a flow."""

    at: DatagramHost  # the host
    port: Port  # that it uses
    nic: Nic | MultiqueuePort  # what was made of the port
    header: Header  # of what it sends
    allowed: frozenset[int] | None  # CPUs that its process may run on; None for all

    def output(self, path: str, remote: UdpSocket, length: int) -> UdpOutput:
        """What it sends by."""
        at, kernel = self.at, self.at.host.kernel
        made = UdpOutput(
            at.sim,
            path,
            nic=tx_queue(self.nic, at.machine, tx_rules(at.host), self.header, seed=at.seed),
            remote=remote,
            header=self.header,
            costs=at.costs(self.port),
            tx_ps=cycles_ps(at.given.sendmsg_cycles, at.host.cpu.clock_hz),
            length=length,
            overhead_bytes=self.port.nic.link_overhead_bytes + UDP_HEADERS_BYTES,
            sndbuf=kernel.wmem_default_bytes,
            wakeups=at.wakeups(),
        )
        at.outputs.append(made)
        return made


def connect_requests(ground: Ground, ends: FlowEnds) -> tuple[Receiver, tuple[Task, Task]]:
    """Make the process that sends requests, which is what receives, and the one that answers."""
    client, server = _kept(ground).connect(ends)
    return client, (client, server)


def connect_stream(ground: Ground, ends: FlowEnds) -> tuple[Receiver, tuple[Task, Task]]:
    """Make the process that sends to the peer, who reads there; return what it has got, too."""
    datagrams = _kept(ground)
    ground.observed["udp"] = datagrams.lost
    writer, reader, receiver = datagrams.stream(ends)
    return receiver, (writer, reader)


def _kept(ground: Ground) -> Datagrams:
    if "datagrams" not in ground.kept:
        made = ground.kept["datagrams"] = Datagrams(ground.effective, ground.seed)
        ground.observed["datagrams"] = made.counts
    found: Datagrams = ground.kept["datagrams"]
    return found


class Datagrams:
    """Datagrams between the hosts of a configuration.

    Args:
        effective: the configuration.
        seed: of all random streams.
    """

    def __init__(self, effective: Effective, seed: int) -> None:
        self.effective = effective
        self.seed = seed
        self.hosts: dict[str, DatagramHost] = {}
        self.steerings: list[HostSteering] = []

    def counts(self) -> tuple[DatagramCounts, ...]:
        """Counters of the hosts now."""
        return tuple(host.counts() for host in self.hosts.values())

    def lost(self) -> SentCounts:
        """What became of the datagrams that the system has sent."""
        here, *others = self.hosts.values()
        sockets = [socket for other in others for socket in other.sockets]
        refused = sum(one.sndbuf_errors for one in here.outputs)
        sent = sum(one.out_datagrams for one in here.outputs) + refused
        length = here.outputs[0].length
        return SentCounts(
            sent=sent,
            sent_bytes=sent * length,
            received=sum(one.received for one in sockets),
            received_bytes=sum(one.received_bytes for one in sockets),
            wire=0,
            ring=sum(nic.drops for other in others for nic in other.nics),
            backlog=sum(sum(one.drops().values()) for one in self.steerings),
            rcvbuf_errors=sum(one.rcvbuf_errors for one in sockets),
            mem_errors=sum(one.mem_errors for one in sockets),
            waiting=sum(one.depth for one in sockets),
            qdisc=refused,
            ring_counter=others[0].host.ports[0].nic.ring_counter,
        )

    def connect(self, ends: FlowEnds) -> tuple[DatagramRequester, DatagramResponder]:
        """Return the process that sends requests, and the one that answers them."""
        both = self._ends(ends)
        if self.effective.workload.answers:
            both.reverse()
        return self._processes(ends.flow, *both, begin_ps=ends.begin_ps)

    def stream(self, ends: FlowEnds) -> tuple[DatagramSender, UdpReader, Worker]:
        """Return the process that sends to the peer, who reads there, and what it has got."""
        flow = ends.flow
        here, there = self._ends(ends)
        path = f"flow.{flow.name}.netserver"
        socket = there.at.socket(f"{path}.socket", there.port, flow.message_bytes)
        scheduler, path, cpu = _place(there, path)
        reader = UdpReader(scheduler, path, cpu, socket, service_ps=0, allowed=there.allowed)
        Start(reader.sim, f"{path}.start", reader, 0)
        path = f"flow.{flow.name}.netperf"
        output = here.output(f"{path}.output", socket, flow.message_bytes)
        writer = DatagramSender(*_place(here, path), output, here.allowed)
        Start(writer.sim, f"{path}.start", writer, ends.begin_ps)
        return writer, reader, Worker(socket)

    def _ends(self, ends: FlowEnds) -> list[DatagramEnd]:
        """The system's end of a flow, and its peer's."""
        flow, here = ends.flow, self.effective.host
        steering = ends.peer_steering
        if steering is not None and steering not in self.steerings:
            self.steerings.append(steering)
        there = self.effective.peers[flow.peer]
        return [
            DatagramEnd(
                self._host("system", here, ends.machine, ends.nic),
                here.ports[flow.port],
                ends.nic,
                ends.headers[0],
                ends.allowed,
            ),
            DatagramEnd(
                self._host(f"peer{flow.peer}", there, ends.peer, ends.peer_nic),
                there.ports[flow.peer_port],
                ends.peer_nic,
                ends.headers[1],
                frozenset(flow.peer_cpus) or None,
            ),
        ]

    def _host(
        self, name: str, host: Host, machine: Machine, nic: Nic | MultiqueuePort
    ) -> DatagramHost:
        if name not in self.hosts:
            given = self.effective.datagrams
            self.hosts[name] = DatagramHost(
                name=name, host=host, machine=machine, given=given, seed=self.seed
            )
        found = self.hosts[name]
        if nic not in found.nics:
            found.nics.append(nic)
        return found

    def _processes(
        self, flow: Flow, asking: DatagramEnd, answering: DatagramEnd, *, begin_ps: int
    ) -> tuple[DatagramRequester, DatagramResponder]:
        path = f"flow.{flow.name}.netserver"
        theirs = answering.at.socket(f"{path}.socket", answering.port, flow.message_bytes)
        mine = asking.at.socket(f"flow.{flow.name}.netperf.socket", asking.port, flow.recv_bytes)
        server = DatagramResponder(
            *_place(answering, path),
            theirs,
            answering.output(f"{path}.output", mine, flow.recv_bytes),
            begins=False,
            allowed=answering.allowed,
            service_ps=self.effective.workload.service_ps,
        )
        Start(server.sim, f"{path}.start", server, 0)
        path = f"flow.{flow.name}.netperf"
        client = DatagramRequester(
            *_place(asking, path),
            mine,
            asking.output(f"{path}.output", theirs, flow.message_bytes),
            begins=True,
            allowed=asking.allowed,
        )
        Start(client.sim, f"{path}.start", client, begin_ps)
        return client, server


def _place(end: DatagramEnd, path: str) -> tuple[Any, str, Any]:
    """Scheduler, path and first CPU of a process."""
    return end.at.machine.scheduler, path, end.at.machine.cpus[0]
