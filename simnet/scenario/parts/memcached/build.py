"""Build a key-value server: workers, connections, and the clients behind its port."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from simnet.host.cpu import Cpu
from simnet.host.machine import Machine
from simnet.host.softirq.napi_instance import NapiInstance
from simnet.host.softirq.other_queue import OtherQueue
from simnet.kernel.random import stream
from simnet.net.link.skb import Header
from simnet.net.nic.channel import Channel
from simnet.net.nic.multiqueue import MultiqueuePort, queues_of
from simnet.scenario.core.effective import Effective
from simnet.scenario.parts.memcached.columns import KeyValueCounts
from simnet.scenario.parts.memcached.schema import Memcached
from simnet.scenario.parts.network.behind import FIRST_LOCAL_PORT, LOCAL_PORTS, HostsBehind
from simnet.scenario.parts.network.resources import NetworkPath
from simnet.scenario.parts.nic.schema import Polled
from simnet.scenario.parts.sockets.build_polling import busy_poll_usecs
from simnet.scenario.parts.steering.build import HostSteering, backlog_drops, steering_of
from simnet.scenario.system.ground import Ground
from simnet.scenario.system.system import DropCount, MessageCounts, System
from simnet.time_units import PS_PER_S
from simnet.workload.memcached_system import (
    Clients,
    KeyValue,
    KeyValuePort,
    Server,
    connect_memcached,
)
from simnet.workload.mutilate import Requests

_SERVICE_PORT: Final = 11211
_SERVER: Final = 0x0A000001
_FIRST_CLIENT: Final = 0x0A000002


@dataclass(frozen=True)
class _Answers:
    """Responses as a flow: their bytes, and how late they were."""

    latency_kind: ClassVar[str] = "round trip"

    requests: Requests

    @property
    def delivered(self) -> int:
        """Payload bytes that clients have got."""
        return self.requests.delivered_bytes

    def latency_buckets(self) -> tuple[tuple[int, int], ...]:
        """Histogram of the times from a request to its response: (upper ps, count)."""
        return self.requests.latency_buckets()


@dataclass(frozen=True)
class _Counts:
    """What is read of a built server."""

    made: KeyValue
    machine: Machine
    port: Any
    others: tuple[OtherQueue, ...]
    cpus: list[Cpu]
    steering: HostSteering | None

    def key_value(self) -> KeyValueCounts:
        """Interrupts of the port, polls of all devices, calls and CPU time of the workers."""
        queues = _instances(self.port)
        polled = [*queues, *(other.instance for other in self.others)]
        times = [cpu.times() for cpu in self.cpus]
        worked = self.made.counters()
        switches_ps = worked["sleeps"] * self.machine.costs.context_switch_ps
        return KeyValueCounts(
            interrupts=sum(instance.interrupts for instance in queues),
            polls=sum(instance.polls for instance in polled),
            poll_packets=sum(instance.poll_packets for instance in polled),
            polls_empty=sum(instance.polls_empty for instance in polled),
            waits=worked["waits"],
            events=worked["events"],
            sleeps=worked["sleeps"],
            user_ps=sum(time["user_ps"] for time in times),
            system_ps=sum(time["system_ps"] for time in times) - switches_ps,
            softirq_ps=sum(time["softirq_ps"] + time["irq_ps"] for time in times),
            idle_ps=sum(time["idle_ps"] for time in times),
        )

    def drops(self) -> tuple[DropCount, ...]:
        """What was dropped before the transmit rings."""
        qdisc = DropCount("qdisc", self.port.name, self.port.qdisc_drops)
        return (*backlog_drops(self.steering), qdisc)

    def messages(self) -> MessageCounts:
        """Requests."""
        requests = self.made.requests
        return MessageCounts(requests.offered, requests.delivered, self.made.retransmitted())


def build(effective: Effective, *, seed: int, per_frame: bool, tracer: Any) -> System:
    """Put server and clients together; see `build` of the system."""
    ground = Ground(effective, seed=seed, per_frame=per_frame, tracer=tracer)
    given = effective.memcached
    if given is None:
        message = "a configuration without memcached"
        raise ValueError(message)
    steering = steering_of(ground, ground.machine, effective.host)
    behind = _Behind(ground, given, steering)
    cpus = range(given.first_cpu, given.first_cpu + given.workers)
    kernel = effective.host.kernel
    made = connect_memcached(
        ground.sim,
        ground.machine,
        port=behind.port(),
        server=Server(
            cpus=cpus,
            allowed=[_allowed(given.binding, cpu, cpus) for cpu in cpus],
            by_queue=given.napi_ids,
            max_events=given.max_events,
            busy_poll_usecs=given.busy_poll_usecs
            or busy_poll_usecs(effective.host, effective.host.ports[0]),
            busy_poll_budget=given.busy_poll_budget,
            prefer_busy_poll=given.prefer_busy_poll,
            epoll_lines=kernel.epoll_lines,
            runqueue_lines=kernel.runqueue_lines,
        ),
        clients=Clients(
            threads=given.hosts * given.threads,
            connections=given.connections,
            rate_mhz=given.qps * 1000,
            arrivals=given.arrivals,
            records=given.records,
            key_bytes=given.key_bytes,
            value_bytes=given.value_bytes,
            update_permille=given.update_permille,
            wake_ps=given.client_wake_ps,
            read_ps=given.client_read_ps,
            write_ps=given.client_write_ps,
        ),
        seed=seed,
    )
    path = NetworkPath(effective, ground.machine, ground.ports)
    rate = behind.far_port.nic.link_rate_bps
    path.far_links.append(("clients", behind.far, rate, None))
    machine = ground.machine
    used = machine.online if given.binding == "any" else [machine.cpus[cpu] for cpu in cpus]
    counts = _Counts(made, machine, behind.nic, tuple(behind.others()), used, steering)
    return System(
        ground.env,
        ground.machine,
        ground.ports,
        [("requests", behind.nic.name, _Answers(made.requests))],
        {"memcached": made},
        drops=counts.drops,
        messages=counts.messages,
        offers=path,
        counters={"key_value": counts.key_value},
        ground=ground,
    )


def _allowed(binding: str, own: int, cpus: range) -> frozenset[int] | None:
    """CPUs that a worker may run on; None for all."""
    if binding == "any":
        return None
    return frozenset({own} if binding == "own" else cpus)


def _instances(port: Any) -> list[NapiInstance]:
    """NAPI instances of a port's queues; none of a driver that has none."""
    return [queue.instance for queue in queues_of(port) if isinstance(queue, Channel)]


