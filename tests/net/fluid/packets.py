"""A reference for `FlowFabric`: every frame of a few windowed flows through a switch with pause.

A sender's port serves its flows in turn, frame by frame, as far as their windows allow. The switch
counts the frames of each ingress port that it holds; above `xoff` it pauses the sender, at half of
that it lets it go on. A receiver acknowledges each frame at once.
"""

from collections import deque

from simnet.kernel.component import Component
from simnet.kernel.simulator import Simulator

PAYLOAD = 8948
FRAME = 9038
_SENT, _IN, _OUT, _ACK, _PAUSE, _RESUME = range(6)
_PRIORITY = 1


class PacketNetwork(Component):
    """All of it in one component.

    Args:
        sim: the simulation.
        ways: the sender's port and the receiver's port of each flow; both numbered from 0.
        rate_bps: of all ports.
        window_bytes: of each flow.
        delay_ps: of all that is not serialisation, from sender to switch.
        ack_ps: from a frame's arrival until its acknowledgement is at the sender.
        xoff_bytes: of an ingress port; None for no pause.
    """

    def __init__(
        self,
        sim: Simulator,
        ways: list[tuple[int, int]],
        *,
        rate_bps: int,
        window_bytes: int,
        delay_ps: int,
        ack_ps: int,
        xoff_bytes: int | None,
    ) -> None:
        super().__init__(sim, "packets")
        self.ways = ways
        self.frame_ps = 8 * FRAME * 10**12 // rate_bps
        self.window = window_bytes // PAYLOAD
        self.delay_ps, self.ack_ps, self.xoff_bytes = delay_ps, ack_ps, xoff_bytes
        self.left = [0] * len(ways)
        self.under_way = [0] * len(ways)
        self.delivered = [0] * len(ways)
        self.last_ps = [0] * len(ways)
        sources = 1 + max(source for source, _ in ways)
        targets = 1 + max(target for _, target in ways)
        self.turns = [deque(n for n, way in enumerate(ways) if way[0] == s) for s in range(sources)]
        self.sending = [False] * sources
        self.paused = [False] * sources
        self.asked = [False] * sources
        self.held = [0] * sources
        self.queues: list[deque[int]] = [deque() for _ in range(targets)]

    def send(self, flow: int, size_bytes: int) -> None:
        """Queue bytes on a flow, in whole frames."""
        self.left[flow] += -(-size_bytes // PAYLOAD)
        self._serve(self.ways[flow][0])

    def _serve(self, source: int) -> None:
        """Put the next frame on the wire."""
        if self.sending[source] or self.paused[source]:
            return
        turns = self.turns[source]
        for _ in range(len(turns)):
            flow = turns[0]
            turns.rotate(-1)
            if self.left[flow] and self.under_way[flow] < self.window:
                self.left[flow] -= 1
                self.under_way[flow] += 1
                self.sending[source] = True
                self.sim.after(self.frame_ps, self, _SENT, flow, _PRIORITY)
                return

    def on_event(self, kind: int, arg: int) -> None:
        if kind == _SENT:
            source = self.ways[arg][0]
            self.sending[source] = False
            self.sim.after(self.delay_ps, self, _IN, arg, _PRIORITY)
            self._serve(source)
        elif kind == _IN:
            self._enter(arg)
        elif kind == _OUT:
            self._leave(arg)
        elif kind == _ACK:
            self.under_way[arg] -= 1
            self._serve(self.ways[arg][0])
        else:
            self.paused[arg] = kind == _PAUSE
            self._serve(arg)

    def _enter(self, flow: int) -> None:
        source, target = self.ways[flow]
        self.held[source] += PAYLOAD
        if self.xoff_bytes is not None and not self.asked[source]:
            self.asked[source] = self.held[source] > self.xoff_bytes
            if self.asked[source]:
                self.sim.after(0, self, _PAUSE, source, _PRIORITY)
        queue = self.queues[target]
        queue.append(flow)
        if len(queue) == 1:
            self.sim.after(self.frame_ps, self, _OUT, target, _PRIORITY)

    def _leave(self, target: int) -> None:
        queue = self.queues[target]
        flow = queue.popleft()
        source = self.ways[flow][0]
        self.held[source] -= PAYLOAD
        if self.asked[source] and 2 * self.held[source] <= (self.xoff_bytes or 0):
            self.asked[source] = False
            self.sim.after(0, self, _RESUME, source, _PRIORITY)
        if queue:
            self.sim.after(self.frame_ps, self, _OUT, target, _PRIORITY)
        self.delivered[flow] += PAYLOAD
        self.last_ps[flow] = self.sim.now
        self.sim.after(self.ack_ps, self, _ACK, flow, _PRIORITY)
