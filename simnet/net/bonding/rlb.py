"""Receive load balancing of balance-alb: each client learns the address of another slave.

Source: drivers/net/bonding/bond_alb.c of Linux 2.6.18 (`rlb_choose_channel`,
`rlb_next_rx_slave`, `rlb_clear_slave`, `rlb_rebalance`, `rlb_update_rx_clients`). The ARP reply
to a client carries the address of the slave whose turn it is; the table has one entry for each
value of the exclusive or of the octets of the client's IP address. All slaves have the same
speed. Ticks are those of the balancing timer, ten a second.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from simnet.net.bonding.hash import simple_hash
from simnet.net.link.ethernet import LEAST_WIRE_BYTES
from simnet.net.link.skb import Endpoint, Header, new_skb

if TYPE_CHECKING:
    from simnet.host.cpu import Cpu
    from simnet.kernel.simulator import Simulator
    from simnet.net.bonding.bond import Bond, Slave
    from simnet.net.link.skb import Skb, Station

_UPDATE_DELAY_TICKS = 20
_ARP_BURST = 2
_UPDATE_RETRY_TICKS = 3


class Neighbour(Endpoint):
    """A client's ARP entry for the bond: an ARP reply changes where its frames go.

    Args:
        ip: of the client.
        station: of the client.
        headers: of the frames that its connections send to the bond.
    """

    def __init__(
        self, sim: Simulator, path: str, ip: int, station: Station, headers: list[Header]
    ) -> None:
        super().__init__(sim, path)
        self.ip = ip
        self.station = station
        self.headers = headers

    def resolve(self, station: Station) -> None:
        """The bond's IP address is at `station`."""
        for header in self.headers:
            header.destination = station

    def receive(self, skb: Skb, cpu: Cpu) -> int:
        """Take an ARP reply; its work is neglected."""
        self.resolve(skb.header.source)
        return 0


@dataclass
class _Entry:
    client: Neighbour
    slave: Slave | None
    # need to transmit: the client does not know yet
    ntt: bool = field(default=True)


class Rlb:
    """The table of clients."""

    def __init__(self, bond: Bond) -> None:
        self.bond = bond
        self.entries: dict[int, _Entry] = {}
        self.order: list[int] = []
        self.next_index: int | None = None
        self.rebalance_ordered = False
        self.ntt = False
        self.delay_ticks = 0
        self.retry_ticks = 0
        self.updates = 0

    def next_slave(self) -> Slave | None:
        """`rlb_next_rx_slave`: the first usable one from where the last search ended."""
        slaves = self.bond.slaves
        start = self.next_index or 0
        for step in range(len(slaves)):
            slave: Slave = slaves[(start + step) % len(slaves)]
            if slave.ok():
                self.next_index = (slave.index + 1) % len(slaves)
                return slave
        return None

    def reply_to(self, client: Neighbour) -> Slave | None:
        """A client has asked for the bond's address: assign a slave and answer with its address."""
        index = simple_hash(client.ip)
        entry = self.entries.get(index)
        if entry is not None and entry.client is client and entry.slave is not None:
            client.resolve(entry.slave.station)
            return entry.slave
        active = self._active()
        if entry is not None and entry.client is not client and entry.slave is not active:
            # the entry's former client goes to the active slave
            entry.slave = active
            self._send_arp_update(entry)
        slave = self.next_slave()
        if slave is None:
            return None
        if entry is None:
            self.order.insert(0, index)
        self.entries[index] = _Entry(client, slave)
        self.ntt = True
        client.resolve(slave.station)
        return slave

    def clear(self, gone: Slave) -> None:
        """`rlb_clear_slave`: its clients go to others; the ARP replies are sent several times."""
        for index in self.order:
            entry = self.entries[index]
            if entry.slave is gone:
                entry.slave = self.next_slave()
                if entry.slave is not None:
                    entry.ntt = True
                    self.ntt = True
                    self.retry_ticks = _UPDATE_RETRY_TICKS
        active = self._active()
        if active is not None and gone is not active:
            # until they know, the active slave takes what is sent to the other's address
            self.bond.announce(active, gone.station, gone.station)

    def address_changed(self, slave: Slave) -> None:
        """`rlb_req_update_slave_clients`: the slave has got another address."""
        for entry in self.entries.values():
            if entry.slave is slave:
                entry.ntt = True
                self.ntt = True
                self.retry_ticks = _UPDATE_RETRY_TICKS

    def tick(self) -> None:
        """The receive part of `bond_alb_monitor`."""
        if self.rebalance_ordered:
            self.rebalance_ordered = False
            self._rebalance()
        if not self.ntt:
            return
        if self.delay_ticks:
            self.delay_ticks -= 1
            return
        for index in self.order:
            entry = self.entries[index]
            if entry.ntt:
                self._send_arp_update(entry)
                entry.ntt = self.retry_ticks > 0
        self.delay_ticks = _UPDATE_DELAY_TICKS
        if self.retry_ticks:
            self.retry_ticks -= 1
        else:
            self.ntt = False

    def _rebalance(self) -> None:
        for index in self.order:
            entry = self.entries[index]
            slave = self.next_slave()
            if slave is not None and entry.slave is not slave:
                entry.slave = slave
                entry.ntt = True
                self.ntt = True

    def _active(self) -> Slave | None:
        current = self.bond.current
        slave: Slave | None = self.bond.slaves[current] if current >= 0 else None
        return slave

    def _send_arp_update(self, entry: _Entry) -> None:
        """`rlb_update_client`: ARP replies with the address of the client's slave."""
        if entry.slave is None:
            return
        self.updates += 1
        for _ in range(_ARP_BURST):
            skb = new_skb(entry.client, 0, 0, 0, 0, LEAST_WIRE_BYTES, push=False)
            skb.header = Header(entry.slave.station, entry.client.station)
            self.bond.send_control(entry.slave, skb)
