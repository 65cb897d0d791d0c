"""Build streams between the ports of the system and those of its peers."""

from collections import defaultdict
from typing import Any

from simnet.host.machine import Machine
from simnet.host.scheduler import Task
from simnet.kernel.histogram import LogHistogram
from simnet.kernel.random import first_below
from simnet.net.link.skb import Header, Port, Station
from simnet.net.nic.multiqueue import MultiqueuePort
from simnet.net.nic.port import Nic
from simnet.net.remote.link import RemoteLink, RemotePort
from simnet.net.remote.receiver import RemoteReceiver
from simnet.net.remote.sender import RemoteSender
from simnet.net.tcp.send.sender import TcpSender
from simnet.net.tcp.socket import TcpSocket
from simnet.net.tcp.socket_maker import SocketMaker
from simnet.scenario.core.effective import Effective, Flow, Host
from simnet.scenario.core.effective import Port as EffectivePort
from simnet.scenario.core.subject import exchanges, ways
from simnet.scenario.parts.bonding.build import BondedFlow, connect
from simnet.scenario.parts.network.addresses import sent_addresses
from simnet.scenario.parts.network.join import Pair, join
from simnet.scenario.parts.network.resources import NetworkPath, PeerPort
from simnet.scenario.parts.network.transactions import End, FlowEnds, make_transactions
from simnet.scenario.parts.nic.build import make_port, send_by, tx_rules
from simnet.scenario.parts.steering.build import backlog_drops, steering_of
from simnet.scenario.parts.tcp import columns as tcp
from simnet.scenario.parts.tcp.build import socket_maker
from simnet.scenario.parts.tcp.build_ends import remote_receiver, remote_sender
from simnet.scenario.parts.tcp.columns import SendingHalf
from simnet.scenario.parts.tcp.ecn import agree, asks_for_marks
from simnet.scenario.system.ground import Ground
from simnet.scenario.system.system import DropCount, Receiver, System
from simnet.time_units import PS_PER_S
from simnet.workload.iperf import Reporter
from simnet.workload.netperf import Netperf, Netserver, Requester, Start

# a flow starts within this time of the others, as one shell loop starts them
_START_SPREAD_PS = 10 * 10**9


def build_streams(effective: Effective, *, seed: int, per_frame: bool, tracer: Any) -> System:
    """Streams between the ports of the system and those of its peers; see `build`."""
    return _Builder(effective, seed=seed, per_frame=per_frame, tracer=tracer).build()


