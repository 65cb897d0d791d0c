"""The reorder window: algorithm 1 of Li et al. (2019), and what it must never do."""

from dataclasses import dataclass, field

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from simnet.kernel.component import Component
from simnet.kernel.simulator import Simulator
from simnet.net.infiniband.reorder_window import LARGEST_WINDOW, MessageNumbers, ReorderWindow
from simnet.net.link.skb import Skb
from tests.host.parts import MS, US
from tests.house.examples import examples
from tests.net.parts import Sink, frame

NUMBERS = 1 << 16


@dataclass
class Reference:
    """The algorithm as the paper writes it, on a dictionary; numbers wrap."""

    window: int
    drain_after_slide: bool
    next_id: int = 0
    slots: dict[int, int] = field(default_factory=dict)

    def arrive(self, msg_id: int, tag: int) -> list[int]:
        up: list[int] = []
        ahead = (msg_id - self.next_id) % NUMBERS
        if ahead >= NUMBERS // 2 or (ahead <= self.window and msg_id in self.slots):
            return [tag]
        if ahead == 0:
            up.append(tag)
            self._advance()
            self._drain(up)
        elif ahead <= self.window:
            self.slots[msg_id] = tag
        else:
            while (msg_id - self.next_id) % NUMBERS > self.window:
                if self.next_id in self.slots:
                    up.append(self.slots.pop(self.next_id))
                self._advance()
            if self.drain_after_slide:
                self._drain(up)
            if self.drain_after_slide and msg_id == self.next_id:
                up.append(tag)
                self._advance()
            else:
                self.slots[msg_id] = tag
        return up

    def _advance(self) -> None:
        self.next_id = (self.next_id + 1) % NUMBERS

    def _drain(self, up: list[int]) -> None:
        while self.next_id in self.slots:
            up.append(self.slots.pop(self.next_id))
            self._advance()


class Bench:
    """A window that is fed with numbers; packets are told apart by their sequence numbers."""

    def __init__(
        self, window: int, *, drain_after_slide: bool = True, flush_timeout_ps: int = 0
    ) -> None:
        self.sim = Simulator()
        self.sink = Sink(self.sim)
        self.owner = Owner(self.sim)
        self.window = ReorderWindow(
            self.sim,
            "window",
            window,
            drain_after_slide=drain_after_slide,
            flush_timeout_ps=flush_timeout_ps,
            owner=self.owner,
            kind=7,
        )
        self.owner.bench = self

    def packet(self, number: int, tag: int | None = None) -> Skb:
        skb = frame(self.sink, number if tag is None else tag)
        skb.msg_id = number % NUMBERS
        return skb

    def arrive(self, number: int, tag: int | None = None) -> list[int]:
        count = self.window.arrive(self.packet(number, tag))
        up = self.take()
        assert len(up) == count
        return up

    def take(self) -> list[int]:
        ready = self.window.ready
        return [ready.pop().seq for _ in range(ready.count)]

    def feed(self, numbers: list[int]) -> list[int]:
        return [seq for number in numbers for seq in self.arrive(number)]


class Owner(Component):
    """Who takes what the timer hands up."""

    bench: Bench

    def __init__(self, sim: Simulator) -> None:
        super().__init__(sim, "owner")
        self.got: list[tuple[int, list[int]]] = []

    def on_event(self, kind: int, arg: int) -> None:
        assert (kind, arg) == (7, 0)
        self.got.append((self.sim.now, self.bench.take()))


