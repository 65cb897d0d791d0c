"""Vectors of ena: when they interrupt, what a poll takes, when buffers go back."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.net.nic.amazon.ena import Ena
from simnet.net.nic.dim import EQE, RX_PROFILES
from tests.host.parts import NS, US, Agenda
from tests.house.examples import examples
from tests.net.nic.connectx import Bench

OPTIONS: dict[str, Any] = {
    "tso": False,
    "rx_ps": 0,
    "tx_ps": 64 * US,
    "adaptive_rx": False,
    "work_ps": 10 * US,
}


class Card(Bench):
    """A machine with one vector of it."""

    chip = Ena
    defaults = OPTIONS


class Slow(Card):
    """The same, adapting, with a work queue that takes its time."""

    def __init__(self, dim_ps: int) -> None:
        self.defaults = OPTIONS | {"adaptive_rx": True, "work_ps": dim_ps}
        super().__init__(work_ps=100 * NS)


class TestInterrupts:
    def test_a_lone_frame_interrupts_at_once_by_default(self) -> None:
        bench = Card()
        bench.feed(100)
        bench.run(1000)
        assert bench.asserted_us == [100]

    def test_the_first_frame_puts_it_off_and_later_ones_do_not(self) -> None:
        bench = Card(rx_ps=20 * US)
        bench.feed(100, 110, 119)
        bench.run(1000)
        assert bench.asserted_us == [120]
        assert bench.delivered == [0, 1, 2]

    def test_sent_frames_have_a_time_of_their_own(self) -> None:
        bench = Card()
        Agenda(bench.sim).at(100 * US, bench.send, 3)
        bench.run(1000)
        assert bench.asserted_us == [164.01]
        assert bench.napi.polls == 1

    @settings(max_examples=examples(20), deadline=None)
    @given(gaps=st.lists(st.integers(150, 400), min_size=1, max_size=20), rx=st.integers(0, 100))
    def test_frames_far_apart_wait_for_the_time_and_no_longer(
        self, gaps: list[int], rx: int
    ) -> None:
        bench = Card(rx_ps=rx * US)
        at = [sum(gaps[: number + 1]) for number in range(len(gaps))]
        bench.feed(*at)
        bench.run(10_000)
        assert bench.asserted_us == [one + rx for one in at]

    def test_an_interrupt_for_one_cause_is_for_both(self) -> None:
        bench = Card()
        Agenda(bench.sim).at(100 * US, bench.send)
        bench.feed(120)
        bench.run(1000)
        assert bench.asserted_us == [120]

    def test_while_it_is_masked_no_cause_interrupts(self) -> None:
        """A frame would be due in the middle of the poll that the sent one has caused."""
        bench = Card(rx_ps=50 * US, work_ps=100 * US)
        Agenda(bench.sim).at(100 * US, bench.send)
        bench.feed(160)
        bench.run(1000)
        assert bench.asserted_us == [164.01]
        assert bench.delivered == [0]

    def test_the_vector_is_masked_until_the_poll_is_through(self) -> None:
        """A frame that this poll takes interrupts no more; the next one waits for its own time."""
        bench = Card(rx_ps=5 * US, work_ps=50 * US)
        bench.feed(100, 130, 300)
        bench.run(1000)
        assert bench.asserted_us == [105, 305]
        assert bench.delivered == [0, 1, 2]

    def test_what_comes_as_the_poll_ends_waits_from_where_the_register_is_written(self) -> None:
        bench = Card(rx_ps=20 * US, work_ps=0)
        bench.feed(100)
        bench.run(121)
        assert bench.nic.rx_cq.armed
        bench.nic.rx_cq.arm(500 * US, 2)
        assert bench.nic.rx_cq.deadline_ps == 520 * US


class TestPolls:
    @pytest.mark.parametrize(("frames", "back"), [(32, False), (33, True)])
    def test_buffers_go_back_once_an_eighth_of_the_ring_is_missing(
        self, *, frames: int, back: bool
    ) -> None:
        bench = Card(device={"rx_buffers": 255})
        bench.feed(*(100 + 10 * number for number in range(frames)))
        bench.run(10_000)
        assert bench.nic.posted == (255 if back else 255 - frames)

    def test_of_a_long_ring_two_hundred_and_fifty_six_may_be_missing(self) -> None:
        bench = Card(device={"rx_buffers": 8191})
        bench.feed(*(100 + number for number in range(256)))
        bench.run(10_000)
        assert bench.nic.posted == 8191 - 256
        bench.feed(20_000)
        bench.run(30_000)
        assert bench.nic.posted == 8191

    def test_frames_that_find_no_buffer_are_lost(self) -> None:
        """Those that come in one poll find what it has not handed back."""
        bench = Card(device={"rx_buffers": 255}, work_ps=1000 * US)
        bench.feed(*(100 + number for number in range(300)))
        bench.run(400_000)
        assert bench.nic.drops == 300 - 255
        assert bench.delivered == list(range(255))

    def test_a_poll_frees_a_quarter_of_the_ring(self) -> None:
        bench = Card(device={"tx_ring": 255})
        Agenda(bench.sim).at(100 * US, bench.send, 65)
        bench.run(10_000)
        # the first uses up its budget of 64 and is made once more
        assert bench.napi.polls == 2
        assert bench.nic.tx.reclaimed == 65

    @settings(max_examples=examples(40), deadline=None)
    @given(
        gaps=st.lists(st.integers(0, 200), max_size=40),
        sends=st.lists(st.integers(1, 3000), max_size=10),
        rx=st.integers(0, 100),
        tx=st.integers(0, 100),
        adaptive=st.booleans(),
    )
    def test_each_frame_is_taken_once_and_at_the_same_time_event_by_event(
        self, gaps: list[int], sends: list[int], rx: int, tx: int, *, adaptive: bool
    ) -> None:
        found = []
        for per_frame in (False, True):
            bench = Card(rx_ps=rx * US, tx_ps=tx * US, adaptive_rx=adaptive, per_frame=per_frame)
            log, asserted, _ = bench.crowd(gaps, sends, 0)
            found.append(([number for _, _, number in log], asserted))
            assert bench.nic.tx.reclaimed == len(sends)
        assert found[0] == found[1]
        assert len(found[0][1]) <= len(gaps) + len(sends)


class TestAdaptive:
    def crowded(self, *, dim_ps: int = 10 * US) -> Card:
        bench = Slow(dim_ps)
        bench.feed(*(100 + 0.5 * number for number in range(20_000)))
        bench.run(15_000)
        return bench

    def test_dim_chooses_among_the_times_of_its_table(self) -> None:
        bench = self.crowded()
        number = bench.nic.rx_dim.profile_ix
        assert number > 1
        assert bench.nic.rx_cq.period_ps == RX_PROFILES[EQE][number][0] * US
        assert bench.nic.tx_cq.period_ps == 64 * US
        still = Card(work_ps=100 * NS)
        still.feed(*(100 + 0.5 * number for number in range(20_000)))
        still.run(15_000)
        assert still.nic.rx_cq.period_ps == 0
        assert len(bench.asserted_us) < 0.5 * len(still.asserted_us)

    def test_polls_that_take_nothing_give_no_samples(self) -> None:
        bench = Card(adaptive_rx=True, tx_ps=0)
        agenda = Agenda(bench.sim)
        for number in range(500):
            agenda.at((100 + 20 * number) * US, bench.send)
        bench.run(20_000)
        assert bench.napi.polls >= 500
        assert bench.nic.polls_with_packets == 0

    def test_no_choice_is_in_use_before_the_work_queue_has_run(self) -> None:
        never = self.crowded(dim_ps=10**15)
        assert never.nic.rx_cq.period_ps == 0 < self.crowded().nic.rx_cq.period_ps
