"""Build a home router, and the hosts at both ends of its streams."""

from dataclasses import dataclass
from typing import Any, Final

from simnet.host.costs import cycles_ps, whole_ns
from simnet.kernel.random import stream
from simnet.net.forward.gateway import ComesIn, Enters, Gateway, GoesOut, Sides
from simnet.net.link.skb import Header, Path, Station, SwitchedPath
from simnet.net.link.skb import Port as Destination
from simnet.net.nic.broadcom.bgmac import Bgmac
from simnet.net.remote.link import RemoteLink
from simnet.net.remote.receiver import RemoteReceiver
from simnet.net.steering.steering import PacketSteering
from simnet.scenario.core.effective import Effective
from simnet.scenario.parts.gateway.columns import GatewayCounts
from simnet.scenario.parts.gateway.schema import GatewayTable
from simnet.scenario.parts.host.build import make_spread
from simnet.scenario.parts.network.resources import NetworkPath
from simnet.scenario.parts.steering.build import (
    HostSteering,
    backlog_drops,
    backlogs_of,
    steering_of,
)
from simnet.scenario.parts.tcp.build_ends import remote_receiver, remote_sender
from simnet.scenario.parts.tcp.columns import SendingHalf
from simnet.scenario.system.ground import Ground
from simnet.scenario.system.system import DropCount, System
from simnet.time_units import PS_PER_S

_SERVER: Final = 0xC6336401
_OUTSIDE: Final = 0xCB007101
_CLIENT: Final = 0xC0A80102
_SERVICE_PORT: Final = 5001
_FIRST_PORT: Final = 40000
_START_SPREAD_PS: Final = 10**9


@dataclass(frozen=True)
class GatewayBuilt:
    """What was made, and its counters."""

    gateway: Gateway  # what both directions share
    nic: Any  # the port
    steering: HostSteering | None

    def drops(self) -> tuple[DropCount, ...]:
        """What was lost outside the ring."""
        return (
            *backlog_drops(self.steering),
            DropCount("qdisc", self.nic.name, self.nic.qdisc_drops),
        )

    def counts(self) -> GatewayCounts:
        """All counters."""
        gateway, nic = self.gateway, self.nic
        backlog = sum(drop.packets for drop in backlog_drops(self.steering))
        return GatewayCounts(
            offered=nic.rx_packets + nic.drops,
            ring=nic.drops,
            backlog=backlog,
            received=gateway.received,
            bridged=gateway.bridged,
            handed_over=gateway.handed_over,
            qdisc=nic.qdisc_drops,
            sent=nic.tx_packets,
            waiting=nic.rx_packets - backlog - nic.qdisc_drops - nic.tx_packets,
        )


def build(effective: Effective, *, seed: int, per_frame: bool, tracer: Any) -> System:
    """Put the router and both ends together; see `build` of the system."""
    ground = Ground(effective, seed=seed, per_frame=per_frame, tracer=tracer)
    given = effective.gateway
    if given is None:
        message = "a configuration without a gateway"
        raise ValueError(message)
    nic = ground.ports[0]
    steering, bridge = _steering(ground, given)
    built = GatewayBuilt(_gateway(ground, given), nic, steering)
    path = NetworkPath(effective, ground.machine, ground.ports)
    flows = _streams(ground, built, bridge, path, given.streams)
    return System(
        ground.env,
        ground.machine,
        ground.ports,
        flows,
        {"gateway": built},
        drops=built.drops,
        offers=path,
        counters={"gateway": built.counts},
        ground=ground,
    )


def _gateway(ground: Ground, given: GatewayTable) -> Gateway:
    """What passing the router costs."""
    cpu = ground.effective.host.cpu

    def work_ps(cycles: int) -> int:
        return cycles_ps(cycles, cpu.clock_hz)

    nic: Any = ground.ports[0]
    lists = isinstance(nic, Bgmac) and given.switch_ports == "vlan" and not given.flow_offload
    routed = given.offload_cycles if given.flow_offload else given.forward_cycles
    return Gateway(
        ground.machine.costs,
        len(ground.machine.cpus),
        nic,
        port_rx_ps=work_ps(given.port_rx_cycles),
        bridge_rx_ps=work_ps(given.bridge_rx_cycles),
        bridge_tx_ps=work_ps(given.bridge_tx_cycles),
        route_ps=work_ps(routed),
        list_ps=work_ps(given.list_saved_cycles),
        lister=nic if lists else None,
        xmit_ps=work_ps(given.xmit_cycles),
        clean_ps=work_ps(given.clean_line_cycles),
        lines_ps=whole_ns(given.memory_lines * cpu.memory.local_latency_ps),
    )


