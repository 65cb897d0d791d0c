"""Build bonds and the switch that their frames go through.

Addresses are not known, so they are drawn: Ethernet addresses and TCP ports from the seed. IP
addresses are numbered through, as administrators do: the system is 10.0.0.1, the peers follow
from 10.0.0.11 on.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from simnet.host.delayed_action import DelayedAction
from simnet.host.machine import Machine
from simnet.host.release import release
from simnet.kernel.random import stream
from simnet.kernel.simulator import Simulator
from simnet.net.bonding.bond import MODES, Bond, BondRoute, Slave
from simnet.net.bonding.hash import transmit_hash
from simnet.net.bonding.monitor import SINGLE_PORT, BondMonitor, Timing
from simnet.net.bonding.rlb import Neighbour, Rlb
from simnet.net.link.skb import EgressPort, Header, Port, Station
from simnet.net.link.switch import LOAD_BALANCE, Egress, Ingress, PortChannel
from simnet.net.nic.multiqueue import MultiqueuePort
from simnet.net.nic.port import Nic
from simnet.net.remote.receiver import RemoteReceiver
from simnet.net.remote.sender import RemoteSender
from simnet.net.tcp.socket import TcpSocket
from simnet.scenario.core.effective import Effective, Flow, Host
from simnet.scenario.parts.nic.build import send_by, tx_rules
from simnet.time_units import PS_PER_MS, PS_PER_S

_OUI = 0x00_0D_60 << 24
_SYSTEM_IP = 0x0A_00_00_01
_FIRST_PEER_IP = 0x0A_00_00_0B
_FIRST_EPHEMERAL_PORT = 32768
_EPHEMERAL_PORTS = 28232
# what the driver sets where a mode needs to know the links (bond_check_params)
_FORCED_MIIMON_PS = 100 * PS_PER_MS


@dataclass(frozen=True)
class BondedFlow:
    """A stream by the system's bond: its socket there, and the other end."""

    flow: Flow  # the stream
    socket: TcpSocket  # on the system
    remote: Port  # device of the peer
    peer_socket: TcpSocket | None = None  # on the peer; None where the peer is a remote sender
    peer: Machine | None = None  # the peer as a machine; None where it is a remote sender


@dataclass(frozen=True)
class _Interface:
    """A bond, or a plain device of a peer, with its addresses."""

    station: Station
    ip: int
    bond: Bond | None = None
    policy: str = ""
    host: Host | None = None
    machine: Machine | None = None
    rlb: Rlb | None = None


def delayed_actions(effective: Effective) -> Iterator[DelayedAction]:
    """What happens to cables, which a measurement should include."""
    for port in effective.ports:
        for what in ("unplugged", "plugged"):
            after_ps = getattr(port, f"{what}_ps")
            if after_ps:
                yield DelayedAction(f"{port.name}'s cable", f"is {what}", after_ps, "end")


def connect(
    sim: Simulator,
    effective: Effective,
    system: Machine,
    nics: Sequence[Nic | MultiqueuePort],
    flows: Sequence[BondedFlow],
    *,
    seed: int,
    per_frame: bool,
) -> dict[str, Any]:
    """Make the bonds and the switch, and have the flows use them; return the parts by name."""
    builder = _Builder(sim, effective, seed=seed, per_frame=per_frame)
    host = effective.host
    slaves = [nic for nic, port in zip(nics, host.ports, strict=True) if port.enslaved]
    mine = builder.bond("sut.bond0", host, system, slaves, _SYSTEM_IP)
    for nic, port in zip(nics, host.ports, strict=True):
        monitor = builder.monitors[0]
        if port.unplugged_ps:
            monitor.set_cable(slaves.index(nic), port.unplugged_ps, plugged=False)
        if port.plugged_ps:
            monitor.set_cable(slaves.index(nic), port.plugged_ps, plugged=True)
    for number, theirs in enumerate(builder.peers(flows)):
        builder.flow(flows[number], mine, theirs)
    return {"bonds": builder.bonds, "monitors": builder.monitors, "switch": builder.switch}


