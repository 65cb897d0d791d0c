"""What is above a transmit ring: packets of several segments, limits in bytes, what is dropped."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.net.link.skb import Skb, new_skb
from simnet.net.nic.netdev_queue import NetdevQueue, Watchdog
from simnet.net.qdisc.dynamic_queue_limits import MOST_BYTES, DynamicQueueLimits
from simnet.net.qdisc.egress import Egress
from simnet.net.qdisc.qdisc import PfifoFast
from tests.host.parts import MS
from tests.net.nic.connectx import Bench
from tests.net.parts import Owner, frame, on_wire

OVERHEAD = 24


def made(*, limit: int = 1000, most: int = 0, **device: Any) -> tuple[Bench, NetdevQueue]:
    bench = Bench(tso=True, device={"rate_bps": 10**10, **device})
    dql = DynamicQueueLimits(0, most, 250) if most else None
    queue = NetdevQueue(bench.nic, PfifoFast(limit), dql, jiffy_ps=4 * MS, gso=True)
    return bench, queue


def send(bench: Bench, owner: Owner, seqs: list[int], length: int = 1448) -> None:
    """Send segments that begin at `seqs`, in one burst."""
    for seq in seqs:
        skb: Skb = new_skb(bench.sink, seq, seq + length, 0, 0, length + 90, False)  # noqa: FBT003 - a cdef function
        skb.toucher, skb.owner = bench.cpu, owner
        bench.nic.transmit(skb)
    bench.nic.flush()


@given(bursts=st.lists(st.integers(1, 60), min_size=1, max_size=6), ring=st.integers(1, 100))
def test_all_frames_go_in_order_whatever_ring_and_limit(bursts: list[int], ring: int) -> None:
    for most in (0, 1, 20_000, MOST_BYTES):
        bench, queue = made(most=most, tx_ring=ring)
        owner, seq = Owner(bench.sim), 0
        for number, count in enumerate(bursts):
            bench.run(number * 5)
            send(bench, owner, [seq + 1448 * i for i in range(count)])
            seq += 1448 * count
        bench.run(5000)
        assert [skb.seq for skb in on_wire(bench.nic)] == list(range(0, seq, 1448))
        assert queue.waiting() == 0
        assert owner.wmem == 0


def test_the_first_packet_stops_the_queue_and_its_completion_lets_more_go() -> None:
    bench, queue = made(most=MOST_BYTES)
    for _ in range(5):
        bench.nic.transmit(frame(bench.sink, wire_bytes=1538))
    bench.nic.flush()
    assert bench.nic.tx.sent == 1
    assert queue.waiting() == 4
    bench.run(1000)
    assert bench.nic.tx.sent == 5
    assert queue.dql.limit >= 1538 - OVERHEAD


def test_without_byte_queue_limits_the_ring_takes_all() -> None:
    bench, _ = made()
    bench.send(5, wire_bytes=1538)
    assert bench.nic.tx.sent == 5


def test_the_segments_of_a_large_one_are_one_packet() -> None:
    bench, queue = made(most=MOST_BYTES)
    owner = Owner(bench.sim)
    send(bench, owner, [0, 1448, 2896, 10_000])
    # the first packet is three segments; the one after the gap waits
    assert bench.nic.tx.sent == 3
    assert queue.waiting() == 1
    assert owner.wmem == 4 * 1448


def test_a_large_one_for_which_there_are_no_descriptors_goes_on_later() -> None:
    bench, queue = made(tx_ring=4)
    owner = Owner(bench.sim)
    send(bench, owner, [1448 * i for i in range(10)])
    assert bench.nic.tx.sent == 4
    assert queue.waiting() == 6
    bench.run(1000)
    assert bench.nic.tx.sent == 10


def test_what_is_dropped_is_the_socket_s_memory_again() -> None:
    bench, _ = made(limit=1, most=MOST_BYTES)
    owner = Owner(bench.sim)
    send(bench, owner, [0, 5000, 10_000, 15_000])
    # one in the ring, one waits
    assert bench.nic.qdisc_drops == 2
    assert owner.wmem == 2 * 1448


@pytest.mark.parametrize("most", [3000, 30_000])
def test_the_ring_never_holds_more_than_the_limit_and_a_packet(most: int) -> None:
    bench, queue = made(most=most)
    owner = Owner(bench.sim)
    for at in range(0, 200, 2):
        bench.run(at)
        send(bench, owner, [10_000 * at + 3000 * i for i in range(3)])
        assert queue.dql.num_queued - queue.dql.num_completed <= most + 1448 + 90 - OVERHEAD
    assert queue.dql.limit <= most


@pytest.mark.skipif(not hasattr(Watchdog, "wake_at"), reason="a C function")
def test_the_watchdog_runs_the_queue_at_the_earliest_time_asked_for() -> None:
    bench, _ = made()
    runs: list[int] = []

    class Woken(Egress):
        def wake(self) -> int:
            runs.append(bench.sim.now)
            return 0

    watchdog: Any = Watchdog(bench.sim, "watchdog", Woken())
    begun = bench.sim.now
    for after in (50, 70, 30, 30, 40):
        watchdog.wake_at(begun + after * MS)
    assert watchdog.due_ps == begun + 30 * MS
    bench.sim.run_until(begun + 100 * MS)
    assert runs == [begun + 30 * MS]
    # and from then on again
    watchdog.wake_at(begun + 120 * MS)
    bench.sim.run_until(begun + 200 * MS)
    assert runs == [begun + 30 * MS, begun + 120 * MS]
