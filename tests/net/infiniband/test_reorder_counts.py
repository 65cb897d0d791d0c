"""Reorder window: each counter after each packet, by hand."""

from typing import Any

import pytest

from simnet.kernel.component import Component
from simnet.kernel.simulator import Simulator
from simnet.net.infiniband.reorder_window import MessageNumbers, ReorderWindow
from simnet.net.link.skb import Skb
from tests.host.parts import US
from tests.net.parts import Sink, frame


class Owner(Component):
    """Takes what the timer hands up."""

    def __init__(self, sim: Simulator) -> None:
        super().__init__(sim, "owner")
        self.told: list[tuple[int, int, int]] = []

    def on_event(self, kind: int, arg: int) -> None:
        self.told.append((self.sim.now, kind, arg))


class Line:
    """A window, and packets by number."""

    def __init__(self, window: int, **options: Any) -> None:
        self.sim = Simulator()
        self.sink = Sink(self.sim)
        self.owner = Owner(self.sim)
        if "flush_timeout_ps" in options:
            options |= {"owner": self.owner, "kind": 7}
        self.window = ReorderWindow(self.sim, "window", window, **options)

    def packet(self, number: int) -> Skb:
        skb = frame(self.sink, number)
        skb.msg_id = number & 0xFFFF
        return skb

    def arrive(self, *numbers: int) -> list[int]:
        """Let packets come; return how many each has put into `ready`."""
        return [self.window.arrive(self.packet(number)) for number in numbers]

    def handed_up(self) -> list[int]:
        ready = self.window.ready
        return [ready.pop().seq for _ in range(ready.count)]

    def counts(self) -> dict[str, int]:
        """Counters that are not 0."""
        return {name: count for name, count in self.window.counters().items() if count}


def test_at_first_nothing_has_come() -> None:
    line = Line(4)
    assert (line.counts(), line.window.next_id, line.window.waiting_for()) == ({}, 0, None)
    assert line.window.waited_ps == 0


def test_packets_in_order_go_up_one_by_one() -> None:
    line = Line(4)
    assert line.arrive(0, 1, 2) == [1, 1, 1]
    assert line.counts() == {"in_order": 3}
    assert line.window.next_id == 3


def test_what_the_first_packet_is_missing() -> None:
    line = Line(4)
    assert line.arrive(1) == [0]
    assert line.counts() == {"buffered": 1, "held": 1}
    assert line.window.waiting_for() == "packet 0"
    assert line.arrive(0) == [2]
    assert line.handed_up() == [0, 1]
    assert line.counts() == {"in_order": 1, "buffered": 1, "out_of_order_before": 1}


def test_a_packet_that_is_still_in_the_queue_is_not_counted_again() -> None:
    line = Line(4)
    # nobody takes what is ready in between
    assert line.arrive(0, 2, 1, 3) == [1, 0, 2, 1]
    assert line.window.ready.count == 4


@pytest.mark.parametrize("window", [1, 2, 3, 4, 7, 8])
def test_the_last_packet_that_fits_is_buffered_and_the_next_one_slides(window: int) -> None:
    line = Line(window)
    assert line.arrive(window) == [0]
    assert line.counts() == {"buffered": 1, "held": 1}
    line = Line(window)
    # the left edge goes to 1, where nothing is
    assert line.arrive(window + 1) == [0]
    assert line.counts() == {"buffered": 1, "held": 1, "slid_over": 1}
    assert line.window.next_id == 1


def test_a_slide_hands_up_what_it_meets() -> None:
    line = Line(3)
    assert line.arrive(1, 3, 6) == [0, 0, 2]
    assert line.handed_up() == [1, 3]
    # 0 and 2 are given up; after 3 the edge stands at 4
    assert line.window.next_id == 4
    assert line.counts() == {"buffered": 3, "held": 1, "slid_over": 2}
    # one of those that were given up comes all the same
    assert line.arrive(2) == [1]
    assert line.counts() == {
        "late": 1,
        "buffered": 3,
        "held": 1,
        "slid_over": 2,
        "out_of_order_before": 1,
        "out_of_order_after": 1,
    }


def test_a_slide_of_an_empty_window() -> None:
    line = Line(3)
    assert line.arrive(100) == [0]
    assert line.counts() == {"buffered": 1, "held": 1, "slid_over": 97}
    assert line.window.next_id == 97


