# mypy: no-strict-optional
"""A receive path in miniature, as components: NIC, interrupt, NAPI, socket, application.

Each port has a NIC with a ring of 511 and moderation (5 frames, or 20 us after the first), a CPU
for interrupts and one for the application. It is a measure of engines, and no model of a machine.
"""

from __future__ import annotations

from dataclasses import dataclass

import cython

from simnet.kernel.compiled import Public
from simnet.kernel.component import Component
from simnet.kernel.priority import NIC
from simnet.kernel.simulator import Simulator

# The expected clock tells that ports start this much apart.
STAGGER_PS: cython.longlong = 137_000
NS: cython.longlong = 1000
RING: cython.int = 511
COALESCE_PS: cython.longlong = 20_000_000
COALESCE_FRAMES: cython.int = 5
HARDIRQ_PS: cython.longlong = 2_000_000
BUDGET: cython.int = 64
WAKE_PS: cython.longlong = 4_000_000
COPY_PS: cython.longlong = 1_500_000
ACK_PS: cython.longlong = 50_000_000

ARRIVAL: cython.int = 0
TIMER: cython.int = 1
HARDIRQ: cython.int = 2
SOFTIRQ: cython.int = 3
FRAME: cython.int = 4
WAKE: cython.int = 5
COPY: cython.int = 6
ACK: cython.int = 7


@cython.freelist(8192)
@cython.final
@cython.cclass
class Packet:
    """One frame on its way."""

    port: Public[cython.int] = 0
    sequence: Public[cython.longlong] = 0
    size_bytes: Public[cython.int] = 0
    arrived_ps: Public[cython.longlong] = 0
    behind: Packet = None


@cython.final
@cython.cclass
class PacketQueue:
    """Packets in order, linked through themselves."""

    length: Public[cython.int] = 0
    head: Packet = None
    tail: Packet = None

    def __init__(self) -> None:
        self.length = 0
        self.head = None
        self.tail = None

    @cython.cfunc
    def push(self, packet: Packet) -> cython.int:
        packet.behind = None
        if self.length == 0:
            self.head = packet
        else:
            self.tail.behind = packet
        self.tail = packet
        self.length += 1
        return 0

    @cython.cfunc
    def pop(self) -> Packet:
        packet: Packet = self.head
        self.head = packet.behind
        packet.behind = None
        self.length -= 1
        return packet


@cython.final
@cython.cclass
class Cpu(Component):
    """Serves what is submitted one after the other."""

    free_ps: cython.longlong = 0

    def __init__(self, sim: Simulator, path: str) -> None:
        super().__init__(sim, path)
        self.free_ps = 0

    @cython.cfunc
    def submit(self, cost_ps: cython.longlong, target: Component, kind: cython.int) -> cython.int:
        self.free_ps = max(self.free_ps, self.sim.now) + cost_ps
        self.sim.at(self.free_ps, target, kind, 0, NIC)
        return 0


@cython.cclass
class Nic(Component):
    """Receives a frame each gap; interrupts after 5 frames, or 20 us after the first."""

    arrivals: cython.longlong = 0
    drops: cython.longlong = 0
    irqs: cython.longlong = 0
    port: cython.int = 0
    end_ps: cython.longlong = 0
    gap_ps: cython.longlong = 0
    ring: PacketQueue = None
    napi: Napi = None
    irq_enabled: cython.bint = False
    armed: cython.bint = False
    coalesced: cython.int = 0
    generation: cython.longlong = 0

    def __init__(self, sim: Simulator, port: int, end_ps: int, gap_ps: int) -> None:
        super().__init__(sim, f"port{port}.nic")
        self.arrivals = self.drops = self.irqs = 0
        self.port = port
        self.end_ps = end_ps
        self.gap_ps = gap_ps
        self.ring = PacketQueue()
        self.irq_enabled = True
        self.armed = False
        self.coalesced = 0
        self.generation = 0

    def connect(self, napi: Napi) -> None:
        self.napi = napi

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        packet: Packet
        if kind == TIMER:
            if arg == self.generation and self.armed:
                self.fire()
            return
        self.arrivals += 1
        if self.ring.length == RING:
            self.drops += 1
        else:
            packet = Packet.__new__(Packet)
            packet.port = self.port
            packet.sequence = self.arrivals
            packet.size_bytes = 1514
            packet.arrived_ps = self.sim.now
            self.ring.push(packet)
        if self.irq_enabled:
            if not self.armed:
                self.armed = True
                self.coalesced = 1
                self.generation += 1
                self.sim.after(COALESCE_PS, self, TIMER, self.generation, NIC)
            else:
                self.coalesced += 1
                if self.coalesced >= COALESCE_FRAMES:
                    self.fire()
        if self.sim.now + self.gap_ps < self.end_ps:
            self.sim.after(self.gap_ps, self, ARRIVAL, 0, NIC)

    @cython.cfunc
    def fire(self) -> cython.int:
        self.armed = False
        self.irq_enabled = False
        self.generation += 1
        self.irqs += 1
        self.napi.cpu.submit(HARDIRQ_PS, self.napi, HARDIRQ)
        return 0


