"""fq, CoDel and fq_codel beside their algorithms, written down once more over plain lists.

From net/sched/sch_fq.c, include/net/codel_impl.h and net/sched/sch_fq_codel.c of Linux 6.12.
"""

from collections import defaultdict, deque
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from simnet.kernel.sentinel import NEVER
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Endpoint, Header, Station, new_skb
from simnet.net.qdisc.codel import Codel, CodelLimits, codel_time
from simnet.net.qdisc.fq import Fq
from simnet.net.qdisc.fq_codel import FqCodel
from simnet.net.qdisc.qdisc import Packet, PacketList, PfifoFast
from simnet.net.steering.flow_hash import connection_hash

US, MS = 10**6, 10**9
WORD = 2**64


def packet(endpoint: Endpoint, size: int, segments: int = 1, at: int = 0) -> Packet:
    """A large packet of some segments; its size is that of all."""
    found = Packet(_skb(endpoint, size, at), size)
    for _ in range(segments - 1):
        found.add(_skb(endpoint, 0, at), 0)
    return found


def _skb(endpoint: Endpoint, size: int, at: int) -> Any:
    skb = new_skb(endpoint, 0, size, 0, 0, size, False)  # noqa: FBT003 - a cdef function
    skb.arrival_ps = at
    return skb


@dataclass
class Sent:
    size: int
    time: int
    packet: Packet


@dataclass
class PlainFq:
    """`fq_enqueue` and `fq_dequeue`."""

    limit: int
    flow_limit: int
    quantum: int
    initial: int
    fast: deque[Sent] = field(default_factory=deque)
    flows: defaultdict[str, deque[Sent]] = field(default_factory=lambda: defaultdict(deque))
    credit: dict[str, int] = field(default_factory=dict)
    fresh: list[str] = field(default_factory=list)
    old: list[str] = field(default_factory=list)
    throttled: list[tuple[int, int, str]] = field(default_factory=list)
    waits: int = 0
    held: int = 0
    dropped: list[Packet] = field(default_factory=list)

    def enqueue(self, name: str, one: Sent, now: int) -> None:
        may_send = self.fresh or self.old or (self.throttled and min(self.throttled)[0] <= now)
        few = self.held == 0 or len(self.fast) < 8
        if self.held >= self.limit:
            self.dropped.append(one.packet)
            return
        if one.time <= now and few and not may_send:
            self.fast.append(one)
        elif len(self.flows[name]) >= self.flow_limit:
            self.dropped.append(one.packet)
            return
        else:
            self.credit.setdefault(name, self.initial)
            self.flows[name].append(one)
            if name not in [*self.fresh, *self.old, *(two[2] for two in self.throttled)]:
                self.fresh.append(name)
        self.held += 1

    def dequeue(self, now: int) -> Packet | None:
        if self.fast:
            self.held -= 1
            return self.fast.popleft().packet
        for due in sorted(one for one in self.throttled if one[0] <= now):
            self.throttled.remove(due)
            self.old.append(due[2])
        while self.fresh or self.old:
            is_fresh = bool(self.fresh)
            turns = self.fresh if is_fresh else self.old
            name = turns[0]
            if self.credit[name] <= 0:
                self.credit[name] += self.quantum
                self.old.append(turns.pop(0))
            elif not self.flows[name]:
                turns.pop(0)
                if is_fresh:
                    self.old.append(name)
            elif self.flows[name][0].time > now:
                turns.pop(0)
                self.waits += 1
                self.throttled.append((self.flows[name][0].time, self.waits, name))
            else:
                one = self.flows[name].popleft()
                self.credit[name] -= one.size
                self.held -= 1
                return one.packet
        return None


