"""What a datagram costs, line by line: the whole ledger beside sums that are made by hand."""

from dataclasses import dataclass
from typing import Any

import pytest

from simnet.host.cache import CacheWays
from simnet.host.costs import Buffers, SharedLines, Spread
from simnet.host.machine import Machine
from simnet.host.scheduler import Wakeups
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Skb, new_skb
from simnet.net.udp.memory import SocketMemory, UdpPages
from simnet.net.udp.reader import UdpReader
from simnet.net.udp.rules import UdpRules
from simnet.net.udp.socket import UdpCosts, UdpSocket
from tests.host.parts import LINE_BYTES, NS, make_costs, make_machine, make_memory

RX, RECV, FREE, COPY, CHECKSUM = 300, 200, 50, 11, 7
PAGE, ZONE, WAKEUP, MISS = 41, 9, 60, 80
# nodes 0 and 1 have two CPUs each; a dirty line from the same bus, from another node
NEAR, FAR, LOCAL, REMOTE = 25, 500, 100, 370
SKB_LINES, SLAB_LINES, SOCKET_LINES, RUNQUEUE_LINES = 3, 2, 4, 5
OVERLAP = 2
PAGE_BYTES = 4096
SHARE_BYTES = 64 * 1024


class Tracer:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str, int, int]] = []

    def counter(self, track: str, name: str, time_ps: int, value: int) -> None:
        self.told.append((track, name, time_ps, value))