class _Behind(HostsBehind):
    """The server's port, and the clients' hosts behind it."""

    def __init__(self, ground: Ground, given: Memcached, steering: HostSteering | None) -> None:
        self.given = given
        luck = stream(ground.seed, "memcached.ports")
        # each host counts up from where it is
        self.first_ports = [int(luck.below(LOCAL_PORTS)) for _ in range(given.hosts)]
        super().__init__(ground, 0, "clients", steering.sockets if steering else None)
        self.instances = _instances(self.nic)

    def port(self) -> KeyValuePort:
        """What the workload needs to know of it."""
        side = self.side(service_ps=self.given.client_kernel_ps)
        return KeyValuePort(side=side, queue=self._queue, napi=self._napi)

    def header(self, connection: int) -> Header:
        """Addresses of the frames of a client."""
        of_host = self.given.threads * self.given.connections
        host, number = divmod(connection, of_host)
        local = FIRST_LOCAL_PORT + (self.first_ports[host] + number) % LOCAL_PORTS
        return Header(self.there, self.here, _FIRST_CLIENT + host, _SERVER, local, _SERVICE_PORT)

    def _queue(self, connection: int) -> int:
        """The queue that receives its frames."""
        if not isinstance(self.nic, MultiqueuePort):
            return 0
        return int(self.nic.rx_queue(self.header(connection)))

    def others(self) -> Iterator[OtherQueue]:
        """Queues of the machine's other devices, which share evenly what comes."""
        ground, queues = self.ground, self.given.other_queues
        for number in range(queues if self.given.other_packets else 0):
            path = f"memcached.other{number}"
            other = OtherQueue(
                ground.sim,
                path,
                ground.machine.cpus[number % len(ground.machine.cpus)],
                ground.machine.costs,
                PS_PER_S * queues // self.given.other_packets,
                stream(ground.seed, path),
            )
            nic = ground.effective.host.ports[0].nic
            if isinstance(nic, Polled):
                other.instance.defer_hard_irqs = nic.napi_defer_hard_irqs
                other.instance.gro_flush_timeout_ps = nic.gro_flush_timeout_ps
            yield other

    def _napi(self, queue: int) -> NapiInstance | None:
        """The instance of a queue; None of a driver that has none."""
        return next(iter(self.instances[queue : queue + 1]), None)
