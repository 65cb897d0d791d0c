"""Datagrams that no socket is bound for (`NoPorts` of /proc/net/snmp).

Source: net/ipv4/udp.c `__udp4_lib_rcv` of Linux 5.4. The answer, ICMP port unreachable, is limited
to some a second (`icmp_ratelimit`, `icmp_msgs_per_sec`), and is left out.
"""

import cython

from simnet.host.cpu import Cpu
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Endpoint, Skb


@cython.final
@cython.cclass
class NoPorts(Endpoint):
    """Where a search for a socket ends without one."""

    receive_ps: cython.longlong = 0  # of the search, and of freeing the packet
    packets: cython.longlong = 0  # that have come

    def __init__(self, sim: Simulator, path: str, receive_ps: int) -> None:
        super().__init__(sim, path)
        self.receive_ps = receive_ps

    def receive(self, skb: Skb, cpu: Cpu) -> cython.longlong:
        """Free a packet."""
        self.packets += 1
        return self.receive_ps

    def only_queues(self, cpu: Cpu) -> cython.bint:
        """Nobody else sees it."""
        return True
