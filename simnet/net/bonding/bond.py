"""Linux bonding: several NICs that are one interface with one IP address.

Source: drivers/net/bonding/bond_main.c (transmit functions), bond_3ad.c (`bond_3ad_xmit_xor`)
and bond_alb.c (`tlb_choose_channel`, `tlb_get_least_loaded_slave`, `bond_alb_monitor`) of Linux
2.6.18. How slaves come and go is in `bonding_monitor`, receive balancing in `bonding_rlb`, the
hashes in `bonding_hash`.

A connection sends by a `BondRoute`, which holds what of a frame's headers the bond looks at. The
bond takes its locks and list heads from whichever CPU used it last: `transmit_cost_ps` says what
that costs.
"""

from __future__ import annotations

from typing import Any

import cython

from simnet.host.costs import Costs, Memory, SharedLines
from simnet.host.cpu import Cpu
from simnet.kernel.compiled import Public
from simnet.kernel.component import Component
from simnet.kernel.priority import CPU
from simnet.kernel.simulator import Simulator
from simnet.net.bonding.hash import simple_hash
from simnet.net.link.ethernet import LEAST_WIRE_BYTES, UNCOUNTED_BYTES
from simnet.net.link.skb import Header, Port, Skb, SkbQueue, Station, copy_skb, new_skb
from simnet.net.link.switch import Egress, Ingress

MODES = (
    "balance-rr",
    "active-backup",
    "balance-xor",
    "broadcast",
    "802.3ad",
    "balance-tlb",
    "balance-alb",
)
_RR: cython.int = 0
_ACTIVE_BACKUP: cython.int = 1
_XOR: cython.int = 2
_BROADCAST: cython.int = 3
_8023AD: cython.int = 4

_LINK_UP: cython.int = 0
_TABLE: cython.int = 256
_REBALANCE_SECONDS: cython.int = 10


@cython.final
@cython.cclass
class Slave:
    """A NIC in a bond, and its two ends in the switch."""

    index: cython.int = 0
    nic: Port = None
    ingress: Ingress = None
    egress: Egress = None
    station: Public[Station] = None  # the address of the NIC itself
    carrier: Public[cython.bint] = False  # whether there is a link
    link: Public[cython.int] = 0  # what the MII monitor makes of it, see `bonding_monitor`
    delay: Public[cython.int] = 0  # monitor intervals until the next verdict
    active: Public[cython.bint] = False  # BOND_STATE_ACTIVE
    aggregated: Public[cython.bint] = False  # in the active aggregator (802.3ad)
    load: Public[cython.longlong] = 0  # bytes a second that the balancing has assigned

    def __init__(
        self, index: int, nic: Port, ingress: Ingress, egress: Egress, station: Station
    ) -> None:
        self.index = index
        self.nic = nic
        self.ingress = ingress
        self.egress = egress
        self.station = station
        self.carrier = True
        self.link = _LINK_UP
        self.active = True
        self.aggregated = True

    def ok(self) -> cython.bint:
        """SLAVE_IS_OK, which does not look at the carrier."""
        return self.link == _LINK_UP and self.active


