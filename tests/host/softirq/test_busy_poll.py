"""The end of a busy loop: whether what comes then interrupts, or waits for the timer."""

import pytest

from simnet.host.softirq.softirq import SoftirqNetRx
from tests.host.parts import MS, NS, US, Agenda
from tests.net.nic.connectx import COSTS, Bench, Poller, Spinner

# napi_defer_hard_irqs, gro_flush_timeout, and whether both together defer interrupts
DEFERRALS = pytest.mark.parametrize(
    ("defer", "timeout_us", "waits"), [(1, 50, True), (0, 50, False), (1, 0, False)]
)


def polling(defer: int, timeout_us: int, budget: int = 64) -> tuple[Bench, Poller]:
    """A process that prefers to poll, of a device with these settings."""
    bench = Bench()
    bench.napi.defer_hard_irqs = defer
    bench.napi.gro_flush_timeout_ps = timeout_us * US
    return bench, Poller(bench, budget=budget)


@DEFERRALS
def test_a_frame_after_the_loop_waits_for_the_timer(
    defer: int,
    timeout_us: int,
    waits: bool,  # noqa: FBT001
) -> None:
    bench, poller = polling(defer, timeout_us)
    # the interrupt of the first comes while the process polls, and is not armed again before
    bench.feed(60, 130)
    poller.begin(100, for_frames=False)
    bench.run(149)
    assert bench.delivered == ([0] if waits else [0, 1])
    assert bench.asserted_us == ([68] if waits else [68, 138])
    bench.run(155)
    assert bench.delivered == [0, 1]
    assert (len(bench.asserted_us), bench.napi.timeouts) == ((1, 1) if waits else (2, 0))


@DEFERRALS
def test_what_the_last_poll_has_to_leave_waits_too(
    defer: int,
    timeout_us: int,
    waits: bool,  # noqa: FBT001
) -> None:
    bench, poller = polling(1, 50, budget=1)
    for begin in (0, 200):
        # the first loop ends deferred, whatever the next one does
        bench.feed(*(begin + number / 100 for number in range(40)))
        poller.begin(begin + 20, for_frames=False)
        bench.run(begin + 199)
        bench.napi.defer_hard_irqs = defer
        bench.napi.gro_flush_timeout_ps = timeout_us * US
    late = [at for at, _, _ in bench.sink.log if at > 260 * US]
    # one poll takes 600 ns: 34 of them until 220.6 us
    assert len(late) == (6 if waits else 0)
    assert bench.delivered[:40] == list(range(40))
    assert len(bench.delivered) == 80


def test_each_poll_of_a_process_counts_once() -> None:
    bench, poller = polling(0, 0)
    poller.begin(100, for_frames=False)
    bench.run(200)
    softirqs = bench.cpu.softirqs
    assert isinstance(softirqs, SoftirqNetRx)
    # one that finds nothing takes 100 ns
    assert softirqs.polls == pytest.approx(100 * US / (COSTS["poll"] * NS), abs=2)


@pytest.mark.parametrize(("version", "tick_ms"), [("5.15", 12), ("6.12", 4)])
def test_who_polls_gives_way_to_another_process(version: str, tick_ms: int) -> None:
    """`need_resched` of a tick ends the loop, and is still set when the process leaves the CPU."""
    bench = Bench(fair=True, version=version)
    poller, spinner = Poller(bench), Spinner(bench, 10 * US)
    poller.begin(20_000)
    Agenda(bench.sim).at(50 * US, lambda: spinner.wake_on(bench.cpu))
    bench.run(19_000)
    assert [at // MS for at in spinner.done_ps] == [tick_ms]
    assert not poller.done_ps
