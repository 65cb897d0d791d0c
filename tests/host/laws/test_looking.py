"""Looking at a machine changes nothing, and a tracer is told the times that it counts."""

from collections import Counter
from dataclasses import replace

import pytest

from simnet.scenario.system.system import System
from tests.laws.books import US, built

SCENARIOS = [
    ("x460-out-of-box", ("affinity",), 1500),
    ("vlan-half-cpu", (), 15_000),
    ("vm-virtio", (), 1000),
    ("sw1621-t520", (), 1500),
    ("nvme-local", (), 300),
]
MODES = {
    "user": "user_ps",
    "system": "system_ps",
    "softirq": "softirq_ps",
    "hard interrupt": "irq_ps",
}


class Spans:
    """A tracer that adds up what CPUs did."""

    def __init__(self) -> None:
        self.lasted: Counter[tuple[str, str]] = Counter()
        self.until: dict[str, int] = {}

    def span(self, track: str, name: str, start_ps: int, end_ps: int) -> None:
        assert self.until.get(track, 0) <= start_ps < end_ps
        self.until[track] = end_ps
        self.lasted[track, name.partition(":")[0]] += end_ps - start_ps

    def instant(self, track: str, name: str, time_ps: int) -> None:
        """Implement ``Tracer``."""

    def counter(self, track: str, name: str, time_ps: int, value: int) -> None:
        """Implement ``Tracer``."""


def ran(scenario: str, tunings: tuple[str, ...], *until_us: float, tracer: object = None) -> System:
    system = built(scenario, tunings, tracer=tracer)
    for each in until_us:
        system.env.run(until=round(each * US))
        system.snapshot()
    return system


@pytest.mark.parametrize(("scenario", "tunings", "duration_us"), SCENARIOS)
def test_a_machine_does_not_notice_it(
    scenario: str, tunings: tuple[str, ...], duration_us: int
) -> None:
    plain = ran(scenario, tunings, duration_us)
    times = sorted(number * 7919 % 1000 / 1000 * duration_us for number in range(1, 30))
    looked = ran(scenario, tunings, *times, duration_us)
    # least and largest latencies are those since the last look
    one, other = (replace(system.snapshot(), observed={}) for system in (looked, plain))
    assert one == other


@pytest.mark.parametrize(("scenario", "tunings", "duration_us"), SCENARIOS)
def test_a_tracer_is_told_all_that_cpus_do(
    scenario: str, tunings: tuple[str, ...], duration_us: int
) -> None:
    tracer = Spans()
    system = ran(scenario, tunings, duration_us, tracer=tracer)
    assert system.snapshot() == ran(scenario, tunings, duration_us).snapshot()
    for cpu in system.machine.cpus:
        times = cpu.times()
        told = {mode: tracer.lasted[cpu.path, name] for name, mode in MODES.items()}
        # a span of a call may contain the application's own code
        process = told["user_ps"] + told["system_ps"]
        assert process == times["user_ps"] + times["system_ps"]
        assert told["softirq_ps"] == times["softirq_ps"]
        assert told["irq_ps"] == times["irq_ps"]
