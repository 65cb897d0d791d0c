"""What a home router does with packets between its two sides, behind one port and one bridge.

One port of the processor, eth0, is behind a switch. Of the switch's ports, which are VLANs of eth0
(swconfig) or network devices of their own (DSA), one is the wide area's; those of the local network
are in the bridge `br-lan`. Source: Linux 5.10 to 6.6, net/8021q/vlan_core.c (`vlan_do_receive`),
net/dsa/tag.c (`dsa_switch_rcv`), net/bridge/br_input.c (`br_handle_frame`, `br_pass_frame_up`),
net/bridge/br_device.c (`br_dev_xmit`), net/ipv4/ip_input.c (`ip_list_rcv`), ip_forward.c,
net/netfilter/nf_conntrack_core.c, nf_nat_core.c, nf_flow_table_ip.c (`nf_flow_offload_ip_hook`),
net/core/dev.c (`__netif_receive_skb_list_core`, `__dev_xmit_skb`).

| what comes from | on the CPU that eth0's `rps_cpus` says | on the CPU that br-lan's says |
| --- | --- | --- |
| the wide area | hooks, NAT, route; then out by br-lan, the switch's port, eth0 | |
| the local network | bridge, up to br-lan | hooks, NAT, route; then out by eth0 |

With a flow table the hooks, NAT and the route are one lookup at the ingress hook of the device that
a packet comes by, the wide area's or `br-lan`: behind RPS of both, and behind the bridge.

A driver that hands up lists has those of the wide area go through IP as lists: behind the first
packet the code is in the caches, and the route is that of the packet before
(`ip_extract_route_hint`). What the bridge takes leaves the list, and so does what goes through a
backlog, where RPS is on; the hook of a flow table takes packets one by one; a switch with DSA does.

Both sides leave by one queue. A CPU that finds another sending only adds its packet to the queueing
discipline, and the other sends that, too (`qdisc_run`).

Receive offload is taken to be off: with a card that verifies no checksums the CPU would read all of
each packet for it.
"""

from array import array

import cython

from simnet.host.costs import Costs, Spread
from simnet.host.cpu import Cpu
from simnet.host.ledger import Ledger
from simnet.kernel.compiled import Array, Public
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Endpoint, Header, Path, Skb, SwitchedPath
from simnet.net.nic.broadcom.bgmac import Bgmac
from simnet.net.nic.port import Nic
from simnet.net.steering.steering import Steering


@cython.final
@cython.cclass
class Gateway:
    """What both directions share: costs, the queue that they leave by, and counters.

    Args:
        costs: of the host.
        cpus: of the host.
        nic: the port.
        port_rx_ps: from the port to the switch's port that a packet came by.
        bridge_rx_ps: of the bridge, from its port up to itself.
        bridge_tx_ps: of the bridge, to the port behind which the receiver is.
        route_ps: hooks, NAT and route, or the lookup in the flow table.
        list_ps: of these what a packet behind another in a list does without.
        lister: the port, if its packets go through IP as lists; None if not.
        xmit_ps: the switch's port, the queueing discipline and the driver, of a frame.
        clean_ps: writing a cache line of the frame back to memory, where the device reads it.
        lines_ps: what of a packet comes from memory.
    """

    costs: Costs = None
    ledger: Ledger = None
    nic: Nic = None
    port_rx_ps: cython.longlong = 0
    bridge_rx_ps: cython.longlong = 0
    bridge_tx_ps: cython.longlong = 0
    route_ps: cython.longlong = 0
    list_ps: cython.longlong = 0
    lister: Bgmac = None
    list_number: cython.longlong = 0
    xmit_ps: cython.longlong = 0
    clean_ps: cython.longlong = 0
    lines_ps: cython.longlong = 0
    runner: Cpu = None
    runs_until_ps: cython.longlong = 0
    owed: Array[cython.longlong] = None
    received: cython.longlong = 0  # packets that have been taken up
    bridged: cython.longlong = 0  # packets that have passed the bridge on their way up
    sent: cython.longlong = 0  # packets handed to the port
    handed_over: cython.longlong = 0  # of them those that another CPU sent

    def __init__(
        self,
        costs: Costs,
        cpus: int,
        nic: Nic,
        *,
        port_rx_ps: int,
        bridge_rx_ps: int,
        bridge_tx_ps: int,
        route_ps: int,
        list_ps: int,
        lister: Bgmac | None,
        xmit_ps: int,
        clean_ps: int,
        lines_ps: int,
    ) -> None:
        self.costs = costs
        self.ledger = costs.ledger
        self.nic = nic
        self.port_rx_ps = port_rx_ps
        self.bridge_rx_ps = bridge_rx_ps
        self.bridge_tx_ps = bridge_tx_ps
        self.route_ps = route_ps
        self.list_ps = list_ps
        self.lister = lister
        self.xmit_ps = xmit_ps
        self.clean_ps = clean_ps
        self.lines_ps = lines_ps
        self.owed = array("q", [0]) * cpus

    def follows(self) -> cython.bint:
        """Whether a packet of the wide area is behind another of the same list."""
        number: cython.longlong
        if self.lister is None or self.nic.steering is not None:
            return False
        number = self.list_number
        self.list_number = self.lister.list_number
        return number == self.list_number

    def send(self, skb: Skb, cpu: Cpu) -> cython.longlong:
        """`__dev_queue_xmit`; return the work on `cpu`."""
        now: cython.longlong = self.nic.sim.now
        work: cython.longlong = self.xmit_ps + self.costs.lines(skb.wire_bytes) * self.clean_ps
        work += self.nic.transmit_cost_ps(cpu)
        self.sent += 1
        skb.toucher = cpu
        if self.runner is not None and self.runner is not cpu and now < self.runs_until_ps:
            # the other CPU finds it when it is done with its own
            self.handed_over += 1
            self.owed[self.runner.cpu_id] += work
            self.runs_until_ps += work
            work = self.costs.backlog_ps
        else:
            self.runner = cpu
            self.runs_until_ps = now + work
        self.nic.transmit(skb)
        self.nic.flush()
        return work

    def owes_ps(self, cpu: Cpu) -> cython.longlong:
        """What `cpu` has sent for others since it was asked last."""
        work: cython.longlong = self.owed[cpu.cpu_id]
        self.owed[cpu.cpu_id] = 0
        return work


