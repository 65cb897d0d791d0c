"""A veth pair: which CPU goes on with a packet, what it costs, where it is dropped."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.host.costs import SharedLines, Spread
from simnet.host.ledger import MECHANISMS
from simnet.kernel.random import stream
from simnet.net.forward.conntrack import Conntrack
from simnet.net.forward.contended_line import ContendedLine
from simnet.net.steering.steering import PacketSteering
from simnet.net.veth.into_container import IntoContainer
from simnet.net.veth.rules import RING_SIZE, uses_napi
from simnet.net.veth.veth import Veth
from simnet.net.veth.veth_napi import VethNapi
from tests.host.parts import MS, NS, US
from tests.net.parts import frame, make_buffers
from tests.net.steering.steered import UPSTREAM, Flow, Host

XMIT = 150
RECEIVE = 60
ROUTE = 350
NAT = 4000


class Pair:
    """A host that passes packets on to a container, by a queue on each of its first CPUs."""

    def __init__(
        self,
        *,
        napi: bool = False,
        size: int = RING_SIZE,
        rps_cpus: tuple[int, ...] = (),
        conntrack: bool = False,
        ring_lines: int = 0,
        skb_lines: int = 0,
        **options: Any,
    ) -> None:
        self.host = host = Host(skb_lines=skb_lines, **options)
        self.sim = host.sim
        costs = host.machine.costs
        steering, ring = None, None
        if rps_cpus:
            steering = PacketSteering(UPSTREAM, host.backlogs, costs, cpus=rps_cpus, seed=1)
        if napi:
            ring = VethNapi(
                host.sim,
                "ring",
                size=size,
                costs=costs,
                buffers=make_buffers(host.machine, skb_lines),
                lines=SharedLines(host.machine.memory, ring_lines),
                receive_ps=RECEIVE * NS,
                steering=steering,
                spread=Spread(0, 0),
            )
        self.made = ring
        self.veth = Veth(
            costs.ledger, xmit_ps=XMIT * NS, backlogs=host.backlogs, steering=steering, napi=ring
        )
        self.table: Conntrack | None = None
        if conntrack:
            self.table = Conntrack(
                8,
                most=0,
                buckets=1,
                line=ContendedLine(host.machine.memory),
                make_ps=700 * NS,
                find_ps=90 * NS,
                luck=stream(1, "hash"),
            )
        self.flows: list[Flow] = []
        self.ways: list[IntoContainer] = []

    @property
    def ring(self) -> VethNapi:
        """Of the container's end, which has one."""
        assert self.made is not None
        return self.made

    def flow(self, per_connection: int = 0) -> int:
        """Add a connection; return its number."""
        number = len(self.flows)
        self.flows.append(Flow(self.sim, number))
        self.ways.append(
            IntoContainer(
                self.sim,
                f"way{number}",
                ledger=self.host.machine.costs.ledger,
                work_ps=ROUTE * NS,
                conntrack=self.table,
                flow=number,
                per_connection=per_connection,
                nat_ps=NAT * NS,
                veth=self.veth,
                socket=self.flows[number],
                spread=Spread(0, 0),
            )
        )
        return number

    def feed(self, number: int, count: int, *, queue: int = 0, spacing_ps: int = 0) -> None:
        """Packets of a connection that come to a queue."""
        nic = self.host.nics[queue]
        for seq in range(count):
            skb = frame(self.ways[number], seq, self.sim.now + seq * spacing_ps)
            skb.header = self.flows[number].header
            nic.incoming.append(skb)
        nic.frames_added()

    def unbooked_ps(self) -> int:
        """What the CPUs have done more than the ledger says, and than sockets take."""
        times = [cpu.times() for cpu in self.host.cpus]
        done = sum(one["softirq_ps"] + one["irq_ps"] for one in times)
        ledger = self.host.machine.costs.ledger
        sockets = sum(len(flow.log) * flow.work_ps for flow in self.flows)
        booked = int(sum(getattr(ledger, name) for name in MECHANISMS))
        return int(done) - booked - sockets

    def softirq_ns(self, cpu: int = 0) -> int:
        """Time of a CPU in softirqs."""
        return int(self.host.cpus[cpu].times()["softirq_ps"]) // NS


# entry, poll, driver and sk_buff, IP, route, xmit of the veth, as the first packet pays them
HOSTS_NS = 300 + 200 + 700 + 100 + 500 + ROUTE + XMIT


