"""The clock only goes forward, and sampling it at ticks gives the truth in the mean."""

import math
from collections import defaultdict

from hypothesis import given

from tests.laws.machines import MS, HostPlan, Lab, Plan, StreamPlan
from tests.laws.strategies import plans

MODES = {
    "user": "user_ps",
    "system": "system_ps",
    "softirq": "softirq_ps",
    "hard interrupt": "irq_ps",
}


class Spans:
    """A tracer that checks the order of what it is told."""

    def __init__(self) -> None:
        self.clock: object = None
        self.spans: dict[str, list[tuple[str, int, int]]] = defaultdict(list)
        self.latest_ps = 0

    def span(self, track: str, name: str, start_ps: int, end_ps: int) -> None:
        assert start_ps < end_ps
        earlier = self.spans[track]
        assert not earlier or earlier[-1][2] <= start_ps
        earlier.append((name.partition(":")[0], start_ps, end_ps))
        self.see(end_ps)

    def instant(self, track: str, name: str, time_ps: int) -> None:  # noqa: ARG002 - a tracer's
        self.see(time_ps)

    def counter(self, track: str, name: str, time_ps: int, value: int) -> None:  # noqa: ARG002
        self.see(time_ps)

    def see(self, time_ps: int) -> None:
        assert time_ps >= self.latest_ps
        self.latest_ps = time_ps


@given(plans)
def test_clock_is_monotone_and_spans_add_up(plan: Plan) -> None:
    tracer = Spans()
    lab = Lab(plan, tracer=tracer).run(8 * MS)
    for cpu in lab.cpus:
        times = cpu.times()
        sums: dict[str, int] = defaultdict(int)
        for name, start_ps, end_ps in tracer.spans[cpu.path]:
            sums[MODES[name]] += end_ps - start_ps
        # a span of a send may contain the application's own code
        process = times["user_ps"] + times["system_ps"]
        assert sums["user_ps"] + sums["system_ps"] == process
        assert sums["softirq_ps"] == times["softirq_ps"]
        assert sums["irq_ps"] == times["irq_ps"]


def test_ticks_agree_with_exact_times() -> None:
    """Within four standard deviations of a binomial sample, on every CPU of a long run.

    Frames at line rate come every 12.304 us, and 250 or 1000 Hz are 65 and 16 1/4 times five of
    them: ticks that nearly keep step with the traffic are no independent samples of it. 997 Hz is
    far from such ratios.
    """
    plan = Plan(
        host=HostPlan(cores=2, threads=2, spread_permille=300, hz=997),
        peer=HostPlan(spread_permille=300),
        streams=(StreamPlan(irq_cpu=0), StreamPlan(irq_cpu=1)),
        whole_peer=False,
    )
    duration_ps = 8000 * MS
    lab = Lab(plan).run(duration_ps)
    busy = 0
    for cpu in lab.system.machine.cpus:
        times = cpu.times()
        ticks = sum(count for name, count in times.items() if name.endswith("_ticks"))
        # interrupts are off in the handler, so its ticks count for what follows
        kernel_ps = times["system_ps"] + times["softirq_ps"] + times["irq_ps"]
        for time_ps, count in (
            (times["idle_ps"], times["idle_ticks"]),
            (times["user_ps"], times["user_ticks"]),
            (kernel_ps, times["system_ticks"] + times["softirq_ticks"]),
        ):
            share = time_ps / duration_ps
            deviation = math.sqrt(share * (1 - share) / ticks)
            assert abs(count / ticks - share) <= 4 * deviation + 1 / ticks
        busy += kernel_ps > duration_ps // 4
    assert busy >= 2
