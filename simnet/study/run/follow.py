"""Follows single packets from the wire to the application, for arrows in a timeline.

At each receive queue one packet with payload is followed at a time, up to `MOST_FLOWS` in all, so
that the slices of one track never overlap and a long trace stays readable. What is known is kept
until the reader has the packet's last byte and each CPU's slice has been written; then all is
written at once. A packet that is dropped, or not read within 100 ms, leaves nothing behind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from simnet.net.link.ethernet import UNCOUNTED_BYTES
from simnet.net.tcp.socket import TcpSocket

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simnet.host.cpu import Cpu
    from simnet.net.link.skb import Skb
    from simnet.scenario.system.system import System
    from simnet.study.run.flows import FlowTracer, Step

MOST_FLOWS: Final = 5000
_PATIENCE_PS: Final = 100 * 10**9
_BITS_PS: Final = 8 * 10**12
_SOFTIRQ: Final = ("softirq",)
_PROCESS: Final = ("system", "user")


class Followers:
    """All that follow packets for one trace.

    Args:
        tracer: draws the arrows.
        rates_bps: of the ports' links, by name.
    """

    def __init__(self, tracer: FlowTracer, rates_bps: Mapping[str, int]) -> None:
        self.tracer = tracer
        self.begun = 0
        self._rates_bps = rates_bps

    def attach(self, system: System) -> None:
        """Follow what comes to the queues of Ethernet ports; captures go on as they were."""
        for nic in system.nics:
            byte_ps = _BITS_PS // self._rates_bps.get(str(nic.name), _BITS_PS)
            for queue in getattr(nic, "queues", [nic]):
                if queue.uncounted_bytes == UNCOUNTED_BYTES and hasattr(queue, "followed"):
                    queue.capture = _Follower(self, queue, byte_ps)


@dataclass
class _Packet:
    """One that is followed: its last byte, when it came, and where it has been."""

    end_seq: int
    wire_bytes: int
    arrival_ps: int
    taken: Step | None = None
    taken_ps: int = 0
    received_ps: int | None = None


class _Follower:
    """Follows packets of one queue, in the place of its capture; and of their sockets."""

    def __init__(self, all_: Followers, queue: Any, byte_ps: int) -> None:
        self._all = all_
        self._queue = queue
        self._byte_ps = byte_ps
        self._capture = queue.capture
        self._packet: _Packet | None = None
        self._socket: TcpSocket | None = None

    def frame(self, skb: Skb, time_ps: int, out: bool) -> None:  # noqa: FBT001 (from compiled code)
        """A frame has come or leaves."""
        if self._capture is not None:
            self._capture.frame(skb, time_ps, out)
        if out or skb.end_seq == skb.seq or not isinstance(skb.endpoint, TcpSocket):
            return
        if self._packet is not None:
            if time_ps - self._packet.arrival_ps < _PATIENCE_PS:
                return
            self._forget()
        if self._all.begun < MOST_FLOWS and skb.endpoint.follower is None:
            self._all.begun += 1
            self._packet = _Packet(skb.end_seq, skb.wire_bytes, time_ps)
            self._socket = skb.endpoint
            self._queue.followed = skb
            skb.endpoint.follower = self

    def taken(self, cpu: Cpu) -> None:
        """The driver has taken it out of the queue."""
        self._queue.followed = None
        if self._packet is not None:
            self._packet.taken = self._all.tracer.step_on(cpu.path, cpu.sim.now, _SOFTIRQ)
            self._packet.taken_ps = cpu.sim.now

    def received(self, skb: Skb) -> None:
        """TCP has a packet of the socket, which may be several in one."""
        packet = self._packet
        if packet is None or packet.taken is None or packet.received_ps is not None:
            return
        if skb.end_seq >= packet.end_seq:
            packet.received_ps = skb.endpoint.sim.now

    def copied(self, cpu: Cpu) -> None:
        """The reader has copied, and goes on."""
        packet, socket = self._packet, self._socket
        if packet is None or socket is None or packet.taken is None or packet.received_ps is None:
            return
        if socket.receiver.seq.copied_seq < packet.end_seq:
            return
        now = cpu.sim.now
        name = self._queue.path
        begin = max(packet.arrival_ps - packet.wire_bytes * self._byte_ps, 0)
        frame = f"frame of {packet.wire_bytes - UNCOUNTED_BYTES} B"
        tracer = self._all.tracer
        steps = [
            tracer.own_step(f"{name} wire", frame, begin, packet.arrival_ps),
            tracer.own_step(f"{name} queue", "in the queue", packet.arrival_ps, packet.taken_ps),
            packet.taken,
        ]
        if now > packet.received_ps:
            steps.append(tracer.own_step(f"{name} socket", socket.path, packet.received_ps, now))
        tracer.flow("packet", [*steps, tracer.step_on(cpu.path, now, _PROCESS)])
        self._forget()

    def _forget(self) -> None:
        self._queue.followed = None
        if self._socket is not None:
            self._socket.follower = None
        self._packet = self._socket = None
