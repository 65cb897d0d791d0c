"""Ports of a server that are one link: by which port each client's bytes leave, and come.

The rules are those of Linux bonding, as in `bonding`, `bonding_hash` and `bonding_rlb`, for whole
flows instead of frames:

- 802.3ad: the server hashes each connection (`xmit_hash_policy`), and the switch hashes it on its
  own; both deal the values out to the ports;
- balance-alb: what the server sends to a client leaves by the port that was least loaded when the
  client was assigned one (`tlb_choose_channel`), all anew at each rebalancing; what clients send
  comes by the port whose address their ARP reply carried, dealt out in turn (`Rlb`);
- active-backup: one port for all.

The switch hashes Ethernet addresses, IP addresses and TCP ports. Which function it uses is not
published: here it is the CRC-32 of these fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from zlib import crc32

from simnet.net.bonding.hash import simple_hash, transmit_hash
from simnet.net.bonding.rlb import Neighbour, Rlb
from simnet.net.link.skb import Header, Station

if TYPE_CHECKING:
    from simnet.kernel.simulator import Simulator
    from simnet.net.bonding.bond import Bond
    from simnet.net.link.skb import Skb

LAG_MODES = ("active-backup", "802.3ad", "balance-alb")
_REBALANCE_SECONDS = 10


class Address:
    """A node's addresses.

    Args:
        mac: of its first port.
        ip: 32 bits.
        port: TCP port of its end of the connection.
    """

    def __init__(self, mac: int, ip: int, port: int) -> None:
        self.station = Station(mac)
        self.ip = ip
        self.port = port


class LagPort:
    """One of the ports."""

    def __init__(self, index: int, mac: int) -> None:
        self.index = index
        self.station = Station(mac)
        self.load = 0  # bytes a second that the balancing has assigned

    def ok(self) -> bool:
        """As bonding takes it: it always has a link."""
        return True


class Lag:
    """The ports of one server.

    Args:
        path: of the server's bond.
        mode: one of `LAG_MODES`.
        policy: `xmit_hash_policy`.
        ports: how many.
        server: the address of the bond.
        clients: the addresses of each client's end of its connection.

    Raises:
        ValueError: no such mode or policy.
    """

    def __init__(
        self,
        sim: Simulator,
        path: str,
        mode: str,
        policy: str,
        ports: int,
        server: Address,
        clients: list[Address],
    ) -> None:
        if mode not in LAG_MODES:
            raise ValueError(f"{path}: mode {mode!r} is not one of {', '.join(LAG_MODES)}")
        self.mode = mode
        mac = server.station.mac
        self.slaves = [LagPort(index, mac + index) for index in range(ports)]
        self.current = 0
        self.sent = [
            Header(server.station, client.station, server.ip, client.ip, server.port, client.port)
            for client in clients
        ]
        self.hashes = [transmit_hash(policy, header, mac) for header in self.sent]
        self.switch_hashes = [_switch_hash(header) for header in self.sent]
        # the clients' frames: where to, as their ARP entries say
        self.received = [Header(header.destination, self.slaves[0].station) for header in self.sent]
        self.neighbours = [
            Neighbour(sim, f"{path}.neighbour{n}", client.ip, client.station, [self.received[n]])
            for n, client in enumerate(clients)
        ]
        self.rlb = Rlb(cast("Bond", self))
        self.tlb_index = [simple_hash(client.ip) for client in clients]
        self.tlb_port: dict[int, int] = {}
        self.tlb_load: dict[int, int] = {}
        if mode == "balance-alb":
            for neighbour in self.neighbours:
                self.rlb.reply_to(neighbour)

    # -- where bytes go -------------------------------------------------------------------

    def transmit_port(self, client: int) -> int:
        """The port by which bytes to a client leave."""
        if self.mode == "802.3ad":
            return self.hashes[client] % len(self.slaves)
        if self.mode == "active-backup":
            return self.current
        entry = self.tlb_index[client]
        if entry not in self.tlb_port:
            chosen = min(self.slaves, key=lambda port: port.load)
            self.tlb_port[entry] = chosen.index
            # nothing is known of it: as bonding, so that the next one goes elsewhere
            chosen.load += self.tlb_load.get(entry, 1)
        return self.tlb_port[entry]

    def receive_port(self, client: int) -> int:
        """The port by which a client's bytes come."""
        if self.mode == "802.3ad":
            return self.switch_hashes[client] % len(self.slaves)
        if self.mode == "active-backup":
            return self.current
        destination = self.received[client].destination
        return [port.station for port in self.slaves].index(destination)

    def rebalance(self, sent_bytes: list[int]) -> None:
        """balance-alb: let all clients choose anew by what they were sent in the last 10 s."""
        for port in self.slaves:
            port.load = 0
        self.tlb_port.clear()
        for client, entry in enumerate(self.tlb_index):
            self.tlb_load[entry] = 1 + sent_bytes[client] // _REBALANCE_SECONDS

    def send_control(self, slave: Any, skb: Skb) -> None:
        """An ARP reply of the bond's own."""
        cast("Neighbour", skb.endpoint).resolve(skb.header.source)


def _switch_hash(header: Header) -> int:
    """The switch's hash of what a client sends."""
    fields = (
        *(header.destination.mac.to_bytes(6, "big"), header.source.mac.to_bytes(6, "big")),
        *(header.destination_ip.to_bytes(4, "big"), header.source_ip.to_bytes(4, "big")),
        *(header.destination_port.to_bytes(2, "big"), header.source_port.to_bytes(2, "big")),
    )
    return crc32(b"".join(fields))
