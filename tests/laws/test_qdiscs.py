"""Laws of queueing disciplines: nothing is lost, flows keep their order, shares are fair."""

from collections import defaultdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Endpoint, Header, Station, new_skb
from simnet.net.qdisc.codel import CodelLimits
from simnet.net.qdisc.fq import Fq
from simnet.net.qdisc.fq_codel import FqCodel
from simnet.net.qdisc.qdisc import Packet, PfifoFast

US = 10**6
MS = 10**9
FLOWS = 3
QUANTUM = 1514
LIMIT = 3
SIM = Simulator()
SOCKETS = [Endpoint(SIM, f"socket{flow}") for flow in range(FLOWS)]
HEADERS = [
    Header(Station(1), Station(2), 0x0A000001, 0x0A000002, 4000 + flow, 80) for flow in range(FLOWS)
]


def pfifo(limit: int) -> Any:
    return PfifoFast(limit)


def fq(limit: int) -> Any:
    return Fq(limit=limit, flow_limit=limit, quantum=QUANTUM, initial_quantum=QUANTUM)


def fq_codel(limit: int) -> Any:
    limits = CodelLimits(5 * MS, 100 * MS, QUANTUM)
    return FqCodel(limits, flows=1024, limit=limit, quantum=QUANTUM, perturbation=7)


ALL = pytest.mark.parametrize("make", [pfifo, fq, fq_codel])


def packet(flow: int, number: int, size: int, parts: int = 1, at_us: int = 0) -> Packet:
    """The number-th packet of a flow."""
    skb = new_skb(SOCKETS[flow], number, size, 0, 0, size, False)  # noqa: FBT003 - a cdef function
    skb.header = HEADERS[flow]
    skb.arrival_ps = at_us * US
    made = Packet(skb, size)
    for _ in range(parts - 1):
        made.add(new_skb(SOCKETS[flow], number, size, 0, 0, size, False), size)  # noqa: FBT003
    return made


STEPS = st.lists(
    st.one_of(
        # a packet of a flow: size, segments, and when it may leave
        st.tuples(
            st.integers(0, FLOWS - 1),
            st.integers(60, QUANTUM),
            st.integers(1, 4),
            st.integers(0, 50),
        ),
        # what the ring takes
        st.just("take"),
        # time that passes, in us
        st.integers(1, 40_000),
    ),
    max_size=120,
)


@ALL
@given(steps=STEPS)
def test_nothing_is_lost_doubled_or_overtaken_in_its_flow(make: Any, steps: list[Any]) -> None:
    qdisc = make(LIMIT)
    now = 0
    given_: dict[int, Packet] = {}
    segments: dict[int, int] = {}
    left: list[int] = []
    gone: list[int] = []
    flow_of: dict[int, int] = {}
    for step in [*steps, *["take"] * 8]:
        if isinstance(step, int):
            now += step * US
        elif step == "take":
            found = qdisc.dequeue(now)
            if found:
                left.append(found.head.seq)
        else:
            flow, size, parts, later_us = step
            number = len(given_)
            at_us = now // US + later_us
            given_[number] = packet(flow, number, size, parts, at_us)
            segments[number] = given_[number].segments
            flow_of[number] = flow
            qdisc.enqueue(given_[number], now)
        while lost := qdisc.dropped.pop():
            gone.append(lost.head.seq)
        waiting = given_.keys() - set(left) - set(gone)
        assert len(left) + len(gone) + len(waiting) == len(given_)
        assert qdisc.segments == sum(segments[number] for number in waiting)
        assert len(waiting) <= LIMIT
    of_flows = defaultdict(list)
    for number in left:
        of_flows[flow_of[number]].append(number)
    assert all(numbers == sorted(numbers) for numbers in of_flows.values())
    # what still waits leaves in the end
    while qdisc.segments:
        now += MS
        while found := qdisc.dequeue(now):
            left.append(found.head.seq)
        while lost := qdisc.dropped.pop():
            gone.append(lost.head.seq)
    assert sorted(left + gone) == list(given_)


@ALL
@given(steps=STEPS)
def test_the_link_is_not_left_idle_while_a_packet_may_go(make: Any, steps: list[Any]) -> None:
    qdisc = make(1000)
    now = 0
    number = 0
    for step in steps:
        if isinstance(step, int):
            now += step * US
        elif step == "take":
            waiting = qdisc.segments
            assert bool(qdisc.dequeue(now)) == (waiting > 0)
        else:
            flow, size, parts, _ = step
            qdisc.enqueue(packet(flow, number, size, parts, now // US), now)
            number += 1


@pytest.mark.parametrize("make", [fq, fq_codel])
@given(sizes=st.tuples(*[st.integers(60, QUANTUM)] * FLOWS), taken=st.integers(30, 200))
def test_flows_that_always_have_packets_get_equal_bytes(
    make: Any, sizes: tuple[int, ...], taken: int
) -> None:
    """Deficit round robin: no two are further apart than a quantum and a packet."""
    qdisc = make(10_000)
    for flow, size in enumerate(sizes):
        for number in range(2 * taken):
            qdisc.enqueue(packet(flow, number, size, at_us=1), 0)
    had = dict.fromkeys(range(FLOWS), 0)
    for _ in range(taken):
        found = qdisc.dequeue(US)
        had[SOCKETS.index(found.head.endpoint)] += found.bytes
    assert max(had.values()) - min(had.values()) <= QUANTUM + max(sizes)
