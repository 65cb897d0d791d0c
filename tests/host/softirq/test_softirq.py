"""NET_RX rounds, poll lists and ksoftirqd (net_rx_action, __do_softirq of Linux 2.6.18)."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.host.accounting import PROCESS_LEVEL, SOFT_LEVEL, SOFTIRQ, USER
from simnet.host.cpu import Cpu
from simnet.host.machine import Machine
from simnet.host.scheduler import Task
from simnet.host.softirq.softirq import Napi, SoftirqNetRx
from simnet.host.softirq.verdict import POLL_CONTINUES, POLL_DONE, POLL_MORE
from simnet.kernel.simulator import Simulator
from tests.host.parts import MS, US, Agenda, Handler, make_costs, make_machine
from tests.house.examples import examples


class Device(Napi):
    """A device with packets to poll, each `packet_ps` of work.

    Logs each poll as (start, limit, packets). `refill` is called when a poll has ended.
    """

    def __init__(
        self, sim: Simulator, path: str, packets: int = 0, *, weight: int = 64, packet_ps: int = US
    ) -> None:
        super().__init__(sim, path, weight)
        self.packets = packets
        self.packet_ps = packet_ps
        self.polls: list[tuple[int, int, int]] = []
        self.refill: Callable[[], object] | None = None
        self.polling = False
        self.taken = 0

    def interrupt(self, cpu: Cpu) -> None:
        """Have a hard interrupt schedule the poll, if it is not scheduled."""
        handler = Handler(self.sim, f"{self.path}.irq{self.sim.now}", self.schedule)
        cpu.raise_irq(handler, 0)

    def schedule(self, cpu: Cpu) -> None:
        if not self.scheduled:
            softirqs = cpu.softirqs
            assert isinstance(softirqs, SoftirqNetRx)
            softirqs.schedule(self)

    def poll_begin(self, cpu: Cpu, softirq: SoftirqNetRx, budget: int, work_ps: int) -> int:
        assert not self.polling
        assert self.scheduled
        self.polling = True
        limit = min(self.quota, budget)
        self.taken = min(limit, self.packets)
        self.polls.append((self.sim.now, limit, self.taken))
        cpu.run(SOFT_LEVEL, softirq, work_ps + self.taken * self.packet_ps, SOFTIRQ)
        return POLL_CONTINUES

    def poll_step(self, cpu: Cpu, softirq: SoftirqNetRx) -> int:  # noqa: ARG002 - the interface
        assert self.polling
        self.polling = False
        self.packets -= self.taken
        self.quota -= self.taken
        softirq.charge(self.taken)
        if self.refill is not None:
            self.refill()
        if self.packets:
            return POLL_MORE
        softirq.complete(self)
        return POLL_DONE


class Host:
    """One machine with devices."""

    def __init__(self, *, entry_ns: int = 0, **layout: int) -> None:
        self.sim = Simulator()
        costs = make_costs(softirq_entry=entry_ns)
        self.machine: Machine = make_machine(self.sim, "host", costs, None, None, **layout)
        self.cpu = self.machine.cpus[0]
        softirqs = self.cpu.softirqs
        assert isinstance(softirqs, SoftirqNetRx)
        self.softirqs = softirqs
        self.agenda = Agenda(self.sim)

    def device(self, name: str, packets: int, **options: int) -> Device:
        device = Device(self.sim, name, packets, **options)
        self.agenda.at(0, device.interrupt, self.cpu)
        return device


class TestQuotaAndBudget:
    def test_poll_takes_at_most_the_weight(self) -> None:
        host = Host()
        device = host.device("nic", 100)
        host.sim.run_until(MS)
        assert device.polls == [(0, 64, 64), (64 * US, 64, 36)]
        assert host.softirqs.rounds == 1

    def test_devices_take_turns(self) -> None:
        host = Host()
        one, other = host.device("one", 100, weight=10), host.device("other", 25, weight=10)
        host.sim.run_until(MS)
        starts = sorted(
            [(at, "one") for at, _, _ in one.polls] + [(at, "other") for at, _, _ in other.polls]
        )
        assert [name for _, name in starts] == ["one", "other"] * 3 + ["one"] * 7

    def test_round_ends_when_the_budget_is_used_up(self) -> None:
        host = Host(netdev_budget=100)
        device = host.device("nic", 150)
        host.sim.run_until(MS)
        # the second poll gets what is left of 100, the third starts a round
        assert device.polls == [(0, 64, 64), (64 * US, 36, 36), (100 * US, 64, 50)]
        assert (host.softirqs.rounds, host.softirqs.time_squeezes) == (2, 1)

    def test_entry_is_paid_once_a_round(self) -> None:
        host = Host(netdev_budget=10, entry_ns=5000)
        device = host.device("nic", 25)
        host.sim.run_until(MS)
        # work before the first packet of each round
        assert [at for at, _, _ in device.polls] == [0, 15 * US, 30 * US]
        assert host.cpu.times()["softirq_ps"] == (25 + 3 * 5) * US

    def test_round_ends_when_more_than_one_jiffy_has_passed(self) -> None:
        host = Host(netdev_budget=10**6, tick_ps=4 * MS)
        device = host.device("nic", 100, weight=1, packet_ps=300 * US)
        host.sim.run_until(20 * MS)
        # jiffies - start > 1 holds from 8 ms on; polls end at multiples of 300 us
        assert host.softirqs.time_squeezes >= 1
        assert host.softirqs.rounds == 1 + host.softirqs.time_squeezes
        squeezed = next(at for at, _, _ in device.polls if at >= 8 * MS)
        assert squeezed == 8100 * US

    @pytest.mark.parametrize(("limit", "first_end"), [(1, 8), (2, 12), (4, 20)])
    def test_time_limit_in_jiffies(self, limit: int, first_end: int) -> None:
        host = Host(
            netdev_budget=10**6,
            tick_ps=4 * MS,
            net_rx_time_limit_jiffies=limit,
            max_softirq_restart=1,
        )
        host.device("nic", 10**6, weight=1, packet_ps=100 * US)
        host.sim.run_until(first_end * MS - US)
        assert host.softirqs.time_squeezes == 0
        host.sim.run_until(first_end * MS + US)
        assert host.softirqs.time_squeezes == 1

    def test_quota_that_was_overdrawn_is_refilled_by_the_weight(self) -> None:
        host = Host()
        device = host.device("nic", 20, weight=10)
        device.quota = -4
        host.sim.run_until(MS)
        # __netif_rx_schedule: quota += weight if it is negative
        assert [limit for _, limit, _ in device.polls] == [6, 10, 10]


class TestPollList:
    def test_device_is_scheduled_once(self) -> None:
        host = Host()
        device = host.device("nic", 100)
        host.agenda.at(30 * US, device.interrupt, host.cpu)
        host.sim.run_until(MS)
        assert len(device.polls) == 2
        assert not device.scheduled
        assert device.next_polled is None

    def test_interrupt_during_the_round_is_served_by_it(self) -> None:
        host = Host()
        host.device("one", 50)
        late = Device(host.sim, "late", 5)
        host.agenda.at(20 * US, late.interrupt, host.cpu)
        host.sim.run_until(MS)
        assert late.polls == [(50 * US, 64, 5)]
        # raised meanwhile, so __do_softirq looks once more and finds an empty list
        assert host.softirqs.rounds == 2

    @settings(max_examples=examples(200))
    @given(
        st.lists(
            st.tuples(
                st.integers(0, 3000), st.integers(0, 3), st.integers(0, 2), st.integers(1, 90)
            ),
            max_size=30,
        ),
        st.integers(1, 70),
        st.integers(1, 100),
        st.integers(1, 4),
    )
    def test_every_packet_is_polled_once_and_by_one_cpu_at_a_time(
        self, arrivals: list[tuple[int, int, int, int]], weight: int, budget: int, max_restart: int
    ) -> None:
        host = Host(netdev_budget=budget, max_softirq_restart=max_restart, cores_per_socket=3)
        devices = [Device(host.sim, f"nic{n}", weight=weight) for n in range(4)]

        def arrive(device: Device, cpu: Cpu, packets: int) -> None:
            device.packets += packets
            cpu.raise_irq(Handler(host.sim, f"irq{len(seen)}", device.schedule), US)
            seen.append(packets)

        seen: list[int] = []
        for at_us, number, cpu, packets in arrivals:
            host.agenda.at(at_us * US, arrive, devices[number], host.machine.cpus[cpu], packets)
        host.sim.run_until(100 * MS)
        # Device.poll_begin asserts that it is not being polled
        assert sum(taken for device in devices for _, _, taken in device.polls) == sum(seen)
        assert not any(device.scheduled for device in devices)


class Busy(Task):
    """A process that computes in pieces of 1 ms for ever."""

    def step(self, cpu: Cpu) -> None:
        if not self.yield_if_needed(cpu):
            cpu.run(PROCESS_LEVEL, self, MS, USER)


class TestKsoftirqd:
    @staticmethod
    def overload(host: Host) -> Device:
        """Make a device that always has packets for one more poll."""
        device = host.device("nic", 64)

        def refill() -> None:
            device.packets += 64

        device.refill = refill
        return device

    def test_ten_rounds_then_the_thread(self) -> None:
        host = Host(netdev_budget=64)
        self.overload(host)
        host.sim.run_until(640 * US - 1)
        assert (host.softirqs.rounds, host.softirqs.ksoftirqd_wakeups) == (10, 0)
        host.sim.run_until(640 * US)
        assert host.softirqs.ksoftirqd_wakeups == 1

    def test_it_goes_on_for_as_long_as_softirqs_come(self) -> None:
        host = Host(netdev_budget=64)
        device = self.overload(host)
        host.sim.run_until(50 * MS)
        device.refill = None
        host.sim.run_until(100 * MS)
        assert device.packets == 0
        assert not host.softirqs.pending
        times = host.cpu.times()
        # the thread does nothing but let softirqs run
        assert times["softirq_ps"] == sum(taken for _, _, taken in device.polls) * US
        assert times["softirq_ps"] > 49 * MS

    def test_it_shares_the_cpu_with_processes(self) -> None:
        """At nice 19 it has 5 ms, after the 20 ms of the other, and so on."""
        host = Host(netdev_budget=64, timeslice_ps=20 * MS)
        self.overload(host)
        busy = Busy(host.machine.scheduler, "busy", host.cpu)
        host.agenda.at(0, busy.wake_on, host.cpu)
        host.agenda.at(0, host.cpu.kick)
        host.sim.run_until(200 * MS)
        times = host.cpu.times()
        assert times["user_ps"] / times["softirq_ps"] == pytest.approx(4, rel=0.15)

    def test_interrupts_still_run_softirqs_inline(self) -> None:
        """Only from 4.9 on does an awake ksoftirqd keep others from running softirqs."""
        host = Host(netdev_budget=64, timeslice_ps=1000 * MS)
        self.overload(host)
        busy = Busy(host.machine.scheduler, "busy", host.cpu)
        host.agenda.at(100 * US, busy.wake_on, host.cpu)
        host.sim.run_until(5 * MS)
        rounds = host.softirqs.rounds
        host.cpu.raise_irq(Handler(host.sim, "other"), 0)
        host.sim.run_until(6 * MS)
        assert host.softirqs.rounds > rounds
