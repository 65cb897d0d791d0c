"""The receive path of `rxpath.py` as SimPy's documentation would have it: processes and resources.

Times are in ns.
"""

from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass

import simpy

RING = 511
COALESCE_NS = 20_000
COALESCE_FRAMES = 5
HARDIRQ_NS = 2_000
BUDGET = 64
WAKE_NS = 4_000
COPY_NS = 1_500
ACK_NS = 50_000
STAGGER_NS = 137

Steps = Generator[simpy.Event, object, None]


@dataclass
class Packet:
    """One frame on its way."""

    port: int
    sequence: int
    size_bytes: int
    arrived_ns: int


class Port:
    """NIC, softirq and application of one port."""

    def __init__(
        self, env: simpy.Environment, number: int, end_ns: int, gap_ns: int, frame_cost_ns: int
    ) -> None:
        self.env = env
        self.number = number
        self.end_ns = end_ns
        self.gap_ns = gap_ns
        self.frame_cost_ns = frame_cost_ns
        self.count: Counter[str] = Counter()
        self.ring = simpy.Store(env, capacity=RING)
        self.socket = simpy.Store(env)
        self.irq_cpu = simpy.Resource(env)
        self.app_cpu = simpy.Resource(env)
        self.irq_enabled = True
        self.armed = False
        self.coalesced = 0
        self.generation = 0
        env.process(self.wire())
        env.process(self.application())

    def wire(self) -> Steps:
        yield self.env.timeout(self.number * STAGGER_NS)
        while True:
            self.count["arrivals"] += 1
            if len(self.ring.items) == RING:
                self.count["drops"] += 1
            else:
                yield self.ring.put(
                    Packet(self.number, self.count["arrivals"], 1514, int(self.env.now))
                )
            if self.irq_enabled:
                self.moderate()
            if self.env.now + self.gap_ns >= self.end_ns:
                return
            yield self.env.timeout(self.gap_ns)

    def moderate(self) -> None:
        if not self.armed:
            self.armed = True
            self.coalesced = 1
            self.generation += 1
            self.env.process(self.timer(self.generation))
            return
        self.coalesced += 1
        if self.coalesced >= COALESCE_FRAMES:
            self.fire()

    def timer(self, generation: int) -> Steps:
        yield self.env.timeout(COALESCE_NS)
        if self.armed and generation == self.generation:
            self.fire()

    def fire(self) -> None:
        self.armed = False
        self.irq_enabled = False
        self.generation += 1
        self.count["irqs"] += 1
        self.env.process(self.interrupt())

    def interrupt(self) -> Steps:
        with self.irq_cpu.request() as cpu:
            yield cpu
            yield self.env.timeout(HARDIRQ_NS)
        while self.ring.items:
            with self.irq_cpu.request() as cpu:
                yield cpu
                yield from self.poll()
        self.irq_enabled = True

    def poll(self) -> Steps:
        self.count["polls"] += 1
        for _ in range(BUDGET):
            if not self.ring.items:
                return
            packet = yield self.ring.get()
            yield self.env.timeout(self.frame_cost_ns)
            self.count["delivered"] += 1
            yield self.socket.put(packet)
            if self.count["delivered"] % 2 == 0:
                self.env.process(self.acknowledge())

    def acknowledge(self) -> Steps:
        yield self.env.timeout(ACK_NS)
        self.count["acks"] += 1

    def application(self) -> Steps:
        while True:
            blocked = not self.socket.items
            packet = yield self.socket.get()
            assert isinstance(packet, Packet)
            if blocked:
                self.count["wakeups"] += 1
                yield self.env.timeout(WAKE_NS)
            with self.app_cpu.request() as cpu:
                yield cpu
                yield self.env.timeout(COPY_NS)
            self.count["copied"] += 1
            self.count["latency"] += int(self.env.now) - packet.arrived_ns


def simulate(ports: int, end_ns: int, gap_ns: int, frame_cost_ns: int) -> dict[str, int]:
    """Run the model to its end and return the sums of its counters; times in ns."""
    env = simpy.Environment()
    models = [Port(env, number, end_ns, gap_ns, frame_cost_ns) for number in range(ports)]
    env.run()
    total: Counter[str] = Counter()
    for model in models:
        total.update(model.count)
    return {**total, "clock": int(env.now)}