@cython.final
@cython.cclass
class GoesOut(Endpoint):
    """Packets one way as they are routed, on the CPU that RPS has chosen last."""

    needs = ("way",)

    gateway: Gateway = None  # what both directions share
    bridged: cython.bint = False  # they leave by the bridge
    spread: Spread = None  # of the work on a packet
    way: Public[Path] = None  # where the switch sends them

    def __init__(
        self, sim: Simulator, path: str, gateway: Gateway, *, bridged: bool, spread: Spread
    ) -> None:
        super().__init__(sim, path)
        self.gateway = gateway
        self.bridged = bridged
        self.spread = spread

    def receive(self, skb: Skb, cpu: Cpu) -> cython.longlong:
        """Route a packet and send it; return the work on `cpu`."""
        gateway: Gateway = self.gateway
        work: cython.longlong = gateway.route_ps + gateway.lines_ps
        skb.endpoint = self
        if self.bridged:
            work += gateway.bridge_tx_ps
            if gateway.follows():
                work -= gateway.list_ps
        work = self.spread.vary(work) + gateway.send(skb, cpu) + gateway.owes_ps(cpu)
        gateway.ledger.forwarding += work
        return work


@cython.final
@cython.cclass
class ComesIn(Endpoint):
    """Packets one way as they come from the port, on the CPU that its RPS has chosen."""

    gateway: Gateway = None  # what both directions share
    header: Header = None  # of the packets as they come
    bridged: cython.bint = False  # they come by a port of the bridge
    routed: GoesOut = None  # takes them then
    steering: Steering = None  # RPS of the bridge; None for none
    spread: Spread = None  # of the work on a packet

    def __init__(
        self,
        sim: Simulator,
        path: str,
        gateway: Gateway,
        *,
        header: Header,
        bridged: bool,
        routed: GoesOut,
        steering: Steering | None,
        spread: Spread,
    ) -> None:
        super().__init__(sim, path)
        self.gateway = gateway
        self.header = header
        self.bridged = bridged
        self.routed = routed
        self.steering = steering
        self.spread = spread

    def receive(self, skb: Skb, cpu: Cpu) -> cython.longlong:
        """Find the switch's port, pass the bridge, go on here or elsewhere."""
        gateway: Gateway = self.gateway
        work: cython.longlong = gateway.port_rx_ps
        gateway.received += 1
        skb.endpoint = self.routed
        if self.bridged:
            gateway.bridged += 1
            work += gateway.bridge_rx_ps
            if self.steering is None:
                work += gateway.costs.ip_rx_ps
        work = self.spread.vary(work)
        gateway.ledger.forwarding += work
        if self.bridged and self.steering is not None:
            skb.toucher = cpu
            return work + self.steering.deliver(skb, cpu)
        return work + self.routed.receive(skb, cpu)


@cython.final
@cython.cclass
class Enters(Path):
    """The way of one side's frames to the router, on which they have their addresses."""

    way: Public[SwitchedPath] = None  # through the switch

    def __init__(self, sim: Simulator, path: str, way: SwitchedPath) -> None:
        super().__init__(sim, path)
        self.way = way

    def send(self, skb: Skb, tx_end_ps: cython.longlong) -> cython.int:
        """Take a frame, whose endpoint is of its stream."""
        stream: ComesIn = skb.endpoint  # type: ignore[assignment]  # Cython checks it
        skb.header = stream.header
        return self.way.send(skb, tx_end_ps)

    def flush(self) -> cython.int:
        """The frames sent since the last flush are a burst."""
        return self.way.flush()


@cython.final
@cython.cclass
class Sides(Path):
    """What the port's cable leads to: a switch with the hosts of both sides behind it."""

    ways: list[Path] = None

    def __init__(self, sim: Simulator, path: str, ways: list[Path]) -> None:
        super().__init__(sim, path)
        self.ways = ways

    def send(self, skb: Skb, tx_end_ps: cython.longlong) -> cython.int:
        """Take a frame, whose endpoint has routed it."""
        routed: GoesOut = skb.endpoint  # type: ignore[assignment]  # Cython checks it
        return routed.way.send(skb, tx_end_ps)

    def flush(self) -> cython.int:
        """The frames sent since the last flush are a burst."""
        way: Path
        for way in self.ways:
            way.flush()
        return 0