@dataclass
class Host:
    sim: Simulator
    machine: Machine
    socket: UdpSocket
    reader: UdpReader

    def datagram(self, size: int, **values: Any) -> Skb:
        skb = new_skb(self.socket, 0, size, 0, 0, size + 66, True)  # noqa: FBT003 - a cdef function
        for name, value in values.items():
            setattr(skb, name, value)
        return skb

    def booked(self) -> dict[str, int]:
        """Nanoseconds by mechanism."""
        return {name: ps // NS for name, ps in self.machine.costs.ledger.work().items() if ps}


def host(
    *,
    cached: bool = False,
    checksum: bool = False,
    page_bytes: int = 0,
    rcvbuf: int = 1 << 30,
    spread: int = 0,
    tracer: Tracer | None = None,
) -> Host:
    sim = Simulator()
    sim.tracer = tracer
    memory = make_memory(
        2, same_bus_dirty_ps=NEAR * NS, same_node_dirty_ps=NEAR * NS, remote_dirty_ps=FAR * NS,
        local_ps=LOCAL * NS, remote_ps=REMOTE * NS,
    )  # fmt: skip
    if cached:
        memory.caches.extend(CacheWays(SHARE_BYTES, 2, MISS * NS) for _ in range(2))
    costs = make_costs(
        OVERLAP, copy_line=COPY, csum_line=CHECKSUM, skb_free=FREE, rx_page=PAGE, page_zone=ZONE,
        wakeup=WAKEUP,
    )  # fmt: skip
    machine = make_machine(sim, costs=costs, memory=memory, nodes=2, cores_per_socket=2)
    socket = UdpSocket(
        sim,
        "socket",
        costs=UdpCosts(
            costs,
            memory,
            Buffers(memory, costs.ledger, SKB_LINES, SLAB_LINES),
            rx_ps=RX * NS,
            recv_ps=RECV * NS,
            checksum_by_cpu=checksum,
            page_bytes=page_bytes,
        ),
        memory=SocketMemory(UdpRules(), UdpPages(1 << 40, 1 << 40), rcvbuf),
        truesize=1000,
        lines=SharedLines(memory, SOCKET_LINES),
        wakeups=Wakeups(costs, memory, RUNQUEUE_LINES),
        spread=Spread(1, spread),
    )
    reader = UdpReader(
        machine.scheduler, "reader", machine.cpus[1], socket, service_ps=0, allowed=frozenset({1})
    )
    return Host(sim, machine, socket, reader)


@pytest.mark.parametrize("toucher", [0, 1, 2])
@pytest.mark.parametrize("page_bytes", [0, PAGE_BYTES])
@pytest.mark.parametrize("checksum", [False, True])
def test_reading_costs_call_copy_and_what_others_have_touched(
    *, toucher: int, page_bytes: int, checksum: bool
) -> None:
    here = host(page_bytes=page_bytes, checksum=checksum)
    cpus = here.machine.cpus
    size = 2 * PAGE_BYTES - 66 + 1
    skb = here.datagram(size, toucher=cpus[toucher])
    took = here.socket.read_ps(skb, cpus[0])
    lines = -(-size // LINE_BYTES)
    dirty = {0: 0, 1: NEAR, 2: FAR}[toucher]
    # nine bytes more than two pages: three, whose halves are the reader's
    pages = 3 * PAGE // 2 + (3 * (ZONE + dirty) if toucher else 0)
    expected = {
        "udp_receive": RECV + FREE,
        "copy": lines * COPY,
        "checksum": lines * CHECKSUM if checksum else 0,
        "pages": pages if page_bytes else 0,
        "skb_lines": dirty * (SKB_LINES + (SLAB_LINES if toucher == 2 else 0)),
    }
    booked = here.booked()
    assert booked == {name: ns for name, ns in expected.items() if ns}
    halves = 500 if page_bytes else 0  # an odd number of halves of a nanosecond
    assert took == sum(expected.values()) * NS + halves
    assert here.socket.freer is cpus[0]


@pytest.mark.parametrize("home", [0, 1])
@pytest.mark.parametrize("cached", [False, True])
def test_a_payload_that_lies_far_away_is_waited_for(*, home: int, cached: bool) -> None:
    here = host(cached=cached)
    cpu = here.machine.cpus[0]
    skb = here.datagram(10 * LINE_BYTES, home_node=home, writer_node=home, toucher=cpu)
    took = here.socket.read_ps(skb, cpu)
    line = (REMOTE - LOCAL + (MISS if cached else 0)) if home else 0
    assert here.booked().get("copy_lines", 0) == 10 * line // OVERLAP
    assert took == (RECV + FREE + 10 * COPY + 10 * line // OVERLAP) * NS


def test_the_cache_has_what_waits_and_loses_of_it() -> None:
    here = host(cached=True)
    cpu = here.machine.cpus[0]
    caches = here.machine.memory.caches
    sizes = [10_000, 20_000, 30_000, 40_000]
    for size in sizes:
        skb = here.datagram(size, home_node=0, writer_node=0)
        here.socket.receive(skb, cpu)
    assert here.socket.queue_bytes == sum(sizes)
    assert here.socket.refill()
    misses = 0
    for count, size in enumerate(sizes, 1):
        skb = here.socket.take()
        assert skb.end_seq == size
        before = here.booked().get("copy_misses", 0)
        here.socket.read_ps(skb, cpu)
        assert [cache.waiting for cache in caches] == [sum(sizes[count:]), 0]
        lost = -(-size // LINE_BYTES) * caches[0].lost_permille() // 1000
        misses += lost * MISS // OVERLAP
        assert here.booked().get("copy_misses", 0) - before == lost * MISS // OVERLAP
    assert misses > 0
    # another is counted where its device has written it
    far = here.datagram(500, home_node=1, writer_node=1)
    for skb in (far, here.datagram(300)):
        here.socket.receive(skb, cpu)
    here.socket.refill()
    here.socket.read_ps(here.socket.take(), cpu)
    assert [cache.waiting for cache in caches] == [0, 300]


def test_the_softirq_books_its_lookup_and_brings_the_socket_s_lines() -> None:
    tracer = Tracer()
    here = host(tracer=tracer)
    cpus = here.machine.cpus
    first = here.datagram(100, toucher=cpus[0])
    assert here.socket.receive(first, cpus[0]) == RX * NS
    # another CPU passes on what CPU 0 has allocated, and owns the buffer from here
    second = here.datagram(100, toucher=cpus[0])
    lines = SOCKET_LINES * FAR + (SKB_LINES + SLAB_LINES) * FAR
    assert here.socket.receive(second, cpus[2]) == (RX + lines) * NS
    assert second.toucher is cpus[2]
    assert here.booked() == {
        "udp_receive": 2 * RX,
        "socket_lines": SOCKET_LINES * FAR,
        "skb_lines": (SKB_LINES + SLAB_LINES) * FAR,
    }
    assert tracer.told == [("socket", "datagrams in socket", 0, n) for n in (1, 2)]
    # the reader's processor fetches them, and has them
    assert here.socket.touch(cpus[3]) == SOCKET_LINES * NEAR * NS
    assert here.socket.touch(cpus[3]) == 0
    assert here.booked()["socket_lines"] == SOCKET_LINES * (FAR + NEAR)
    assert (here.socket.enqueued, here.socket.depth, here.socket.queue_bytes) == (2, 2, 200)


def test_who_sleeps_is_woken_once() -> None:
    here = host()
    cpus = here.machine.cpus
    here.socket.waiters.append(here.reader)
    woken = (RX + WAKEUP + RUNQUEUE_LINES * NEAR) * NS
    assert here.socket.receive(here.datagram(100, toucher=cpus[0]), cpus[0]) == woken
    assert not here.socket.waiters
    assert here.reader.wakeups == 1
    # it has been at the socket; one that is awake is told nothing, and will look by itself
    again = (RX + SOCKET_LINES * NEAR) * NS
    assert here.socket.receive(here.datagram(100, toucher=cpus[0]), cpus[0]) == again
    assert here.reader.wakeups == 1
    assert here.booked()["wakeup"] == WAKEUP + RUNQUEUE_LINES * NEAR


def test_what_finds_no_room_is_freed_where_it_came() -> None:
    here = host(rcvbuf=1000)
    cpus = here.machine.cpus
    took = [here.socket.receive(here.datagram(100, toucher=cpus[0]), cpus[0]) for _ in range(4)]
    # until 6.18 the buffer is full when what waits exceeds it
    assert took == [RX * NS] * 2 + [(RX + FREE) * NS] * 2
    assert (here.socket.enqueued, here.socket.rcvbuf_errors, here.socket.mem_errors) == (2, 2, 0)
    assert here.socket.freer is cpus[0]
    assert here.booked() == {"udp_receive": 4 * RX + 2 * FREE}
    assert here.socket.queue_bytes == 200


def test_luck_varies_the_lookup_and_is_booked() -> None:
    here = host(spread=100)
    cpu = here.machine.cpus[0]
    luck = Spread(1, 100)
    took = [here.socket.receive(here.datagram(9, toucher=cpu), cpu) for _ in range(3)]
    wanted = [luck.vary(RX * NS)]
    wanted += [luck.vary(RX * NS) for _ in range(2)]
    assert took == wanted
    assert len(set(took)) > 1
    assert here.machine.costs.ledger.udp_receive == sum(took)


def test_a_reader_takes_the_queue_as_a_whole_and_gives_memory_back() -> None:
    here = host(rcvbuf=8000)
    cpu = here.machine.cpus[0]
    socket = here.socket
    assert not socket.refill()
    for size in (1, 2, 3):
        socket.receive(here.datagram(size, toucher=cpu, tsval=0), cpu)
    assert socket.refill()
    assert (socket.queue.count, socket.reader_queue.count, socket.depth) == (0, 3, 3)
    socket.receive(here.datagram(4, toucher=cpu), cpu)
    assert (socket.queue.count, socket.reader_queue.count, socket.depth) == (1, 3, 4)
    here.sim.run_until(7 * NS)
    given = []
    for size in (1, 2, 3):
        skb = socket.take()
        assert skb.end_seq == size
        given.append(socket.release())
        socket.read(skb)
    # a quarter of the buffer is two datagrams; with nothing left to read all is given back
    assert given == [False, True, True]
    assert (socket.received, socket.received_bytes, socket.queue_bytes) == (3, 6, 4)
    assert (socket.latency.count, socket.latency.largest) == (3, 7 * NS)
    assert socket.memory.rmem_alloc == 1000
    assert socket.refill()
    assert not socket.refill()
    assert socket.take().end_seq == 4
