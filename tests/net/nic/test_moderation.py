"""Interrupt moderation and polling, against a literal reference."""

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.kernel.simulator import Simulator
from simnet.net.nic.port import Nic
from tests.host.parts import Agenda, make_costs, make_machine
from tests.net.nic.reference import RefBnx2, RefBnx2Host, RefE1000, RefE1000eHost, RefHost, RefTg3
from tests.net.parts import (
    US,
    Sink,
    asserted_ps,
    feed,
    frame,
    make_bnx2,
    make_e1000,
    make_e1000e,
    make_tg3,
)

UNTIL = 1500


@dataclass(frozen=True)
class Case:
    """What happens to a NIC, and how it is set; times in us.

    Pairs are (receive, transmit); `costs` are those of handler, softirq entry, poll, frame and
    completion.
    """

    arrivals: list[int]
    departures: list[int]
    costs: tuple[int, int, int, int, int]
    frames: tuple[int, int]
    frames_irq: tuple[int, int]
    usecs: tuple[int, int]
    usecs_irq: tuple[int, int]
    interval: int
    buffers: int
    weight: int
    shared: bool
    per_frame: bool


def times(gaps_us: list[int]) -> list[int]:
    """Turn gaps into times that end early enough for everything to be over."""
    now, result = 10, []
    for gap in gaps_us:
        now += gap
        result.append(now)
    return [at for at in result if at < UNTIL - 300]


# 0 switches a condition off
thresholds = st.tuples(st.integers(0, 8), st.integers(0, 8))
waits = st.tuples(st.integers(0, 45), st.integers(0, 45))
cases = st.builds(
    Case,
    arrivals=st.lists(st.sampled_from([1, 1, 3, 12, 12, 12, 19, 20, 21, 40, 150])).map(times),
    departures=st.sets(st.integers(5, UNTIL - 300), max_size=25).map(sorted),
    costs=st.tuples(
        st.integers(1, 9),
        st.integers(0, 3),
        st.integers(1, 3),
        st.integers(1, 25),
        st.integers(0, 2),
    ),
    frames=thresholds,
    frames_irq=thresholds,
    usecs=waits,
    usecs_irq=waits,
    interval=st.sampled_from([0, 10, 50, 125]),
    buffers=st.sampled_from([200, 1, 2, 5, 9]),
    weight=st.sampled_from([64, 1, 4]),
    shared=st.booleans(),
    per_frame=st.booleans(),
)


def simulate(case: Case, make: Any, **options: Any) -> tuple[Nic, Sink]:
    """Let a NIC of the package do what the reference does."""
    sim = Simulator()
    names = ("hardirq", "softirq_entry", "poll", "driver_rx", "tx_completion")
    cost_ns = {name: us * 1000 for name, us in zip(names, case.costs, strict=True)}
    machine = make_machine(sim, netdev_budget=10**6, costs=make_costs(**cost_ns))
    nic: Nic = make(
        sim,
        machine,
        per_frame=case.per_frame,
        rx_buffers=case.buffers,
        weight=case.weight,
        **options,
    )
    sink = Sink(sim)
    agenda = Agenda(sim)

    def arrive(number: int, at: int) -> None:
        nic.incoming.append(frame(sink, number, at * US))
        nic.frames_added()

    def send() -> None:
        nic.transmit(frame(sink))
        nic.flush()

    if case.per_frame:
        for number, at in enumerate(case.arrivals):
            agenda.at(at * US, arrive, number, at)
    else:
        feed(nic, sink, [at * US for at in case.arrivals])
    for at in case.departures:
        agenda.at((at - 1) * US, send)  # the frame is on the wire for 1 us
    sim.run_until(UNTIL * US)
    nic.advance(sim.now)  # a chip that nothing makes interrupt is not looked at
    return nic, sink


def check(case: Case, host: RefHost, make: Any, **options: Any) -> None:
    host.run(case.arrivals, case.departures, UNTIL)
    nic, sink = simulate(case, make, **options)
    assert [at // US for at in asserted_ps(nic)] == host.asserted
    assert [(at // US, number) for at, _, number in sink.log] == host.log
    assert nic.drops == host.chip.drops


@pytest.mark.parametrize(
    ("ref_chip", "ref_host", "make"),
    [(RefTg3, RefHost, make_tg3), (RefBnx2, RefBnx2Host, make_bnx2)],
    ids=["tg3", "bnx2"],
)
@given(case=cases)
def test_a_coalescing_chip_does_what_the_reference_does(
    ref_chip: type[RefTg3], ref_host: type[RefHost], make: Any, case: Case
) -> None:
    chip = ref_chip(
        case.buffers,
        frames=case.frames,
        frames_irq=case.frames_irq,
        usecs=case.usecs,
        usecs_irq=case.usecs_irq,
        shared=case.shared,
    )
    check(
        case,
        ref_host(chip, case.weight, *case.costs),
        make,
        rx_frames=case.frames[0],
        tx_frames=case.frames[1],
        rx_frames_irq=case.frames_irq[0],
        tx_frames_irq=case.frames_irq[1],
        rx_usecs_ps=case.usecs[0] * US,
        tx_usecs_ps=case.usecs[1] * US,
        rx_usecs_irq_ps=case.usecs_irq[0] * US,
        tx_usecs_irq_ps=case.usecs_irq[1] * US,
        shared_update=case.shared,
    )


@pytest.mark.parametrize("fixed_rate", [False, True], ids=["e1000", "e1000e"])
@given(case=cases)
def test_a_throttling_chip_does_what_the_reference_does(*, fixed_rate: bool, case: Case) -> None:
    tx_delay, interval = case.usecs[1] or 1, case.interval
    make, ref_host, options = make_e1000, RefHost, {"throttle_ps": interval * US}
    if fixed_rate:
        rate = 3906 if interval else 0
        interval = 256 if rate else 0  # as the chip counts
        make, ref_host, options = make_e1000e, RefE1000eHost, {"interrupt_throttle_rate": rate}
    chip = RefE1000(case.buffers, interval=interval, tx_delay=tx_delay)
    host = ref_host(chip, case.weight, *case.costs)
    check(case, host, make, tx_delay_ps=tx_delay * US, **options)
