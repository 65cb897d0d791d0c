"""What NET_RX processing of later kernels does differently, and interrupts to other CPUs."""

from dataclasses import asdict
from typing import Any

import pytest

from simnet.errors import InputError
from simnet.host.accounting import PROCESS_LEVEL, SOFT_LEVEL, SOFTIRQ, USER
from simnet.host.cpu import Cpu
from simnet.host.scheduler import Task
from simnet.host.softirq.softirq import Napi, SoftirqNetRx
from simnet.host.softirq.verdict import POLL_CONTINUES, POLL_DONE, POLL_MORE
from simnet.host.softirq.version import SoftirqRules, softirq_rules
from simnet.kernel.simulator import Simulator
from tests.host.parts import MS, US, Agenda, Handler, make_costs, make_machine


class Device(Napi):
    """A device that always, or `packets` times, has a packet, each 1 us of work."""

    def __init__(self, sim: Simulator, path: str, packets: int, weight: int) -> None:
        super().__init__(sim, path, weight)
        self.packets = packets
        self.limit = 0
        self.polls: list[tuple[int, int]] = []

    def schedule(self, cpu: Cpu) -> None:
        softirqs = cpu.softirqs
        assert isinstance(softirqs, SoftirqNetRx)
        if not self.scheduled:
            softirqs.schedule(self)

    def poll_begin(self, cpu: Cpu, softirq: SoftirqNetRx, budget: int, work_ps: int) -> int:
        self.limit = min(self.quota, budget, self.packets)
        self.polls.append((self.sim.now, self.limit))
        cpu.run(SOFT_LEVEL, softirq, work_ps + self.limit * US, SOFTIRQ)
        return POLL_CONTINUES

    def poll_step(self, cpu: Cpu, softirq: SoftirqNetRx) -> int:  # noqa: ARG002 - the interface
        self.packets -= self.limit
        softirq.charge(self.limit)
        if self.limit == self.weight:
            return POLL_MORE
        softirq.complete(self)
        return POLL_DONE


class Busy(Task):
    """A process that computes in pieces of 1 ms for ever."""

    def step(self, cpu: Cpu) -> None:
        if not self.yield_if_needed(cpu):
            cpu.run(PROCESS_LEVEL, self, MS, USER)


class Host:
    """One machine with devices, under the rules of a version or given ones."""

    def __init__(self, rules: str | SoftirqRules, **layout: Any) -> None:
        self.sim = Simulator()
        if isinstance(rules, str):
            rules = softirq_rules(rules)
        costs = make_costs(ipi=300)
        self.machine = make_machine(
            self.sim, "host", costs, None, rules, **({"tick_ps": MS} | layout)
        )
        self.cpu = self.machine.cpus[0]
        softirqs = self.cpu.softirqs
        assert isinstance(softirqs, SoftirqNetRx)
        self.softirqs = softirqs
        self.agenda = Agenda(self.sim)

    def device(self, name: str, packets: int, weight: int = 64) -> Device:
        device = Device(self.sim, name, packets, weight)
        self.interrupt(device)
        return device

    def interrupt(self, device: Device, at_ps: int = 0) -> None:
        handler = Handler(self.sim, f"{device.path}.irq{at_ps}", device.schedule)
        self.agenda.at(at_ps, self.cpu.raise_irq, handler, 0)


