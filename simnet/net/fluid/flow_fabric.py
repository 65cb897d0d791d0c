"""A network of links on which connections send long messages: rates instead of packets.

Each direction of a connection is a flow: a queue of messages, one after the other, as TCP sends
them. Flows that have something to send share the links on their way max-min fairly: all grow at
the same pace until a link is full or the flow's own limit is reached, and the others go on growing
(progressive filling; Bertsekas and Gallager, "Data Networks", 6.5.2). Why that is what ports and
TCP do: a switch that drops nothing leaves each flow with its window outstanding. What is not in
flight waits before the flow's narrowest link, in one queue for all, so flows with equal windows get
equal shares of it; and what a flow cannot use, others take.

A flow's limit is a window each round trip, the time without queues: waiting in a queue is
what the shares are. Pause (802.3x) changes the shares: frames that wait for a full egress port lie
in the switch, counted for the port that they came in by. When that port's share of the buffer is
full, its sender is paused, and all of its flows with it. The sender's rings take turns, so then no
flow of this port is faster than the slowest that waits in the switch: head-of-line blocking.

A thread that reads a flow and works on a message leaves what follows in the socket: no more than a
window of it. So the sender stops when so much has left, and starts again when the thread reads on.

Rates change only when a flow starts or stops, so a message costs two events however long it is.
Left out: slow start, and the wire time of ACKs, under 1 % of the other direction.
"""

from typing import Any

import cython

from simnet.kernel.component import Component
from simnet.kernel.priority import NIC, WIRE
from simnet.kernel.sentinel import NEVER
from simnet.kernel.simulator import Simulator
from simnet.net.fluid.flow import FinishTimes, Flow, FlowLink, Message
from simnet.net.fluid.flow_group import FlowGroup

_UNIT_BITS: cython.int = 16
_LONGEST_BYTES: cython.longlong = 64 << 20
_NO_LIMIT: cython.longlong = -1

_FINISH: cython.int = 0
_DELIVER: cython.int = 1


