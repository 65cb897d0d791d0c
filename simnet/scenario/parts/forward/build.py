"""Build a host that forwards: its tables, what comes to its queues, and where packets go."""

from dataclasses import dataclass
from typing import Any, Final

from simnet.host.costs import cycles_ps, whole_ns
from simnet.kernel.random import stream
from simnet.net.forward.conntrack import Conntrack
from simnet.net.forward.contended_line import ContendedLine
from simnet.net.forward.far_end import FarEnd
from simnet.net.forward.fib import lookup_lines
from simnet.net.forward.forwarder import DROP_IN_FILTER, DROP_IN_RAW, DROP_NOWHERE, Forwarder, Hooks
from simnet.net.forward.resident import Lines, found
from simnet.net.link.ethernet import LEAST_WIRE_BYTES
from simnet.net.link.flood import Flood
from simnet.net.link.skb import Header, Station
from simnet.net.nic.multiqueue import MultiqueuePort, queues_of
from simnet.scenario.core.effective import Effective
from simnet.scenario.parts.forward.columns import ForwardCounts
from simnet.scenario.parts.forward.schema import Forward
from simnet.scenario.parts.forward.tables import tables_ps
from simnet.scenario.parts.host.build import make_spread
from simnet.scenario.parts.network.resources import NetworkPath
from simnet.scenario.parts.nic.schema import UDP_HEADERS_BYTES
from simnet.scenario.parts.steering.build import HostSteering, backlog_drops, steering_of
from simnet.scenario.system.ground import Ground
from simnet.scenario.system.system import DropCount, MessageCounts, System
from simnet.time_units import PS_PER_S

_FIRST_SENDER: Final = 0x0A010001
_FIRST_RECEIVER: Final = 0x0B000001
_SENDER_PORT: Final = 1024
_RECEIVER_PORT: Final = 9
_PORTS_OF_A_SENDER: Final = 50_000
_DROPS: Final = {"none": DROP_NOWHERE, "raw": DROP_IN_RAW, "filter": DROP_IN_FILTER}
# half of the private cache is for the code and what else a packet touches
_PRIVATE_SHARE: Final = 2


@dataclass(frozen=True)
class ForwardBuilt:
    """What was made, and its counters."""

    hooks: Hooks  # of the host
    floods: tuple[Flood, ...]  # what comes, by queue
    # in which packets go: the port that they come by, that by which they leave, and the end
    # that takes them
    ways: tuple[tuple[Any, Any, FarEnd], ...]
    steering: HostSteering | None

    def drops(self) -> tuple[DropCount, ...]:
        """What was lost outside the rings."""
        table = self.hooks.conntrack
        lost = self.hooks.addr_errors + self.hooks.hdr_errors
        return (
            *backlog_drops(self.steering),
            DropCount("conntrack", "table", table.drops if table is not None else 0),
            DropCount("IP", "host", lost),
            *(DropCount("qdisc", port.name, port.qdisc_drops) for _, port, _ in self.ways),
        )

    def messages(self) -> MessageCounts:
        """Packets; what a rule drops has been dealt with."""
        counts = self.counts()
        return MessageCounts(counts.offered, counts.sent + counts.raw + counts.filter, 0)

    def counts(self) -> ForwardCounts:
        """All counters."""
        hooks, table = self.hooks, self.hooks.conntrack
        ring = sum(port.drops for port, _, _ in self.ways)
        came = sum(port.rx_packets for port, _, _ in self.ways)
        backlog = sum(drop.packets for drop in backlog_drops(self.steering))
        sent = sum(port.tx_packets for _, port, _ in self.ways)
        qdisc = sum(port.qdisc_drops for _, port, _ in self.ways)
        lost = (table.drops if table is not None else 0) + hooks.addr_errors + hooks.hdr_errors
        ended = hooks.dropped_raw + hooks.dropped_filter + lost + qdisc + sent
        return ForwardCounts(
            offered=came + ring,
            ring=ring,
            received=hooks.in_stack,
            backlog=backlog,
            conntrack=table.drops if table is not None else 0,
            early_drop=table.early_drops if table is not None else 0,
            raw=hooks.dropped_raw,
            filter=hooks.dropped_filter,
            addr_errors=hooks.addr_errors,
            hdr_errors=hooks.hdr_errors,
            offloaded=hooks.offloaded,
            qdisc=qdisc,
            sent=sent,
            waiting=came - backlog - ended,
        )


