"""The daemon as a SimPy process: where it leaves the interrupts."""

from collections.abc import Generator
from typing import Any

import pytest

from simnet.host.interrupt import IrqLine
from simnet.host.irqbalance.sles10 import FIRST_PASS_PS, PERIOD_PS, irqbalance
from simnet.kernel.environment import Environment
from tests.host.parts import MS, make_machine

SECOND = 1000 * MS


class Setup:
    """A machine with interrupt lines that fire at given rates."""

    def __init__(
        self, rates: list[float], masks: list[int], occupied: set[int] | None = None
    ) -> None:
        self.env = Environment()
        machine = make_machine(self.env.sim, cores_per_socket=16)
        self.lines = [
            IrqLine(177 + 8 * number, f"eth{number}", machine.cpus, mask)
            for number, mask in enumerate(masks)
        ]
        for line, rate in zip(self.lines, rates, strict=True):
            if rate:
                self.env.process(self.fire(line, round(SECOND / rate)))
        self.env.process(irqbalance(self.env, self.lines, frozenset(occupied or ())))

    def fire(self, line: IrqLine, gap_ps: int) -> Generator[Any, Any, None]:
        while True:
            yield self.env.timeout(gap_ps)
            line.route()

    def cpus(self, until_s: float) -> list[int]:
        self.env.run(until=round(until_s * SECOND))
        return [line.current_target().cpu_id for line in self.lines]


def test_busy_lines_end_up_on_cpus_of_their_own() -> None:
    setup = Setup([900, 300, 700, 500], [0xFFFF] * 4)
    assert setup.cpus(2) == [0, 0, 0, 0]
    settled = setup.cpus(40)
    assert len(set(settled)) == 4
    # the busiest stays, the others fill the CPUs from below in the order of their rates
    assert settled == [0, 3, 1, 2]


@pytest.mark.compiled
def test_once_settled_nothing_moves() -> None:
    setup = Setup([900, 300, 700, 500], [0xFFFF] * 4)
    settled = setup.cpus(15)
    counts = [list(line.counts) for line in setup.lines]
    assert setup.cpus(95) == settled
    for line, before, cpu in zip(setup.lines, counts, settled, strict=True):
        assert [n for n in range(16) if line.counts[n] != before[n]] == [cpu]


def test_cpus_of_other_devices_are_left_alone() -> None:
    setup = Setup([100] * 8, [1] * 8, {3, 7})
    # as in Listing 1: CPUs 0 to 9 without 3 and 7
    assert sorted(setup.cpus(40)) == [0, 1, 2, 4, 5, 6, 8, 9]


def test_quiet_lines_are_left_alone() -> None:
    setup = Setup([100, 1, 0], [1, 1, 1])
    assert setup.cpus(40) == [0, 0, 0]


@pytest.mark.parametrize(("rate", "moved"), [(7.8, False), (8.2, True)])
def test_a_line_counts_from_20_interrupts_a_pass(rate: float, *, moved: bool) -> None:
    # 2.5 s of them until the first pass: 19 or 20
    setup = Setup([100, rate], [1, 1])
    assert (setup.cpus(3) == [0, 1]) == moved


@pytest.mark.parametrize(("until_s", "moved"), [(2.4, False), (2.6, True)])
def test_first_pass_after_2500_ms(until_s: float, moved: bool) -> None:  # noqa: FBT001
    setup = Setup([100, 90], [1, 1])
    setup.env.run(until=round(until_s * SECOND))
    assert (setup.lines[1].smp_affinity == 2) == moved
    assert FIRST_PASS_PS == 2500 * MS


def test_then_every_ten_seconds() -> None:
    setup = Setup([100, 90], [1, 1])
    setup.cpus(5)
    # somebody moves an interrupt on top of the other
    setup.lines[1].smp_affinity = 1
    assert setup.cpus(12.4) == [0, 0]
    assert setup.cpus(12.6) == [0, 1]
    assert PERIOD_PS == 10 * SECOND
