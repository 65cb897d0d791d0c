"""Messages, the flows that carry them, and the links that flows share: see `flow_fabric`.

Rates are integers, in 1/65536 bytes a microsecond, and amounts in 1/65536 bytes.
"""

from __future__ import annotations

from array import array
from typing import Any

import cython

from simnet.kernel.compiled import Array, Public
from simnet.kernel.component import Component
from simnet.kernel.sentinel import NEVER

_UNIT_BITS: cython.int = 16
_US_PS: cython.longlong = 1_000_000
_NO_LIMIT: cython.longlong = -1


@cython.cclass
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
    """Bytes on a connection; made by `new_message`."""

    size_bytes: cython.longlong = 0  # how many
    receiver: MessageReceiver = None  # hears when all have come
    # the sender's, for the receiver
    kind: cython.int = 0
    tag: Any = None
    next: Public[Message] = None


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
    """One direction of a port, or of a bus."""

    name: str = None  # for people
    bytes_s: cython.longlong = 0  # goodput
    capacity: cython.longlong = 0
    bytes: Public[cython.longlong] = 0  # of the messages that are through
    busy_ps: cython.longlong = 0  # time with a flow
    saturated_ps: cython.longlong = 0  # time with flows that used all of it
    active: Public[cython.int] = 0  # flows on it
    saturated: cython.bint = False  # its flows use all of it
    left: cython.longlong = 0
    open: cython.int = 0
    changed_ps: cython.longlong = 0
    waiting_bytes: cython.longlong = 0
    slowest: cython.longlong = 0

    def __init__(self, name: str, bytes_s: int) -> None:
        self.name = name
        self.bytes_s = bytes_s
        self.capacity = rate_units(bytes_s)
        self.left = self.capacity

    def account(self, now: cython.longlong) -> cython.int:
        """Count the time since the last change."""
        if self.active > 0:
            self.busy_ps += now - self.changed_ps
            if self.saturated:
                self.saturated_ps += now - self.changed_ps
        self.changed_ps = now
        return 0

    @cython.cfunc
    def join(self, now: cython.longlong) -> cython.int:
        """One more flow is on it."""
        if self.active == 0:
            self.account(now)
        self.active += 1
        return 0

    @cython.cfunc
    def leave(self, now: cython.longlong) -> cython.int:
        """One flow less is on it."""
        if self.active == 1:
            self.account(now)
        self.active -= 1
        return 0

    @cython.cfunc
    def saturate(self, saturated: cython.bint, now: cython.longlong) -> cython.int:
        """Its flows use all of it from now on, or no longer."""
        if self.saturated != saturated:
            self.account(now)
            self.saturated = saturated
        return 0


@cython.final
@cython.cclass
class FinishTimes:
    """When the message at the head of each flow is through, or its window closed."""

    count: cython.int = 0  # of the flows
    times: Array[cython.longlong] = None

    def __init__(self) -> None:
        self.times = array("q")

    def add(self) -> int:
        """Return the number of one more flow."""
        times = array("q", [NEVER] * (self.count + 1))
        for number in range(self.count):
            times[number] = self.times[number]
        self.times = times
        self.count += 1
        return self.count - 1

    @cython.cfunc
    def earliest(self) -> cython.longlong:
        """The first of all; NEVER if there is none."""
        first_ps: cython.longlong = NEVER
        number: cython.int
        for number in range(self.count):
            first_ps = min(first_ps, self.times[number])
        return first_ps


@cython.final
@cython.cclass
class Flow:
    """One direction of a connection; made by `FlowFabric.connect`."""

    finish: FinishTimes = None
    index: cython.int = 0  # of all flows of the fabric
    # which group of flows may share links with it, and which of them it is
    group: cython.int = 0
    place: cython.int = 0
    links: Public[list[Any]] = None  # on its way, in order; the first is the sender's port
    egress: Public[cython.int] = 0  # position in `links` of the switch's egress port
    limit: cython.longlong = 0
    ceiling: cython.longlong = 0
    window_bytes: cython.longlong = 0
    round_trip_ps: cython.longlong = 0
    latency_ps: Public[cython.longlong] = 0  # from the last byte's departure to its receiver
    rate: Public[cython.longlong] = 0  # now, see `rate_units`
    share: cython.longlong = 0
    at_egress: cython.bint = False
    active: Public[cython.bint] = False
    open: cython.bint = False
    full: cython.bint = False
    remaining: Public[cython.longlong] = 0
    updated_ps: Public[cython.longlong] = 0
    threaded: Public[cython.bint] = False  # a thread reads it, which takes time for a message
    reading: Public[cython.bint] = False  # the thread works on a message
    arrived: Public[cython.int] = 0  # messages that wait for it in the socket
    # what may be sent before the thread reads on; -1 for no limit
    credit: Public[cython.longlong] = 0
    shut: Public[cython.bint] = False  # nothing may be sent before that
    head: Public[Message] = None
    tail: Public[Message] = None
    coming: Public[Message] = None
    last_coming: Public[Message] = None
    # delivered
    messages: Public[cython.longlong] = 0
    bytes: Public[cython.longlong] = 0

    def __init__(
        self,
        finish: FinishTimes,
        group: int,
        place: int,
        *,
        window_bytes: int,
        round_trip_ps: int,
        most: int,
    ) -> None:
        self.finish = finish
        self.index = finish.add()
        self.group = group
        self.place = place
        self.links = []
        self.egress = 1
        self.window_bytes = window_bytes
        self.round_trip_ps = max(round_trip_ps, 1)
        window_bytes_s = window_bytes * 10**12 // self.round_trip_ps
        self.limit = rate_units(min(window_bytes_s, most) if most else window_bytes_s)
        self.ceiling = self.limit
        self.credit = _NO_LIMIT

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
        finish_ps: cython.longlong = NEVER
        if self.rate > 0:
            finish_ps = self.updated_ps + (left * _US_PS + self.rate - 1) // self.rate
        self.finish.times[self.index] = finish_ps
        return 0

    @cython.cfunc
    def stop(self) -> cython.int:
        """Send nothing."""
        self.active = False
        self.rate = 0
        self.finish.times[self.index] = NEVER
        return 0