def build(effective: Effective, *, seed: int, per_frame: bool, tracer: Any) -> System:
    """Put ports, tables and packets together; see `build` of the system."""
    ground = Ground(effective, seed=seed, per_frame=per_frame, tracer=tracer)
    given = effective.forward
    if given is None:
        message = "a configuration without packets to forward"
        raise ValueError(message)
    coming, leaving = ground.ports[:2]
    leaving.path_out = FarEnd(ground.sim, "receiver")
    coming.path_out = FarEnd(ground.sim, "generator")
    steering = steering_of(ground, ground.machine, effective.host)
    hooks = _hooks(ground, given)
    ways = [(coming, leaving, leaving.path_out)]
    floods = _floods(ground, given, _forwarders(ground, hooks, 0), 0)
    if given.answers:
        ways.append((leaving, coming, coming.path_out))
        floods += _floods(ground, given, _forwarders(ground, hooks, 1), 1)
    built = ForwardBuilt(hooks, tuple(floods), tuple(ways), steering)
    counter = effective.host.ports[0].nic.ring_counter
    return System(
        ground.env,
        ground.machine,
        ground.ports,
        [
            (name, port.name, far)
            for name, (_, port, far) in zip(("routed", "answers"), ways, strict=False)
        ],
        {"forward": built},
        drops=built.drops,
        messages=built.messages,
        offers=NetworkPath(effective, ground.machine, ground.ports),
        counters={"forward": built.counts, "forward_ring_counter": lambda: counter},
        ground=ground,
    )


def _hooks(ground: Ground, given: Forward) -> Hooks:
    """The host's tables, and what passing them costs."""
    machine, host = ground.machine, ground.effective.host
    clock_hz = host.cpu.clock_hz
    memory = host.cpu.memory

    def work_ps(cycles: int) -> int:
        return cycles_ps(cycles, clock_hz)

    def hook_ps(*rules: int) -> int:
        return tables_ps(given, clock_hz, *rules)

    line_bytes = host.cpu.cache_line_bytes
    tracked = Lines(given.flows * given.conntrack_lines, given.conntrack_lines)

    def lines_ps(*kinds: Lines) -> int:
        shared, missed = found(
            kinds,
            host.cpu.cache_bytes // _PRIVATE_SHARE // line_bytes,
            max(host.cpu.llc_bytes, host.cpu.cache_bytes) // line_bytes,
        )
        return whole_ns(round(shared * memory.llc_latency_ps + missed * memory.local_latency_ps))

    route_lines_ps = lines_ps(
        *lookup_lines(given.prefixes, given.destinations, line_bytes),
        *((tracked,) if given.conntrack else ()),
    )
    flow_table_ps = 0
    if given.flow_offload:
        flows = Lines(given.flows * given.flow_table_lines, given.flow_table_lines)
        flow_table_ps = work_ps(given.flow_table_cycles) + lines_ps(flows)
    table = None
    if given.conntrack:
        table = Conntrack(
            given.flows,
            most=given.nf_conntrack_max,
            buckets=given.nf_conntrack_buckets,
            line=ContendedLine(machine.memory),
            make_ps=work_ps(given.conntrack_make_cycles),
            find_ps=work_ps(given.conntrack_find_cycles),
            luck=stream(ground.seed, "forward.nf_conntrack_hash_rnd"),
        )
    return Hooks(
        machine.costs,
        machine.memory,
        drop=_DROPS[given.drop],
        routes=given.ip_forward and given.ttl > 1,
        ttl=given.ip_forward,
        conntrack=table,
        raw_ps=hook_ps(given.raw_rules),
        before_route_ps=hook_ps(given.mangle_rules),
        nat_ps=hook_ps(given.nat_rules),
        route_ps=work_ps(given.route_cycles) + route_lines_ps,
        filter_ps=hook_ps(given.mangle_rules, given.filter_rules, int(given.flow_offload)),
        output_ps=work_ps(given.output_cycles) + hook_ps(given.security_rules, given.mangle_rules),
        xmit_ps=work_ps(given.xmit_cycles),
        exposed_permille=given.rx_line_exposed_permille,
        cold_ps=whole_ns(given.cold_lines * memory.llc_latency_ps),
        flow_table_ps=flow_table_ps,
    )


