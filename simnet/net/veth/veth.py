"""A veth pair: what is sent by one end is received by the other, on the same CPU at first.

Source: drivers/net/veth.c (`veth_xmit`, `veth_forward_skb`, `veth_get_stats64`) and net/core/dev.c
(`__netif_rx`, `enqueue_to_backlog`) of Linux 4.10 to 6.18. Nothing is copied, and no interrupt
comes. The CPU that sends puts the packet into the backlog of a CPU, its own unless RPS of the other
end chooses one, and the stack of the other end's namespace begins there. If the backlog is full,
`softnet_stat` counts the packet in its second column, and the end that has sent it in `tx_dropped`.
An end with a NAPI instance has a ring in place of the backlog (see `veth_napi`); what finds that
full is in `tx_dropped` alone.

The end has no queueing discipline (`noqueue`), as `ip link add` leaves it.
"""

from typing import Any

import cython

from simnet.host.cpu import Cpu
from simnet.host.ledger import Ledger
from simnet.net.link.skb import Skb
from simnet.net.steering.backlog import Backlog
from simnet.net.steering.steering import PacketSteering
from simnet.net.veth.veth_napi import VethNapi


@cython.final
@cython.cclass
class Veth:
    """One direction of a pair: from the host's end to the container's.

    Args:
        xmit_ps: `__dev_queue_xmit` and `veth_xmit`, without queueing the packet.
        backlogs: of the machine's CPUs, by number.
        steering: RPS of the container's end; None for none.
        napi: of the container's end; None for none.

    Attributes:
        tx_packets, tx_dropped: of the host's end, as `ip -s link` shows them.
        rx_packets: of the container's end: counted when they are sent, or polled from the ring.
    """

    ledger: Ledger = None
    xmit_ps: cython.longlong = 0
    backlogs: list[Any] = None
    steering: PacketSteering = None
    napi: VethNapi = None
    sent: cython.longlong = 0
    tx_dropped: cython.longlong = 0

    def __init__(
        self,
        ledger: Ledger,
        *,
        xmit_ps: int,
        backlogs: list[Backlog],
        steering: PacketSteering | None,
        napi: VethNapi | None,
    ) -> None:
        self.ledger = ledger
        self.xmit_ps = xmit_ps
        self.backlogs = backlogs
        self.steering = steering
        self.napi = napi

    @property
    def rx_packets(self) -> int:
        """Packets that the container's end has received (`xdp_packets` with a ring)."""
        return int(self.sent if self.napi is None else self.napi.processed)

    @property
    def tx_packets(self) -> int:
        """Packets that the host's end has sent: the other end's count (`veth_get_stats64`)."""
        return self.rx_packets

    @property
    def ring_drops(self) -> int:
        """What of `tx_dropped` found the ring full."""
        return int(self.napi.drops) if self.napi is not None else 0

    def xmit(self, skb: Skb, cpu: Cpu) -> cython.longlong:
        """`veth_xmit` in a softirq on `cpu`; return the work there, in ps."""
        backlog: Backlog
        accepted: cython.bint
        work: cython.longlong = self.xmit_ps
        self.ledger.forwarding += work
        if self.napi is not None:
            work += self.napi.enqueue(skb, cpu)
            accepted = self.napi.accepted
        elif self.steering is not None:
            work += self.steering.deliver(skb, cpu)
            accepted = self.steering.accepted
        else:
            backlog = self.backlogs[cpu.cpu_id]
            work += backlog.enqueue(skb, cpu)
            accepted = backlog.accepted
        if accepted:
            self.sent += 1
        else:
            self.tx_dropped += 1
        return work
