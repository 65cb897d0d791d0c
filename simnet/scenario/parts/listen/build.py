"""Build a server of short connections: listening sockets, workers, and visitors behind the port."""

from dataclasses import dataclass
from typing import Any, Final

from simnet.host.costs import SharedLines, cycles_ps, whole_ns
from simnet.host.scheduler import Wakeups
from simnet.kernel.random import stream
from simnet.net.forward.contended_line import ContendedLine
from simnet.net.link.skb import Header, Station
from simnet.net.listen.acceptor import Acceptor
from simnet.net.listen.connection import Connection, SetupCosts
from simnet.net.listen.listener import Listener
from simnet.net.listen.rules import listen_rules
from simnet.net.listen.visitors import Crowd, Served
from simnet.net.remote.hosts import RemoteHosts
from simnet.net.udp.clients import Client
from simnet.net.udp.reuseport import chosen
from simnet.scenario.core.effective import Effective
from simnet.scenario.parts.host.build import make_spread
from simnet.scenario.parts.listen.columns import ListenCounts
from simnet.scenario.parts.listen.schema import Listen
from simnet.scenario.parts.network.join import join
from simnet.scenario.parts.network.resources import NetworkPath
from simnet.scenario.parts.nic.build import tx_choice, tx_queue, tx_rules
from simnet.scenario.parts.steering.build import HostSteering, backlog_drops, steering_of
from simnet.scenario.system.ground import Ground
from simnet.scenario.system.system import DropCount, MessageCounts, System
from simnet.time_units import PS_PER_S
from simnet.workload.netperf import Start

# IP and TCP with timestamps
_HEADERS_BYTES: Final = 20 + 32
_OWN: Final = 0x0A000001
_FIRST_VISITOR: Final = 0x0A010001
_PORT: Final = 80
# of a visitor's address, before the next one is used
_PORTS: Final = 50_000
_FIRST_PORT: Final = 10_000


@dataclass(frozen=True)
class VisitorsOf:
    """The visitors that a worker has served, as a flow."""

    served: Served
    latency_kind: str = "round trip"

    @property
    def delivered(self) -> int:
        """Bytes of answers that have come."""
        return self.served.received_bytes

    def latency_buckets(self) -> tuple[tuple[int, int], ...]:
        """Histogram of the time from the first SYN to the answer: (upper ps, count)."""
        return self.served.latency.buckets()


@dataclass(frozen=True)
class ListenBuilt:
    """What was made, and its counters."""

    # of the server
    listeners: tuple[Listener, ...]
    workers: tuple[Acceptor, ...]
    crowd: Crowd  # who visits it
    nic: Any  # the port
    steering: HostSteering | None

    def drops(self) -> tuple[DropCount, ...]:
        """What was dropped outside the rings."""
        return (
            *backlog_drops(self.steering),
            DropCount("qdisc", self.nic.name, self.nic.qdisc_drops),
            *(
                DropCount("socket", f"listener{number}", one.drops)
                for number, one in enumerate(self.listeners)
            ),
        )

    def messages(self) -> MessageCounts:
        """Connections."""
        crowd = self.crowd
        again = crowd.syns_again + crowd.requests_again
        return MessageCounts(crowd.begun, crowd.answered, again)

    def counts(self) -> ListenCounts:
        """All counters."""
        crowd, listeners = self.crowd, self.listeners

        def total(name: str) -> int:
            return sum(getattr(one, name) for one in listeners)

        return ListenCounts(
            begun=crowd.begun,
            answered=crowd.answered,
            reset=crowd.reset,
            given_up=crowd.given_up,
            syns=crowd.syns,
            syns_again=crowd.syns_again,
            requests_again=crowd.requests_again,
            passive_opens=total("opened"),
            listen_overflows=total("overflows"),
            listen_drops=total("drops"),
            req_q_full_do_cookies=total("full_cookies"),
            req_q_full_drop=total("full_drops"),
            syncookies_sent=total("cookies_sent"),
            syncookies_recv=total("cookies_received"),
            embryonic_rsts=total("resets"),
            half_open=total("half_open"),
            waiting=total("waiting"),
            longest=max(one.longest for one in listeners),
        )


def build(effective: Effective, *, seed: int, per_frame: bool, tracer: Any) -> System:
    """Put visitors, sockets and workers together; see `build` of the system."""
    ground = Ground(effective, seed=seed, per_frame=per_frame, tracer=tracer)
    given = effective.listen
    if given is None:
        message = "a configuration without short connections"
        raise ValueError(message)
    far_rate = effective.peers[0].ports[0].nic.link_rate_bps
    far = RemoteHosts(ground.sim, "visitors", far_rate)
    join(ground, ground.ports[0], far, far)
    steering = steering_of(ground, ground.machine, effective.host)
    setup = _setup(ground, given)
    listeners = tuple(_listener(ground, given) for _ in range(_sockets(given)))
    built = ListenBuilt(
        listeners,
        _workers(ground, given, setup, listeners),
        _crowd(ground, given, setup, listeners, far),
        ground.ports[0],
        steering,
    )
    path = NetworkPath(effective, ground.machine, ground.ports)
    path.far_links.append(("visitors", far, far_rate, None))
    return System(
        ground.env,
        ground.machine,
        ground.ports,
        [
            (f"worker{k}", built.nic.name, VisitorsOf(one))
            for k, one in enumerate(built.crowd.served)
        ],
        {"listen": built},
        drops=built.drops,
        messages=built.messages,
        offers=path,
        counters={"listen": built.counts},
        ground=ground,
    )