class TestVersions:
    @pytest.mark.parametrize(
        ("version", "rules"),
        [
            ("2.6.9", set()),
            ("2.6.18", set()),
            ("2.6.23", set()),
            ("2.6.24", {"weight_each_poll"}),
            ("2.6.38", {"weight_each_poll"}),
            ("3.8", {"weight_each_poll"}),
            ("3.9", {"weight_each_poll", "restart_time_ps", "stops_for_processes"}),
            (
                "4.9",
                {
                    "weight_each_poll",
                    "restart_time_ps",
                    "stops_for_processes",
                    "polls_once",
                    "thread_first",
                },
            ),
            *(
                (version, {"weight_each_poll", "restart_time_ps", "stops_for_processes", *since})
                for version, since in (
                    ("3.18", ()),
                    ("3.19", ("polls_once",)),
                    ("4.8", ("polls_once",)),
                    ("4.11", ("polls_once", "thread_first")),
                    ("4.12", ("polls_once", "thread_first", "budget_time_ps")),
                    ("6.4", ("polls_once", "thread_first", "budget_time_ps")),
                    ("6.5", ("polls_once", "budget_time_ps")),
                )
            ),
            (
                "6.18",
                {
                    "weight_each_poll",
                    "restart_time_ps",
                    "stops_for_processes",
                    "polls_once",
                    "budget_time_ps",
                },
            ),
        ],
    )
    def test_each_rule_came_with_its_version(self, version: str, rules: set[str]) -> None:
        assert {name for name, value in asdict(softirq_rules(version)).items() if value} == rules

    def test_what_is_no_version_is_refused(self) -> None:
        with pytest.raises(InputError, match=r"expected numbers with dots"):
            softirq_rules("2.6.x")


class TestNewNapi:
    def test_a_poll_has_its_weight_whatever_is_left_of_the_budget(self) -> None:
        """300 = 4 x 64 + 44: the fifth poll takes 64 all the same, and then the round ends."""
        host = Host("2.6.32")
        device = host.device("nic", 10**6)
        host.sim.run_until(319 * US)
        assert [limit for _, limit in device.polls] == [64] * 5
        assert (host.softirqs.rounds, host.softirqs.time_squeezes) == (1, 0)
        host.sim.run_until(320 * US)
        assert (host.softirqs.rounds, host.softirqs.time_squeezes) == (2, 1)

    def test_a_device_that_used_its_weight_is_polled_once_more(self) -> None:
        host = Host("2.6.32")
        device = host.device("nic", 64)
        host.sim.run_until(MS)
        assert [limit for _, limit in device.polls] == [64, 0]

    @pytest.mark.parametrize(("hz_tick_ms", "length_ms"), [(1, 2), (4, 4)])
    def test_from_4_12_on_a_round_has_a_length(self, hz_tick_ms: int, length_ms: int) -> None:
        """2 ms, in whole jiffies; only a round's own end counts as squeezed."""
        host = Host(
            SoftirqRules(weight_each_poll=True, budget_time_ps=2 * MS),
            tick_ps=hz_tick_ms * MS,
            netdev_budget=10**9,
        )
        host.device("nic", 10**6, weight=10)
        host.sim.run_until(length_ms * MS - US)
        assert host.softirqs.time_squeezes == 0
        host.sim.run_until(length_ms * MS)
        assert host.softirqs.time_squeezes == 1

    @pytest.mark.parametrize(("version", "rounds"), [("3.18", 1), ("3.19", 3)])
    def test_from_3_19_on_a_round_polls_each_device_once(self, version: str, rounds: int) -> None:
        host = Host(version)
        device = host.device("nic", 25, 10)
        host.sim.run_until(MS)
        assert [limit for _, limit in device.polls] == [10, 10, 5]
        assert host.softirqs.rounds == rounds
        assert not device.scheduled
        assert not host.softirqs.pending


