"""Messages, the flows that carry them, and the links that flows share: see `flow_fabric`.

Rates are integers, in 1/65536 bytes a microsecond, and amounts in 1/65536 bytes.
"""

from __future__ import annotations

from typing import Any

import cython

from simnet.kernel.component import Component

if not cython.compiled:
    from simnet.kernel.sentinel import NEVER

__all__ = [
    "Flow",
    "FlowGroup",
    "FlowLink",
    "Message",
    "MessageReceiver",
    "new_message",
    "rate_units",
]

_UNIT_BITS = cython.declare(cython.int, 16)
_US_PS = cython.declare(cython.longlong, 1_000_000)
_NS_PS = cython.declare(cython.longlong, 1000)
# of a link's capacity in use, from which on it counts as saturated: 255 of 256
_NEARLY_BITS = cython.declare(cython.int, 8)
# above every rate, and of so many flows that the product is below 2**63
_MOST = cython.declare(cython.longlong, 1 << 52)
_NO_LIMIT = cython.declare(cython.longlong, -1)


class MessageReceiver(Component):
    """Who receives messages, a component."""

    def message_arrived(self, message: Message) -> cython.int:
        """The last byte of a message has come.

        Returns 1 if the thread that reads a threaded flow works on it until `FlowFabric.taken`.
        """
        raise NotImplementedError(self.path)

    def message_sent(self, message: Message) -> cython.int:
        """The last byte of a message that took time has left."""
        return 0


@cython.final
@cython.freelist(4096)
@cython.cclass
class Message:
    """Bytes on a connection; made by `new_message`.

    Attributes:
        size_bytes: how many.
        receiver: hears when all have come.
        kind, tag: the sender's, for the receiver.
    """

    size_bytes: cython.longlong
    receiver: MessageReceiver
    kind: cython.int
    tag: Any
    next: Message


def new_message(
    size_bytes: cython.longlong, receiver: MessageReceiver, kind: cython.int, tag: Any
) -> Message:
    """Make a message; the arguments are its attributes."""
    message: Message = Message.__new__(Message)
    message.size_bytes = size_bytes
    message.receiver = receiver
    message.kind = kind
    message.tag = tag
    message.next = None
    return message


def rate_units(bytes_s: int) -> int:
    """A rate in bytes a second, as flows count it."""
    return (bytes_s << 16) // 1_000_000


@cython.final
@cython.cclass
class FlowLink:
    """One direction of a port, or of a bus.

    Args:
        name: for people.
        bytes_s: goodput.

    Attributes:
        bytes: of the messages that are through.
        busy_ps: time with a flow.
        saturated_ps: time with flows that used all of it.
        active: flows on it.
        up: there is a link.
    """

    def __init__(self, name: str, bytes_s: int) -> None:
        self.name = name
        self.bytes_s = bytes_s
        self.capacity = rate_units(bytes_s)
        self.bytes = 0
        self.busy_ps = 0
        self.saturated_ps = 0
        self.active = 0
        self.up = True
        self.left = self.capacity
        self.open = 0
        self.changed_ps = 0
        self.waiting_bytes = 0
        self.slowest = 0

    def account(self, now: cython.longlong) -> cython.int:
        """Count the time since the last change."""
        if self.active > 0:
            self.busy_ps += now - self.changed_ps
            if self.left < self.capacity >> _NEARLY_BITS:
                self.saturated_ps += now - self.changed_ps
        self.changed_ps = now
        return 0


@cython.final
@cython.cclass
class Flow:
    """One direction of a connection; made by `FlowFabric.connect`.

    Attributes:
        group: flows with which it may share links.
        links: on its way, in order; the first is the sender's port.
        egress: position in `links` of the switch's egress port.
        latency_ps: from the last byte's departure to its receiver.
        rate: now, see `rate_units`.
        threaded: a thread reads it, which takes time for a message.
        reading: the thread works on a message.
        arrived: messages that wait for it in the socket.
        credit: what may be sent before the thread reads on; -1 for no limit.
        shut: nothing may be sent before that.
        messages, bytes: delivered.
        retransmitted_bytes: lost with a link and sent again.
    """

    def __init__(
        self, index: int, group: FlowGroup, *, window_bytes: int, round_trip_ps: int, most: int
    ) -> None:
        self.index = index
        self.group = group
        self.links: list[Any] = []
        self.egress = 1
        self.window_bytes = window_bytes
        self.round_trip_ps = max(round_trip_ps, 1)
        window_bytes_s = window_bytes * 10**12 // self.round_trip_ps
        self.limit = rate_units(min(window_bytes_s, most) if most else window_bytes_s)
        self.ceiling = self.limit
        self.latency_ps = 0
        self.rate = 0
        self.share = 0
        self.at_egress = False
        self.remaining = 0
        self.updated_ps = 0
        self.finish_ps = NEVER
        self.active = False
        self.open = False
        self.full = False
        self.stalled = False
        self.stalls = 0
        self.timer_ps = 0
        self.threaded = False
        self.reading = False
        self.arrived = 0
        self.credit = _NO_LIMIT
        self.shut = False
        self.head: Message = None
        self.tail: Message = None
        self.coming: Message = None
        self.last_coming: Message = None
        self.messages = 0
        self.bytes = 0
        self.retransmitted_bytes = 0

    @property
    def rate_bytes_s(self) -> int:
        """Its rate now."""
        return self.rate * 1_000_000 >> _UNIT_BITS

    def advance(self, now: cython.longlong) -> cython.int:
        """Count what has been sent since the rate changed last."""
        elapsed_ps: cython.longlong = now - self.updated_ps
        sent: cython.longlong
        if self.rate > 0 and elapsed_ps > 0:
            sent = elapsed_ps // _US_PS * self.rate + elapsed_ps % _US_PS * self.rate // _US_PS
            self.remaining = max(self.remaining - sent, 0)
            if self.credit >= 0:
                self.credit = max(self.credit - sent, 0)
        self.updated_ps = now
        return 0

    def closes(self) -> cython.bint:
        """Whether the window closes before the message at the head is through."""
        return 0 <= self.credit < self.remaining

    def predict(self) -> cython.int:
        """When the message at the head is through, or the window closed, at this rate."""
        left: cython.longlong = self.credit if self.closes() else self.remaining
        if self.rate > 0:
            self.finish_ps = self.updated_ps + (left * _US_PS + self.rate - 1) // self.rate
        else:
            self.finish_ps = NEVER
        return 0


@cython.final
@cython.cclass
class FlowGroup:
    """Flows that may share links, and these links.

    Attributes:
        paused: times that rates were computed with a sender paused.
    """

    def __init__(self) -> None:
        self.flows: list[Any] = []
        self.links: list[Any] = []
        self.dirty = False
        self.paused = 0

    def share(self, now: cython.longlong, pause: cython.bint, xoff: cython.longlong) -> cython.int:
        """Compute all rates anew, after flows have started or stopped."""
        flow: Flow
        link: FlowLink
        for link in self.links:
            link.account(now)
        for flow in self.flows:
            flow.ceiling = flow.limit
        self._fill()
        if pause and self._hold_back(xoff):
            self.paused += 1
            self._fill()
        for flow in self.flows:
            if flow.share != flow.rate:
                flow.advance(now)
                flow.rate = flow.share
                flow.predict()
        return 0

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