class TestAlgorithm:
    def test_packets_in_order_pass(self) -> None:
        bench = Bench(4)
        assert [bench.arrive(n) for n in range(5)] == [[0], [1], [2], [3], [4]]
        assert bench.window.counters()["in_order"] == 5

    def test_a_gap_holds_back_until_it_is_filled(self) -> None:
        bench = Bench(4)
        assert [bench.arrive(n) for n in (1, 2, 4, 0, 3)] == [[], [], [], [0, 1, 2], [3, 4]]
        assert bench.window.out_of_order_before == 2
        assert bench.window.out_of_order_after == 0

    def test_a_packet_behind_the_left_edge_is_late_and_handed_up_at_once(self) -> None:
        bench = Bench(1)
        assert [bench.arrive(n) for n in (2, 0, 1)] == [[], [0], [1, 2]]
        assert [bench.arrive(n) for n in (5, 3)] == [[], [3]]
        assert bench.window.late == 2
        assert bench.window.slid_over == 2

    def test_the_window_slides_over_what_is_missing(self) -> None:
        bench = Bench(2)
        # 3 fits when the left edge is 1; 1 is buffered, so the drain goes on behind it
        assert [bench.arrive(n) for n in (1, 2, 3)] == [[], [], [1, 2, 3]]
        assert bench.window.next_id == 4
        assert bench.window.slid_over == 1

    def test_literally_the_left_edge_stays_where_it_is_buffered(self) -> None:
        bench = Bench(2, drain_after_slide=False)
        assert [bench.arrive(n) for n in (1, 2, 3)] == [[], [], []]
        # no packet ever is next_id again: every one that comes pushes one out
        assert [bench.arrive(n) for n in range(4, 9)] == [[1], [2], [3], [4], [5]]
        assert bench.window.held == 3
        assert bench.window.waiting_for() == "packet 6"

    def test_literally_even_no_window_holds_one_packet_back(self) -> None:
        bench = Bench(0, drain_after_slide=False)
        assert [bench.arrive(n) for n in (0, 2, 3, 4)] == [[0], [], [2], [3]]

    def test_numbers_wrap(self) -> None:
        bench = Bench(4)
        numbers = MessageNumbers()
        skbs = [bench.packet(0, tag) for tag in range(NUMBERS + 6)]
        for skb in skbs:
            numbers.number(skb)
        assert skbs[NUMBERS - 1].msg_id == NUMBERS - 1
        assert skbs[NUMBERS].msg_id == 0
        for tag in range(NUMBERS - 2):
            assert bench.arrive(skbs[tag].msg_id, tag) == [tag]
        order = [NUMBERS - 1, NUMBERS, NUMBERS + 1, NUMBERS - 2, NUMBERS + 3, NUMBERS + 2]
        up = [seq for tag in order for seq in bench.arrive(skbs[tag].msg_id, tag)]
        assert up == sorted(order)
        assert bench.window.next_id == 4

    def test_a_packet_from_before_the_first_is_late(self) -> None:
        bench = Bench(4)
        assert bench.arrive(NUMBERS - 1) == [NUMBERS - 1]
        assert bench.window.late == 1

    def test_a_number_that_is_buffered_already_does_not_push_it_out(self) -> None:
        bench = Bench(4)
        assert [bench.arrive(1, 10), bench.arrive(1, 11)] == [[], [11]]
        assert bench.arrive(0) == [0, 10]
        assert bench.window.duplicates == 1

    def test_the_widest_window_reaches_half_way_round(self) -> None:
        bench = Bench(LARGEST_WINDOW)
        assert bench.arrive(LARGEST_WINDOW) == []
        assert bench.window.held == 1
        # one further is as far behind as ahead: late
        assert bench.arrive(LARGEST_WINDOW + 1) == [LARGEST_WINDOW + 1]
        assert bench.window.late == 1

    @pytest.mark.parametrize("window", [-1, LARGEST_WINDOW + 1, NUMBERS])
    def test_a_window_beyond_half_of_the_numbers_is_refused(self, window: int) -> None:
        with pytest.raises(ValueError, match="not from 0 to 32767"):
            Bench(window)

    def test_the_end_of_the_stream_lets_everything_go(self) -> None:
        bench = Bench(8)
        assert bench.feed([1, 2, 5]) == []
        assert bench.window.flush() == 3
        assert bench.take() == [1, 2, 5]
        assert bench.window.counters()["held"] == 0
        assert bench.window.flushed == 3


class TestFlushTimer:
    def test_a_missing_packet_is_given_up_after_the_timeout(self) -> None:
        bench = Bench(32, flush_timeout_ps=500 * US)
        bench.sim.run_until(1 * MS)
        assert bench.feed([0, 2, 3, 5]) == [0]
        bench.sim.run_until(10 * MS)
        assert bench.owner.got == [(1500 * US, [2, 3]), (2000 * US, [5])]
        assert bench.window.counters()["slid_over"] == 2
        assert bench.window.waited_ps == (500 + 500 + 1000) * US

    def test_time_counts_from_when_the_left_edge_came_to_stand(self) -> None:
        bench = Bench(32, flush_timeout_ps=500 * US)
        assert bench.feed([1, 4]) == []
        bench.sim.run_until(400 * US)
        assert bench.feed([0]) == [0, 1]
        bench.sim.run_until(10 * MS)
        assert bench.owner.got == [(900 * US, [4])]

    def test_nothing_is_flushed_that_was_filled_in_time(self) -> None:
        bench = Bench(32, flush_timeout_ps=500 * US)
        assert bench.feed([1]) == []
        bench.sim.run_until(499 * US)
        assert bench.feed([0]) == [0, 1]
        bench.sim.run_until(10 * MS)
        assert bench.owner.got == []

    def test_the_paper_has_none(self) -> None:
        bench = Bench(32)
        assert bench.feed([1]) == []
        bench.sim.run_until(1000 * MS)
        assert bench.owner.got == []
        assert bench.window.held == 1