def _sockets(given: Listen) -> int:
    return given.workers if given.reuseport else 1


def _setup(ground: Ground, given: Listen) -> SetupCosts:
    """What connections cost the host."""
    host, machine = ground.effective.host, ground.machine
    nic, kernel, clock_hz = host.ports[0].nic, host.kernel, host.cpu.clock_hz
    return SetupCosts(
        machine.costs,
        Wakeups(machine.costs, machine.memory, kernel.runqueue_lines),
        syn_ps=cycles_ps(given.syn_cycles, clock_hz),
        open_ps=cycles_ps(given.open_cycles, clock_hz),
        accept_ps=cycles_ps(given.accept_cycles, clock_hz),
        close_ps=cycles_ps(given.close_cycles, clock_hz),
        overhead_bytes=nic.link_overhead_bytes + _HEADERS_BYTES,
        mss=nic.mtu_bytes - _HEADERS_BYTES,
        request_bytes=given.request_bytes,
        answer_bytes=given.answer_bytes,
        synack_ps=kernel.rto_init_ps,
        rto_ps=kernel.rto_min_ps,
        synack_retries=kernel.tcp_synack_retries,
        jiffy_ps=PS_PER_S // kernel.hz,
    )


def _listener(ground: Ground, given: Listen) -> Listener:
    """One listening socket."""
    host, machine = ground.effective.host, ground.machine
    kernel = host.kernel
    return Listener(
        ground.sim,
        machine.costs.ledger,
        backlog=min(given.backlog, kernel.somaxconn),
        max_syn_backlog=kernel.tcp_max_syn_backlog,
        syncookies=kernel.tcp_syncookies,
        abort=kernel.tcp_abort_on_overflow,
        beyond=listen_rules(kernel.version).beyond,
        lock=ContendedLine(machine.memory),
        locked_ps=cycles_ps(given.lock_cycles, host.cpu.clock_hz),
        lines=SharedLines(machine.memory, given.queue_lines),
        wakeups=Wakeups(machine.costs, machine.memory, kernel.runqueue_lines),
    )


def _workers(
    ground: Ground, given: Listen, setup: SetupCosts, listeners: tuple[Listener, ...]
) -> tuple[Acceptor, ...]:
    """The workers; each begins where it is pinned, or where the scheduler puts it."""
    cpus = ground.machine.cpus
    found = []
    for number in range(given.workers):
        cpu = (given.first_cpu + number) % len(cpus)
        path = f"listen.worker{number}"
        worker = Acceptor(
            ground.machine.scheduler,
            path,
            cpus[cpu],
            listeners[number % len(listeners)],
            setup,
            number=number,
            service_ps=whole_ns(given.service_ps),
            allowed=frozenset({cpu}) if given.placement == "pinned" else None,
        )
        Start(ground.sim, f"{path}.start", worker, number * 1000)
        found.append(worker)
    return tuple(found)


def _crowd(
    ground: Ground,
    given: Listen,
    setup: SetupCosts,
    listeners: tuple[Listener, ...],
    far: RemoteHosts,
) -> Crowd:
    """Who visits."""
    host, kernel = ground.effective.host, ground.effective.peers[0].kernel
    nic, machine, seed = ground.ports[0], ground.machine, ground.seed
    here, there = Station(0), Station(1)
    secret = stream(seed, "listen.ehash_secret").below(1 << 32)
    rules = tx_rules(host)

    def dial(number: int) -> tuple[Header, Client, Listener]:
        header = Header(
            there,
            here,
            _FIRST_VISITOR + number // _PORTS,
            _OWN,
            _FIRST_PORT + number % _PORTS,
            _PORT,
        )
        back = header.turned()
        by_hash = tx_queue(nic, machine, rules, back, seed=seed)
        client = Client(back, by_hash, *tx_choice(nic, machine, rules, back, seed=seed))
        turn = chosen(header, secret, len(listeners)) if len(listeners) > 1 else 0
        return header, client, listeners[turn]

    def make(number: int) -> Connection:
        path = f"listen.connection{number}"
        return Connection(ground.sim, path, setup, make_spread(host, path, seed))

    return Crowd(
        ground.sim,
        "listen.visitors",
        link=far.uplink.link,
        setup=setup,
        dial=dial,
        make=make,
        workers=given.workers,
        burst=given.burst,
        gap_ps=PS_PER_S * given.burst // given.rate,
        random=given.arrivals == "poisson",
        luck=stream(seed, "listen.visitors"),
        syn_ps=kernel.rto_init_ps,
        linear=listen_rules(kernel.version).linear_timeouts,
        syn_retries=kernel.tcp_syn_retries,
        rto_ps=kernel.rto_min_ps,
        jiffy_ps=PS_PER_S // kernel.hz,
    )