def test_a_packet_passes_the_backlog_of_the_same_cpu() -> None:
    pair = Pair()
    pair.feed(pair.flow(), 1)
    pair.sim.run_until(MS)
    assert pair.flows[0].cpus == {0}
    assert pair.host.backlogs[0].processed == 1
    assert pair.softirq_ns() == HOSTS_NS + 250 + 500 + 900
    assert pair.host.softirqs(0).ipis == 0
    assert (pair.veth.tx_packets, pair.veth.rx_packets, pair.veth.tx_dropped) == (1, 1, 0)
    assert pair.host.machine.costs.ledger.forwarding == (ROUTE + XMIT) * NS


def test_with_a_ring_a_poll_of_its_own_takes_it() -> None:
    pair = Pair(napi=True)
    pair.feed(pair.flow(), 1)
    pair.sim.run_until(MS)
    assert pair.host.backlogs[0].processed == 0
    assert pair.softirq_ns() == HOSTS_NS + 200 + RECEIVE + 500 + 900
    assert (pair.veth.tx_packets, pair.veth.rx_packets, pair.veth.ring_drops) == (1, 1, 0)
    assert not pair.ring.scheduled


def test_packets_of_a_flow_stay_in_order() -> None:
    for pair in (Pair(), Pair(napi=True)):
        pair.feed(pair.flow(), 150, spacing_ps=500 * NS)
        pair.sim.run_until(5 * MS)
        assert [seq for _, _, seq in pair.flows[0].log] == list(range(150))


def test_a_full_backlog_is_counted_by_softnet_and_by_the_sending_end() -> None:
    pair = Pair(limit=10)
    pair.feed(pair.flow(), 60)
    pair.sim.run_until(MS)
    dropped = pair.host.backlogs[0].drops
    # the port's poll takes them all before the backlog has its turn
    assert dropped == pair.veth.tx_dropped == 60 - 11
    assert pair.veth.ring_drops == 0
    assert pair.veth.tx_packets == len(pair.flows[0].log) == 11


def test_a_full_ring_is_counted_by_the_sending_end_alone() -> None:
    pair = Pair(napi=True, size=10)
    pair.feed(pair.flow(), 60)
    pair.sim.run_until(MS)
    assert pair.host.backlogs[0].drops == 0
    assert pair.veth.tx_dropped == pair.veth.ring_drops == 50
    assert pair.veth.tx_packets == pair.veth.rx_packets == len(pair.flows[0].log) == 10


def test_a_poll_takes_as_many_as_its_weight_and_others_have_their_turn() -> None:
    pair = Pair(napi=True)
    first, second = pair.flow(), pair.flow()
    pair.feed(first, 100)
    pair.sim.run_until(MS)
    polls = pair.host.softirqs(0).polls
    # two of the port, of 64 and 36, and two of the ring
    assert polls == 4
    assert pair.ring.processed == pair.ring.queued == 100
    pair.feed(second, 1)
    pair.sim.run_until(2 * MS)
    assert len(pair.flows[second].log) == 1


def test_a_ring_holds_256_packets() -> None:
    """`VETH_RING_SIZE`."""
    pair = Pair(napi=True)
    flow, cpu = pair.flows[pair.flow()], pair.host.cpus[0]
    for seq in range(300):
        pair.ring.enqueue(frame(flow, seq, 0), cpu)
    assert (pair.ring.waiting, pair.ring.drops) == (256, 44)


@pytest.mark.parametrize("count", [1, 63, 64, 65, 130])
def test_a_poll_takes_64_packets_one_after_another(count: int) -> None:
    pair = Pair(napi=True)
    pair.feed(pair.flow(), count)
    pair.sim.run_until(5 * MS)
    log = [time_ps for time_ps, _, _ in pair.flows[0].log]
    # then the port has its turn
    gaps = [after - before > (RECEIVE + 500 + 900) * NS for before, after in pairwise(log)]
    assert gaps == [place % 64 == 0 for place in range(1, count)]


def test_rps_of_the_pair_moves_a_container_and_leaves_the_host_where_it_is() -> None:
    for napi in (False, True):
        pair = Pair(rps_cpus=(2,), napi=napi)
        pair.feed(pair.flow(), 1)
        pair.sim.run_until(MS)
        assert pair.flows[0].cpus == {2}
        ring_ns = 200 + RECEIVE if napi else 0
        assert pair.softirq_ns(0) == HOSTS_NS + ring_ns + 100 + 250 + 400
        assert pair.softirq_ns(2) == 300 + 500 + 900
        assert pair.veth.tx_packets == 1


def test_what_rps_finds_no_room_for_is_in_both_counters() -> None:
    pair = Pair(rps_cpus=(2,), limit=5)
    pair.feed(pair.flow(), 60)
    pair.sim.run_until(MS)
    assert pair.host.backlogs[2].drops == pair.veth.tx_dropped > 0
    assert pair.veth.tx_packets == len(pair.flows[0].log) == 60 - pair.veth.tx_dropped