# -- laws ---------------------------------------------------------------------------------------


@st.composite
def arrivals(draw: st.DrawFn) -> list[int]:
    """Numbers in the order of arrival: some overtaken, some lost; they begin near the wrap."""
    count = draw(st.integers(1, 60))
    delays = draw(st.lists(st.integers(0, 12), min_size=count, max_size=count))
    lost = draw(st.sets(st.integers(0, count - 1), max_size=count // 3))
    order = sorted(range(count), key=lambda n: (n + delays[n], n))
    return [n for n in order if n not in lost]


WINDOWS = st.sampled_from([0, 1, 2, 3, 4, 7, 8, 16, 64])


def started(window: int, first: int, *, drain_after_slide: bool) -> Bench:
    """A window whose left edge is `first`."""
    bench = Bench(window, drain_after_slide=drain_after_slide)
    step = NUMBERS // 2 - 1
    for number in range(step - 1, first, step):
        bench.arrive(number)
        bench.window.flush()
        bench.take()
    if first:
        bench.arrive(first - 1)
        bench.window.flush()
        bench.take()
    assert bench.window.next_id == first % NUMBERS
    return bench


FIRST = st.sampled_from([0, 5, NUMBERS - 7, NUMBERS + 3])


@settings(max_examples=examples(200))
@given(order=arrivals(), window=WINDOWS, first=FIRST, drain=st.booleans())
@example(order=[1, 2, 3, 4, 5], window=2, first=0, drain=False)
def test_it_does_what_the_algorithm_says(
    *, order: list[int], window: int, first: int, drain: bool
) -> None:
    bench = started(window, first, drain_after_slide=drain)
    reference = Reference(window, drain, next_id=first % NUMBERS)
    for number in order:
        expected = reference.arrive((first + number) % NUMBERS, number)
        assert bench.arrive(first + number, number) == expected
        assert bench.window.next_id == reference.next_id
        assert bench.window.held == len(reference.slots)


@settings(max_examples=examples(200))
@given(arrivals(), WINDOWS, FIRST)
def test_nothing_is_lost_stranded_or_handed_up_twice(
    order: list[int], window: int, first: int
) -> None:
    bench = started(window, first, drain_after_slide=True)
    up = [seq for number in order for seq in bench.arrive(first + number, number)]
    # whatever is missing, as many later packets as the window holds let everything go
    later = range(max(order, default=0) + 1, max(order, default=0) + window + 2)
    up += [seq for number in later for seq in bench.arrive(first + number, number)]
    assert sorted(up) == sorted([*order, *later])
    assert bench.window.held == 0


@settings(max_examples=examples(200))
@given(arrivals(), FIRST)
def test_no_window_changes_nothing(order: list[int], first: int) -> None:
    bench = started(0, first, drain_after_slide=True)
    assert [bench.arrive(first + number, number) for number in order] == [[n] for n in order]


@settings(max_examples=examples(200))
@given(order=arrivals(), window=WINDOWS, first=FIRST, drain=st.booleans())
def test_order_is_kept_inside_the_window(
    *, order: list[int], window: int, first: int, drain: bool
) -> None:
    """A packet that no other overtook by more than the window is handed up in its place."""
    bench = started(window, first, drain_after_slide=drain)
    up = [seq for number in order for seq in bench.arrive(first + number, number)]
    highest_before = -1
    late = set()
    for number in order:
        if highest_before > number + window:
            late.add(number)
        highest_before = max(highest_before, number)
    punctual = [number for number in up if number not in late]
    assert punctual == sorted(punctual)
    if not late:
        assert bench.window.out_of_order_after == 0


@settings(max_examples=examples(200))
@given(order=arrivals(), window=WINDOWS, drain=st.booleans())
def test_every_packet_is_counted_once(*, order: list[int], window: int, drain: bool) -> None:
    bench = Bench(window, drain_after_slide=drain)
    up = bench.feed(order)
    window_ = bench.window
    assert len(up) + window_.held == len(order)
    straight = len(order) - window_.in_order - window_.late - window_.buffered
    # what a slide hands up at once came neither in order nor late
    assert straight >= 0
    assert window_.next_id == len(order) - window_.late - window_.held + window_.slid_over