@cython.final
@cython.cclass
class Bond(Component):
    """A bonding interface: the sending side.

    Args:
        mode: position in `MODES`.
        costs: of the host's CPUs.
        memory: of the host.
        shared_lines: cache lines of the bond that sending a frame writes.
    """

    mode: cython.int = 0
    slaves: list[Any] = None
    waiting: list[Any] = None
    copy_ps: cython.longlong = 0
    current: Public[cython.int] = 0  # index of `curr_active_slave`; -1 for none
    station: Station = None  # the bond's address, which is that of the first slave
    everyone: Station = None  # the broadcast address
    costs: Costs = None
    lines: SharedLines = None
    touched: cython.longlong = 0
    tlb_slave: list[Any] = None
    tlb_bytes: list[Any] = None
    tlb_history: list[Any] = None
    unbalanced: cython.longlong = 0
    frames: cython.longlong = 0
    dropped: cython.longlong = 0

    def __init__(
        self,
        sim: Simulator,
        path: str,
        *,
        mode: int,
        costs: Costs,
        memory: Memory,
        shared_lines: int,
    ) -> None:
        super().__init__(sim, path)
        self.mode = mode
        self.slaves = []
        self.waiting = []
        self.everyone = Station(0xFFFFFFFFFFFF)
        self.costs = costs
        # clone, and queue at the next slave
        self.copy_ps = costs.skb_alloc_ps + costs.bond_tx_ps
        self.lines = SharedLines(memory, shared_lines)
        self.tlb_slave = [-1] * _TABLE
        self.tlb_bytes = [0] * _TABLE
        self.tlb_history = [1] * _TABLE

    def counters(self) -> dict[str, int]:
        """Frames to send, and those of them for which there was no slave or no link."""
        return {"frames": self.frames, "dropped": self.dropped}

    def enslave(self, slave: Slave) -> None:
        """Add a slave; the bond takes the address of the first."""
        self.slaves.append(slave)
        self.waiting.append(SkbQueue())
        if self.station is None:
            self.station = slave.station

    # -- sending --------------------------------------------------------------------------

    def xmit(self, skb: Skb, route: BondRoute) -> cython.int:
        """Choose a slave for a frame, or several, and queue it there."""
        slave: Slave
        count: cython.int = len(self.slaves)
        self.frames += 1
        skb.header = route.header
        if self.mode == _RR:
            slave = self._first_up_from(self.current)
            if slave is not None:
                self.current = (slave.index + 1) % count
        elif self.mode == _ACTIVE_BACKUP:
            slave = self.slaves[self.current] if self.current >= 0 else None
        elif self.mode == _XOR:
            slave = self._first_up_from(route.hash % count)
        elif self.mode == _BROADCAST:
            return self._broadcast(skb, route)
        elif self.mode == _8023AD:
            slave = self._aggregated(route.hash)
        else:
            slave = self._balanced(route.tlb_index, skb.wire_bytes - UNCOUNTED_BYTES)
            if slave is not None and slave.index != self.current:
                skb.header = route.sent_by(slave)
        return self._queue(slave, skb, route)

    def _queue(self, slave: Slave | None, skb: Skb, route: BondRoute | None) -> cython.int:
        """Queue a frame at a slave, by the queue that the route has there."""
        outlet: Port
        if slave is None or not slave.carrier:
            # a device without carrier has no queue to put it into
            self.dropped += 1
            return 0
        outlet = slave.nic if route is None else route.outlets[slave.index]
        outlet.transmit(skb)
        self.touched |= cython.cast(cython.longlong, 1) << slave.index
        return 0

    def _first_up_from(self, start: cython.int) -> Slave:
        """The first slave from `start` on that is up, with link and carrier; or None."""
        count: cython.int = len(self.slaves)
        step: cython.int = 0
        slave: Slave
        if start < 0:
            return None
        while step < count:
            slave = self.slaves[(start + step) % count]
            if slave.carrier and slave.ok():
                return slave
            step += 1
        return None

    def _aggregated(self, number: cython.longlong) -> Slave:
        """`bond_3ad_xmit_xor`: the hash counts the slaves of the active aggregator."""
        count: cython.int = len(self.slaves)
        position: cython.int = 0
        ports: cython.int = 0
        slave: Slave
        while position < count:
            slave = self.slaves[position]
            ports += slave.aggregated
            position += 1
        if ports == 0:
            return None
        number %= ports
        position = 0
        while True:
            slave = self.slaves[position]
            if slave.aggregated:
                if number == 0:
                    break
                number -= 1
            position += 1
        ports = 0
        while ports < count:
            slave = self.slaves[(position + ports) % count]
            if slave.aggregated and slave.ok():
                return slave
            ports += 1
        return None

    def _broadcast(self, skb: Skb, route: BondRoute) -> cython.int:
        """Send a copy by each slave that can, one after the other."""
        count: cython.int = len(self.slaves)
        step: cython.int = 0
        sent: cython.longlong = 0
        slave: Slave
        waiting: SkbQueue
        if self.current < 0:
            # without an active slave the kernel does not look at the others
            count = 0
        while step < count:
            slave = self.slaves[(self.current + step) % count]
            if slave.carrier and slave.ok():
                if sent == 0:
                    self._queue(slave, copy_skb(skb), route)
                else:
                    waiting = self.waiting[slave.index]
                    waiting.append(copy_skb(skb))
                    self.sim.after(sent * self.copy_ps, self, slave.index, 0, CPU)
                sent += 1
            step += 1
        if sent == 0:
            self.dropped += 1
        return 0

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """It is the turn of a broadcast frame's copy at a slave."""
        slave: Slave = self.slaves[kind]
        waiting: SkbQueue = self.waiting[kind]
        self._queue(slave, waiting.pop(), None)
        self.flush(None)

    # -- transmit load balancing ----------------------------------------------------------

    def _balanced(self, index: cython.int, length: cython.int) -> Slave:
        """`tlb_choose_channel`, and what `bond_alb_xmit` makes of its answer."""
        chosen: cython.int = self.tlb_slave[index]
        slave: Slave
        if chosen < 0:
            slave = self.least_loaded()
            if slave is not None:
                self.tlb_slave[index] = slave.index
                slave.load += self.tlb_history[index]
        else:
            slave = self.slaves[chosen]
        if slave is not None:
            self.tlb_bytes[index] += length
        elif self.current >= 0:
            slave = self.slaves[self.current]
            self.unbalanced += length
        if slave is None or slave.ok():
            return slave
        self.clear(slave.index, save_load=False)
        return None

    def least_loaded(self) -> Slave:
        """`tlb_get_least_loaded_slave`: the first with the least load; or None."""
        best: Slave = None
        position: cython.int = 0
        slave: Slave
        while position < len(self.slaves):
            slave = self.slaves[position]
            if slave.ok() and (best is None or slave.load < best.load):
                best = slave
            position += 1
        return best

    def clear(self, index: int, *, save_load: bool) -> None:
        """`tlb_clear_slave`: its clients choose anew, by the load that they had if it is saved."""
        for entry in range(_TABLE):
            if self.tlb_slave[entry] == index:
                if save_load:
                    self.tlb_history[entry] = 1 + self.tlb_bytes[entry] // _REBALANCE_SECONDS
                    self.tlb_bytes[entry] = 0
                self.tlb_slave[entry] = -1
        self.slaves[index].load = 0

    def rebalance(self) -> None:
        """All clients choose anew (every 10 s in `bond_alb_monitor`)."""
        for slave in self.slaves:
            self.clear(slave.index, save_load=True)
            if slave.index == self.current:
                slave.load = self.unbalanced // _REBALANCE_SECONDS
                self.unbalanced = 0

    # -- bursts and costs -----------------------------------------------------------------

    def flush(self, route: BondRoute | None) -> cython.int:
        """End of a burst on the slaves that took part in it."""
        position: cython.int = 0
        slave: Slave
        outlet: Port
        while self.touched > 0:
            if self.touched & 1:
                slave = self.slaves[position]
                outlet = slave.nic if route is None else route.outlets[position]
                outlet.flush()
            self.touched >>= 1
            position += 1
        return 0

    def cost_ps(self, cpu: Cpu, route: BondRoute) -> cython.longlong:
        """Choosing, locks and list heads, and the slave's transmit side, for the next frame."""
        work: cython.longlong = self.lines.touch(cpu)
        copy_ps: cython.longlong = 0
        position: cython.int = 0
        slave: Slave
        outlet: Port
        self.costs.ledger.socket_lines += work
        self.costs.ledger.tcp_send += self.costs.bond_tx_ps
        work += self.costs.bond_tx_ps
        if self.mode != _BROADCAST:
            slave = self._likely(route)
            if slave is None:
                return work
            outlet = route.outlets[slave.index]
            return work + outlet.transmit_cost_ps(cpu)
        while position < len(self.slaves):
            slave = self.slaves[position]
            if slave.carrier and slave.ok():
                # the last slave gets the frame itself, the others copies
                outlet = route.outlets[position]
                work += copy_ps + outlet.transmit_cost_ps(cpu)
                self.costs.ledger.tcp_send += copy_ps
                copy_ps = self.costs.skb_alloc_ps
            position += 1
        return work

    def _likely(self, route: BondRoute) -> Slave:
        """The slave that the next frame would leave by; nothing changes."""
        chosen: cython.int
        slave: Slave
        if self.mode == _RR:
            return self._first_up_from(self.current)
        if self.mode == _XOR:
            return self._first_up_from(route.hash % len(self.slaves))
        if self.mode == _8023AD:
            return self._aggregated(route.hash)
        chosen = self.current if self.mode == _ACTIVE_BACKUP else self.tlb_slave[route.tlb_index]
        if chosen < 0:
            return None
        slave = self.slaves[chosen]
        return slave

    def send_control(self, slave: Slave, skb: Skb) -> None:
        """Send a frame of the bond's own by a given slave (ARP, learning packets)."""
        if slave.carrier:
            slave.nic.transmit(skb)
            slave.nic.flush()

    def announce(self, slave: Slave, source: Station, destination: Station) -> None:
        """Send a short frame from which the switch learns where `source` is."""
        skb = new_skb(None, 0, 0, 0, 0, LEAST_WIRE_BYTES, False)
        skb.header = Header(source, destination)
        self.send_control(slave, skb)


