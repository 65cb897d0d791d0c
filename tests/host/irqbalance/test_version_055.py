"""irqbalance 0.55: placements worked out by hand from its cost function, and its modes."""

from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.host.accounting import SOFT_LEVEL, SOFTIRQ
from simnet.host.apic import Apic, ApicMode
from simnet.host.irqbalance import version_055
from simnet.host.irqbalance.irq_source import CLASSES, IrqSource, busy_ticks
from simnet.host.irqbalance.version_055 import FIRST_PASS_PS, Irqbalance055
from simnet.host.machine import Machine
from simnet.kernel.environment import Environment
from simnet.kernel.simulator import Simulator
from tests.host.irqbalance.daemons import cpus, fire, masks, sources
from tests.host.parts import MS, Job, make_machine

SECOND = 1000 * MS


def two_sockets(sim: Simulator | None = None) -> Machine:
    """Two nodes with a socket of four cores each."""
    return make_machine(sim or Simulator(), nodes=2, cores_per_socket=4)


@dataclass
class Counters:
    """A network interface."""

    rx_packets: int = 600
    tx_packets: int = 400


def passes(daemon: Irqbalance055, found: list[IrqSource], *rounds: list[int]) -> None:
    for counts in rounds:
        for source, count in zip(found, counts, strict=True):
            fire(source, count)
        daemon.balance()


class TestCosts:
    def test_the_busiest_goes_first_and_no_package_gets_more_than_its_quota(self) -> None:
        machine = two_sockets()
        found = sources(machine, ["eth0", "eth1", "eth2", "eth3"])
        passes(Irqbalance055(machine, found), found, [1000, 800, 600, 400])
        # eth0 to package 0; eth1 to 1 (0 < 1001); eth2 to 1, too (801 < 1001); eth3 to 0, as
        # package 1 has its half of four; then each to a cache and CPU of its own
        assert cpus(found) == [0, 4, 5, 1]

    def test_nothing_moves_while_nothing_changes(self) -> None:
        machine = two_sockets()
        found = sources(machine, ["eth0", "eth1", "eth2", "eth3"])
        daemon = Irqbalance055(machine, found)
        passes(daemon, found, *[[1000, 800, 600, 400]] * 3)
        assert cpus(found) == [0, 4, 5, 1]

    @pytest.mark.parametrize(("load", "mask"), [(2000, 0xF0), (2999, 0xF0), (3001, 0x0F)])
    def test_another_package_has_to_be_better_by_3000(self, load: int, mask: int) -> None:
        machine = two_sockets()
        found = sources(machine, ["ahci", "ata", "nvme"])
        daemon = Irqbalance055(machine, found)
        passes(daemon, found, [900, 600, 300])
        # of class "other", which stays at the package: 901 in 0, 601 and then 902 in 1
        assert masks(found) == [0x0F, 0xF0, 0xF0]
        # 300 + 200, load - 1, 100 + 1300: the second first, then the third, which pays 3000 in 0
        passes(daemon, found, [200, load - 1 - 200, 1300])
        assert masks(found)[1:] == [0xF0, mask]

    def test_old_load_decays_by_thirds(self) -> None:
        machine = two_sockets()
        found = sources(machine, ["ahci", "ata"])
        daemon = Irqbalance055(machine, found)
        # 9000, then 3000, 1000, 333 of it left
        passes(daemon, found, [9000, 20], [0, 0], [0, 0], [0, 0])
        assert [irq.workload for irq in daemon._irqs] == [333, 0]

    def test_a_far_node_costs_250(self) -> None:
        machine = two_sockets()
        for node, home in ((0, 0x0F), (1, 0xF0)):
            found = sources(machine, ["ahci", "ata"], node, device="other")
            daemon = Irqbalance055(machine, found)
            env = Environment(unit_ps=1)
            for source in found:
                fire(source, 100)
            # the scan of devices comes before the first pass
            process = daemon.run(env)
            next(process)
            next(process)
            daemon.balance()
            # one each: the quota of 300000 is more than 250; the first gets the near package
            assert sorted(masks(found)) == [0x0F, 0xF0]
            assert masks(found)[1] == home  # of equals the one met later comes first

    @pytest.mark.parametrize(("load", "mask"), [(6301, 0b0011), (6302, 0b1100)])
    def test_another_of_its_class_in_a_cache_counts_6000(self, load: int, mask: int) -> None:
        machine = make_machine(Simulator(), cores_per_socket=2, threads_per_core=2)
        found = sources(machine, ["timer", "megaraid", "ahci"], device="storage")
        daemon = Irqbalance055(machine, found)
        fire(found[1], 20)
        fire(found[2], 20)
        process = daemon.run(Environment(unit_ps=1))
        next(process)
        next(process)
        passes(daemon, found, [load, 300, 100])
        # beside the timer's load, or 300 + 1 + 6000 beside the first
        assert masks(found)[1:] == [0b1100, mask]

    @pytest.mark.parametrize(("load", "mask"), [(399, 0xF0), (400, 0x0F)])
    def test_one_that_rests_moves_for_a_tenth_of_that(self, load: int, mask: int) -> None:
        machine = two_sockets()
        found = sources(machine, ["ahci", "ata", "nvme"], device="other")
        daemon = Irqbalance055(machine, found)
        for source in found:
            fire(source, 20)
        process = daemon.run(Environment(unit_ps=1))
        next(process)
        next(process)
        passes(daemon, found, [900, 600, 0])
        assert masks(found) == [0x0F, 0xF0, 0xF0]
        # 300 + 1 and 200 + load + 1
        passes(daemon, found, [0, load, 0])
        assert masks(found) == [0x0F, 0xF0, mask]

    def test_with_threads_the_second_is_preferred(self) -> None:
        machine = make_machine(Simulator(), cores_per_socket=2, threads_per_core=2)
        found = sources(machine, ["eth0", "eth1"])
        passes(Irqbalance055(machine, found), found, [900, 800])
        assert cpus(found) == [1, 3]

    @pytest.mark.parametrize(("count", "mask"), [(4999, 0b11), (5000, 0b10)])
    def test_storage_shares_a_cache_unless_it_is_busy(self, count: int, mask: int) -> None:
        machine = make_machine(Simulator(), cores_per_socket=2, threads_per_core=2)
        found = sources(machine, ["megaraid"], device="storage")
        daemon = Irqbalance055(machine, found)
        fire(found[0], 20)
        process = daemon.run(Environment(unit_ps=1))
        next(process)
        next(process)
        passes(daemon, found, [count])
        # nothing of the start is left: those 20 came before the counters were reset
        assert masks(found) == [mask]

    @given(st.lists(st.integers(20, 2000), min_size=1, max_size=8))
    def test_ethernet_interrupts_have_a_cpu_each_while_there_are_enough(
        self, rates: list[int]
    ) -> None:
        machine = two_sockets()
        found = sources(machine, [f"eth{n}" for n in range(len(rates))])
        passes(Irqbalance055(machine, found), found, rates, rates)
        assert len(set(cpus(found))) == len(rates)
        left = sum(cpu < 4 for cpu in cpus(found))
        assert abs(2 * left - len(rates)) <= 1


