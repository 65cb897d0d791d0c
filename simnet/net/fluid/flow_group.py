"""Flows that may share links, and the rates that they get: see `flow_fabric`.

Which rates these are depends on nothing but which flows are active, as long as all are led as they
are. So a set of flows that was active before has its rates computed.
"""

from array import array
from typing import Any

import cython

from simnet.kernel.compiled import Array, Public
from simnet.kernel.sentinel import NEVER
from simnet.net.fluid.flow import Flow, FlowLink

_UNIT_BITS: cython.int = 16
_NS_PS: cython.longlong = 1000
# of a link's capacity in use, from which on it counts as saturated: 255 of 256
_NEARLY_BITS: cython.int = 8
# above every rate, and of so many flows that the product is below 2**63
_MOST: cython.longlong = 1 << 52
# flows of which a word can say who is active, and sets of them that are remembered
_MOST_FLOWS: cython.int = 62
_MOST_KNOWN: cython.int = 4096


@cython.final
@cython.cclass
class Rates:
    """What the flows of a group get while certain ones are active."""

    shares: Array[cython.longlong] = None  # of each flow
    saturated: Array[cython.schar] = None  # of each link, whether its flows use all of it
    paused: cython.bint = False  # whether a sender is paused

    def __init__(self, flows: int, links: int) -> None:
        self.shares = array("q", [0] * max(flows, 1))
        self.saturated = array("b", [0] * max(links, 1))


@cython.final
@cython.cclass
class FlowGroup:
    """Flows that may share links, and these links.

    Rates depend on nothing but which flows are active, as long as all are led as they are.
    """

    flows: list[Any] = None
    links: list[Any] = None
    dirty: Public[cython.bint] = False
    paused: cython.longlong = 0  # times that rates were computed with a sender paused
    active: cython.longlong = 0
    # the rates computed so far, by the set of active flows: a bit for each
    known: dict[int, Rates] = None

    def __init__(self) -> None:
        self.flows = []
        self.links = []
        self.known = {}

    def add(self, flow: Flow) -> None:
        """One more flow."""
        self.flows.append(flow)
        self.known.clear()

    def lead(self, flow: Flow, links: list[Any], egress: int) -> None:
        """Lead a flow that is not active over links from now on."""
        flow.links = links
        flow.egress = egress
        for link in links:
            if link not in self.links:
                self.links.append(link)
        self.known.clear()

    @cython.cfunc
    def switch(self, flow: Flow) -> cython.int:
        """A flow has become active, or is no longer."""
        self.dirty = True
        if flow.place < _MOST_FLOWS:
            self.active ^= cython.cast(cython.longlong, 1) << flow.place
        return 0

    @cython.cfunc
    def share(self, now: cython.longlong, pause: cython.bint, xoff: cython.longlong) -> cython.int:
        """Give all flows their rates, after some have started or stopped."""
        rates: Rates = self._rates(pause, xoff)
        position: cython.Py_ssize_t
        flow: Flow
        link: FlowLink
        self.paused += rates.paused
        for position in range(len(self.links)):
            link = self.links[position]
            link.saturate(rates.saturated[position] != 0, now)
        for position in range(len(self.flows)):
            flow = self.flows[position]
            if rates.shares[position] != flow.rate:
                flow.advance(now)
                flow.rate = rates.shares[position]
                flow.predict()
        return 0

    def _rates(self, pause: cython.bint, xoff: cython.longlong) -> Rates:
        """The rates of the flows that are active now."""
        key: Any = self.active
        rates: Rates = None
        if len(self.flows) <= _MOST_FLOWS:
            rates = self.known.get(key)
        if rates is None:
            rates = self._computed(pause, xoff)
            if len(self.known) == _MOST_KNOWN:
                self.known.clear()
            self.known[key] = rates
        return rates

    def _computed(self, pause: cython.bint, xoff: cython.longlong) -> Rates:
        """Compute the rates of all flows."""
        rates: Rates = Rates(len(self.flows), len(self.links))
        position: cython.Py_ssize_t
        flow: Flow
        link: FlowLink
        for flow in self.flows:
            flow.ceiling = flow.limit
        self._fill()
        if pause and self._hold_back(xoff):
            rates.paused = True
            self._fill()
        for position in range(len(self.flows)):
            flow = self.flows[position]
            rates.shares[position] = flow.share
        for position in range(len(self.links)):
            link = self.links[position]
            rates.saturated[position] = link.left < link.capacity >> _NEARLY_BITS
        return rates

    def _fill(self) -> cython.int:
        """Progressive filling: all grow until a link is full or a ceiling is reached."""
        flow: Flow
        link: FlowLink
        level: cython.longlong
        growing: cython.int = 0
        for link in self.links:
            link.left = link.capacity
            link.open = 0
        for flow in self.flows:
            flow.share = 0
            flow.at_egress = False
            flow.open = flow.active
            if flow.open:
                growing += 1
                for link in flow.links:
                    link.open += 1
        while growing > 0:
            level = _MOST
            for flow in self.flows:
                if flow.open and flow.ceiling < level:
                    level = flow.ceiling
            for link in self.links:
                # a share below the level
                if link.open > 0 and link.left < level * link.open:
                    level = link.left // link.open
            growing -= self._freeze(level)
        return 0

    def _freeze(self, level: cython.longlong) -> cython.int:
        """Stop the flows that grow no further than `level`; return how many there are."""
        flow: Flow
        link: FlowLink
        position: cython.int
        frozen: cython.int = 0
        for flow in self.flows:
            if not flow.open:
                continue
            flow.full = flow.ceiling <= level
            for position in range(len(flow.links)):
                link = flow.links[position]
                # the share of each of its flows is no more than the level
                if link.left < (level + 1) * link.open:
                    flow.full = True
                    if position >= flow.egress:
                        flow.at_egress = True
        for flow in self.flows:
            if flow.open and flow.full:
                flow.open = False
                flow.share = level
                frozen += 1
                for link in flow.links:
                    link.left -= level
                    link.open -= 1
        return frozen

    def _hold_back(self, xoff_bytes: cython.longlong) -> cython.bint:
        """Give flows the rate of the slowest that fills the switch for their port, if it is full.

        What of a flow's window is neither in flight nor before its sender's port waits for the
        egress port, in the switch.
        """
        flow: Flow
        link: FlowLink
        waiting: cython.longlong
        paused: cython.bint = False
        for flow in self.flows:
            if flow.active:
                link = flow.links[0]
                link.waiting_bytes = 0
                link.slowest = NEVER
        for flow in self.flows:
            if flow.active and flow.at_egress:
                link = flow.links[0]
                waiting = flow.share * (flow.round_trip_ps // _NS_PS) // _NS_PS >> _UNIT_BITS
                link.waiting_bytes += max(flow.window_bytes - waiting, 0)
                link.slowest = min(link.slowest, flow.share)
        for flow in self.flows:
            if flow.active:
                link = flow.links[0]
                if link.waiting_bytes > xoff_bytes and flow.share > link.slowest:
                    flow.ceiling = link.slowest
                    paused = True
        return paused
