"""A port of the host on the bridge: the way of guests to peers outside.

Source: drivers/net/tun.c, net/bridge (`br_handle_frame`) and net/core/dev.c (`netdev_pick_tx`,
`__netif_receive_skb_core`) of Linux 5.4 to 6.12. What a guest sends, its vhost worker hands to the
port: a large segment goes to the device as it is, which cuts it (TSO), and what finds the ring full
waits in the qdisc. What the port receives, its poll hands to the bridge after receive offload, and
so to a queue of the guest's tap: a large segment stays one.
"""

from typing import Any

import cython

from simnet.host.costs import Costs
from simnet.host.cpu import Cpu
from simnet.net.link.skb import Skb, copy_skb
from simnet.net.nic.port import Nic
from simnet.net.steering.steering import Steering
from simnet.net.virtio.bridge import BridgePort, hash_of


@cython.final
@cython.cclass
class Uplink(BridgePort):
    """What vhost workers send by."""

    queues: list[Any] = None  # of the port

    def __init__(self, queues: list[Nic]) -> None:
        self.queues = queues

    def sleeps(self, skb: Skb) -> cython.bint:
        """Nobody: the worker itself calls the driver."""
        return False

    def enqueue(self, skb: Skb) -> cython.int:
        """`dev_queue_xmit`: the frames of a large segment follow each other in one ring."""
        nic: Nic = self._queue(skb)
        part: Skb
        header_bytes: cython.int = skb.wire_bytes - (skb.end_seq - skb.seq)
        length: cython.longlong = skb.segment_bytes or skb.end_seq - skb.seq
        seq: cython.longlong = skb.seq
        while True:
            part = copy_skb(skb)
            part.seq = seq
            part.end_seq = min(seq + length, skb.end_seq)
            part.wire_bytes = header_bytes + part.end_seq - seq
            part.push = skb.push and part.end_seq == skb.end_seq
            nic.transmit(part)
            seq = part.end_seq
            if seq == skb.end_seq:
                return nic.flush()

    def _queue(self, skb: Skb) -> Nic:
        """`skb_tx_hash`."""
        count: cython.longlong = len(self.queues)
        chosen: Nic = self.queues[0]
        if count > 1 and skb.header is not None:
            chosen = self.queues[hash_of(skb.header) * count >> 32]
        return chosen


@cython.final
@cython.cclass
class FromUplink(Steering):
    """What a poll of the port does with a packet."""

    tap: BridgePort = None  # of the guest
    costs: Costs = None  # of the host's CPUs
    bridge_ps: cython.longlong = 0  # of the bridge, for a packet

    def __init__(self, tap: BridgePort, costs: Costs, bridge_ps: int) -> None:
        self.tap = tap
        self.costs = costs
        self.bridge_ps = bridge_ps

    def deliver(self, skb: Skb, cpu: Cpu) -> cython.longlong:
        """Put it into the tap's queue; what was merged is as long as its parts."""
        work: cython.longlong = self.bridge_ps
        length: cython.longlong = skb.end_seq - skb.seq
        if length > skb.segment_bytes:
            skb.wire_bytes += length - (skb.segment_bytes or length)
        else:
            skb.segment_bytes = 0
        if self.tap.sleeps(skb):
            work += self.costs.wakeup_ps
        self.costs.ledger.hypervisor += work
        self.tap.enqueue(skb)
        return work
