"""Application targeted routing: a flow comes by the queue that it is answered by.

Source: drivers/net/ethernet/intel/ixgbe/ixgbe_main.c of Linux 4.12 to 6.9 (`ixgbe_atr`,
`ixgbe_sw_init`, `ixgbe_fdir_reinit_subtask`), ixgbe_82599.c (`ixgbe_init_fdir_signature_82599`,
`ixgbe_fdir_add_signature_filter_82599`). Each ring looks at every 20th packet that it sends: of a
TCP segment a filter for the flow the other way names the ring's own number. The filter of a flow
that has one goes to the ring that was seen last. When 64 filters of 8192 are left the card
interrupts, and the driver empties the table.

That filters know flows by a hash, so that two flows may share one, is left out, as is the time
that emptying takes. The first segment of a connection is always looked at; connections stand here
when a simulation begins.
"""

from __future__ import annotations

import cython

from simnet.kernel.compiled import Public
from simnet.net.link.skb import Skb
from simnet.net.steering.flow_rules import FlowRules

# atr_sample_rate; IXGBE_FDIR_PBALLOC_64K, and FDIRCTRL.FULL_THRESH in units of 16
_SAMPLE_RATE: cython.int = 20
_MOST_FILTERS: cython.longlong = 8192 - 4 * 16


@cython.final
@cython.cclass
class Atr:
    """The filters of one port."""

    rules: FlowRules = None  # of the port; it has none but these
    overflows: Public[cython.longlong] = 0  # how often the table was full (`fdir_overflow`)

    def __init__(self, rules: FlowRules) -> None:
        self.rules = rules

    @cython.ccall
    def add(self, skb: Skb, number: cython.int) -> cython.int:
        """Send what answers a frame to a queue (`ixgbe_fdir_add_signature_filter_82599`)."""
        source: cython.longlong = skb.header.source_ip << 16 | skb.header.source_port
        target: cython.longlong = skb.header.destination_ip << 16 | skb.header.destination_port
        flow = (target, source)
        known = self.rules.steered.get(flow)
        if known is None:
            if len(self.rules.steered) >= _MOST_FILTERS:
                self.rules.expired += len(self.rules.steered)
                self.rules.steered.clear()
                self.overflows += 1
            self.rules.added += 1
        elif known != number:
            self.rules.updated += 1
        self.rules.steered[flow] = number
        return 0


@cython.final
@cython.cclass
class AtrRing:
    """One transmit ring that looks at what it sends."""

    atr: Atr = None  # of the port
    number: cython.int = 0  # of the ring and of the receive queue that it shares a vector with
    count: cython.int = 0

    def __init__(self, atr: Atr, number: int) -> None:
        self.atr = atr
        self.number = number

    @cython.ccall
    def sent(self, skb: Skb) -> cython.int:
        """A packet has been put into the ring; datagrams have neither number nor window."""
        self.count += 1
        if self.count < _SAMPLE_RATE or skb.header is None or skb.header.source_ip == 0:
            return 0
        if skb.ack == 0 and skb.window == 0:
            return 0
        self.count = 0
        return self.atr.add(skb, self.number)
