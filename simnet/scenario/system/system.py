"""A built system: what runs, and its counters at one instant."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, fields
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol

from simnet.scenario.system.activity import activity_of
from simnet.scenario.system.collector import COLLECTOR
from simnet.scenario.system.resource import cpus, memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from simnet.host.cpu import Cpu
    from simnet.host.machine import Machine
    from simnet.net.nic.multiqueue import MultiqueuePort
    from simnet.net.nic.port import Nic
    from simnet.scenario.system.activity import Activity
    from simnet.scenario.system.ground import Ground
    from simnet.scenario.system.resource import Resource, Wait


@dataclass(frozen=True)
class CpuTimes:
    """Cumulative time of one logical CPU: exact, and as tick sampling saw it."""

    id: int
    node: int
    user_ps: int
    system_ps: int
    softirq_ps: int
    irq_ps: int
    iowait_ps: int
    steal_ps: int
    idle_ps: int
    user_ticks: int
    system_ticks: int
    softirq_ticks: int
    irq_ticks: int
    idle_ticks: int


@dataclass(frozen=True)
class PortCounts:
    """Cumulative counters of one port; bytes as the driver counts them (no FCS).

    `out_of_order` are packets behind one with a higher number as a reorder window gets them and
    as it hands them up; empty without a window.
    """

    name: str
    node: int
    irq: int
    rx_bytes: int
    tx_bytes: int
    rx_packets: int
    tx_packets: int
    interrupts: int
    drops: int
    interrupts_by_cpu: dict[int, int]
    out_of_order: tuple[int, ...] = ()


@dataclass(frozen=True)
class FlowCounts:
    """Cumulative counters of one stream."""

    name: str  # of the flow
    port: str  # name of the system's port
    bytes: int  # payload that the receiving application has got
    # histogram of the time from a frame's arrival in the NIC to its processing by TCP for the
    # reader, or of what else `System.latency_kinds` says: pairs of upper bound in ps and
    # count
    latency: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class DropCount:
    """Packets that one place has dropped, cumulative."""

    # wire, switch, backlog, qdisc, socket or memory; what a port's ring drops is in
    # `PortCounts`
    place: str
    at: str  # which of them: a port's name, a CPU as in `cpu3`, a socket
    packets: int  # how many


@dataclass(frozen=True)
class MessageCounts:
    """Messages of an open-loop load, cumulative; delivered is whose last byte has arrived."""

    offered: int
    delivered: int
    retransmitted: int


@dataclass(frozen=True)
class Snapshot:
    """All counters at one instant."""

    time_ps: int  # when
    cpus: tuple[CpuTimes, ...]  # in the order of their numbers
    ports: tuple[PortCounts, ...]  # of the system under test
    flows: tuple[FlowCounts, ...]  # in the order of the configuration
    work_ps: dict[str, int]  # the ledger of the system's CPUs
    # by place, rings apart, in the same order in every snapshot
    drops: tuple[DropCount, ...] = field(default=(), repr=False)
    # of an open-loop load; None without one
    messages: MessageCounts | None = field(default=None, repr=False)
    # what only some systems count, by name, always in one order
    more: dict[str, Any] = field(default_factory=dict, repr=False)
    # likewise, but no part of what is the same for equal simulations
    observed: dict[str, Any] = field(default_factory=dict, repr=False)

    def _optional(self) -> dict[str, Any]:
        """What the system has of counters that not every system has."""
        found = {"drops": self.drops, "messages": self.messages, **self.more}
        return {name: counts for name, counts in found.items() if counts}

    def counters(self) -> dict[str, Any]:
        """Every number by name, groups as they are; what the system does not have is left out."""
        always = {part.name: getattr(self, part.name) for part in fields(self) if part.repr}
        return always | self._optional()

    def grown(self, before: Snapshot, name: str) -> dict[str, int] | None:
        """How counters of `more` have grown since a snapshot before; None where there are none."""
        first, last = before.more.get(name), self.more.get(name)
        if first is None or last is None:
            return None
        counters = (part.name for part in fields(last))
        return {name: getattr(last, name) - getattr(first, name) for name in counters}

    def digest(self) -> str:
        """Stable digest of every number."""
        text = repr(self) + "".join(map(repr, self._optional().values()))
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


class Receiver(Protocol):
    """Where a stream is received: in a socket of the system, or at a remote end."""

    @property
    def latency_kind(self) -> str:
        """What its latencies are.

        `one-way`: of a transfer its delay; `round trip`: of requests on a network the time to the
        answer as their client sees it; `response`: of a disk's the same.
        """

    @property
    def delivered(self) -> int:
        """Payload bytes that the reading process has got."""

    def latency_buckets(self) -> tuple[tuple[int, int], ...]:
        """Histogram of the time from a frame's arrival to its processing: (upper ps, count)."""


class Waiting(Protocol):
    """Processes that wait for a device."""

    def iowait_ps(self, cpu: Cpu) -> int:
        """Idle time of a CPU of the system in which a process waited for the device."""

    def blocked(self) -> int:
        """Processes of the system that wait now."""

    def interrupts(self) -> int:
        """How often the device has interrupted the system."""


class Offers(Protocol):
    """What can be full in a built system, and what its flows wait for."""

    def resources(self) -> Iterable[Resource]:
        """What can be full, and how much of it has been used; CPUs of the system included."""

    def waits(self) -> Iterable[Wait]:
        """What each flow waits for now; nothing where that is not known."""


