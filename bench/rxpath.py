# mypy: no-strict-optional
"""A receive path in miniature, as components: NIC, interrupt, NAPI, socket, application.

Each port has a NIC with a ring of 511 and moderation (5 frames, or 20 us after the first), a CPU
for interrupts and one for the application. It is a measure of engines, and no model of a machine.
"""

from __future__ import annotations

from dataclasses import dataclass

import cython

from simnet.kernel.component import Component
from simnet.kernel.simulator import Simulator

if not cython.compiled:
    from simnet.kernel.priority import NIC

# The expected clock tells that ports start this much apart.
STAGGER_PS = cython.declare(cython.longlong, 137_000)
NS = cython.declare(cython.longlong, 1000)
RING = cython.declare(cython.int, 511)
COALESCE_PS = cython.declare(cython.longlong, 20_000_000)
COALESCE_FRAMES = cython.declare(cython.int, 5)
HARDIRQ_PS = cython.declare(cython.longlong, 2_000_000)
BUDGET = cython.declare(cython.int, 64)
WAKE_PS = cython.declare(cython.longlong, 4_000_000)
COPY_PS = cython.declare(cython.longlong, 1_500_000)
ACK_PS = cython.declare(cython.longlong, 50_000_000)

ARRIVAL = cython.declare(cython.int, 0)
TIMER = cython.declare(cython.int, 1)
HARDIRQ = cython.declare(cython.int, 2)
SOFTIRQ = cython.declare(cython.int, 3)
FRAME = cython.declare(cython.int, 4)
WAKE = cython.declare(cython.int, 5)
COPY = cython.declare(cython.int, 6)
ACK = cython.declare(cython.int, 7)


class Packet:
    """One frame on its way."""

    port: cython.int
    sequence: cython.longlong
    size_bytes: cython.int
    arrived_ps: cython.longlong
    behind: Packet


class PacketQueue:
    """Packets in order, linked through themselves."""

    length: cython.int
    head: Packet
    tail: Packet

    def __init__(self) -> None:
        self.length = 0
        self.head = None
        self.tail = None

    def push(self, packet: Packet) -> cython.int:
        packet.behind = None
        if self.length == 0:
            self.head = packet
        else:
            self.tail.behind = packet
        self.tail = packet
        self.length += 1
        return 0

    def pop(self) -> Packet:
        packet: Packet = self.head
        self.head = packet.behind
        packet.behind = None
        self.length -= 1
        return packet


class Cpu(Component):
    """Serves what is submitted one after the other."""

    free_ps: cython.longlong

    def __init__(self, sim: Simulator, path: str) -> None:
        super().__init__(sim, path)
        self.free_ps = 0

    def submit(self, cost_ps: cython.longlong, target: Component, kind: cython.int) -> cython.int:
        self.free_ps = max(self.free_ps, self.sim.now) + cost_ps
        self.sim.at(self.free_ps, target, kind, 0, NIC)
        return 0


class Nic(Component):
    """Receives a frame each gap; interrupts after 5 frames, or 20 us after the first."""

    arrivals: cython.longlong
    drops: cython.longlong
    irqs: cython.longlong
    port: cython.int
    end_ps: cython.longlong
    gap_ps: cython.longlong
    ring: PacketQueue
    napi: Napi
    irq_enabled: cython.bint
    armed: cython.bint
    coalesced: cython.int
    generation: cython.longlong

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

    def fire(self) -> cython.int:
        self.armed = False
        self.irq_enabled = False
        self.generation += 1
        self.irqs += 1
        self.napi.cpu.submit(HARDIRQ_PS, self.napi, HARDIRQ)
        return 0


class Napi(Component):
    """Hard interrupt, then polls of up to 64 frames."""

    polls: cython.longlong
    delivered: cython.longlong
    acks: cython.longlong
    nic: Nic
    cpu: Cpu
    application: Application
    frame_cost_ps: cython.longlong
    done: cython.int
    frame: Packet

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

    def next_frame(self) -> cython.int:
        if self.nic.ring.length == 0:
            self.nic.irq_enabled = True
        elif self.done == BUDGET:
            self.cpu.submit(0, self, SOFTIRQ)
        else:
            self.frame = self.nic.ring.pop()
            self.cpu.submit(self.frame_cost_ps, self, FRAME)
        return 0


class Application(Component):
    """Copies from its socket until that is empty, then sleeps."""

    wakeups: cython.longlong
    copied: cython.longlong
    latency_ps: cython.longlong
    cpu: Cpu
    socket: PacketQueue
    blocked: cython.bint

    def __init__(self, sim: Simulator, port: int, cpu: Cpu) -> None:
        super().__init__(sim, f"port{port}.application")
        self.wakeups = self.copied = self.latency_ps = 0
        self.cpu = cpu
        self.socket = PacketQueue()
        self.blocked = True

    def receive(self, packet: Packet) -> cython.int:
        self.socket.push(packet)
        return 0

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