@pytest.mark.parametrize("seed", range(6))
def test_fq_sends_what_the_kernel_s_lists_send(seed: int) -> None:
    random, sim = Random(seed), Simulator()  # noqa: S311 - a script
    first = random.choice([1500, 3000, 15_000])
    qdisc: Any = Fq(limit=40, flow_limit=11, quantum=3000, initial_quantum=first)
    plain = PlainFq(40, 11, 3000, first)
    sockets = [Endpoint(sim, f"socket{number}") for number in range(5)]
    now, inside = 0, 0
    for _ in range(700):
        now += random.choice([0, 0, 1, 5 * US])
        if random.random() < 0.5 + 0.1 * (now // (200 * US) % 2):
            socket = random.choice(sockets)
            at = random.choice([0, now, now + 1, now + random.randrange(40) * US])
            segments = random.randint(1, 3)
            size = random.choice([60, 500, 1000, 1500])
            one = packet(socket, size, segments, at)
            before = qdisc.dropped.count
            qdisc.enqueue(one, now)
            plain.enqueue(socket.path, Sent(size, max(at, now), one), now)
            assert one.enqueued_ps == max(at, now)
            inside += segments if qdisc.dropped.count == before else 0
        else:
            found = qdisc.dequeue(now)
            assert found is plain.dequeue(now)
            inside -= found.segments if found else 0
        next_ps = min((one[0] for one in plain.throttled), default=NEVER)
        assert (qdisc.packets, qdisc.segments, qdisc.next_ps()) == (plain.held, inside, next_ps)
        assert (qdisc.throttled, qdisc.dropped.count) == (plain.waits, len(plain.dropped))
    assert plain.dropped
    assert plain.waits > 5
    assert all(qdisc.dropped.pop() is one for one in plain.dropped)


@dataclass
class PlainCodel:
    """`codel_dequeue`; times are units of 1024 ns."""

    target: int
    interval: int
    mtu: int
    queue: deque[tuple[int, Packet]] = field(default_factory=deque)
    dropped: list[Packet] = field(default_factory=list)
    count: int = 0
    last: int = 0
    dropping: bool = False
    root: int = 0
    above: int = 0
    next: int = 0
    backlog: int = 0

    def pop(self) -> tuple[int, Packet] | None:
        found = self.queue.popleft() if self.queue else None
        self.backlog -= found[1].bytes if found else 0
        return found

    def newton(self) -> None:
        root = self.root << 16
        value = (3 * 2**32 - self.count * (root * root >> 32)) % WORD >> 2
        self.root = (value * root % WORD >> 31 >> 16) % 2**16

    def law(self, time: int) -> int:
        return time + (self.interval * (self.root << 16) >> 32)

    def bad(self, one: tuple[int, Packet] | None, now: int) -> bool:
        if one is None or now - one[0] < self.target or self.backlog <= self.mtu:
            self.above = 0
            return False
        if self.above:
            return now > self.above
        self.above = now + self.interval
        return False

    def dequeue(self, now: int, backlog: int) -> Packet | None:
        self.backlog = backlog
        one = self.pop()
        if one is None:
            self.dropping = False
            return None
        drop = self.bad(one, now)
        if self.dropping:
            self.dropping = drop
            while self.dropping and now >= self.next:
                self.count += 1
                self.newton()
                self.dropped += [one[1]] if one else []
                one = self.pop()
                self.dropping = self.bad(one, now)
                if self.dropping:
                    self.next = self.law(self.next)
        elif drop:
            self.dropped.append(one[1])
            one = self.pop()
            self.bad(one, now)
            self.dropping = True
            more = self.count - self.last
            if more > 1 and now - self.next < 16 * self.interval:
                self.count = more
                self.newton()
            else:
                self.count, self.root = 1, 0xFFFF
            self.last = self.count
            self.next = self.law(now)
        return one[1] if one else None


def load(random: Random, step: int) -> int:
    """Packets that come before a dequeue: busy times and quiet ones."""
    return random.choice([1, 1, 2, 3] if step % 200 < 120 else [0, 0, 1])


@pytest.mark.parametrize("seed", range(4))
def test_codel_drops_what_the_kernel_drops(seed: int) -> None:
    random, nobody = Random(seed), Endpoint(Simulator(), "nobody")  # noqa: S311 - a script
    waiting, dropped = PacketList(), PacketList()
    limits = CodelLimits(5 * MS, 30 * MS, 3000)
    codel: Any = Codel(limits, waiting, dropped)
    plain = PlainCodel(5 * MS // 1024000, 30 * MS // 1024000, 3000)
    assert (codel.dropping, codel.count, codel.drop_next) == (False, 0, 0)
    now, cycles = 0, set()
    for step in range(900):
        now += random.choice([1, 3, 4]) * MS
        for _ in range(load(random, step)):
            one = packet(nobody, random.choice([100, 1000, 1500]))
            one.enqueued_ps = now - random.randrange(MS)
            waiting.append(one)
            plain.queue.append((codel_time(one.enqueued_ps), one))
        backlog = waiting.bytes
        assert codel.dequeue(now, backlog) is plain.dequeue(now // 1024000, backlog)
        state = (codel.dropping, codel.count, codel.drop_next, codel.rec_inv_sqrt)
        assert state == (plain.dropping, plain.count, plain.next, plain.root)
        assert (dropped.count, waiting.count) == (len(plain.dropped), len(plain.queue))
        assert (codel.lastcount, codel.first_above_time) == (plain.last, plain.above)
        cycles.add(plain.last)
        if step % 100 == 0:
            codel.penalise(3)
            plain.count += 3
    assert len(cycles) > 3
    assert all(dropped.pop() is one for one in plain.dropped)
    assert dropped.pop() is None


@pytest.mark.parametrize(
    ("time_ps", "units"), [(0, 0), (1024 * 1000 - 1, 0), (1024 * 1000, 1), (5 * MS, 4882)]
)
def test_a_unit_of_time_is_1024_ns(time_ps: int, units: int) -> None:
    assert codel_time(time_ps) == units


@dataclass
class PlainFqCodel:
    """`fq_codel_enqueue`, `fq_codel_drop` and `fq_codel_dequeue`."""

    flows: list[PlainCodel]
    limit: int
    quantum: int
    deficit: list[int] = field(default_factory=lambda: [0] * 8)
    fresh: list[int] = field(default_factory=list)
    old: list[int] = field(default_factory=list)
    begun: int = 0
    over: int = 0

    def held(self) -> list[Packet]:
        return [one[1] for flow in self.flows for one in flow.queue]

    def enqueue(self, number: int, one: Packet, now: int) -> None:
        self.flows[number].queue.append((now // 1024000, one))
        if number not in self.fresh + self.old:
            self.fresh.append(number)
            self.begun += 1
            self.deficit[number] = self.quantum
        if len(self.held()) > self.limit:
            lengths = [sum(one[1].bytes for one in flow.queue) for flow in self.flows]
            fat = self.flows[lengths.index(max(lengths))]
            lost, freed = 0, 0
            while lost == 0 or (lost < 64 and freed < max(lengths) // 2):
                gone = fat.queue.popleft()[1]
                fat.dropped.append(gone)
                lost, freed = lost + 1, freed + gone.bytes
            fat.count += lost
            self.over += lost

    def dequeue(self, now: int) -> Packet | None:
        while self.fresh or self.old:
            is_fresh = bool(self.fresh)
            turns = self.fresh if is_fresh else self.old
            number = turns[0]
            if self.deficit[number] <= 0:
                self.deficit[number] += self.quantum
                self.old.append(turns.pop(0))
                continue
            one = self.flows[number].dequeue(now // 1024000, sum(p.bytes for p in self.held()))
            if one is not None:
                self.deficit[number] -= one.bytes
                return one
            turns.pop(0)
            if is_fresh and self.old:
                self.old.append(number)
        return None


@pytest.mark.parametrize(("seed", "limit"), [(0, 30), (1, 90), (2, 500), (3, 140)])
def test_fq_codel_sends_and_drops_what_the_kernel_does(seed: int, limit: int) -> None:
    random, nobody = Random(seed), Endpoint(Simulator(), "nobody")  # noqa: S311 - a script
    limits = CodelLimits(5 * MS, 30 * MS, 3000)
    qdisc: Any = FqCodel(limits, flows=8, limit=limit, quantum=1514, perturbation=99)
    report = ("packets", "segments", "backlog", "new_flow_count", "drop_overlimit", "codel_drops")
    assert [getattr(qdisc, name) for name in report] == [0] * 6
    assert qdisc.dequeue(0) is None
    plain = PlainFqCodel([PlainCodel(4882, 29296, 3000) for _ in range(8)], limit, 1514)
    headers = [
        Header(Station(1), Station(2), 0x0A000001, 0x0A000002, port, 80)
        for port in range(1000, 1012)
    ]
    now = drops = 0
    for step in range(500):
        now += random.choice([1, 3, 4]) * MS
        burst = 2 * limit // 3 if step % 170 == 90 else 0
        fat = random.choice(headers)
        for _ in range(load(random, step) + burst):
            one = packet(nobody, random.choice([100, 1000, 1500]), random.randint(1, 3))
            header = fat if burst else random.choice(headers)
            one.head.header = header
            place = connection_hash(0x0A000001, 0x0A000002, header.source_port, 80, 99, False, True)  # noqa: FBT003 - a cdef function
            qdisc.enqueue(one, now)
            plain.enqueue(place * 8 // 2**32, one, now)
            assert one.enqueued_ps == now
        assert qdisc.dequeue(now) is plain.dequeue(now)
        held = plain.held()
        drops = sum(len(flow.dropped) for flow in plain.flows)
        assert [getattr(qdisc, name) for name in report] == [
            len(held),
            sum(one.segments for one in held),
            sum(one.bytes for one in held),
            plain.begun,
            plain.over,
            drops - plain.over,
        ]
        assert qdisc.dropped.count == drops
    assert plain.begun > 8
    assert drops > 20


def test_what_no_header_tells_is_of_the_first_queue() -> None:
    qdisc: Any = FqCodel(
        CodelLimits(5 * MS, 30 * MS, 3000), flows=8, limit=10, quantum=1514, perturbation=0
    )
    nobody = Endpoint(Simulator(), "nobody")
    qdisc.enqueue(packet(nobody, 100), 0)
    assert [flow.codel.waiting.count for flow in qdisc.flows] == [1, 0, 0, 0, 0, 0, 0, 0]


def test_first_in_first_out_counts_segments_that_wait() -> None:
    qdisc, nobody = PfifoFast(2), Endpoint(Simulator(), "nobody")
    given = [packet(nobody, 100, segments) for segments in (3, 2, 7)]
    counts = []
    for one in given:
        qdisc.enqueue(one, 0)
        counts.append(qdisc.segments)
    assert counts == [3, 5, 5]
    assert qdisc.next_ps() == NEVER
    assert (qdisc.dropped.count, qdisc.dropped.segments, qdisc.dropped.bytes) == (1, 7, 100)
    assert [qdisc.dequeue(0) for _ in range(3)] == [*given[:2], None]
    assert (qdisc.segments, qdisc.waiting.count, qdisc.waiting.bytes) == (0, 0, 0)