def test_two_queues_fill_one_ring_which_one_cpu_polls() -> None:
    pair = Pair(napi=True, queues=2)
    for queue in range(2):
        pair.feed(pair.flow(), 200, queue=queue, spacing_ps=900 * NS)
    pair.sim.run_until(10 * MS)
    cpus = pair.flows[0].cpus | pair.flows[1].cpus
    backlogs = Pair(queues=2)
    for queue in range(2):
        backlogs.feed(backlogs.flow(), 200, queue=queue, spacing_ps=900 * NS)
    backlogs.sim.run_until(10 * MS)
    assert backlogs.flows[0].cpus == {0}
    assert backlogs.flows[1].cpus == {1}
    assert cpus == {0, 1}
    # while one CPU has the ring, the other's packets go there
    for flow in pair.flows:
        assert len(flow.cpus) == 2


def test_lines_of_the_ring_cost_when_cpus_take_turns() -> None:
    spent = []
    for lines in (0, 3):
        pair = Pair(napi=True, queues=2, ring_lines=lines, latency_ps=40 * NS)
        for queue in range(2):
            pair.feed(pair.flow(), 50, queue=queue, spacing_ps=3 * US)
        pair.sim.run_until(MS)
        spent.append(pair.host.machine.costs.ledger.skb_lines)
    assert spent[0] == 0
    assert spent[1] > 50 * 3 * 40 * NS


def test_the_first_packet_of_a_connection_makes_its_entry() -> None:
    pair = Pair(conntrack=True)
    pair.feed(pair.flow(), 3)
    pair.flow()
    pair.sim.run_until(MS)
    assert pair.table is not None
    assert pair.table.count == pair.table.made == 1
    forwarding = pair.host.machine.costs.ledger.forwarding
    assert forwarding == (3 * (ROUTE + XMIT) + 700 + NAT + 2 * 90) * NS


def test_a_client_with_another_port_begins_another_connection() -> None:
    pair = Pair(conntrack=True)
    pair.feed(pair.flow(per_connection=3), 8)
    pair.sim.run_until(MS)
    assert pair.table is not None
    # packets 1, 4 and 7; as many connections end as begin
    assert (pair.table.made, pair.table.count) == (3, 1)
    forwarding = pair.host.machine.costs.ledger.forwarding
    assert forwarding == (8 * (ROUTE + XMIT) + 3 * (700 + NAT) + 5 * 90) * NS


def test_when_packets_go_by_the_ring() -> None:
    assert not uses_napi("5.12", gro=True, tso=False)
    assert uses_napi("5.13", gro=True, tso=False)
    assert uses_napi("6.6", gro=True, tso=False)
    assert not uses_napi("6.6", gro=True, tso=True)
    assert not uses_napi("6.6", gro=False, tso=False)


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(["backlog", "ring"]),
    st.sampled_from([(), (1,), (2, 3)]),
    st.sampled_from([3, 1000]),
    st.sampled_from([1, 20, 256]),
    st.lists(st.tuples(st.integers(0, 1), st.integers(1, 150), st.integers(0, 3000)), max_size=4),
    st.booleans(),
)
def test_every_packet_is_received_or_dropped_under_a_name_and_all_work_is_booked(
    queue_of_pair: str,
    rps_cpus: tuple[int, ...],
    limit: int,
    size: int,
    loads: list[tuple[int, int, int]],
    conntrack: bool,  # noqa: FBT001
) -> None:
    napi = queue_of_pair == "ring"
    pair = Pair(
        napi=napi,
        size=size,
        rps_cpus=rps_cpus,
        conntrack=conntrack,
        ring_lines=3,
        skb_lines=2,
        latency_ps=40 * NS,
        limit=limit,
        queues=2,
        rx_buffers=200,
    )
    for queue, count, spacing_ns in loads:
        pair.feed(pair.flow(), count, queue=queue, spacing_ps=spacing_ns * NS)
        pair.sim.run_until(pair.sim.now + MS)
    pair.sim.run_until(pair.sim.now + 10 * MS)
    assert pair.unbooked_ps() == 0
    received = sum(len(flow.log) for flow in pair.flows)
    backlogs = sum(backlog.drops for backlog in pair.host.backlogs)
    rings = sum(nic.drops for nic in pair.host.nics)
    assert received + backlogs + rings + pair.veth.ring_drops == sum(n for _, n, _ in loads)
    if not napi:
        assert pair.veth.tx_dropped == backlogs
    else:
        assert pair.veth.tx_dropped == pair.veth.ring_drops
        assert pair.ring.waiting == 0