@cython.cclass
class Napi(Component):
    """Hard interrupt, then polls of up to 64 frames."""

    polls: cython.longlong = 0
    delivered: cython.longlong = 0
    acks: cython.longlong = 0
    nic: Nic = None
    cpu: Cpu = None
    application: Application = None
    frame_cost_ps: cython.longlong = 0
    done: cython.int = 0
    frame: Packet = None

    def __init__(
        self, sim: Simulator, nic: Nic, cpu: Cpu, application: Application, frame_cost_ps: int
    ) -> None:
        super().__init__(sim, f"port{nic.port}.napi")
        self.polls = self.delivered = self.acks = 0
        self.nic = nic
        self.cpu = cpu
        self.application = application
        self.frame_cost_ps = frame_cost_ps
        self.done = 0
        self.frame = None

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:  # noqa: ARG002
        if kind == FRAME:
            self.done += 1
            self.delivered += 1
            self.application.receive(self.frame)
            if self.delivered % 2 == 0:
                self.sim.after(ACK_PS, self, ACK, 0, NIC)
            self.application.wake()
            self.next_frame()
        elif kind == ACK:
            self.acks += 1
        elif kind == HARDIRQ:
            self.cpu.submit(0, self, SOFTIRQ)
        else:
            self.polls += 1
            self.done = 0
            self.next_frame()

    @cython.cfunc
    def next_frame(self) -> cython.int:
        if self.nic.ring.length == 0:
            self.nic.irq_enabled = True
        elif self.done == BUDGET:
            self.cpu.submit(0, self, SOFTIRQ)
        else:
            self.frame = self.nic.ring.pop()
            self.cpu.submit(self.frame_cost_ps, self, FRAME)
        return 0


@cython.cclass
class Application(Component):
    """Copies from its socket until that is empty, then sleeps."""

    wakeups: cython.longlong = 0
    copied: cython.longlong = 0
    latency_ps: cython.longlong = 0
    cpu: Cpu = None
    socket: PacketQueue = None
    blocked: cython.bint = False

    def __init__(self, sim: Simulator, port: int, cpu: Cpu) -> None:
        super().__init__(sim, f"port{port}.application")
        self.wakeups = self.copied = self.latency_ps = 0
        self.cpu = cpu
        self.socket = PacketQueue()
        self.blocked = True

    @cython.cfunc
    def receive(self, packet: Packet) -> cython.int:
        self.socket.push(packet)
        return 0

    @cython.cfunc
    def wake(self) -> cython.int:
        if self.blocked:
            self.blocked = False
            self.wakeups += 1
            self.sim.after(WAKE_PS, self, WAKE, 0, NIC)
        return 0

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:  # noqa: ARG002
        if kind == COPY:
            self.copied += 1
            self.latency_ps += self.sim.now - self.socket.pop().arrived_ps
        self.copy_next()

    @cython.cfunc
    def copy_next(self) -> cython.int:
        if self.socket.length == 0:
            self.blocked = True
        else:
            self.cpu.submit(COPY_PS, self, COPY)
        return 0


@dataclass(frozen=True)
class Load:
    """Ports, duration, time between frames and cost of a frame; times in ns."""

    ports: int
    end_ns: int
    gap_ns: int
    frame_cost_ns: int


def simulate(load: Load) -> dict[str, int]:
    """Run the model to its end and return the sums of its counters; times in ns."""
    sim = Simulator()
    nics, napis, applications = [], [], []
    for port in range(load.ports):
        nic = Nic(sim, port, load.end_ns * NS, load.gap_ns * NS)
        application = Application(sim, port, Cpu(sim, f"cpu{port + load.ports}"))
        cost_ps = load.frame_cost_ns * NS
        napi = Napi(sim, nic, Cpu(sim, f"cpu{port}"), application, cost_ps)
        nic.connect(napi)
        sim.at(port * STAGGER_PS, nic, ARRIVAL, 0, NIC)
        nics.append(nic)
        napis.append(napi)
        applications.append(application)
    sim.dispatch((1 << 62) - 1, 1 << 60)
    return {
        "arrivals": sum([nic.arrivals for nic in nics]),
        "drops": sum([nic.drops for nic in nics]),
        "irqs": sum([nic.irqs for nic in nics]),
        "polls": sum([napi.polls for napi in napis]),
        "delivered": sum([napi.delivered for napi in napis]),
        "wakeups": sum([application.wakeups for application in applications]),
        "copied": sum([application.copied for application in applications]),
        "acks": sum([napi.acks for napi in napis]),
        "latency": sum([application.latency_ps for application in applications]) // NS,
        "clock": sim.now // NS,
        "events": sim.events,
    }