class TestKsoftirqd:
    def test_from_3_9_on_it_takes_over_after_2_ms(self) -> None:
        """Ten rounds of 320 us would be 3.2 ms."""
        host = Host("3.9")
        host.device("nic", 10**6)
        host.sim.run_until(2 * MS - US)
        assert host.softirqs.ksoftirqd_wakeups == 0
        host.sim.run_until(2 * MS + 320 * US)
        assert host.softirqs.ksoftirqd_wakeups == 1
        before = Host("3.8")
        before.device("nic", 10**6)
        before.sim.run_until(2 * MS + 320 * US)
        assert before.softirqs.ksoftirqd_wakeups == 0

    @pytest.mark.parametrize(("version", "wakeups"), [("3.8", 0), ("3.9", 1)])
    def test_from_3_9_on_a_process_that_should_run_ends_it(
        self, version: str, wakeups: int
    ) -> None:
        host = Host(version)
        busy = Busy(host.machine.scheduler, "busy", host.cpu, 5)
        urgent = Busy(host.machine.scheduler, "urgent", host.cpu, -5)
        host.agenda.at(0, busy.wake_on, host.cpu)
        host.agenda.at(0, host.cpu.kick)
        device = Device(host.sim, "nic", 10**6, 64)
        host.interrupt(device, 10 * US)
        host.agenda.at(20 * US, urgent.wake_on, host.cpu)
        host.sim.run_until(10 * US + 320 * US)
        assert host.softirqs.ksoftirqd_wakeups == wakeups

    @pytest.mark.parametrize(("version", "inline"), [("4.8", True), ("4.9", False), ("6.5", True)])
    def test_while_it_waits_for_the_cpu_interrupts_leave_softirqs_to_it(
        self, version: str, *, inline: bool
    ) -> None:
        host = Host(version, timeslice_ps=1000 * MS)
        busy = Busy(host.machine.scheduler, "busy", host.cpu)
        host.agenda.at(0, busy.wake_on, host.cpu)
        host.agenda.at(0, host.cpu.kick)
        device = Device(host.sim, "nic", 10**6, 64)
        host.interrupt(device, 10 * US)
        host.sim.run_until(8 * MS)
        assert host.softirqs.ksoftirqd_wakeups == 1
        rounds = host.softirqs.rounds
        host.cpu.raise_irq(Handler(host.sim, "other"), 0)
        host.sim.run_until(9 * MS)
        assert (host.softirqs.rounds > rounds) == inline

    def test_it_works_itself(self) -> None:
        host = Host("4.9")
        device = host.device("nic", 64 * 1000)
        host.sim.run_until(100 * MS)
        assert device.packets == 0
        assert not device.scheduled


class Remote(Napi):
    """What belongs to another CPU: logs when its interrupt has been taken."""

    def __init__(self, sim: Simulator, home: Cpu) -> None:
        super().__init__(sim, f"{home.path}.remote", 64)
        self.set_home(home)
        self.taken_ps: list[int] = []

    def step(self, cpu: Cpu) -> None:
        assert cpu is self.home
        self.taken_ps.append(self.sim.now)


class Sender(Device):
    """A device whose packets are for other CPUs."""

    remotes: list[Remote]

    def poll_step(self, cpu: Cpu, softirq: SoftirqNetRx) -> int:
        for remote in self.remotes:
            if not remote.scheduled:
                softirq.schedule_remote(remote)
        return super().poll_step(cpu, softirq)


class TestInterrupts:
    def test_one_a_round_and_cpu_paid_on_both_sides(self) -> None:
        host = Host("2.6.32", cores_per_socket=3)
        sender = Sender(host.sim, "nic", 100, 64)
        sender.remotes = [Remote(host.sim, cpu) for cpu in host.machine.cpus[1:]]
        host.interrupt(sender)
        host.sim.run_until(MS)
        # after both polls two are sent, 300 ns each, and taken in 300 ns
        assert [remote.taken_ps for remote in sender.remotes] == [[100_900_000]] * 2
        assert host.softirqs.ipis == 2
        assert host.machine.costs.ledger.work()["hardirq"] == 600_000
        assert host.machine.costs.ledger.work()["softirq"] == 600_000
        assert [cpu.hard_interrupts for cpu in host.machine.cpus] == [1, 1, 1]
        assert host.cpu.times()["softirq_ps"] == 100_600_000

    def test_they_are_sent_when_the_round_is_cut_short(self) -> None:
        host = Host("2.6.32", cores_per_socket=2, netdev_budget=10)
        sender = Sender(host.sim, "nic", 10**6, 10)
        sender.remotes = [Remote(host.sim, host.machine.cpus[1])]
        host.interrupt(sender)
        host.sim.run_until(30 * US)
        assert sender.remotes[0].taken_ps == [10_600_000]