def _steering(
    ground: Ground, given: GatewayTable
) -> tuple[HostSteering | None, PacketSteering | None]:
    """RPS of the machine, and of what comes from the bridge."""
    host, machine = ground.effective.host, ground.machine
    if not given.bridge_rps_cpus or not host.kernel.rps:
        return steering_of(ground, machine, host), None
    steering = backlogs_of(ground, machine, host)
    return steering, steering.steers("br-lan", given.bridge_rps_cpus, ground.seed)


def _streams(
    ground: Ground,
    built: GatewayBuilt,
    bridge: PacketSteering | None,
    path: NetworkPath,
    count: int,
) -> list[tuple[str, str, RemoteReceiver]]:
    """Make both ends of each stream, and the ways of its packets."""
    effective, nic = ground.effective, built.nic
    wan, lan = effective.peers
    links = [RemoteLink(peer.ports[0].nic.link_rate_bps) for peer in (wan, lan)]
    for link, name in zip(links, ("wan", "lan"), strict=True):
        way = _way(ground, f"{name}.to.{nic.path}", nic)
        link.path_out = Enters(ground.sim, f"{name}.enters", way)
    names = tuple(f"stream{number}" for number in range(count))
    flows: list[tuple[str, str, RemoteReceiver]] = []
    ways: list[Path] = []
    for number, name in enumerate(names):
        sender = remote_sender(
            ground.sim,
            f"wan.{name}",
            wan,
            wan.ports[0],
            links[0],
            far=lan.ports[0],
            message_bytes=effective.workload.message_bytes,
            start_ps=1 + stream(ground.seed, f"gateway.{name}.start").below(_START_SPREAD_PS),
        )
        receiver = remote_receiver(
            ground.sim, f"lan.{name}", lan, lan.ports[0], links[1], seed=ground.seed
        )
        sender.sender.open_window(receiver.receiver.syn_window)
        headers = _headers(number)
        for other, header, bridged in ((receiver, headers[0], False), (sender, headers[1], True)):
            direction = "acks" if bridged else "data"
            out = GoesOut(
                ground.sim,
                f"gateway.{name}.{direction}.out",
                built.gateway,
                bridged=not bridged,
                spread=make_spread(effective.host, f"gateway.{name}.{direction}.out", ground.seed),
            )
            out.way = _way(ground, f"{nic.path}.to.{other.path}", other)
            ways.append(out.way)
            into = ComesIn(
                ground.sim,
                f"gateway.{name}.{direction}",
                built.gateway,
                header=header,
                bridged=bridged,
                routed=out,
                steering=bridge,
                spread=make_spread(effective.host, f"gateway.{name}.{direction}", ground.seed),
            )
            if bridged:
                receiver.acknowledged = into
            else:
                sender.receiver = into
        path.senders.append((name, sender.sender))
        path.halves.append(SendingHalf(name, sender.sender, PS_PER_S // wan.kernel.hz))
        path.ends += [(sender.path, sender, name), (receiver.path, receiver, name)]
        path.receiving.append((name, receiver))
        flows.append((name, nic.name, receiver))
    nic.path_out = Sides(ground.sim, f"{nic.path}.switch", ways)
    return flows


def _way(ground: Ground, path: str, destination: Destination) -> SwitchedPath:
    """One direction through the switch on the chip; frames of both sides meet at the port."""
    switch = ground.effective.lan
    to_router = destination is ground.ports[0]
    rate = ground.effective.host.ports[0].nic.link_rate_bps if to_router else switch.link_rate_bps
    return SwitchedPath(
        ground.sim,
        path,
        destination,
        rate,
        switch.cable_delay_ps,
        switch.latency_ps,
        to_router or ground.per_frame,
    )


def _headers(number: int) -> tuple[Header, Header]:
    """Addresses of a stream's data and of its acknowledgements, as they come to the router."""
    here, there, inside = Station(0), Station(1), Station(2)
    port = _FIRST_PORT + number
    return (
        Header(there, here, _SERVER, _OUTSIDE, _SERVICE_PORT, port),
        Header(inside, here, _CLIENT, _SERVER, port, _SERVICE_PORT),
    )
