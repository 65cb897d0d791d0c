"""Build the way of datagrams to a container's sockets."""

from dataclasses import dataclass

from simnet.host.costs import SharedLines, cycles_ps
from simnet.kernel.random import stream
from simnet.net.forward.conntrack import Conntrack
from simnet.net.forward.contended_line import ContendedLine
from simnet.net.link.skb import Endpoint
from simnet.net.veth.into_container import IntoContainer
from simnet.net.veth.rules import RING_SIZE, uses_napi
from simnet.net.veth.veth import Veth
from simnet.net.veth.veth_napi import VethNapi
from simnet.scenario.parts.container.columns import VethCounts
from simnet.scenario.parts.container.schema import HOST, Container
from simnet.scenario.parts.forward.tables import tables_ps
from simnet.scenario.parts.host.build import make_buffers, make_spread
from simnet.scenario.parts.steering.build import HostSteering, backlogs_of
from simnet.scenario.system.ground import Ground


@dataclass(frozen=True)
class ContainerBuilt:
    """A container behind a veth pair."""

    ground: Ground  # what it is built on
    given: Container  # its configuration
    veth: Veth  # from the host to it
    conntrack: Conntrack | None  # of the host; None for none
    work_ps: int  # of the host on a packet, without connection tracking and veth
    nat_ps: int  # of kube-proxy's tables on a connection's first packet

    def way(self, socket: Endpoint, flow: int) -> IntoContainer:
        """Make what takes a flow's packets where the host's stack has them, to a socket."""
        ground, path = self.ground, f"container.flow{flow}"
        return IntoContainer(
            ground.sim,
            path,
            ledger=ground.machine.costs.ledger,
            work_ps=self.work_ps,
            conntrack=self.conntrack,
            flow=flow,
            per_connection=self.given.per_connection,
            nat_ps=self.nat_ps,
            veth=self.veth,
            socket=socket,
            spread=make_spread(ground.effective.host, path, ground.seed),
        )

    def counts(self) -> VethCounts:
        """Counters of both ends."""
        veth = self.veth
        return VethCounts(
            tx_packets=veth.tx_packets,
            tx_dropped=veth.tx_dropped,
            rx_packets=veth.rx_packets,
            ring_drops=veth.ring_drops,
            conntrack=self.conntrack.count if self.conntrack is not None else 0,
        )


def container_of(ground: Ground, flows: int) -> ContainerBuilt | None:
    """The container of a configuration, for so many flows; None where it has no veth."""
    given, host, machine = ground.effective.container, ground.effective.host, ground.machine
    if given is None or given.network == HOST:
        return None
    clock_hz = host.cpu.clock_hz
    conntrack = None
    if given.conntrack:
        conntrack = Conntrack(
            flows,
            most=0,
            buckets=1,
            line=ContendedLine(machine.memory),
            make_ps=cycles_ps(given.conntrack_make_cycles, clock_hz),
            find_ps=cycles_ps(given.conntrack_find_cycles, clock_hz),
            luck=stream(ground.seed, "container.nf_conntrack_hash_rnd"),
        )
    cycles = 0 if given.network == "bridge" else given.route_cycles
    if given.network != "route":
        cycles += given.bridge_cycles
    return ContainerBuilt(
        ground,
        given,
        _veth(ground, given, backlogs_of(ground, machine, host)),
        conntrack,
        cycles_ps(cycles, clock_hz) + tables_ps(given, clock_hz, given.filter_rules),
        _proxy_ps(given, clock_hz),
    )


def _proxy_ps(given: Container, clock_hz: int) -> int:
    """What kube-proxy's tables cost a connection's first packet, which is for no service here.

    Its client's node has chosen the container. So all rules of KUBE-SERVICES are tried in vain.
    Source: Kubernetes 1.31, pkg/proxy/iptables/proxier.go and pkg/proxy/nftables/proxier.go.
    """
    if not given.services:
        return 0
    rules = given.services if given.kube_proxy == "iptables" else 0
    return cycles_ps(given.service_cycles, clock_hz) + tables_ps(given, clock_hz, rules)


def _veth(ground: Ground, given: Container, steering: HostSteering) -> Veth:
    """The pair, with RPS and the NAPI instance of the container's end."""
    host, machine = ground.effective.host, ground.machine
    path = "container.eth0"
    rps, napi = None, None
    if given.rps_cpus and host.kernel.rps:
        rps = steering.steers(path, given.rps_cpus, ground.seed)
    if uses_napi(host.kernel.version, gro=given.gro, tso=given.tso):
        napi = VethNapi(
            ground.sim,
            path,
            size=RING_SIZE,
            costs=machine.costs,
            buffers=make_buffers(host, machine),
            lines=SharedLines(machine.memory, given.ring_lines),
            receive_ps=cycles_ps(given.veth_receive_cycles, host.cpu.clock_hz),
            steering=rps,
            spread=make_spread(host, path, ground.seed),
        )
    return Veth(
        machine.costs.ledger,
        xmit_ps=cycles_ps(given.veth_xmit_cycles, host.cpu.clock_hz),
        backlogs=steering.backlogs,
        steering=rps,
        napi=napi,
    )
