"""fq: turns by socket, and no packet before its time (net/sched/sch_fq.c of Linux 6.12)."""

from typing import Any

from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Endpoint, new_skb
from simnet.net.qdisc.fq import Fq
from simnet.net.qdisc.qdisc import Packet

US = 10**6
SIZE = 1514


def sockets(*names: str) -> list[Endpoint]:
    sim = Simulator()
    return [Endpoint(sim, name) for name in names]


def made(limit: int = 10_000, flow_limit: int = 100) -> Any:
    return Fq(limit=limit, flow_limit=flow_limit, quantum=2 * SIZE, initial_quantum=10 * SIZE)


def packet(endpoint: Endpoint, at_us: int = 0) -> Packet:
    skb = new_skb(endpoint, 0, SIZE, 0, 0, SIZE, False)  # noqa: FBT003 - a cdef function
    skb.arrival_ps = at_us * US
    return Packet(skb, SIZE)


def test_no_packet_leaves_before_its_time_and_none_is_kept_longer() -> None:
    qdisc, (one, other) = made(), sockets("one", "other")
    for at_us in (10, 30, 50):
        qdisc.enqueue(packet(one, at_us), 0)
    qdisc.enqueue(packet(other, 20), 0)
    left: list[tuple[int, str]] = []
    for at_us in range(60):
        while found := qdisc.dequeue(at_us * US):
            left.append((at_us, found.head.endpoint.path))
    assert left == [(10, "one"), (20, "other"), (30, "one"), (50, "one")]
    assert qdisc.segments == 0


def test_it_says_when_to_ask_again() -> None:
    qdisc, (one, other) = made(), sockets("one", "other")
    qdisc.enqueue(packet(one, 40), 0)
    qdisc.enqueue(packet(other, 70), 0)
    assert not qdisc.dequeue(0)
    assert qdisc.next_ps() == 40 * US
    assert qdisc.dequeue(40 * US).head.endpoint is one


def test_flows_whose_time_has_come_take_turns_by_quantum_after_the_first_credit() -> None:
    qdisc, (one, other) = made(), sockets("one", "other")
    for endpoint in (one, other):
        for _ in range(16):
            qdisc.enqueue(packet(endpoint, 10), 0)
    order = [qdisc.dequeue(10 * US).head.endpoint.path for _ in range(32)]
    assert order[:20] == ["one"] * 10 + ["other"] * 10
    assert order[20:] == ["one", "one", "other", "other"] * 3


def test_a_packet_that_none_is_before_goes_the_fast_way() -> None:
    qdisc, (late, soon) = made(), sockets("late", "soon")
    qdisc.enqueue(packet(late, 40), 0)
    assert not qdisc.dequeue(0)
    qdisc.enqueue(packet(soon), 0)
    assert qdisc.dequeue(0).head.endpoint is soon


def test_limits_of_a_flow_and_of_all() -> None:
    qdisc, (one, other) = made(limit=8, flow_limit=5), sockets("one", "other")
    for endpoint in (one, other):
        for _ in range(6):
            qdisc.enqueue(packet(endpoint, 10), 0)
    # one of the first, three of the second
    assert (qdisc.packets, qdisc.dropped.count) == (8, 4)
