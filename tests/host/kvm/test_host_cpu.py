"""A CPU of a host: who runs, and for how long; a virtual CPU that halts, polls, is preempted."""

import pytest

from simnet.host.accounting import PROCESS_LEVEL, SYSTEM
from simnet.host.cpu import Cpu
from simnet.host.fair.rules import FairRules, fair_rules
from simnet.host.kvm.host_cpu import HostCpu
from simnet.host.kvm.vcpu import Vcpu
from simnet.kernel.simulator import Simulator
from tests.host.parts import MS, US, Agenda, Handler, Job, make_machine

SLICE = 3 * MS
EEVDF = FairRules(SLICE, 0, 4 * MS)
CFS = FairRules(SLICE, 12 * MS, 4 * MS)
HALT = 2 * US
SWITCH = US


class Host:
    """One CPU of a host, and virtual CPUs on it."""

    def __init__(self, count: int = 1, rules: FairRules = EEVDF, poll: int = 0) -> None:
        self.sim = Simulator()
        self.agenda = Agenda(self.sim)
        self.cpu = HostCpu(
            self.sim, "host.cpu0", node=0, rules=rules, switch_ps=SWITCH, idle_states=None
        )
        self.guests = [make_machine(self.sim, f"guest{n}").cpus[0] for n in range(count)]
        self.vcpus = [
            Vcpu(self.cpu, f"vcpu{n}", guest, halt_ps=HALT, most_poll_ps=poll)
            for n, guest in enumerate(self.guests)
        ]

    def job(self, at: int, guest: int, work: int) -> Job:
        """Work of a guest that begins at a time; logs its end."""
        job = Job(self.sim, f"job{at}", PROCESS_LEVEL, SYSTEM)
        self.agenda.at(at, job.start, self.guests[guest], work)
        return job


@pytest.mark.parametrize(("version", "credit"), [("5.4", 12 * MS), ("6.5.1", 12 * MS), ("6.6", 0)])
def test_eevdf_gives_sleepers_no_credit(version: str, credit: int) -> None:
    rules = fair_rules(version)
    assert (rules.slice_ps, rules.credit_ps, rules.granularity_ps) == (3 * MS, credit, 4 * MS)


def test_a_wake_up_costs_a_switch_and_the_way_out_of_the_halt() -> None:
    host = Host()
    first, second = host.job(MS, 0, 5 * US), host.job(2 * MS, 0, 5 * US)
    host.sim.run_until(3 * MS)
    # the first time it enters, it has not halted
    assert first.done_ps == [MS + SWITCH + 5 * US]
    assert second.done_ps == [2 * MS + SWITCH + HALT + 5 * US]
    assert host.vcpus[0].halts == 2


def test_work_that_comes_during_the_poll_needs_no_switch() -> None:
    host = Host(poll=200 * US)
    jobs = [host.job(MS + n * 8 * US + n * US, 0, US) for n in range(5)]
    host.sim.run_until(2 * MS)
    late = [job.done_ps[0] - (MS + n * 9 * US) - US for n, job in enumerate(jobs)]
    # the first halt that was short makes it poll for 10 us
    assert late == [SWITCH, SWITCH + HALT, HALT, HALT, HALT]
    assert host.vcpus[0].polled == 3


def test_a_long_halt_ends_polling() -> None:
    host = Host(poll=200 * US)
    for at in (MS, MS + 50 * US, MS + 100 * US, 2 * MS):
        host.job(at, 0, US)
    host.sim.run_until(2 * MS - US)
    assert host.vcpus[0].poll_ps == 20 * US
    host.sim.run_until(3 * MS)
    assert host.vcpus[0].poll_ps == 0


def test_two_that_compute_share_the_cpu_slice_by_slice() -> None:
    host = Host(2)
    jobs = [host.job(n * US, n, 9 * MS) for n in range(2)]
    host.sim.run_until(40 * MS)
    ends = [job.done_ps[0] for job in jobs]
    # three slices each, in turns; a switch before each
    assert ends == [15 * MS + 5 * SWITCH, 18 * MS + 6 * SWITCH]
    assert [vcpu.busy_ps() for vcpu in host.vcpus] == [9 * MS, 9 * MS]
    stolen = host.guests[0].times()["steal_ps"]
    assert stolen == 6 * MS + 5 * SWITCH


@pytest.mark.parametrize(("rules", "waits"), [(CFS, 0), (EEVDF, SLICE)])
def test_who_slept_preempts_under_cfs_and_waits_for_the_slice_under_eevdf(
    rules: FairRules, waits: int
) -> None:
    host = Host(2, rules)
    host.job(0, 0, 100 * MS)
    # the slice that begins at 29 ms has 1 ms to go
    late = host.job(20 * MS, 1, US)
    host.sim.run_until(40 * MS)
    delay = late.done_ps[0] - 20 * MS - SWITCH - US
    assert delay <= waits
    assert (delay == 0) == (waits == 0)
    assert host.vcpus[0].preemptions == 1


def test_who_only_polls_leaves_at_once() -> None:
    host = Host(2, poll=200 * US)
    for at in (MS, MS + 50 * US):
        host.job(at, 0, US)
    # virtual CPU 0 polls for 10 us after its second job
    begun = MS + 50 * US + SWITCH + HALT + US
    late = host.job(begun + 5 * US, 1, US)
    host.sim.run_until(2 * MS)
    assert late.done_ps == [begun + 5 * US + SWITCH + US]
    assert host.vcpus[0].preemptions == 0


def test_a_preempted_guest_keeps_its_interrupt() -> None:
    host = Host(2)
    host.job(0, 0, 2 * MS)
    host.job(US, 1, 2 * MS)
    taken: list[Cpu] = []
    handler = Handler(host.sim, "handler", taken.append)
    host.agenda.at(MS, host.guests[1].raise_irq, handler, US)
    host.sim.run_until(10 * MS)
    assert handler.done_ps == [2 * MS + 2 * SWITCH + US]
    assert taken == [host.guests[1]]
