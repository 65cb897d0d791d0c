"""Links and the store-and-forward switch: arrival times by hand."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Serializer, Skb, SkbQueue, SwitchedPath
from tests.host.parts import NS, US
from tests.net.parts import GIGABIT, Far, Sink, frame


class Counting(Far):
    """The far end; counts how often it is told of frames."""

    told = 0

    def frames_added(self) -> int:
        self.told += 1
        return 0


def make(
    *, rate_bps: int = 10**9, cable_ps: int = 0, latency_ps: int = 0, per_frame: bool = False
) -> tuple[SwitchedPath, Counting, Sink]:
    sim = Simulator()
    far = Counting(sim)
    path = SwitchedPath(sim, "path", far, rate_bps, cable_ps, latency_ps, per_frame=per_frame)
    return path, far, Sink(sim)


def arrivals(far: Counting) -> list[int]:
    queue = far.incoming
    return [queue.pop().arrival_ps for _ in range(queue.count)]


class TestStoreAndForward:
    def test_frame_is_serialised_twice(self) -> None:
        path, far, sink = make(cable_ps=50 * NS, latency_ps=4 * US)
        # its last bit leaves the source at 12.304 us
        path.send(frame(sink, wire_bytes=1538), 12_304_000)
        assert arrivals(far) == [12_304_000 + 50_000 + 4_000_000 + 12_304_000 + 50_000]

    def test_frames_of_equal_length_keep_their_distance(self) -> None:
        path, far, sink = make(latency_ps=4 * US)
        for number in range(1, 6):
            path.send(frame(sink, wire_bytes=1538), number * 12_304_000)
        times = arrivals(far)
        assert {b - a for a, b in itertools.pairwise(times)} == {12_304_000}

    def test_short_frame_queues_behind_a_long_one(self) -> None:
        path, far, sink = make(latency_ps=1 * US)
        path.send(frame(sink, wire_bytes=1538), 12_304_000)
        path.send(frame(sink, wire_bytes=84), 12_304_000 + 672_000)
        long_done = 12_304_000 + 1_000_000 + 12_304_000
        assert arrivals(far) == [long_done, long_done + 672_000]

    @pytest.mark.parametrize(
        ("rate_bps", "us"), [(10**8, 123.04), (10**9, 12.304), (10**10, 1.2304)]
    )
    def test_rate(self, rate_bps: int, us: float) -> None:
        path, far, sink = make(rate_bps=rate_bps)
        path.send(frame(sink, wire_bytes=1538), 0)
        assert arrivals(far) == [round(us * US)]

    def test_counts(self) -> None:
        path, _, sink = make()
        for _ in range(3):
            path.send(frame(sink, wire_bytes=1000), 0)
        assert (path.frames, path.bytes) == (3, 3000)


class TestPerFrame:
    def test_frames_are_announced_when_they_arrive(self) -> None:
        path, far, sink = make(per_frame=True)
        for _ in range(2):
            path.send(frame(sink, wire_bytes=1250), 0)
        path.flush()
        assert (far.incoming.count, far.told) == (0, 0)
        path.sim.run_until(10 * US)
        assert (far.incoming.count, far.told) == (1, 1)
        path.sim.run_until(20 * US)
        assert (far.incoming.count, far.told) == (2, 2)

    def test_otherwise_once_a_burst_and_ahead(self) -> None:
        path, far, sink = make()
        for _ in range(2):
            path.send(frame(sink, wire_bytes=1250), 0)
        assert far.told == 0
        path.flush()
        assert (far.incoming.count, far.told) == (2, 1)

    @given(st.lists(st.tuples(st.integers(0, 30_000), st.integers(84, 1538)), max_size=30))
    def test_same_times_either_way(self, frames: list[tuple[int, int]]) -> None:
        results = []
        for per_frame in (False, True):
            path, far, sink = make(cable_ps=50 * NS, latency_ps=3 * US, per_frame=per_frame)
            end = 0
            for gap_ns, wire_bytes in frames:
                end += gap_ns * NS + wire_bytes * 8000
                path.send(frame(sink, wire_bytes=wire_bytes), end)
            path.sim.run_until(10**12)
            results.append(arrivals(far))
        assert results[0] == results[1]
        assert results[0] == sorted(results[0])


@given(st.lists(st.one_of(st.none(), st.integers(0, 100)), max_size=60))
def test_queue_is_first_in_first_out(steps: list[int | None]) -> None:
    sink = Sink(Simulator())
    queue, model = SkbQueue(), list[int]()
    for step in steps:
        if step is not None:
            queue.append(frame(sink, step))
            model.append(step)
        elif model:
            skb: Skb = queue.pop()
            assert skb.seq == model.pop(0)
            assert skb.next is None
        assert queue.count == len(model)
        assert (queue.head.seq if model else queue.head) == (model[0] if model else None)


class Losing(Counting):
    """Counts how often it is told of frames that will not come."""

    lost = 0

    def frames_lost(self) -> int:
        self.lost += 1
        return 0


def test_a_pulled_cable_loses_what_comes_later_than_now() -> None:
    sim = Simulator()
    port, sink = Losing(sim), Sink(sim)
    for seq, arrival_ps in enumerate((9, 10, 11, 12)):
        port.incoming.append(frame(sink, seq, arrival_ps))
    assert port.drop_in_flight(10) == 2
    assert (port.lost, port.incoming.count) == (1, 2)
    assert [port.incoming.pop().seq for _ in range(2)] == [0, 1]
    assert port.drop_in_flight(10) == 0
    assert (port.weight, port.node, port.copies) == (64, 0, False)


def test_a_serializer_sends_one_after_the_other() -> None:
    serializer = Serializer(GIGABIT)
    # a byte takes 8 ns
    assert [serializer.end_ps(now, 125) for now in (5 * US, 5 * US, 7 * US, 8 * US + 1)] == [
        6 * US,
        7 * US,
        8 * US,
        9 * US + 1,
    ]
    assert serializer.end_ps(0, 0) == 9 * US + 1


def test_a_path_that_was_not_used_has_counted_nothing() -> None:
    path, far, sink = make(cable_ps=3, latency_ps=5)
    assert (path.frames, path.bytes) == (0, 0)
    path.send(frame(sink, wire_bytes=1), 0)
    # two cables, the switch, a byte
    assert arrivals(far) == [3 + 5 + 8000 + 3]