class _Builder(Ground):
    """Holds what all parts are made from."""

    def build(self) -> System:
        """Make peers, sockets and processes."""
        effective = self.effective
        self.bonded: list[BondedFlow] = []
        self._makers: dict[tuple[str, int, bool], SocketMaker] = {}
        test = effective.workload.test
        self.exchange = next(one for one in exchanges() if test in one.tests)
        self.way = next((one for one in ways() if getattr(effective, one.part)), None)
        self.senders: list[TcpSocket | RemoteSender] = []
        self.steering = steering_of(self, self.machine, effective.host)
        self.path = NetworkPath(effective, self.machine, self.ports)
        by_port = defaultdict(list)
        for flow in self.effective.flows:
            by_port[flow.port].append(flow)
        workload = self.effective.workload
        sends = self.exchange.whole or not all(flow.receives for flow in self.effective.flows)
        several = any(isinstance(port, MultiqueuePort) for port in self.ports)
        marks = any(map(asks_for_marks, (self.effective.host, *self.effective.peers)))
        timed = any(peer.kernel.tcp_congestion_control == "bbr" for peer in self.effective.peers)
        whole = workload.peers_simulated == "machines" or (
            workload.peers_simulated == "auto" and bool(sends or several or marks or timed)
        )
        peers = [
            self.add_machine(host, f"peer{number}")
            for number, host in enumerate(self.effective.peers)
            if whole
        ]
        self.path.far_machines += [(_prefix(peer), peer) for peer in peers]
        receivers: dict[str, Receiver] = {}
        for port, flows in by_port.items():
            if whole:
                receivers |= self._to_machine(port, flows, peers[flows[0].peer])
            else:
                receivers |= self._to_ends(port, flows)
        parts: dict[str, Any] = {"senders": self.senders, "halves": self.path.halves}
        self.path.bonded = self.bonded
        if self.bonded:
            parts |= connect(
                self.sim,
                self.effective,
                self.machine,
                self.ports,
                self.bonded,
                seed=self.seed,
                per_frame=self.per_frame,
            )
        self._observe()
        named = [
            (flow.name, self._interface(flow), receivers[flow.name])
            for flow in self.effective.flows
        ]
        return System(
            self.env,
            self.machine,
            self.ports,
            named,
            parts,
            drops=self._drops,
            offers=self.path,
            ground=self,
        )

    def _drops(self) -> tuple[DropCount, ...]:
        """What was dropped outside the rings: in CPUs' backlogs, before transmit rings."""
        qdiscs = (DropCount("qdisc", port.name, port.qdisc_drops) for port in self.ports)
        found = (*backlog_drops(self.steering), *qdiscs)
        return tuple(drop for drop in found if drop.packets)

    def _observe(self) -> None:
        """Have TCP's counters read."""
        self.observed["tcp"] = tcp.counts_of(self.path.halves, self.path.receiving)

    def _made(self, machine: Machine, host: Host, port: EffectivePort) -> Nic | MultiqueuePort:
        return make_port(
            self.sim,
            machine,
            host,
            port,
            switch=self.effective.lan,
            seed=self.seed,
            per_frame=self.per_frame,
        )

    def _enslaved(self, flow: Flow) -> bool:
        return bool(self.effective.ports[flow.port].enslaved)

    def _interface(self, flow: Flow) -> str:
        return "bond0" if self._enslaved(flow) else str(self.ports[flow.port].name)

    # -- one port and its peer --------------------------------------------------------------

    def _to_machine(self, port: int, flows: list[Flow], peer: Machine) -> dict[str, Receiver]:
        """Streams between a port and a port of a peer, all of whose CPUs are simulated."""
        host = self.effective.peers[flows[0].peer]
        end = host.ports[flows[0].peer_port]
        nic = self._made(peer, host, end)
        steering = steering_of(self, peer, host)
        if steering:
            steering.attach_port(nic, end, self.seed)
        names = tuple(flow.name for flow in flows)
        rate = end.nic.link_rate_bps
        self.path.far_ports.append(PeerPort(nic.path, nic, rate, _prefix(peer), names))
        self._join(port, nic, host, flows)
        receivers: dict[str, Receiver] = {}
        for flow in flows:
            allowed, begin_ps = self._allowed(flow), self._begin_ps(flow)
            headers = _headers(flow, len(receivers))
            if self.exchange.connect:
                here = self.machine, self.ports[port]
                ends = FlowEnds(flow, *here, peer, nic, steering, headers, allowed, begin_ps)
                receivers[flow.name], tasks = self.exchange.connect(self, ends)
                self._note_tasks(flow, tasks, asking=self.exchange.asks)
                continue
            mine = self._socket(flow)
            role = "netperf" if flow.receives else "netserver"
            path = f"flow.{flow.name}.{role}"
            own = self.effective.host.ports[flow.port]
            asks = self._asks(flow)
            other = self._sockets(host, end, peer, nic, own, asks=asks).make(f"{path}.socket")
            mine.connect(other)
            other.connect(mine)
            if self.effective.workload.answers if asks else flow.receives:
                agree(other, host, mine, self.effective.host)
            else:
                agree(mine, self.effective.host, other, host)
            self._note_halves(flow, (mine.sender, self.effective.host), (other.sender, host))
            self.path.receiving += [(flow.name, mine), (flow.name, other)]
            if not self._enslaved(flow):
                mine.header, other.header = headers
                send_by(
                    self.ports[port],
                    mine,
                    self.machine,
                    tx_rules(self.effective.host),
                    mine.header,
                    seed=self.seed,
                )
                send_by(nic, other, peer, tx_rules(host), other.header, seed=self.seed)
            for steered, socket in ((self.steering, mine), (steering, other)):
                if steered:
                    steered.follow(socket)
            if self._enslaved(flow):
                self.bonded.append(BondedFlow(flow, mine, nic, other, peer))
            if asks:
                receivers[flow.name] = self._transactions(flow, peer, mine, other)
                continue
            receiver, sender = (mine, other) if flow.receives else (other, mine)
            sender.sender.open_window(receiver.receiver.syn_window)
            self.senders.append(sender)
            self.path.senders.append((flow.name, sender.sender))
            pinned = frozenset(flow.peer_cpus) or None
            if flow.receives:
                self._netserver(flow, self.machine, mine, allowed)
                self._netperf(flow, peer, other, pinned)
            else:
                self._netserver(flow, peer, other, pinned)
                self._netperf(flow, self.machine, mine, allowed)
            receivers[flow.name] = receiver
        return receivers

    def _join(
        self, port: int, far: Nic | MultiqueuePort, far_host: Host, flows: list[Flow]
    ) -> None:
        """Link a port and that of a peer: by the way that is there, or by the switch."""
        near, names = self.ports[port], tuple(flow.name for flow in flows)
        if self.way:
            pair = Pair(near, self.effective.host, far, far_host, names)
            between = self.way.connect(self, pair)
            if between:
                self.path.between[self.way.part] = between
        elif not self._enslaved(flows[0]):
            join(self, near, far, far)

    def _transactions(
        self, flow: Flow, peer: Machine, mine: TcpSocket, other: TcpSocket
    ) -> Requester:
        """Requests of the system and responses of the peer, or the other way round."""
        mine.sender.open_window(other.receiver.syn_window)
        other.sender.open_window(mine.receiver.syn_window)
        self.senders += [mine, other]
        ends = [
            End(self.machine, mine, self._allowed(flow)),
            End(peer, other, frozenset(flow.peer_cpus) or None),
        ]
        if self.effective.workload.answers:
            ends.reverse()
        client, server = make_transactions(
            flow, self.effective.workload, *ends, seed=self.seed, begin_ps=self._begin_ps(flow)
        )
        self._note_tasks(flow, (client, server), asking=True)
        return client

    def _note_tasks(self, flow: Flow, tasks: tuple[Task, Task], *, asking: bool) -> None:
        """Note the two processes of a flow, one of which may ask and wait."""
        if asking:
            self.path.asking.append(flow.name)
        here = self.machine.scheduler
        self.path.tasks += [
            (flow.name, task, "" if task.scheduler is here else f"peer{flow.peer} ")
            for task in tasks
        ]

    def _to_ends(self, port: int, flows: list[Flow]) -> dict[str, Receiver]:
        """Streams between a port and a peer of which only their ends count."""
        host = self.effective.peers[flows[0].peer]
        name = f"peer{flows[0].peer}.{host.ports[flows[0].peer_port].name}"
        rate = host.ports[flows[0].peer_port].nic.link_rate_bps
        link = RemoteLink(rate)
        self.path.far_links.append((name, link, rate, tuple(flow.name for flow in flows)))
        receivers: dict[str, Receiver] = {}
        ends: dict[bool, Port] = {}
        sockets: dict[str, TcpSocket] = {}
        for flow in flows:
            path = name if len(flows) == 1 else f"{name}.{flow.name}"
            mine = sockets[flow.name] = self._socket(flow)
            if flow.receives:
                self._netserver(flow, self.machine, mine, self._allowed(flow))
                self.path.receiving.append((flow.name, mine))
                ends[True] = self._remote_sender(flow, path, link, mine)
                receivers[flow.name] = mine
            else:
                remote = self._remote_receiver(flow, path, link, mine)
                mine.sender.open_window(remote.receiver.syn_window)
                self._note_halves(flow, (mine.sender, self.effective.host))
                self.path.receiving.append((flow.name, remote))
                self.senders.append(mine)
                self.path.senders.append((flow.name, mine.sender))
                self.path.ends.append((path, remote, flow.name))
                self._netperf(flow, self.machine, mine, self._allowed(flow))
                ends[False] = remote
                receivers[flow.name] = remote
        if self._enslaved(flows[0]):
            self.bonded += [
                BondedFlow(flow, sockets[flow.name], ends[flow.receives]) for flow in flows
            ]
        elif len(ends) > 1:
            both = RemotePort(self.sim, name, ends[True], ends[False])
            join(self, self.ports[port], both, link)
        else:
            join(self, self.ports[port], ends[flows[0].receives], link)
        return receivers

    def _note_halves(self, flow: Flow, *halves: tuple[TcpSender, Host]) -> None:
        self.path.halves += [
            SendingHalf(flow.name, sender, PS_PER_S // host.kernel.hz) for sender, host in halves
        ]

    # -- the ends of a stream -----------------------------------------------------------------

    def _socket(self, flow: Flow) -> TcpSocket:
        """The system's end of a stream."""
        host, port = self.effective.host, flow.port
        role = "netserver" if flow.receives else "netperf"
        far = self.effective.peers[flow.peer].ports[flow.peer_port]
        near, nic = host.ports[port], self.ports[port]
        sockets = self._sockets(host, near, self.machine, nic, far, asks=self._asks(flow))
        return sockets.make(f"flow.{flow.name}.{role}.socket")

    def _asks(self, flow: Flow) -> bool:
        """Whether its bytes are requests and answers."""
        return flow.asks or self.exchange.asks

    def _sockets(
        self,
        host: Host,
        port: EffectivePort,
        machine: Machine,
        nic: Nic | MultiqueuePort,
        far: EffectivePort,
        *,
        asks: bool,
    ) -> SocketMaker:
        """Makes a machine's ends of all flows between two ports, `asks`: of those with requests.

        The latency of a request is counted by who asks, so their sockets share one histogram.
        """
        alike = (nic.path, id(far), asks)
        if alike not in self._makers:
            self._makers[alike] = socket_maker(
                host,
                port,
                machine,
                nic,
                seed=self.seed,
                far=far,
                latency=LogHistogram() if asks else None,
            )
        return self._makers[alike]

    def _allowed(self, flow: Flow) -> frozenset[int] | None:
        """CPUs that the system's process may run on; None for all."""
        if flow.cpus:
            return frozenset(flow.cpus)
        if flow.cpubind_node is None:
            return None
        return frozenset(self.effective.host.cpus_of(flow.cpubind_node))

    def _netserver(
        self, flow: Flow, machine: Machine, socket: TcpSocket, cpus: frozenset[int] | None = None
    ) -> None:
        path, near = f"flow.{flow.name}.netserver", machine.cpus[0]
        reader = Netserver(machine.scheduler, path, near, socket, flow.recv_bytes, cpus)
        self._start(flow, machine, reader, 0)

    def _netperf(
        self, flow: Flow, machine: Machine, socket: TcpSocket, cpus: frozenset[int] | None = None
    ) -> None:
        path, near = f"flow.{flow.name}.netperf", machine.cpus[0]
        writer = Netperf(machine.scheduler, path, near, socket, flow.message_bytes, cpus)
        self._start(flow, machine, writer, self._begin_ps(flow))

    def _start(self, flow: Flow, machine: Machine, task: Task, begin_ps: int) -> None:
        """Start a process, and the reporter of iperf beside it."""
        Start(self.sim, f"{task.path}.start", task, begin_ps)
        self.path.tasks.append((flow.name, task, _prefix(machine)))
        if not self.effective.workload.reporter:
            return
        path = f"{task.path}.reporter"
        reporter = Reporter(machine.scheduler, path, machine.cpus[0], machine.costs)
        Start(self.sim, f"{path}.start", reporter, begin_ps)

    def _begin_ps(self, flow: Flow) -> int:
        late_ps: int = first_below(self.seed, f"flow.{flow.name}.start", _START_SPREAD_PS)
        return 1 + late_ps

    def _remote_sender(
        self, flow: Flow, path: str, link: RemoteLink, receiving: TcpSocket
    ) -> RemoteSender:
        """The sending process on a remote host of which only the sending counts."""
        host = self.effective.peers[flow.peer]
        port = host.ports[flow.peer_port]
        remote = remote_sender(
            self.sim,
            path,
            host,
            port,
            link,
            far=self.effective.host.ports[flow.port],
            message_bytes=flow.message_bytes,
            start_ps=self._begin_ps(flow),
        )
        sender = remote.sender
        sender.open_window(receiving.receiver.syn_window)
        self._note_halves(flow, (sender, host))
        remote.receiver = receiving
        self.senders.append(remote)
        self.path.senders.append((flow.name, sender))
        self.path.ends.append((path, remote, flow.name))
        return remote

    def _remote_receiver(
        self, flow: Flow, path: str, link: RemoteLink, sending: TcpSocket
    ) -> RemoteReceiver:
        """The receiving process on a remote host of which only the receiving counts."""
        host: Host = self.effective.peers[flow.peer]
        port = host.ports[flow.peer_port]
        remote = remote_receiver(self.sim, path, host, port, link, seed=self.seed)
        remote.acknowledged = sending
        return remote


def _prefix(machine: Machine) -> str:
    """What stands before the names of a machine's CPUs; nothing for the system under test."""
    return "" if machine.path == "sut" else f"{machine.path} "


def _headers(flow: Flow, number: int) -> tuple[Header, Header]:
    """Addresses of the `number`-th stream of a port: of what the system sends, of its peer's."""
    addresses = sent_addresses(flow.port, number, receives=flow.receives)
    own, far, *ports = addresses
    here, there = Station(own), Station(far)
    return Header(here, there, *addresses), Header(there, here, far, own, *ports[::-1])
