"""What a host does with the packets of one flow to a container: hooks, route or bridge, veth.

Source: net/ipv4/ip_forward.c (`ip_forward`), net/bridge/br_input.c (`br_handle_frame`),
br_forward.c (`br_forward`), br_device.c (`br_dev_xmit`), net/netfilter/nf_conntrack_core.c of Linux
4.12 to 6.18. Tables and connection tracking are those of `simnet.net.forward`. On the way a packet
stays on its CPU.

A client may send few packets by one port, as resolvers do, and begin another connection with the
next. The first packet of each passes the tables of nat.
"""

import cython

from simnet.host.costs import Spread
from simnet.host.cpu import Cpu
from simnet.host.ledger import Ledger
from simnet.kernel.simulator import Simulator
from simnet.net.forward.conntrack import FOUND, Conntrack
from simnet.net.link.skb import Endpoint, Skb
from simnet.net.veth.veth import Veth


@cython.final
@cython.cclass
class IntoContainer(Endpoint):
    """The host's part of a flow's way."""

    ledger: Ledger = None
    work_ps: cython.longlong = 0  # of the host on a packet, without connection tracking and veth
    conntrack: Conntrack | None = None  # connection tracking; None for none
    flow: cython.longlong = 0  # number of the connection there
    # packets of a connection, behind which another begins; 0: it does not end
    per_connection: cython.longlong = 0
    nat_ps: cython.longlong = 0  # of the tables of nat, which a connection's first packet passes
    packets: cython.longlong = 0
    veth: Veth = None  # by which packets go to the container
    socket: Endpoint = None  # that takes them there
    spread: Spread = None  # of the work on a packet

    def __init__(
        self,
        sim: Simulator,
        path: str,
        *,
        ledger: Ledger,
        work_ps: int,
        conntrack: Conntrack | None,
        flow: int,
        per_connection: int,
        nat_ps: int,
        veth: Veth,
        socket: Endpoint,
        spread: Spread,
    ) -> None:
        super().__init__(sim, path)
        self.ledger = ledger
        self.work_ps = work_ps
        self.conntrack = conntrack
        self.flow = flow
        self.per_connection = per_connection
        self.nat_ps = nat_ps
        self.veth = veth
        self.socket = socket
        self.spread = spread

    def receive(self, skb: Skb, cpu: Cpu) -> cython.longlong:
        """Pass a packet on to the container; return the work on `cpu`."""
        table: Conntrack | None = self.conntrack
        work: cython.longlong = self.work_ps
        waited: cython.longlong = 0
        if table is not None:
            if self._enter(table, cpu) == FOUND:
                work += table.find_ps
            else:
                work += table.make_ps + self.nat_ps
            waited = table.waited_ps
        work = self.spread.vary(work)
        self.ledger.forwarding += work
        self.ledger.socket_lines += waited
        skb.endpoint = self.socket
        return work + waited + self.veth.xmit(skb, cpu)

    def _enter(self, table: Conntrack, cpu: Cpu) -> cython.int:
        """Whether the packet's connection is found."""
        found: cython.int
        self.packets += 1
        if self.packets > self.per_connection > 0:
            self.packets = 1
            return table.renew(cpu, self.sim.now)
        found = table.enter(self.flow, cpu, self.sim.now)
        if found != FOUND:
            table.confirm(self.flow)
        return found
