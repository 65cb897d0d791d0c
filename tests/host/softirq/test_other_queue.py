"""Queues of devices of which only their polls are simulated."""

import pytest

from simnet.host.machine import Machine
from simnet.host.softirq.other_queue import OtherQueue
from simnet.host.softirq.version import softirq_rules
from simnet.kernel.random import stream
from simnet.kernel.simulator import Simulator
from tests.host.parts import MS, NS, US, make_costs, make_machine

COSTS = {"hardirq": 500, "softirq_entry": 50, "poll": 100, "driver_rx": 200}


def made(gap_us: int) -> tuple[Machine, OtherQueue]:
    """A machine with one queue."""
    sim = Simulator()
    machine = make_machine(sim, "host", make_costs(**COSTS), None, softirq_rules("6.12"))
    luck = stream(1, "other")
    return machine, OtherQueue(sim, "other", machine.cpus[0], machine.costs, gap_us * US, luck)


def simulated(gap_us: int, *, hard_irqs: int = 0, timeout_us: int = 0) -> OtherQueue:
    """A queue after 100 ms."""
    machine, queue = made(gap_us)
    queue.instance.defer_hard_irqs = hard_irqs
    queue.instance.gro_flush_timeout_ps = timeout_us * US
    machine.sim.run_until(100 * MS)
    return queue


def test_a_packet_now_and_then_is_an_interrupt_and_a_poll() -> None:
    counts = simulated(300).instance.counters()
    assert counts["poll_packets"] == pytest.approx(333, rel=0.15)
    assert counts["polls"] == counts["interrupts"] == pytest.approx(333, rel=0.15)
    assert counts["polls_empty"] == 0


def test_with_interrupts_deferred_the_timer_polls_all_the_time() -> None:
    counts = simulated(300, hard_irqs=100, timeout_us=50).instance.counters()
    assert counts["interrupts"] == 1
    assert counts["polls"] == pytest.approx(100 * MS / (50 * US), rel=0.05)
    assert counts["poll_packets"] == pytest.approx(333, rel=0.15)
    assert counts["polls_empty"] > 1500


def test_what_comes_during_a_poll_interrupts_when_it_is_over() -> None:
    """Ten packets a poll: none is forgotten."""
    queue = simulated(1)
    counts = queue.instance.counters()
    assert counts["poll_packets"] + queue.waiting == pytest.approx(100_000, rel=0.02)
    assert counts["polls"] < 100_000
    assert queue.waiting < 100


def test_polls_are_softirqs_of_its_cpu() -> None:
    machine, queue = made(300)
    machine.sim.run_until(100 * MS)
    (cpu,) = machine.cpus
    times, ledger, counts = cpu.times(), machine.costs.ledger, queue.instance.counters()
    polls, packets = counts["polls"], counts["poll_packets"]
    assert times["irq_ps"] == ledger.hardirq == polls * 500 * NS
    assert times["softirq_ps"] == ledger.softirq == (polls * (50 + 100) + packets * 200) * NS
