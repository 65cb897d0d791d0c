"""A bottleneck whose queue is managed: its rate, its order, and what becomes of frames."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from simnet.kernel.simulator import Simulator
from simnet.net.link.ethernet import UNCOUNTED_BYTES
from simnet.net.link.netem import Netem
from simnet.net.link.skb import CE, ECT, SwitchedPath
from simnet.net.qdisc.bottleneck import Bottleneck
from simnet.net.qdisc.codel import CodelLimits, CodelQueue
from simnet.net.qdisc.qdisc import PfifoFast, Qdisc
from tests.net.parts import Far, Sink, frame

MS = 10**9
LENGTH = 1250
# 10 Mbit/s, by which a frame takes 1 ms
RATE = 10_000_000


def made(
    qdisc: Qdisc, *, delay_ps: int = 0, per_frame: bool = False
) -> tuple[SwitchedPath, Far, Bottleneck]:
    sim = Simulator()
    far = Far(sim)
    path = SwitchedPath(sim, "way", far, 10**15, 0, 0, per_frame)
    path.netem = Netem("way", None, delay_ps=delay_ps)
    queue = Bottleneck(sim, "way.bottleneck", path, qdisc, RATE)
    path.queue = queue
    return path, far, queue


def send(path: SwitchedPath, times: list[int], bits: int = 0) -> None:
    sink = Sink(path.sim)
    for number, time in enumerate(times):
        one = frame(sink, seq=number, wire_bytes=LENGTH + UNCOUNTED_BYTES)
        one.ecn = bits
        path.send(one, time)
        path.flush()


def arrived(far: Far) -> list[tuple[int, int, int]]:
    """Time to the nearest tenth of a ms, number and bits of each frame."""
    found = []
    while far.incoming.count:
        one = far.incoming.pop()
        found.append((round(one.arrival_ps * 10 / MS), one.seq, one.ecn))
    return found


def test_frames_are_served_behind_each_other_after_the_delay() -> None:
    path, far, queue = made(PfifoFast(10), delay_ps=5 * MS)
    send(path, [0, 0, MS // 2, 9 * MS])
    path.sim.run_until(100 * MS)
    assert arrived(far) == [(60, 0, 0), (70, 1, 0), (80, 2, 0), (150, 3, 0)]
    assert queue.bytes == 4 * LENGTH


def test_what_the_discipline_has_no_room_for_is_counted() -> None:
    path, far, queue = made(CodelQueue(CodelLimits(MS, 10 * MS, LENGTH), 2))
    send(path, [0] * 6)
    path.sim.run_until(100 * MS)
    # one is served, two wait
    assert [number for _, number, _ in arrived(far)] == [0, 1, 2]
    assert (queue.dropped, queue.early, queue.qdisc.over_limit()) == (3, 0, 3)


def test_marks_are_those_of_the_wait_and_early_drops_count_as_such() -> None:
    limits = CodelLimits(MS, 10 * MS, LENGTH, ce_threshold_ps=3 * MS)
    path, far, queue = made(CodelQueue(limits, 1000))
    send(path, [0] * 8, ECT)
    path.sim.run_until(100 * MS)
    # numbers 4 to 7 have waited for 4 to 7 ms
    assert [bits for _, _, bits in arrived(far)] == [ECT] * 4 + [CE] * 4
    path, far, queue = made(CodelQueue(CodelLimits(MS, 10 * MS, LENGTH), 1000))
    send(path, [number * MS // 2 for number in range(200)])
    path.sim.run_until(1000 * MS)
    assert queue.early == 200 - len(arrived(far)) > 5


@given(st.lists(st.integers(0, 3 * MS), min_size=1, max_size=40), st.integers(1, 6), st.booleans())
def test_every_frame_arrives_in_order_or_is_counted(
    gaps: list[int],
    limit: int,
    per_frame: bool,  # noqa: FBT001
) -> None:
    limits = CodelLimits(MS, 4 * MS, LENGTH)
    path, far, queue = made(CodelQueue(limits, limit), delay_ps=2 * MS, per_frame=per_frame)
    times, now = [], 0
    for gap in gaps:
        now += gap
        times.append(now)
    send(path, times)
    path.sim.run_until(now + 1000 * MS)
    found = arrived(far)
    assert len(found) + queue.dropped == len(gaps)
    assert [number for _, number, _ in found] == sorted(number for _, number, _ in found)
    assert all(time >= round((times[number] + 3 * MS) * 10 / MS) - 1 for time, number, _ in found)
    assert all(later - before >= 10 for (before, *_), (later, *_) in itertools.pairwise(found))