class System:
    """Machines, network and workload of one scenario, ready to run.

    Args:
        machine: the system under test.
        nics: its ports.
        flows: name, port name and receiver of each stream.
        parts: what else it is made of, by name: senders, and a bond's parts.
        drops: reads what was dropped outside the rings; always the same places, in one order.
        messages: reads the counters of an open-loop load.
        offers: lists the resources; the machine's CPUs where it is None.
        waiting: processes that wait for devices, if any can.
        counters: reads counters that only this system has, by name.
        ground: what it was built on, with what subjects have added; None for nothing.

    Attributes:
        ends: its work ends by itself, and a run then.
    """

    ends = False

    def __init__(  # noqa: PLR0913 (each part is there or not)
        self,
        env: Any,
        machine: Machine,
        nics: Sequence[Nic | MultiqueuePort],
        flows: Sequence[tuple[str, str, Receiver]],
        parts: dict[str, Any],
        *,
        drops: Callable[[], tuple[DropCount, ...]] | None = None,
        messages: Callable[[], MessageCounts] | None = None,
        offers: Offers | None = None,
        waiting: Waiting | None = None,
        counters: Mapping[str, Callable[[], Any]] | None = None,
        ground: Ground | None = None,
    ) -> None:
        self.env = env
        self.machine = machine
        self.nics = tuple(nics)
        self.flows = tuple(flows)
        self.parts = parts
        self._drops = drops
        self._messages = messages
        self._offers = offers
        self._waiting = waiting
        self._counters = {**(counters or {}), **(ground.counters if ground else {})}
        self._observed = ground.observed if ground else {}
        self._more = tuple(ground.resources) if ground else ()

    def run(self, duration_ps: int) -> None:
        """Simulate `duration_ps` more; a system whose work ends stops with it."""
        with COLLECTOR.spared(grown=False):
            self._go_on(duration_ps)

    def _go_on(self, duration_ps: int) -> None:
        self.env.run(until=self.env.sim.now + duration_ps)

    def close(self) -> None:
        """End the simulation, so that its memory is freed at once; nothing more can be read."""
        self.env.sim.close()

    def snapshot(self) -> Snapshot:
        """Read all counters."""
        now = self.env.sim.now
        for nic in self.nics:
            nic.advance(now)
        return Snapshot(
            time_ps=now,
            cpus=tuple(self._cpu_times(cpu) for cpu in self.machine.online),
            ports=tuple(_port_counts(nic) for nic in self.nics),
            flows=tuple(
                FlowCounts(name, port, receiver.delivered, receiver.latency_buckets())
                for name, port, receiver in self.flows
            ),
            work_ps=self.machine.costs.ledger.work(),
            drops=self._drops() if self._drops else (),
            messages=self._messages() if self._messages else None,
            more={name: read() for name, read in self._counters.items()},
            observed={name: read() for name, read in self._observed.items()},
        )

    def latency_kinds(self) -> dict[str, str]:
        """What the latency of each flow is."""
        return {name: receiver.latency_kind for name, _, receiver in self.flows}

    def activity(self) -> Activity:
        """What vmstat reads."""
        raised = sum(line.total for nic in self.nics for line in nic.lines)
        waiting = self._waiting
        if waiting is None:
            return activity_of(self.machine, raised)
        return activity_of(
            self.machine,
            raised + waiting.interrupts(),
            blocked=waiting.blocked(),
            iowait_ps=sum(waiting.iowait_ps(cpu) for cpu in self.machine.online),
        )

    def _cpu_times(self, cpu: Cpu) -> CpuTimes:
        times = cpu.times()
        iowait_ps = self._waiting.iowait_ps(cpu) if self._waiting else 0
        times["idle_ps"] -= iowait_ps
        return CpuTimes(id=cpu.cpu_id, node=cpu.node, iowait_ps=iowait_ps, **times)

    def resources(self) -> tuple[Resource, ...]:
        """What can be full, and how much of it has been used until now, in any order."""
        own = cpus(self.machine) if self._offers is None else self._offers.resources()
        return (*own, *memory(self.machine), *chain.from_iterable(more() for more in self._more))

    def waits(self) -> tuple[Wait, ...]:
        """What each flow waits for now, as far as that is known."""
        return () if self._offers is None else tuple(self._offers.waits())

    def progress(self) -> tuple[int, int]:
        """Payload that applications have got, in bytes, and time that CPUs have worked, in ps.

        The same as in a snapshot, at a fiftieth of its cost.
        """
        times = [cpu.times() for cpu in self.machine.online]
        rest = sum(time["idle_ps"] + time["steal_ps"] for time in times)
        worked = self.env.sim.now * len(self.machine.online) - rest
        return sum(receiver.delivered for _, _, receiver in self.flows), worked

    def fingerprint(self) -> str:
        """Digest of all counters now."""
        return self.snapshot().digest()


def _port_counts(nic: Nic | MultiqueuePort) -> PortCounts:
    by_cpu = [sum(counts) for counts in zip(*(line.counts for line in nic.lines), strict=True)]
    return PortCounts(
        name=nic.name,
        node=nic.node,
        irq=nic.lines[0].irq,
        rx_bytes=nic.rx_bytes - nic.uncounted_bytes * nic.rx_packets,
        tx_bytes=nic.tx_bytes - nic.uncounted_bytes * nic.tx_packets,
        rx_packets=nic.rx_packets,
        tx_packets=nic.tx_packets,
        interrupts=sum(line.total for line in nic.lines),
        drops=nic.drops,
        interrupts_by_cpu={cpu: n for cpu, n in enumerate(by_cpu) if n},
        out_of_order=nic.out_of_order(),
    )
