"""Build sockets of a host that receive datagrams."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from simnet.host.costs import SharedLines, cycles_ps
from simnet.host.scheduler import Wakeups
from simnet.host.softirq.busy_read import BusyRead
from simnet.net.udp.memory import SocketMemory, UdpPages
from simnet.net.udp.rules import udp_rules
from simnet.net.udp.socket import UdpCosts, UdpSocket
from simnet.scenario.parts.host.build import make_buffers, make_spread
from simnet.scenario.parts.sockets.build_polling import busy_read_usecs

if TYPE_CHECKING:
    from simnet.host.machine import Machine
    from simnet.kernel.simulator import Simulator
    from simnet.scenario.core.effective import Host, Port
    from simnet.scenario.parts.udp.schema import Datagrams, Udp

_PAGE_BYTES: Final = 4096


@dataclass(kw_only=True)
class Sockets:
    """The sockets of a host, and what makes them."""

    host: Host  # its configuration
    machine: Machine  # what was made of it
    given: Datagrams | Udp  # what datagrams cost
    seed: int  # of all random streams
    pages: UdpPages = field(init=False)  # what its sockets may have together
    sockets: list[UdpSocket] = field(default_factory=list)  # those that were made

    def __post_init__(self) -> None:
        self.pages = _pages(self.host)

    @property
    def sim(self) -> Simulator:
        """The simulation."""
        return self.machine.sim

    def costs(self, port: Port) -> UdpCosts:
        """What datagrams cost the host by a port."""
        given, clock_hz = self.given, self.host.cpu.clock_hz
        return UdpCosts(
            self.machine.costs,
            self.machine.memory,
            make_buffers(self.host, self.machine),
            rx_ps=cycles_ps(given.receive_cycles, clock_hz),
            recv_ps=cycles_ps(given.recvmsg_cycles, clock_hz),
            checksum_by_cpu=port.nic.checksum_by_cpu,
            page_bytes=port.nic.page_bytes,
        )

    def wakeups(self) -> Wakeups:
        """What waking a process costs it."""
        return Wakeups(self.machine.costs, self.machine.memory, self.host.kernel.runqueue_lines)

    def make(self, path: str, port: Port, length: int, rcvbuf: int) -> UdpSocket:
        """Make a socket that receives datagrams of one size by a port.

        Args:
            path: component path.
            port: by which they come.
            length: payload, bytes.
            rcvbuf: `sk_rcvbuf`, bytes.
        """
        kernel = self.host.kernel
        made = UdpSocket(
            self.sim,
            path,
            costs=self.costs(port),
            memory=SocketMemory(udp_rules(kernel.version), self.pages, rcvbuf),
            truesize=port.nic.datagram_truesize(length, kernel.skb_truesize_overhead_bytes),
            lines=SharedLines(self.machine.memory, self.given.socket_lines),
            wakeups=self.wakeups(),
            spread=make_spread(self.host, path, self.seed),
        )
        if usecs := busy_read_usecs(self.host, port):
            made.busy = BusyRead(usecs)
        self.sockets.append(made)
        return made


def _pages(host: Host) -> UdpPages:
    """`udp_mem`: as set, or by the memory of the host (`udp_init`)."""
    low, _, most = host.kernel.udp_mem_pages
    if not most:
        memory = host.machine.nodes * host.machine.memory_per_node_bytes
        limit = max(memory // _PAGE_BYTES // 8, 128)
        low = limit // 4 * 3
        most = 2 * low
    return UdpPages(low, most)
