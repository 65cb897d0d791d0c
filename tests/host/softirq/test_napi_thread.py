"""A kernel thread that polls a queue in place of the softirq (net/core/dev.c of Linux 6.12)."""

from typing import Any

import pytest

from simnet.host.softirq.napi_thread import NapiThread
from tests.host.parts import US, Agenda, Busy
from tests.net.nic.connectx import Bench, Poller


def threaded(
    *, cpus: int = 1, on: int | None = None, **options: object
) -> tuple[Bench, NapiThread]:
    """A port whose queue a thread polls, bound to a CPU or free."""
    bench = Bench(cpus=cpus, fair=True, **options)  # type: ignore[arg-type]
    allowed = None if on is None else frozenset({on})
    cpu = bench.machine.cpus[on or 0]
    return bench, NapiThread(bench.machine.scheduler, cpu, bench.napi, allowed)


class TestPolls:
    def test_its_time_is_a_processes_in_the_kernel(self) -> None:
        bench, thread = threaded()
        bench.feed(100, 200)
        bench.run(1000)
        assert bench.delivered == [0, 1]
        assert thread.wakeups == 2
        assert thread.sleeping
        times = bench.cpu.times()
        assert times["softirq_ps"] == 0
        assert times["system_ps"] > US

    def test_interrupts_are_those_of_the_softirq(self) -> None:
        bench, _ = threaded()
        alone = Bench(fair=True)
        for one in (bench, alone):
            one.feed(*(100 + 40 * number for number in range(10)))
            one.run(1000)
        assert bench.asserted_us == alone.asserted_us
        assert bench.delivered == alone.delivered

    def test_it_polls_on_its_own_cpu(self) -> None:
        bench, _ = threaded(cpus=2, on=1)
        bench.feed(100)
        bench.run(1000)
        first, second = (cpu.times() for cpu in bench.machine.cpus)
        assert first["system_ps"] == 0
        assert second["system_ps"] > 0

    def test_it_polls_until_less_than_the_weight_is_left(self) -> None:
        bench, thread = threaded()
        bench.feed(*[100] * 150)
        bench.run(1000)
        assert bench.delivered == list(range(150))
        assert (bench.napi.polls, bench.napi.polls_full_budget) == (3, 2)
        assert thread.wakeups == 1

    def test_no_ksoftirqd_takes_over(self) -> None:
        bench, thread = threaded()
        bench.feed(*(100 + 0.2 * number for number in range(20_000)))
        bench.run(4000)
        softirqs: Any = bench.cpu.softirqs
        assert (softirqs.rounds, softirqs.ksoftirqd_wakeups) == (0, 0)
        assert not thread.sleeping

    def test_softirqs_of_another_device_come_between_two_polls(self) -> None:
        bench, _ = threaded()
        other = bench.another()
        bench.feed(*(100 + 0.2 * number for number in range(5000)))
        bench.run(500)
        other.instance.schedule(bench.cpu)
        bench.run(530)
        assert other.instance.polls == 1

    def test_its_wake_up_is_paid_for_once_each_time(self) -> None:
        bench, thread = threaded(costs={"wakeup": 700})
        bench.feed(*[100] * 150, 500)
        bench.run(1000)
        assert thread.wakeups == 2
        assert bench.machine.costs.ledger.wakeup == 2 * 700_000


class TestStarvedWorker:
    """Frames come faster than they can be taken, and a process computes on the CPU."""

    def share(self, bench: Bench, *, cpus: int = 1) -> float:
        """CPU that the process gets, of the CPUs that there are."""
        worker = Busy(bench.machine.scheduler, "worker", bench.cpu, 0, frozenset({0}))
        worker.wake_on(bench.cpu)
        bench.cpu.kick()
        bench.feed(*(1000 + 0.4 * number for number in range(250_000)))
        bench.run(1000)
        before = [cpu.times()["user_ps"] for cpu in bench.machine.cpus[:cpus]]
        bench.run(41_000)
        after = [cpu.times()["user_ps"] for cpu in bench.machine.cpus[:cpus]]
        return (sum(after) - sum(before)) / (40_000 * US)

    def test_in_the_softirq_it_waits_for_ksoftirqd(self) -> None:
        bench = Bench(fair=True)
        assert self.share(bench) < 0.5

    def test_a_thread_shares_the_cpu_with_it(self) -> None:
        bench, _ = threaded(on=0)
        assert self.share(bench) == pytest.approx(0.5, abs=0.05)

    def test_a_thread_elsewhere_leaves_it_the_cpu(self) -> None:
        bench, _ = threaded(cpus=2, on=1)
        assert self.share(bench) > 0.95

    def test_a_thread_that_may_finds_the_idle_cpu_itself(self) -> None:
        bench, thread = threaded(cpus=2)
        assert self.share(bench) > 0.95
        assert thread.cpu.cpu_id == 1


class TestOthersThatPoll:
    def test_a_busy_poller_takes_the_instance_from_it(self) -> None:
        bench, thread = threaded()
        poller = Poller(bench)
        Agenda(bench.sim).at(50 * US, poller.begin, 500)
        bench.feed(100)
        bench.run(1000)
        assert bench.asserted_us == []
        assert bench.delivered == [0]
        assert thread.wakeups == 0

    def test_what_its_last_poll_leaves_is_the_threads(self) -> None:
        bench, thread = threaded()
        poller = Poller(bench, budget=2, prefer=False)
        bench.feed(*[60] * 9)
        Agenda(bench.sim).at(50 * US, poller.begin, 500)
        bench.run(1000)
        assert bench.delivered == list(range(9))
        assert thread.wakeups == 1

    def test_the_timer_of_deferred_interrupts_wakes_it(self) -> None:
        bench, thread = threaded()
        bench.napi.defer_hard_irqs, bench.napi.gro_flush_timeout_ps = 2, 50 * US
        bench.feed(100)
        bench.run(1000)
        assert (bench.napi.timeouts, thread.wakeups) == (2, 3)

    def test_a_process_that_prefers_to_poll_has_it_leave_a_long_queue(self) -> None:
        bench, thread = threaded()
        bench.napi.defer_hard_irqs, bench.napi.gro_flush_timeout_ps = 1, 50 * US
        bench.napi.prefer_busy_poll = True
        bench.feed(*[100] * 150)
        bench.run(1000)
        # the rest waits for the timer
        assert bench.sink.log[63][0] < 150 * US < bench.sink.log[64][0]
        assert thread.wakeups == 3
