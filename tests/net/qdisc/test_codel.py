"""CoDel against RFC 8289, and fq_codel's turns (net/sched/sch_fq_codel.c of Linux 6.12)."""

from itertools import pairwise
from math import sqrt

import pytest

from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Endpoint, Header, Station, new_skb
from simnet.net.qdisc.codel import Codel, CodelLimits
from simnet.net.qdisc.fq_codel import FqCodel
from simnet.net.qdisc.qdisc import Packet, PacketList, PfifoFast

MS = 10**9
SIZE = 1514
NOBODY = Endpoint(Simulator(), "nobody")
# a unit of the kernel's clock
TICK = 1024 * 1000


def packet(header: Header | None = None, size: int = SIZE) -> Packet:
    skb = new_skb(NOBODY, 0, size, 0, 0, size, False)  # noqa: FBT003 - a cdef function
    if header is not None:
        skb.header = header
    return Packet(skb, size)


def header(port: int) -> Header:
    return Header(Station(1), Station(2), 0x0A000001, 0x0A000002, port, 80)


class Rfc8289:
    """The pseudocode of RFC 8289, section 5, in floating point, but for where a cycle begins."""

    def __init__(self) -> None:
        self.first_above = self.next_drop = 0.0
        self.count = self.lastcount = 0
        self.dropping = False

    def drops_at(self, now: float, target: float, interval: float, waited: float) -> int:
        """Packets dropped at a dequeue where all that waits has waited as long."""
        ok = False
        if waited < target:
            self.first_above = 0
        elif self.first_above == 0:
            self.first_above = now + interval
        else:
            ok = now > self.first_above
        if not self.dropping:
            if ok:
                self.dropping = True
                self.count = self.lastcount = 1
                self.next_drop = now + interval
            return int(ok)
        self.dropping = ok
        dropped = 0
        while self.dropping and now >= self.next_drop:
            dropped += 1
            self.count += 1
            self.next_drop += interval / sqrt(self.count)
        return dropped


def drop_times(waited: int, target: int, interval: int, until: int) -> list[int]:
    """When a queue in which everything waits so long loses packets, a dequeue a millisecond."""
    waiting, dropped = PacketList(), PacketList()
    codel = Codel(CodelLimits(target, interval, SIZE), waiting, dropped)
    times: list[int] = []
    for now in range(waited, until, MS):
        while waiting.pop() is not None:
            pass
        for _ in range(30):
            one = packet()
            one.enqueued_ps = now - waited
            waiting.append(one)
        before = dropped.count
        codel.dequeue(now, waiting.bytes)
        times += [now] * (dropped.count - before)
    return times


@pytest.mark.parametrize(("target", "interval"), [(5, 100), (1, 20), (20, 400)])
def test_drops_come_when_the_rfc_s_pseudocode_drops(target: int, interval: int) -> None:
    waited, until = 50 * MS, 3000 * MS
    rfc, expected = Rfc8289(), []
    for now in range(waited, until, MS):
        expected += [now] * rfc.drops_at(now, target * MS, interval * MS, waited)
    found = drop_times(waited, target * MS, interval * MS, until)
    # the kernel's first Newton step says a half where the root of two says 0.71
    early = [a - b for a, b in zip(expected, found, strict=False)]
    assert early[:2] == [0, 0]
    for one in early[2:40]:
        assert one == pytest.approx(0.22 * interval * MS, abs=2 * MS + 0.04 * interval * MS)


def test_the_time_between_drops_falls_with_the_root_of_their_number() -> None:
    times = drop_times(50 * MS, 5 * MS, 100 * MS, 3000 * MS)
    gaps = [(b - a) / MS for a, b in pairwise(times)]
    assert gaps[1] == pytest.approx(50, abs=2)
    for number, gap in list(enumerate(gaps[:40], start=1))[2:]:
        assert gap == pytest.approx(100 / sqrt(number), abs=2 + 0.03 * 100 / sqrt(number))


def test_what_waits_less_than_the_target_is_never_dropped() -> None:
    assert drop_times(5 * MS - 2 * TICK, 5 * MS, 100 * MS, 2000 * MS) == []


def test_not_before_an_interval_has_passed() -> None:
    times = drop_times(50 * MS, 5 * MS, 100 * MS, 400 * MS)
    assert times[0] == pytest.approx(150 * MS, abs=2 * MS)


def discipline(**more: int) -> FqCodel:
    given = {"flows": 1024, "limit": 1000, "quantum": SIZE, "perturbation": 7, **more}
    return FqCodel(CodelLimits(5 * MS, 100 * MS, SIZE), **given)


def sent(qdisc: FqCodel, now: int = 0) -> list[int]:
    return [qdisc.dequeue(now).head.header.source_port for _ in range(qdisc.packets)]


def test_flows_take_turns_and_one_that_came_last_goes_first() -> None:
    qdisc, fat, thin = discipline(), header(1000), header(2000)
    for _ in range(5):
        qdisc.enqueue(packet(fat), 0)
    assert qdisc.dequeue(0).head.header is fat
    qdisc.enqueue(packet(thin), 0)
    assert sent(qdisc) == [2000, 1000, 1000, 1000, 1000]
    assert (qdisc.packets, qdisc.backlog, qdisc.segments) == (0, 0, 0)


def test_turns_are_of_bytes() -> None:
    qdisc, large, small = discipline(), header(1000), header(2000)
    for _ in range(3):
        qdisc.enqueue(packet(large), 0)
    for _ in range(12):
        qdisc.enqueue(packet(small, SIZE // 4), 0)
    order = sent(qdisc)
    assert order[:5].count(2000) == 4
    assert (order.count(1000), order.count(2000)) == (3, 12)


def test_beyond_the_limit_the_longest_queue_loses_half() -> None:
    qdisc, fat, thin = discipline(limit=20), header(1000), header(2000)
    qdisc.enqueue(packet(thin), 0)
    for _ in range(20):
        qdisc.enqueue(packet(fat), 0)
    assert qdisc.drop_overlimit == 10
    assert qdisc.dropped.count == 10
    assert sent(qdisc).count(2000) == 1
    assert qdisc.packets == 0


def test_what_codel_drops_waits_no_longer() -> None:
    qdisc, fat = discipline(), header(1000)
    for _ in range(400):
        qdisc.enqueue(packet(fat), 0)
    taken = sum(qdisc.dequeue(now * MS) is not None for now in range(50, 400))
    assert qdisc.codel_drops > 3
    assert qdisc.packets == 400 - taken - qdisc.codel_drops
    assert qdisc.backlog == qdisc.packets * SIZE


def test_pfifo_fast_drops_what_comes_last() -> None:
    qdisc, first, second = PfifoFast(1), packet(), packet()
    qdisc.enqueue(first, 0)
    qdisc.enqueue(second, 0)
    assert qdisc.dropped.pop() is second
    assert qdisc.dequeue(0) is first
    assert qdisc.dequeue(0) is None