def _forwarders(ground: Ground, hooks: Hooks, way: int) -> list[Forwarder]:
    """What takes the packets of each receive queue; way 1 is that of answers."""
    host = ground.effective.host
    coming, leaving = ground.ports[way], ground.ports[1 - way]
    out = queues_of(leaving)
    if isinstance(leaving, MultiqueuePort):
        out = out[: leaving.tx_queues]
    locks = [ContendedLine(ground.machine.memory) for _ in out]
    made = []
    for number, queue in enumerate(queues_of(coming)):
        path = f"forward.{'answers' * way}queue{number}"
        made.append(
            Forwarder(
                ground.sim,
                path,
                hooks=hooks,
                nic=queue,
                number=number,
                answers=bool(way),
                buffer_bytes=host.ports[way].nic.frame_buffer_bytes,
                out=out,
                locks=locks,
                xps=leaving.xps if isinstance(leaving, MultiqueuePort) else None,
                spread=make_spread(host, path, ground.seed),
            )
        )
    return made


def _floods(ground: Ground, given: Forward, forwarders: list[Forwarder], way: int) -> list[Flood]:
    """What comes to each queue that has a flow; way 1 is that of answers."""
    coming, nic = ground.ports[way], ground.effective.host.ports[way].nic
    rate = given.answers if way else given.rate
    size_bytes = given.answer_size_bytes if way else given.size_bytes
    queues = queues_of(coming)
    here, there = Station(0), Station(1)
    flows: list[list[tuple[int, Header]]] = [[] for _ in queues]
    for number in range(given.flows):
        sender, port = divmod(number, _PORTS_OF_A_SENDER)
        ends = (
            (_FIRST_SENDER + sender, _SENDER_PORT + port),
            (_FIRST_RECEIVER + number % given.destinations, _RECEIVER_PORT),
        )
        (source, source_port), (target, target_port) = ends[way], ends[1 - way]
        header = Header(there, here, source, target, source_port, target_port)
        place = number % len(queues)
        if given.spread == "rss" and isinstance(coming, MultiqueuePort):
            place = coming.rx_queue(header)
        flows[place].append((number, header))
    overhead_bytes = nic.link_overhead_bytes + UDP_HEADERS_BYTES
    wire_bytes = max(size_bytes + overhead_bytes, LEAST_WIRE_BYTES)
    least_gap_ps = (
        wire_bytes * 8 * PS_PER_S // min(nic.link_rate_bps, ground.effective.lan.link_rate_bps)
    )
    gap_ps = max(PS_PER_S // rate if rate else 0, least_gap_ps)
    made = []
    for queue, forwarder, own in zip(queues, forwarders, flows, strict=True):
        if not own:
            continue
        flood = Flood(
            forwarder,
            [header for _, header in own],
            [number for number, _ in own],
            size_bytes=size_bytes,
            wire_bytes=wire_bytes,
            gap_ps=gap_ps * given.flows // len(own),
            least_gap_ps=least_gap_ps,
            random=given.arrivals == "poisson",
            dma_ps=queue.dma_ps,
            luck=stream(ground.seed, f"{queue.path}.flood"),
        )
        queue.flooded_by(flood)
        made.append(flood)
    return made
