"""When the interrupt of a polled queue comes back: deferral, busy polling, suspension."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.host.parts import NS, US, Agenda
from tests.house.examples import examples
from tests.net.nic.connectx import Bench, Poller, Spinner


def deferring(hard_irqs: int = 2, timeout_us: int = 50, **options: object) -> Bench:
    bench = Bench(**options)  # type: ignore[arg-type]
    bench.napi.defer_hard_irqs = hard_irqs
    bench.napi.gro_flush_timeout_ps = timeout_us * US
    return bench


class TestDeferral:
    def test_empty_polls_by_the_timer_come_before_the_next_interrupt(self) -> None:
        bench = deferring(2, 50)
        bench.feed(100)
        bench.run(1000)
        # the poll that took the frame, then one each 50 us, of which the last arms
        assert bench.napi.polls == 3
        assert bench.napi.timeouts == 2
        assert bench.nic.rx_cq.armed
        bench.feed(2000)
        bench.run(3000)
        assert bench.asserted_us == [108, 2008]

    def test_frames_found_by_the_timer_begin_the_count_anew(self) -> None:
        bench = deferring(2, 50)
        bench.feed(*(100 + 40 * number for number in range(10)))
        bench.run(1000)
        assert bench.asserted_us == [108]
        assert bench.delivered == list(range(10))

    def test_without_a_timeout_nothing_is_deferred(self) -> None:
        bench = deferring(100, 0)
        bench.feed(100, 200)
        bench.run(1000)
        assert bench.asserted_us == [108, 208]

    def test_a_timeout_alone_defers_nothing(self) -> None:
        bench = deferring(0, 50)
        bench.feed(100, 200)
        bench.run(1000)
        assert bench.asserted_us == [108, 208]
        assert bench.napi.timeouts == 0

    def test_a_frame_waits_no_longer_than_the_timeout(self) -> None:
        bench = deferring(100, 50)
        bench.feed(100, 112)
        bench.run(1000)
        assert bench.sink.log[1][0] < (112 + 51) * US


class TestBusyPolling:
    def test_a_busy_poller_gets_a_frame_without_an_interrupt(self) -> None:
        bench = Bench()
        poller = Poller(bench)
        Agenda(bench.sim).at(50 * US, poller.begin, 500)
        bench.feed(100)
        bench.run(95)
        assert bench.napi.in_busy_poll
        bench.run(1000)
        assert bench.asserted_us == []
        assert 100 * US < bench.sink.log[0][0] < 101 * US
        assert len(poller.done_ps) == 1
        assert not bench.napi.in_busy_poll

    def test_its_time_is_the_processes_in_the_kernel(self) -> None:
        bench = Bench()
        poller = Poller(bench)
        Agenda(bench.sim).at(50 * US, poller.begin, 500)
        bench.run(400)
        times = bench.cpu.times()
        assert times["system_ps"] > 340 * US
        assert times["softirq_ps"] == 0

    def test_the_interrupt_is_back_when_it_stops(self) -> None:
        bench = Bench()
        poller = Poller(bench, prefer=False)
        Agenda(bench.sim).at(50 * US, poller.begin, 80)
        bench.feed(100)
        bench.run(1000)
        assert bench.asserted_us == [108]
        assert bench.delivered == [0]

    def test_one_that_prefers_it_leaves_the_interrupt_off_until_the_timer(self) -> None:
        bench = deferring(1, 200)
        poller = Poller(bench)
        Agenda(bench.sim).at(50 * US, poller.begin, 80)
        bench.feed(10, 100)
        bench.run(1000)
        # the timer that was started when it stopped
        assert 280 * US < bench.sink.log[1][0] < 282 * US
        assert bench.asserted_us == [18]

    def test_a_last_poll_that_takes_its_budget_leaves_the_rest_to_the_softirq(self) -> None:
        bench = Bench()
        poller = Poller(bench, budget=2, prefer=False)
        bench.feed(*[60] * 9)
        Agenda(bench.sim).at(50 * US, poller.begin, 500)
        bench.run(1000)
        assert bench.delivered == list(range(9))
        assert bench.nic.rx_cq.armed

    def test_what_another_device_has_pending_comes_between_two_polls(self) -> None:
        bench = Bench()
        poller = Poller(bench)
        Agenda(bench.sim).at(50 * US, poller.begin, 500)
        bench.run(100)
        other = bench.another()
        other.instance.schedule(bench.cpu)
        bench.run(110)
        assert other.instance.polls == 1
        assert not other.scheduled
        assert poller.loop.active

    def test_it_gives_way_to_a_process_whose_turn_it_is(self) -> None:
        bench = Bench(timeslice_us=5000)
        poller = Poller(bench)
        spinner = Spinner(bench, 100 * US)
        agenda = Agenda(bench.sim)
        agenda.at(50 * US, poller.begin, 20_000)
        agenda.at(70 * US, spinner.wake_on, bench.cpu)
        bench.run(10_000)
        assert 5000 * US < spinner.done_ps[0] < 5300 * US
        assert poller.loop.active
        bench.run(30_000)
        assert len(poller.done_ps) == 1


class TestSuspension:
    def suspended(self, timeout_us: int = 20_000) -> tuple[Bench, Poller]:
        """A poller that suspends interrupts when it has found a frame."""
        bench = deferring(100, 20)
        bench.napi.irq_suspend_timeout_ps = timeout_us * US
        poller = Poller(bench)

        def suspend() -> None:
            if len(bench.sink.log) > poller.had:
                bench.napi.suspend_irqs(bench.cpu)

        poller.after = suspend
        return bench, poller

    def test_nothing_polls_while_it_is_suspended(self) -> None:
        bench, poller = self.suspended()
        bench.feed(10, 60, 100)
        Agenda(bench.sim).at(50 * US, poller.begin, 500)
        bench.run(5000)
        assert bench.delivered == [0, 1]
        assert bench.asserted_us == [18]

    def test_the_timeout_ends_it(self) -> None:
        bench, poller = self.suspended(300)
        bench.feed(10, 60, 100)
        Agenda(bench.sim).at(50 * US, poller.begin, 500)
        bench.run(5000)
        assert 300 * US < bench.sink.log[2][0] - poller.done_ps[0] < 302 * US

    def test_resuming_polls_at_once(self) -> None:
        bench, poller = self.suspended()
        bench.feed(10, 60, 100)
        agenda = Agenda(bench.sim)
        agenda.at(50 * US, poller.begin, 500)
        agenda.at(200 * US, bench.napi.resume_irqs, bench.cpu)
        bench.run(5000)
        assert 200 * US < bench.sink.log[2][0] < 202 * US

    def test_without_a_timeout_it_does_nothing(self) -> None:
        bench, poller = self.suspended(0)
        bench.feed(10, 60, 100)
        Agenda(bench.sim).at(50 * US, poller.begin, 500)
        bench.run(5000)
        assert bench.sink.log[2][0] < 125 * US


class TestLaws:
    @given(
        gaps=st.lists(st.sampled_from([1, 4, 9, 30, 120]), min_size=1, max_size=40),
        spells=st.lists(st.integers(50, 2500), max_size=5),
        length_us=st.integers(1, 400),
        budget=st.sampled_from([1, 8, 64]),
        prefer=st.booleans(),
        defer=st.integers(0, 3),
        timeout_us=st.sampled_from([0, 20, 200]),
        suspend_us=st.sampled_from([0, 700]),
    )
    @settings(max_examples=examples(60), deadline=None)
    def test_every_frame_is_handed_up_and_none_waits_beyond_the_timeouts(
        self,
        *,
        gaps: list[int],
        spells: list[int],
        length_us: int,
        budget: int,
        prefer: bool,
        defer: int,
        timeout_us: int,
        suspend_us: int,
    ) -> None:
        bench = deferring(defer, timeout_us, work_ps=200 * NS)
        bench.napi.irq_suspend_timeout_ps = suspend_us * US
        poller = Poller(bench, budget=budget, prefer=prefer)
        poller.after = lambda: bench.napi.suspend_irqs(bench.cpu)
        agenda = Agenda(bench.sim)
        for begin in spells:
            agenda.at(begin * US, poller.begin, begin + length_us)
        arrivals = [10 + sum(gaps[: number + 1]) for number in range(len(gaps))]
        bench.feed(*arrivals)
        bench.run(20_000)
        assert bench.delivered == list(range(len(gaps)))
        allowed = (max(timeout_us, suspend_us) + timeout_us + length_us + 60) * US
        for (at, _, _), arrival in zip(bench.sink.log, arrivals, strict=True):
            assert at - arrival * US < allowed + 30 * US
        assert not bench.nic.scheduled
        assert bench.nic.rx_cq.armed
        assert not bench.napi.in_busy_poll


# prior count, packets, held back, missed, busy polling; then whether the interrupt is enabled, the
# count, whether the timer is set, and whether receive offload keeps what is young
DONE = [
    # nothing is deferred: no timeout, or no count
    ((0, 0), (0, 5, False, False, False), (True, 0, False, False)),
    ((3, 0), (0, 5, False, False, False), (True, 2, False, False)),
    ((3, 0), (0, 5, True, False, False), (True, 2, False, False)),
    ((0, 50), (0, 5, False, False, False), (True, 0, False, False)),
    # what is held back has the timer, but not the interrupt
    ((0, 50), (0, 5, True, False, False), (True, 0, True, True)),
    ((0, 50), (0, 0, True, False, False), (True, 0, False, False)),
    # packets begin the count anew, polls without any go down to none
    ((3, 50), (1, 5, False, False, False), (False, 2, True, True)),
    ((3, 50), (2, 0, False, False, False), (False, 1, True, True)),
    ((3, 50), (1, 0, False, False, False), (False, 0, True, True)),
    ((3, 50), (0, 0, False, False, False), (True, 0, False, False)),
    ((3, 50), (0, 0, True, False, False), (True, 0, False, False)),
    # who missed an interrupt polls again, without a timer
    ((0, 50), (0, 5, True, True, False), (False, 0, False, True)),
    ((3, 50), (2, 0, False, True, False), (False, 1, False, True)),
    # a busy poller decides itself
    ((3, 50), (2, 5, True, False, True), (False, 2, False, False)),
]


@pytest.mark.parametrize(("given_", "before", "after"), DONE)
def test_the_end_of_a_poll_is_napi_complete_done_s(
    given_: tuple[int, int],
    before: tuple[int, int, bool, bool, bool],
    after: tuple[bool, int, bool, bool],
) -> None:
    bench = deferring(*given_)
    napi: Any = bench.napi
    napi.defer_count, packets, holds, napi.missed, napi.in_busy_poll = before
    enables, count, timed, keeps = after
    would = napi.completing(packets, holds)
    assert (would, napi.defer_count, napi.keeps_young) == (enables, count, keeps)
    softirq: Any = bench.cpu.softirqs
    softirq.schedule(napi.napi)
    napi.prefer_busy_poll = True
    assert napi.completed(bench.cpu, softirq) == enables
    assert (napi.timer != 0) == timed
    # the poll that missed something has been scheduled again, and a busy poller's goes on
    assert not napi.missed
    if not napi.in_busy_poll:
        assert not napi.prefer_busy_poll
        assert napi.napi.scheduled == bool(before[3])