class TestSources:
    def test_receive_queues_go_before_others_and_transmit_queues_before_those(self) -> None:
        machine = two_sockets()
        found = sources(machine, ["eth0", "eth0-rx-0", "eth0-tx-0"], msix=True)
        passes(Irqbalance055(machine, found), found, [5000, 100, 50])
        # three classes of one interrupt each, so quotas of one: 50, 51 + 100, then 5000
        assert cpus(found) == [1, 4, 0]

    def test_fewer_than_20_interrupts_since_boot_are_not_looked_at(self) -> None:
        machine = two_sockets()
        found = sources(machine, ["eth0", "eth1"])
        daemon = Irqbalance055(machine, found)
        passes(daemon, found, [100, 10], [100, 9])
        assert cpus(found) == [0, 0]
        passes(daemon, found, [100, 1])
        assert cpus(found) == [0, 4]

    @pytest.mark.parametrize(
        ("msix", "gained", "bonus"), [(False, 900, 450), (False, 900_000, 100_000), (True, 900, 0)]
    )
    def test_packets_count_by_half_from_the_second_pass(
        self, *, msix: bool, gained: int, bonus: int
    ) -> None:
        machine = two_sockets()
        port = Counters()
        found = sources(machine, ["eth0"], msix=msix, port=port)
        daemon = Irqbalance055(machine, found)
        passes(daemon, found, [300])
        assert [irq.workload for irq in daemon._irqs] == [300]
        port.rx_packets += gained
        passes(daemon, found, [30])
        assert [irq.workload for irq in daemon._irqs] == [30 + 100 + bonus]

    def test_what_moves_packets_is_a_network_interface_whatever_its_name(self) -> None:
        machine = two_sockets()
        port = Counters()
        found = sources(machine, ["mlx4"], port=port)
        daemon = Irqbalance055(machine, found)
        passes(daemon, found, [300])
        assert masks(found) == [0x0F]
        port.rx_packets += 900
        passes(daemon, found, [300])
        # of its class now: a CPU of its own
        assert cpus(found) == [0]

    def test_the_timer_stays_and_its_load_counts(self) -> None:
        machine = two_sockets()
        found = sources(machine, ["timer", "ahci"])
        passes(Irqbalance055(machine, found), found, [4000, 100])
        # on the timer's package it would share with a load of 4000
        assert masks(found) == [1, 0xF0]

    def test_banned_cpus_are_left_alone(self) -> None:
        machine = two_sockets()
        found = sources(machine, ["eth0", "eth1"])
        daemon = Irqbalance055(machine, found, banned_cpus=frozenset({0, 4}))
        passes(daemon, found, [900, 700])
        assert cpus(found) == [1, 5]


