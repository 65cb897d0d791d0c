"""SO_REUSEPORT with a program that chooses the socket by the CPU that receives.

Source: net/core/sock_reuseport.c (`reuseport_select_sock`, `run_bpf_filter`) of Linux 4.5 to 6.18;
the program is that of tools/testing/selftests/net/reuseport_bpf_cpu.c, attached by
SO_ATTACH_REUSEPORT_CBPF: it returns the number of the CPU that executes the softirq
(SKF_AD_CPU). The sockets have numbers in the order in which they were bound. For a number that no
socket has the hash chooses, as without a program.
"""

from typing import Any

import cython

from simnet.host.cpu import Cpu
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Endpoint, Skb


@cython.final
@cython.cclass
class ReuseportGroup(Endpoint):
    """The sockets of one port, as the datagrams of one flow find them."""

    sockets: list[Any] = None  # by number
    by_hash: cython.longlong = 0  # the number that the flow has by its hash
    hashed: cython.longlong = 0  # datagrams for which the hash chose

    def __init__(self, sim: Simulator, path: str, sockets: list[Endpoint], by_hash: int) -> None:
        super().__init__(sim, path)
        self.sockets = sockets
        self.by_hash = by_hash

    def receive(self, skb: Skb, cpu: Cpu) -> cython.longlong:
        """Hand a datagram to the socket of `cpu`; return the work caused there."""
        socket: Endpoint
        number: cython.longlong = cpu.cpu_id
        work: cython.longlong
        if number >= len(self.sockets):
            self.hashed += 1
            number = self.by_hash
        socket = self.sockets[number]
        skb.endpoint = socket
        work = socket.receive(skb, cpu)
        self.freer = socket.freer
        return work