@cython.final
@cython.cclass
class BondRoute(Port):
    """The way of one connection's frames through a bond.

    Args:
        bond: the interface.
        header: of the frames that are sent.
        hash_number: of its frames, see `simnet.net.bonding.hash`.
        node: where what belongs to the connection is at first.
    """

    bond: Bond = None
    header: Header = None
    hash: cython.longlong = 0
    tlb_index: cython.int = 0
    headers: list[Any] = None
    # of each slave, what the connection's frames are queued at: the slave, or one of its
    # queues
    outlets: Public[list[Any]] = None

    def __init__(
        self, sim: Simulator, path: str, bond: Bond, header: Header, *, hash_number: int, node: int
    ) -> None:
        super().__init__(sim, path, 0, node)
        self.bond = bond
        self.header = header
        self.hash = hash_number
        self.tlb_index = simple_hash(header.destination_ip)
        self.headers = [None] * len(bond.slaves)
        self.outlets = [slave.nic for slave in bond.slaves]

    def sent_by(self, slave: Slave) -> Header:
        """The header with the slave's own source address."""
        header: Header = self.headers[slave.index]
        if header is None or header.source is not slave.station:
            header = self.header.sent_from(slave.station)
            self.headers[slave.index] = header
        return header

    def transmit(self, skb: Skb) -> cython.int:
        """Send by the slave, or slaves, that the bond chooses."""
        return self.bond.xmit(skb, self)

    def flush(self) -> cython.int:
        """End of a burst."""
        return self.bond.flush(self)

    def transmit_cost_ps(self, cpu: Cpu) -> cython.longlong:
        """What the bond and the slave cost from `cpu`."""
        return self.bond.cost_ps(cpu, self)