class TestPowerMode:
    def test_it_comes_after_more_than_three_calm_passes_and_packs_package_0(self) -> None:
        machine = two_sockets()
        found = sources(machine, ["eth0", "eth1"])
        daemon = Irqbalance055(machine, found)
        on = []
        for _ in range(3):
            passes(daemon, found, [100, 100])
            on.append(daemon.power_mode)
        assert sorted(cpu // 4 for cpu in cpus(found)) == [0, 1]
        passes(daemon, found, [100, 100])
        on.append(daemon.power_mode)
        assert on == [False, False, False, True]
        assert [cpu // 4 for cpu in cpus(found)] == [0, 0]

    def test_twenty_ticks_before_the_first_pass_are_no_calm(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def calm_after(*total: int) -> list[bool]:
            shown = iter(total)
            monkeypatch.setattr(version_055, "busy_ticks", lambda *_: [0, next(shown)])
            machine = two_sockets()
            daemon = Irqbalance055(machine, sources(machine, ["eth0"]))
            on = []
            for _ in total:
                daemon.balance()
                on.append(daemon.power_mode)
            return on

        assert calm_after(19, 38, 57, 76, 96) == [False, False, False, True, False]
        assert calm_after(20, 20, 20, 20, 20) == [False, False, False, False, True]

    @pytest.mark.parametrize(("softirq_ms", "stays"), [(190, True), (210, False)])
    def test_it_ends_at_the_first_pass_of_20_ticks(self, softirq_ms: int, *, stays: bool) -> None:
        sim = Simulator()
        machine = two_sockets(sim)
        found = sources(machine, ["eth0", "eth1"])
        daemon = Irqbalance055(machine, found)
        passes(daemon, found, *[[100, 100]] * 5)
        Job(sim, "work", SOFT_LEVEL, SOFTIRQ).start(machine.cpus[0], softirq_ms * MS)
        sim.run_until(SECOND)
        passes(daemon, found, [100, 100])
        assert daemon.power_mode == stays


class TestRounds:
    def run(self, until_s: float, **options: bool) -> list[int]:
        env = Environment(unit_ps=1)
        machine = two_sockets(env.sim)
        found = sources(machine, ["eth0", "eth1"])
        for source in found:
            fire(source, 100)
        env.process(Irqbalance055(machine, found, **options).run(env))  # type: ignore[arg-type]
        for time_s in (1, 5, 15, 25):
            if time_s < until_s:
                env.run(until=time_s * SECOND)
                for source in found:
                    fire(source, 1000)
            if time_s == 15 < until_s:
                found[1].line.smp_affinity = 1
        env.run(until=round(until_s * SECOND))
        return cpus(found)

    def test_the_first_placement_comes_at_12_s(self) -> None:
        assert self.run(11.9) == [0, 0]
        assert len(set(self.run(12.1))) == 2
        assert FIRST_PASS_PS == 12 * SECOND

    def test_what_was_moved_by_hand_stays_until_the_daemon_wants_another_cpu(self) -> None:
        # it compares with what it wrote itself, not with what is there
        assert self.run(40)[1] == 0

    def test_oneshot_ends_after_the_first(self) -> None:
        env = Environment(unit_ps=1)
        machine = two_sockets(env.sim)
        process = env.process(Irqbalance055(machine, [], oneshot=True).run(env))
        env.run(until=13 * SECOND)
        assert not process.is_alive

    def test_one_cache_for_all_means_oneshot(self) -> None:
        machine = make_machine(Simulator(), cores_per_socket=1, threads_per_core=2)
        assert Irqbalance055(machine, []).oneshot
        assert not Irqbalance055(two_sockets(), []).oneshot


def test_the_timer_is_known_by_name_or_as_interrupt_0() -> None:
    machine = two_sockets()
    apic = Apic(machine.cpus, ApicMode("physical flat", "first"))
    kinds = [
        CLASSES[IrqSource(apic.line(irq, name, 1)).by_name]
        for irq, name in ((0, "x"), (1, "x"), (2, "rtc0"), (3, "hrtimer"), (4, "eth0-tx-1"))
    ]
    assert kinds == ["timer", "other", "timer", "timer", "10gbit-ethernet"]


def test_ticks_of_interrupts_are_shown_in_hundredths_each_kind_rounded_down() -> None:
    seen: list[Any] = [
        SimpleNamespace(times=partial(dict, irq_ticks=irq, softirq_ticks=softirq))
        for irq, softirq in ((0, 0), (5, 0), (0, 7), (5, 5), (7, 8))
    ]
    # a tick is 4 ms: 2.5 are a hundredth
    assert busy_ticks(seen, 4 * MS) == [0, 2, 2, 4, 5]