class _Builder:
    """Puts the pieces together."""

    def __init__(self, sim: Simulator, effective: Effective, *, seed: int, per_frame: bool) -> None:
        self.sim = sim
        self.effective = effective
        self.seed = seed
        self.per_frame = per_frame
        self.bonds: list[Bond] = []
        self.monitors: list[BondMonitor] = []
        self.switch: list[Egress | Ingress | PortChannel] = []
        self.neighbours: dict[tuple[int, int], Neighbour] = {}

    def _station(self, path: str) -> Station:
        return Station(_OUI | stream(self.seed, f"{path}.mac").below(1 << 24))

    def _egress(self, device: Port) -> Egress:
        switch = self.effective.lan
        egress = Egress(
            self.sim,
            f"switch.to.{device.path}",
            device,
            rate_bps=switch.link_rate_bps,
            propagation_ps=switch.cable_delay_ps,
            buffer_bytes=switch.buffer_per_port_bytes,
            per_frame=self.per_frame,
        )
        self.switch.append(egress)
        return egress

    def _ingress(self, device: Any, learns: EgressPort) -> Ingress:
        switch = self.effective.lan
        ingress = Ingress(
            self.sim, f"{device.path}.to.switch", learns, switch.cable_delay_ps, switch.latency_ps
        )
        device.path_out = ingress
        self.switch.append(ingress)
        return ingress

    def bond(
        self, path: str, host: Host, machine: Machine, nics: Sequence[Nic | MultiqueuePort], ip: int
    ) -> _Interface:
        """Make a bond of a machine's NICs, and the switch's side of it."""
        settings, kernel = host.bonding, host.kernel
        mode = MODES.index(settings.mode)
        channel = None
        if mode not in SINGLE_PORT:
            method = LOAD_BALANCE.index(self.effective.lan.load_balance)
            channel = PortChannel(self.sim, f"switch.channel.{path}", method)
            self.switch.append(channel)
        bond = Bond(
            self.sim,
            path,
            mode=mode,
            costs=machine.costs,
            memory=machine.memory,
            shared_lines=kernel.bond_lines,
        )
        for index, nic in enumerate(nics):
            egress = self._egress(nic)
            ingress = self._ingress(nic, channel or egress)
            bond.enslave(Slave(index, nic, ingress, egress, self._station(nic.path)))
        names = [nic.name for nic in nics]
        rlb = Rlb(bond) if settings.mode == "balance-alb" else None
        monitor = BondMonitor(
            self.sim,
            f"{path}.monitor",
            bond,
            _timing(host),
            primary=names.index(settings.primary) if settings.primary in names else -1,
            channel=channel,
            rlb=rlb,
        )
        self.bonds.append(bond)
        self.monitors.append(monitor)
        policy = settings.xmit_hash_policy
        return _Interface(bond.station, ip, bond, policy, host, machine, rlb)

    def peers(self, flows: Sequence[BondedFlow]) -> list[_Interface]:
        """Return the interface at the other end of each flow.

        A peer's slaves are one interface, and all streams of a port share that of the port.
        """
        known: dict[int | str, _Interface] = {}
        devices: dict[str, Port] = {}
        found = []
        for bonded in flows:
            host = self.effective.peers[bonded.flow.peer]
            ip = _FIRST_PEER_IP + len(devices)
            devices.setdefault(bonded.remote.path, bonded.remote)
            slave = host.ports[bonded.flow.peer_port].enslaved and bonded.peer is not None
            key = bonded.flow.peer if slave else bonded.remote.path
            if key not in known:
                known[key] = self._far_bond(bonded, flows, ip) if slave else self._far(bonded, ip)
            found.append(known[key])
        return found

    def _far(self, bonded: BondedFlow, ip: int) -> _Interface:
        """Make the interface that a peer's port is."""
        egress = self._egress(bonded.remote)
        self._ingress(bonded.remote, egress)
        station = self._station(bonded.remote.path)
        station.outlet = egress
        return _Interface(station, ip)

    def _far_bond(self, bonded: BondedFlow, flows: Sequence[BondedFlow], ip: int) -> _Interface:
        """Make the interface that a peer's slaves are together."""
        host = self.effective.peers[bonded.flow.peer]
        nics: dict[str, Any] = {
            other.remote.path: other.remote
            for other in flows
            if other.flow.peer == bonded.flow.peer and host.ports[other.flow.peer_port].enslaved
        }
        machine = cast("Machine", bonded.peer)
        return self.bond(f"{machine.path}.bond0", host, machine, list(nics.values()), ip)

    def flow(self, bonded: BondedFlow, mine: _Interface, theirs: _Interface) -> None:
        """Give a stream its headers, and its sockets the way to send by."""
        name, remote = bonded.flow.name, bonded.remote
        ports = stream(self.seed, f"flow.{name}.ports")
        here, there = (_FIRST_EPHEMERAL_PORT + ports.below(_EPHEMERAL_PORTS) for _ in range(2))
        out = Header(mine.station, theirs.station, mine.ip, theirs.ip, here, there)
        back = Header(theirs.station, mine.station, theirs.ip, mine.ip, there, here)
        bonded.socket.leave_by(self._route(f"flow.{name}.route", mine, out, bonded.socket))
        if theirs.bond is not None and bonded.peer_socket is not None:
            path = f"flow.{name}.peer_route"
            bonded.peer_socket.leave_by(self._route(path, theirs, back, bonded.peer_socket))
        elif bonded.peer_socket is not None and bonded.peer is not None:
            bonded.peer_socket.header = back
            peer, host = bonded.peer, self.effective.peers[bonded.flow.peer]
            far: Any = bonded.remote
            send_by(far, bonded.peer_socket, peer, tx_rules(host), back, seed=self.seed)
        else:
            remote.path_out.header = back  # type: ignore[attr-defined]  # `peers` made it
        self._resolve(f"flow.{name}.arp", mine, theirs, back, remote)
        self._resolve(f"flow.{name}.peer_arp", theirs, mine, out, None)

    def _route(
        self, path: str, interface: _Interface, header: Header, socket: TcpSocket
    ) -> BondRoute:
        bond, host, machine = interface.bond, interface.host, interface.machine
        if bond is None or host is None or machine is None:
            raise LookupError(path)
        version = release(host.kernel.version)
        number = transmit_hash(interface.policy, header, bond.station.mac, version)
        node = socket.nic.node
        route = BondRoute(self.sim, path, bond, header, hash_number=number, node=node)
        route.outlets = [
            self._outlet(slave, socket, machine, host, header) for slave in bond.slaves
        ]
        route.domain = route.outlets[0].domain
        return route

    def _outlet(
        self, slave: Slave, socket: TcpSocket, machine: Machine, host: Host, header: Header
    ) -> Any:
        """Return what a socket's frames are queued at on a slave; its `nic` is set anew later."""
        nic: Any = slave.nic
        name = f"queue{slave.index}"
        send_by(nic, socket, machine, tx_rules(host), header, seed=self.seed, name=name)
        return socket.nic

    def _resolve(
        self, path: str, asked: _Interface, client: _Interface, header: Header, remote: Port | None
    ) -> None:
        """The client asks for the interface's address before it connects."""
        if asked.rlb is None:
            return
        key = (id(asked.rlb), client.ip)
        neighbour = self.neighbours.get(key)
        if neighbour is None:
            neighbour = Neighbour(self.sim, path, client.ip, client.station, [])
            self.neighbours[key] = neighbour
        neighbour.headers.append(header)
        asked.rlb.reply_to(neighbour)
        if isinstance(remote, RemoteSender | RemoteReceiver):
            remote.neighbour = neighbour


def _timing(host: Host) -> Timing:
    settings, hz = host.bonding, host.kernel.hz
    miimon_ps = settings.miimon_ps
    if settings.mode in {"802.3ad", "balance-tlb", "balance-alb"}:
        miimon_ps = miimon_ps or _FORCED_MIIMON_PS
    miimon_ms = miimon_ps // PS_PER_MS
    return Timing(
        # (miimon * HZ) / 1000; a timer that is set for now runs with the next jiffy
        miimon_jiffies=max(miimon_ms * hz // 1000, 1) if miimon_ms else 0,
        updelay=settings.updelay_ps // miimon_ps if miimon_ps else 0,
        downdelay=settings.downdelay_ps // miimon_ps if miimon_ps else 0,
        jiffy_ps=PS_PER_S // hz,
    )
