"""Channels of mlx5: completion queues, events, polls."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.net.nic.completion_queue import CompletionQueue
from tests.host.parts import NS, US, Agenda
from tests.house.examples import examples
from tests.net.nic.connectx import CROWDS, Bench, Crowd
from tests.net.parts import frame

NEVER = 1 << 62

# what an event of the channel means: DIM's command is through
_RX_APPLIED = 1


class TestCompletionQueue:
    def made(self, *, cqe: bool, usecs: int = 8, frames: int = 128) -> CompletionQueue:
        cq = CompletionQueue()
        cq.moderate(usecs * US, frames, cqe)
        return cq

    def test_in_cqe_mode_each_entry_restarts_the_timer(self) -> None:
        cq = self.made(cqe=True)
        cq.completed(10 * US)
        cq.completed(17 * US)
        assert cq.deadline_ps == 25 * US

    def test_in_eqe_mode_the_first_entry_after_a_pause_is_due_at_once(self) -> None:
        cq = self.made(cqe=False)
        cq.completed(10 * US)
        assert cq.deadline_ps == 10 * US

    def test_in_eqe_mode_the_timer_runs_from_the_last_event(self) -> None:
        cq = self.made(cqe=False)
        cq.completed(10 * US)
        assert cq.fire(10 * US)
        cq.arm(12 * US, 0)
        cq.completed(13 * US)
        cq.completed(14 * US)
        assert cq.deadline_ps == 18 * US

    def test_a_number_of_entries_is_due_at_once(self) -> None:
        cq = self.made(cqe=True, frames=2)
        cq.completed(10 * US)
        cq.completed(11 * US)
        assert cq.deadline_ps == 11 * US

    def test_a_queue_that_is_not_armed_writes_no_event(self) -> None:
        cq = self.made(cqe=True)
        cq.completed(10 * US)
        assert cq.fire(18 * US)
        cq.completed(20 * US)
        assert not cq.fire(40 * US)
        assert cq.deadline_ps == NEVER

    @pytest.mark.parametrize(("cqe", "due_us"), [(True, 28), (False, 30)])
    def test_entries_that_wait_when_it_is_armed_are_not_forgotten(
        self, *, cqe: bool, due_us: int
    ) -> None:
        cq = self.made(cqe=cqe)
        cq.completed(10 * US)
        assert cq.fire(22 * US)
        cq.completed(20 * US)
        cq.arm(25 * US, 1)
        assert cq.deadline_ps == due_us * US

    def test_what_was_due_before_it_is_armed_is_due_at_once(self) -> None:
        cq = self.made(cqe=True)
        cq.completed(10 * US)
        assert cq.fire(18 * US)
        cq.completed(20 * US)
        cq.arm(50 * US, 1)
        assert cq.deadline_ps == 50 * US


class TestChannel:
    def test_a_lone_frame_waits_for_the_timer(self) -> None:
        bench = Bench()
        bench.feed(100)
        bench.run(1000)
        assert bench.asserted_us == [108]
        assert bench.delivered == [0]

    def test_frames_in_a_row_put_the_interrupt_off(self) -> None:
        bench = Bench()
        bench.feed(100, 105, 110, 115)
        bench.run(1000)
        assert bench.asserted_us == [123]

    def test_a_number_of_frames_does_not_wait(self) -> None:
        bench = Bench(rx=(8 * US, 3))
        bench.feed(100, 101, 102, 103)
        bench.run(1000)
        assert bench.asserted_us[0] == 102

    def test_a_frame_that_comes_during_the_poll_is_taken_by_it(self) -> None:
        bench = Bench(work_ps=5 * US)
        bench.feed(100, 110)
        bench.run(1000)
        assert bench.delivered == [0, 1]
        assert bench.asserted_us == [108]

    def test_sent_frames_interrupt_too_and_are_reclaimed(self) -> None:
        bench = Bench()
        Agenda(bench.sim).at(100 * US, bench.send, 3)
        bench.run(1000)
        assert bench.asserted_us == [100.01]
        assert bench.napi.polls == 1
        assert bench.nic.rx_cq.armed
        assert bench.nic.tx_cq.armed

    @pytest.mark.parametrize(("frames", "interrupts"), [(55, 2), (56, 3)])
    def test_pages_that_have_been_mapped_anew_interrupt(self, frames: int, interrupts: int) -> None:
        """256 strides of 2 KiB are two work-queue entries; the command's end is not moderated."""
        bench = Bench(work_ps=10 * NS, device={"fetch_ps": 1 * US, "dma_ps": 600 * NS})
        bench.feed(*(100 + number / 1000 for number in range(200)))
        bench.feed(*(500 + number / 1000 for number in range(frames)))
        bench.run(1000)
        assert len(bench.asserted_us) == bench.napi.interrupts == interrupts
        assert bench.napi.polls_empty == interrupts - 2
        if interrupts > 2:
            last_us = max(at for at, _, _ in bench.sink.log) / US
            assert 1.6 < bench.asserted_us[2] - last_us < 2

    def test_a_poll_that_is_repeated_finds_them_itself(self) -> None:
        bench = Bench(work_ps=10 * NS)
        bench.feed(*(100 + number / 1000 for number in range(256)))
        bench.run(1000)
        assert bench.napi.polls_full_budget == 4
        assert bench.napi.interrupts == 1

    def test_large_frames_take_as_many_strides_as_they_need(self) -> None:
        bench = Bench(work_ps=10 * NS)
        for number in range(58):
            skb = frame(bench.sink, wire_bytes=9038)
            skb.arrival_ps = 100 * US + number * NS
            bench.nic.incoming.append(skb)
        bench.nic.frames_added()
        bench.run(1000)
        # they end 84 bytes before 512 KiB, and one small frame uses that up
        assert bench.napi.interrupts == 1
        bench.feed(2000)
        bench.run(3000)
        assert bench.napi.interrupts == 3

    def test_an_event_of_the_other_queue_during_a_poll_has_it_polled_once_more(self) -> None:
        # the frame sent leaves when the poll of the received one is under way
        bench = Bench(work_ps=20 * US)
        bench.feed(100)
        Agenda(bench.sim).at(109 * US, bench.send)
        bench.run(1000)
        assert bench.napi.interrupts == 2
        assert bench.napi.polls == 2
        assert bench.napi.polls_empty == 1

    def test_a_full_budget_is_polled_again_without_an_interrupt(self) -> None:
        bench = Bench(device={"weight": 4})
        bench.feed(*[100] * 10)
        bench.run(1000)
        assert len(bench.asserted_us) == 1
        assert bench.delivered == list(range(10))
        assert (bench.napi.polls, bench.napi.polls_full_budget) == (3, 2)

    def test_a_poll_reclaims_128_sent_frames_and_counts_as_full_then(self) -> None:
        bench = Bench(tx=(50 * US, 200))
        agenda = Agenda(bench.sim)
        agenda.at(100 * US, bench.send, 1)
        agenda.at(101 * US, bench.send, 200)
        bench.run(1000)
        assert bench.napi.polls_full_budget == 1

    def test_frames_without_a_buffer_are_dropped(self) -> None:
        bench = Bench(device={"rx_buffers": 3})
        bench.feed(*[100] * 5)
        bench.run(1000)
        assert bench.nic.drops == 2
        assert bench.delivered == [0, 1, 2]

    def test_adaptive_moderation_changes_the_queue_after_the_command(self) -> None:
        bench = Bench(adaptive_rx=True, rx=(8 * US, 128))
        bench.feed(*(100 + 20 * number for number in range(64)))
        bench.run(100 + 20 * 64 + 5)
        assert bench.nic.rx_dim.profile_ix == 0
        bench.feed(*(2000 + 20 * number for number in range(3)))
        bench.run(2100)
        assert bench.nic.rx_dim.profile_ix == 1
        assert bench.nic.rx_cq.period_ps == 8 * US
        bench.feed(*(5000 + 10 * number for number in range(200)))
        bench.run(10_000)
        assert bench.nic.rx_dim.profile_ix == 2
        assert bench.nic.rx_cq.period_ps == 16 * US

    def test_what_has_come_before_keeps_the_timer_it_came_under(self) -> None:
        """A frame is sent when the timer, as it is then, would have expired already."""
        bench = Bench(adaptive_rx=True, rx=(64 * US, 128))
        bench.feed(10)
        bench.run(20)
        bench.nic.on_event(_RX_APPLIED, 0)
        assert bench.nic.rx_cq.period_ps == 2 * US
        bench.run(30)
        bench.send()
        bench.run(73)
        assert bench.line.total == 1  # of the sent frame
        bench.run(100)
        assert bench.napi.poll_packets == 1


class TestLaws:
    @given(
        crowd=CROWDS,
        usecs=st.integers(0, 20),
        frames=st.integers(0, 6),
        cqe=st.booleans(),
        timeout_us=st.sampled_from([0, 5, 50]),
        missed=st.booleans(),
    )
    @settings(max_examples=examples(60), deadline=None)
    def test_every_frame_is_polled_once_in_order_and_no_interrupt_is_lost(
        self, *, crowd: Crowd, usecs: int, frames: int, cqe: bool, timeout_us: int, missed: bool
    ) -> None:
        def miss(bench: Bench) -> None:
            if missed:
                agenda = Agenda(bench.sim, "missed")
                agenda.at(100 * US + 11, bench.napi.schedule, bench.cpu)
                agenda.at(100 * US + 12, bench.cpu.kick)

        crowd.check(
            Bench,
            timeout_us=timeout_us,
            before=miss,
            rx=(usecs * US, frames),
            tx=(usecs * US, frames),
            rx_cqe=cqe,
            tx_cqe=not cqe,
        )