def test_without_a_window_every_packet_goes_up_at_once() -> None:
    line = Line(0)
    assert line.arrive(0, 2, 1, 3) == [1, 1, 1, 1]
    assert line.handed_up() == [0, 2, 1, 3]
    assert line.counts() == {
        "in_order": 2,
        "late": 1,
        "slid_over": 1,
        "out_of_order_before": 1,
        "out_of_order_after": 1,
    }


def test_a_second_copy_goes_up_at_once() -> None:
    line = Line(4)
    assert line.arrive(2, 2) == [0, 1]
    assert line.counts() == {"buffered": 1, "held": 1, "duplicates": 1, "out_of_order_before": 1}
    assert line.arrive(0, 1) == [1, 2]
    # 0 and 1 come behind 2, and 0, 1 and the 2 that was held go up behind it
    assert line.counts()["out_of_order_before"] == 3
    assert line.counts()["out_of_order_after"] == 3


def test_out_of_order_is_counted_before_and_after() -> None:
    line = Line(8)
    line.arrive(3, 1, 2, 0, 5, 4)
    assert line.handed_up() == [0, 1, 2, 3, 4, 5]
    assert line.counts() == {"in_order": 2, "buffered": 4, "out_of_order_before": 4}


def test_the_end_of_a_stream_hands_up_all() -> None:
    line = Line(8)
    line.arrive(0, 2, 3, 6)
    assert line.window.flush() == 3
    assert line.handed_up() == [0, 2, 3, 6]
    assert line.counts() == {"in_order": 1, "buffered": 3, "slid_over": 3, "flushed": 3}
    assert line.window.flush() == 0
    assert line.window.next_id == 7


def test_numbers_go_on_after_65535() -> None:
    numbers = MessageNumbers()
    line = Line(2)
    line.window.flush()
    got = []
    for _ in range(65_538):
        skb = frame(line.sink)
        numbers.number(skb)
        got.append(skb.msg_id)
        line.window.arrive(skb)
        line.window.ready.pop()
    assert got[65_534:] == [65_534, 65_535, 0, 1]
    assert numbers.count == 65_538
    assert line.counts() == {"in_order": 65_538}
    assert line.window.next_id == 2


class TestTimer:
    def test_it_runs_from_when_the_left_edge_came_to_stand(self) -> None:
        line = Line(8, flush_timeout_ps=100 * US)
        line.sim.run_until(5 * US)
        line.arrive(0, 2)
        line.sim.run_until(50 * US)
        line.arrive(4)
        line.sim.run_until(105 * US - 1)
        assert line.owner.told == []
        assert line.counts()["held"] == 2
        line.sim.run_until(105 * US)
        assert line.owner.told == [(105 * US, 7, 0)]
        assert line.handed_up() == [0, 2]
        assert line.counts() == {
            "in_order": 1,
            "buffered": 2,
            "held": 1,
            "slid_over": 1,
            "flushed": 1,
        }
        assert line.window.waited_ps == 100 * US
        # the next hole has as long, from then
        line.sim.run_until(205 * US)
        assert line.owner.told[1:] == [(205 * US, 7, 0)]
        assert line.handed_up() == [4]
        assert line.window.waited_ps == (100 + 155) * US
        assert line.counts()["flushed"] == 2
        assert line.sim.pending == 0

    def test_an_edge_that_moves_puts_it_off(self) -> None:
        line = Line(8, flush_timeout_ps=100 * US)
        line.arrive(1, 3)
        line.sim.run_until(60 * US)
        assert line.arrive(0) == [2]
        line.sim.run_until(160 * US - 1)
        assert line.owner.told == []
        line.sim.run_until(160 * US)
        assert line.owner.told == [(160 * US, 7, 0)]
        # looked at when it was to run first, and then
        assert line.sim.events == 2

    def test_it_does_nothing_when_all_has_come(self) -> None:
        line = Line(8, flush_timeout_ps=100 * US)
        line.arrive(1, 0)
        line.sim.run_until(300 * US)
        assert line.owner.told == []
        assert (line.sim.events, line.sim.pending) == (1, 0)
        # and starts anew
        line.arrive(3)
        line.sim.run_until(400 * US)
        assert line.owner.told == [(400 * US, 7, 0)]

    def test_without_one_everything_waits(self) -> None:
        line = Line(8)
        line.arrive(1)
        assert line.sim.pending == 0

    def test_what_waits_longest_is_told(self) -> None:
        line = Line(8)
        line.arrive(0, 2)
        line.sim.run_until(7 * US)
        line.arrive(3)
        line.sim.run_until(10 * US)
        line.arrive(1)
        assert line.window.waited_ps == (10 + 3) * US
