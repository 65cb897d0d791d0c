"""Idle states: when an interrupt's handler begins, and which state is chosen. Times are exact."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from simnet.host.accounting import PROCESS_LEVEL, USER
from simnet.host.idle import IdleStates
from simnet.kernel.simulator import Simulator
from tests.host.parts import MS, NS, US, Agenda, Handler, Job, make_machine
from tests.house.examples import examples


def make_states(**more: int) -> IdleStates:
    given = {"enter_ps": US, "shallow_exit_ps": 2 * US, "deep_exit_ps": 0, "deep_residency_ps": 0}
    return IdleStates(*(given | more).values())


def handled(at_us: int, states: IdleStates | None, *, busy_until_us: int = 10) -> list[int]:
    """When the handler of an interrupt is through that comes at `at_us` and takes 5 us."""
    sim = Simulator()
    (cpu,) = make_machine(sim).cpus
    agenda = Agenda(sim)
    handler = Handler(sim, "handler")
    if states is not None:
        cpu.idle_states = states
    agenda.at(0, Job(sim, "process", PROCESS_LEVEL, USER).start, cpu, busy_until_us * US)
    agenda.at(at_us * US, cpu.raise_irq, handler, 5 * US)
    agenda.at((at_us + 1) * US, cpu.raise_irq, handler, US)
    sim.run_until(MS)
    assert cpu.times()["idle_ps"] == MS - (busy_until_us + 6) * US
    return [done // NS for done in handler.done_ps]


def test_a_cpu_without_idle_states_is_never_late() -> None:
    assert handled(100, None) == [105_000, 106_000]


def test_leaving_one_puts_handlers_off_and_counts_as_idle() -> None:
    assert handled(100, make_states()) == [107_000, 108_000]


def test_a_busy_cpu_has_nothing_to_leave() -> None:
    assert handled(5, make_states()) == [10_000, 11_000]


def test_on_the_way_into_one_an_interrupt_waits_and_finds_nothing_to_leave() -> None:
    states = make_states(enter_ps=4 * US)
    assert handled(11, states) == [19_000, 20_000]


def after(states: IdleStates, *idle_us: int) -> int:
    """How late a handler begins, in ns, after idle times of these lengths."""
    sim = Simulator()
    (cpu,) = make_machine(sim).cpus
    agenda = Agenda(sim)
    handler = Handler(sim, "handler")
    cpu.idle_states = states
    agenda.at(0, Job(sim, "process", PROCESS_LEVEL, USER).start, cpu, US)
    at = begin = US
    for number, length_us in enumerate(idle_us):
        begin = at + length_us * US
        agenda.at(begin, cpu.raise_irq, handler, US)
        sim.run_until(begin)
        while len(handler.done_ps) == number:
            sim.run_until(sim.now + US // 4)
        at = handler.done_ps[-1]
    return (at - US - begin) // NS


def deep() -> IdleStates:
    return make_states(deep_exit_ps=400 * US, deep_residency_ps=800 * US)


def test_the_deep_state_is_for_long_idle_times() -> None:
    assert after(deep(), *[100] * 9) == 2000
    assert after(deep(), *[3000] * 9) == 400_000
    assert after(deep(), *[3000] * 7) == 2000


def test_one_long_idle_time_among_short_ones_is_left_out() -> None:
    states = deep()
    assert after(states, 100, 101, 99, 100, 3000, 100, 100, 102, 100) == 2000
    assert states.typical_us() == 100
    assert states.deep_entries == 0
    assert states.entries == 10


def test_of_idle_times_without_any_rule_the_mean_counts() -> None:
    states = make_states()
    after(states, 10, 5000, 300, 9000, 40, 2500, 800, 20000)
    assert states.typical_us() == (10 + 5000 + 300 + 9000 + 40 + 2500 + 800 + 20000) // 8


def typical(intervals: list[int]) -> int:
    """`get_typical_interval` of Linux 6.12 in words: outliers above go while a quarter is left."""
    kept = sorted(intervals)
    while True:
        mean = sum(kept) // len(kept)
        variance = sum((one - mean) ** 2 for one in kept) // len(kept)
        even = len(kept) > 6 and mean**2 > 36 * variance
        if even or variance <= 400:
            return mean
        if len(kept) <= 6:
            return sum(intervals) // 8
        kept = [one for one in kept if one < kept[-1]]


@given(
    st.lists(
        st.one_of(
            st.sampled_from([100, 119, 120, 121, 140, 141]),
            st.integers(1, 60),
            st.integers(500, 900),
            st.integers(1, 5000),
        ),
        min_size=8,
        max_size=12,
    )
)
@example([100] * 8)
@example([100, 140] * 4)
@example([100, 141] * 4)
@example([100] * 6 + [3000, 4000])
@example([100] * 5 + [3000] * 3)
@example([600, 700, 800, 600, 700, 800, 650, 4000])
@settings(max_examples=examples(100))
def test_the_typical_idle_time_is_the_kernels(idle_us: list[int]) -> None:
    states = deep()
    after(states, *idle_us)
    assert states.typical_us() == typical(idle_us[-8:])


@pytest.mark.parametrize(("length_us", "late_ns"), [(799, 2000), (800, 400_000), (801, 400_000)])
def test_the_deep_state_is_entered_from_its_residency_on(length_us: int, late_ns: int) -> None:
    states = deep()
    assert after(states, *[length_us] * 9) == late_ns
    assert (states.entries, states.deep_entries) == (10, 2 * (late_ns > 2000))
    assert states.awake_ps == 9 * US


def test_states_begin_with_nothing_counted() -> None:
    states = deep()
    assert (states.entries, states.deep_entries, states.awake_ps) == (0, 0, 0)
    assert states.typical_us() == 0