@cython.final
@cython.cclass
class FlowFabric(Component):
    """Links, and the flows that share them."""

    groups: list[Any] = None  # sets of flows that never share a link, such as the two directions
    flows: list[Any] = None
    finish: FinishTimes = None
    dirty: cython.bint = False
    # a message up to this size that nothing is before needs no share of the links
    small_bytes: cython.longlong = 0
    pause: cython.bint = False  # 802.3x
    # of one ingress port in the switch, before it pauses its sender
    xoff_bytes: cython.longlong = 0
    event: cython.longlong = 0
    event_ps: cython.longlong = 0
    shares: cython.longlong = 0  # times that rates were computed

    def __init__(
        self,
        sim: Simulator,
        path: str,
        groups: int,
        *,
        small_bytes: int,
        pause: bool,
        xoff_bytes: int,
    ) -> None:
        super().__init__(sim, path)
        self.groups = [FlowGroup() for _ in range(groups)]
        self.flows = []
        self.finish = FinishTimes()
        self.small_bytes = small_bytes
        self.pause = pause
        self.xoff_bytes = xoff_bytes
        self.event_ps = NEVER

    def counters(self) -> dict[str, int]:
        """Messages and bytes delivered, computations of rates, senders that were paused."""
        return {
            "messages": sum(flow.messages for flow in self.flows),
            "bytes": sum(flow.bytes for flow in self.flows),
            "shares": self.shares,
            "paused": sum(group.paused for group in self.groups),
        }

    def connect(
        self,
        group: int,
        *,
        window_bytes: int,
        round_trip_ps: int,
        latency_ps: int,
        most_bytes_s: int = 0,
    ) -> Flow:
        """Add a flow; `route` gives its links.

        Args:
            group: whose flows it may share links with.
            window_bytes: of the connection.
            round_trip_ps: without queues.
            latency_ps: from a byte's departure to its receiver, without queues.
            most_bytes_s: what its ends can do; 0 for no limit.
        """
        members: FlowGroup = self.groups[group]
        flow = Flow(
            self.finish,
            group,
            len(members.flows),
            window_bytes=window_bytes,
            round_trip_ps=round_trip_ps,
            most=most_bytes_s,
        )
        flow.latency_ps = latency_ps
        self.flows.append(flow)
        members.add(flow)
        return flow

    def route(self, flow: Flow, links: list[FlowLink], egress: int) -> None:
        """Lead a flow over links from now on.

        Args:
            flow: that is led.
            links: the sender's port first.
            egress: position of the first link behind the switch.
        """
        members: FlowGroup = self.groups[flow.group]
        starts = flow.active
        self._leave(flow)
        members.lead(flow, links, egress)
        if starts:
            self._join(flow)
            self._reallocate()

    def send(self, flow: Flow, message: Message) -> cython.int:
        """Queue a message.

        Raises:
            ValueError: it has no byte, or more than 64 MiB.
        """
        if message.size_bytes > _LONGEST_BYTES or message.size_bytes < 1:
            raise ValueError(f"{self.path}: a message of {message.size_bytes} bytes")
        if flow.head is not None:
            flow.tail.next = message
            flow.tail = message
        elif message.size_bytes <= self.small_bytes:
            self._through(flow, message)
            return message.receiver.message_sent(message)
        else:
            flow.head = message
            flow.tail = message
            flow.remaining = message.size_bytes << _UNIT_BITS
            flow.updated_ps = self.sim.now
            if not flow.shut:
                self._join(flow)
                self._reallocate()
        return 0

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """Messages are through, or one has come."""
        flow: Flow
        if kind == _FINISH:
            self.event = 0
            self.event_ps = NEVER
            self._finish()
            return
        flow = self.flows[arg]
        if flow.reading:
            flow.arrived += 1
        else:
            self._hand_over(flow)

    def _hand_over(self, flow: Flow) -> cython.int:
        """The receiver gets the message that came first."""
        message: Message = flow.coming
        flow.advance(self.sim.now)
        flow.coming = message.next
        message.next = None
        flow.messages += 1
        flow.bytes += message.size_bytes
        flow.reading = message.receiver.message_arrived(message) > 0
        if flow.reading and flow.credit < 0:
            flow.credit = flow.window_bytes << _UNIT_BITS
        return self._reopen(flow)

    def read_next(self, flow: Flow) -> cython.int:
        """The thread of a flow is done with a message and reads the next one from the socket."""
        flow.reading = False
        while flow.arrived > 0 and not flow.reading:
            flow.arrived -= 1
            flow.credit += flow.coming.size_bytes << _UNIT_BITS
            self._hand_over(flow)
        return self._reopen(flow)

    def _reopen(self, flow: Flow) -> cython.int:
        """The window is as open as the socket is empty; all of it while the thread waits."""
        before_ps: cython.longlong = self.finish.times[flow.index]
        if flow.credit < 0:
            return 0
        flow.advance(self.sim.now)
        if not flow.reading:
            flow.credit = _NO_LIMIT
        if not flow.shut:
            flow.predict()
        elif flow.credit != 0:
            flow.shut = False
            if flow.head is not None:
                self._join(flow)
        if self.finish.times[flow.index] == before_ps and not self.dirty:
            return 0
        return self._reallocate()

    def _finish(self) -> cython.int:
        """Messages are through, and the next ones of their flows begin; or windows close."""
        now: cython.longlong = self.sim.now
        shuts: cython.bint
        number: cython.int
        flow: Flow
        message: Message
        for number in range(self.finish.count):
            if self.finish.times[number] > now:
                continue
            flow = self.flows[number]
            shuts = flow.closes()
            flow.advance(now)
            if shuts:
                flow.shut = True
                self._leave(flow)
                continue
            message = flow.head
            if flow.threaded and flow.credit < 0 and message.size_bytes > self.small_bytes:
                flow.credit = flow.window_bytes << _UNIT_BITS
            flow.head = message.next
            message.next = None
            self._through(flow, message)
            if flow.head is None:
                flow.tail = None
                flow.remaining = 0
                self._leave(flow)
            else:
                flow.remaining = flow.head.size_bytes << _UNIT_BITS
                flow.updated_ps = now
                flow.predict()
            message.receiver.message_sent(message)
        return self._reallocate()

    def _through(self, flow: Flow, message: Message) -> cython.int:
        """The last byte of a message leaves; it comes after the latency."""
        link: FlowLink
        for link in flow.links:
            link.bytes += message.size_bytes
        if flow.coming is None:
            flow.coming = message
        else:
            flow.last_coming.next = message
        flow.last_coming = message
        self.sim.after(flow.latency_ps, self, _DELIVER, flow.index, WIRE)
        return 0

    def _join(self, flow: Flow) -> cython.int:
        """A flow starts."""
        link: FlowLink
        now: cython.longlong = self.sim.now
        flow.active = True
        self._switch(flow)
        for link in flow.links:
            link.join(now)
        return 0

    def _leave(self, flow: Flow) -> cython.int:
        """A flow stops."""
        link: FlowLink
        now: cython.longlong = self.sim.now
        if not flow.active:
            return 0
        flow.advance(now)
        flow.stop()
        self._switch(flow)
        for link in flow.links:
            link.leave(now)
        return 0

    def _switch(self, flow: Flow) -> cython.int:
        """Rates are to be computed, since a flow has started or stopped."""
        group: FlowGroup = self.groups[flow.group]
        self.dirty = True
        return group.switch(flow)

    def _reallocate(self) -> cython.int:
        """Compute rates where flows have started or stopped, and when a message is through next."""
        group: FlowGroup
        next_ps: cython.longlong
        if self.dirty:
            self.dirty = False
            for group in self.groups:
                if group.dirty:
                    group.dirty = False
                    self.shares += 1
                    group.share(self.sim.now, self.pause, self.xoff_bytes)
        next_ps = self.finish.earliest()
        if next_ps == self.event_ps:
            return 0
        if self.event != 0:
            self.sim.cancel(self.event)
            self.event = 0
        self.event_ps = next_ps
        if next_ps < NEVER:
            self.event = self.sim.at(next_ps, self, _FINISH, 0, NIC)
        return 0
