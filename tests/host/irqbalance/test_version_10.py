"""irqbalance 1.0: what counts as overloaded, what moves then, and where to."""

import pytest

from simnet.host.irqbalance import version_10 as irqbalance_10
from simnet.host.irqbalance.irq_source import IrqSource
from simnet.host.irqbalance.version_10 import FIRST_PASS_PS, Irqbalance10
from simnet.host.machine import Machine
from simnet.kernel.environment import Environment
from simnet.kernel.simulator import Simulator
from tests.host.irqbalance.daemons import cpus, fire, masks, saving, sources
from tests.host.parts import MS, make_machine

SECOND = 1000 * MS


class Ticks:
    """What `/proc/stat` shows of interrupts and softirqs, by CPU, in 1/100 s."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
        self.total = [0] * count
        monkeypatch.setattr(irqbalance_10, "busy_ticks", lambda *_: list(self.total))

    def add(self, *ticks: int) -> None:
        self.total = [one + more for one, more in zip(self.total, ticks, strict=True)]


def four_cpus() -> Machine:
    return make_machine(Simulator(), cores_per_socket=4)


def make(
    machine: Machine, names: list[str], node: int = -1, **options: int
) -> tuple[Irqbalance10, list[IrqSource]]:
    found = sources(machine, names, node)
    return Irqbalance10(machine, found, **options), found  # type: ignore[arg-type]


class TestPlacement:
    def test_at_first_all_loads_are_equal(self) -> None:
        machine = make_machine(Simulator(), nodes=2, cores_per_socket=4)
        daemon, found = make(machine, ["eth0", "eth1", "eth2", "eth3"])
        daemon.balance()
        # irq 13 to node 0, 12 to node 1, which has fewer, 11 to 0, 10 to 1; in a node the first
        # to its first CPU, the second to the last of those that have fewer
        assert cpus(found) == [7, 3, 4, 0]

    def test_a_device_s_interrupts_go_to_its_node(self) -> None:
        machine = make_machine(Simulator(), nodes=2, cores_per_socket=4)
        daemon, found = make(machine, ["eth0", "eth1", "eth2", "eth3"], 1)
        daemon.balance()
        assert sorted(cpus(found)) == [4, 5, 6, 7]

    def test_classes_stop_at_their_level(self) -> None:
        machine = make_machine(Simulator(), nodes=2, cores_per_socket=2, threads_per_core=2)
        found = sources(machine, ["a"], 0, device="other")
        found += sources(machine, ["b"], 0, device="storage")
        Irqbalance10(machine, found).balance()
        assert masks(found) == [0b1111, 0b11]

    def test_banned_cpus_get_nothing(self) -> None:
        machine = four_cpus()
        found = sources(machine, ["eth0", "eth1", "eth2"])
        Irqbalance10(machine, found, banned_cpus=frozenset({0, 3})).balance()
        assert set(cpus(found)) == {1, 2}


class TestMigration:
    def start(self, monkeypatch: pytest.MonkeyPatch) -> tuple[Ticks, Irqbalance10, list[IrqSource]]:
        ticks = Ticks(monkeypatch, 4)
        daemon, found = make(four_cpus(), [f"eth{n}" for n in range(5)])
        daemon.balance()
        # the fifth, irq 10, comes to CPU 0, where irq 14 is
        assert cpus(found) == [0, 1, 2, 3, 0]
        return ticks, daemon, found

    @pytest.mark.parametrize(
        ("busy", "cpu"),
        [
            # mean 225, deviation 450: 675 above is too much; irq 14 counts 600 of the 900
            ((900, 0, 0, 0), 1),
            # mean 525, deviation 435: 375 above
            ((900, 900, 300, 0), 0),
        ],
    )
    def test_the_largest_moves_from_a_cpu_that_is_a_standard_deviation_above_the_mean(
        self, monkeypatch: pytest.MonkeyPatch, busy: tuple[int, ...], cpu: int
    ) -> None:
        ticks, daemon, found = self.start(monkeypatch)
        fire(found[4], 600)
        fire(found[0], 300)
        ticks.add(*busy)
        daemon.balance()
        assert cpus(found) == [0, 1, 2, 3, cpu]

    @pytest.mark.parametrize(
        ("interrupts", "moved"),
        [
            # 900 ticks are 900,000, 675,000 above the mean: without the first it is not above it
            ((675, 150, 75), 1),
            ((674, 150, 76), 2),
            # each interrupt counts 1: without the first it is above it by 1
            ((674_999, 100_001, 100_000), 2),
        ],
    )
    def test_interrupts_move_until_the_rest_is_the_mean(
        self, monkeypatch: pytest.MonkeyPatch, interrupts: tuple[int, ...], moved: int
    ) -> None:
        ticks = Ticks(monkeypatch, 4)
        daemon, found = make(four_cpus(), [f"eth{n}" for n in range(9)])
        daemon.balance()
        here = [source for source, cpu in zip(found, cpus(found), strict=True) if cpu == 0]
        for source, times in zip(here, interrupts, strict=True):
            fire(source, times)
        ticks.add(900, 0, 0, 0)
        daemon.balance()
        assert [cpu > 0 for cpu in cpus(here)] == [True] * moved + [False] * (3 - moved)

    def test_a_cpu_s_only_interrupt_stays(self, monkeypatch: pytest.MonkeyPatch) -> None:
        ticks, daemon, found = self.start(monkeypatch)
        fire(found[1], 900)
        ticks.add(0, 900, 0, 0)
        daemon.balance()
        assert cpus(found) == [0, 1, 2, 3, 0]

    def test_of_two_cpus_none_is_ever_overloaded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        ticks = Ticks(monkeypatch, 2)
        daemon, found = make(
            make_machine(Simulator(), cores_per_socket=2), ["eth0", "eth1", "eth2"]
        )
        daemon.balance()
        before = cpus(found)
        for _ in range(4):
            for source in found:
                fire(source, 1000)
            ticks.add(1000, 0)
            daemon.balance()
        # half the difference is always less than its deviation
        assert cpus(found) == before

    def test_what_is_moved_by_hand_is_not_noticed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        _, daemon, found = self.start(monkeypatch)
        found[2].line.smp_affinity = 1
        daemon.balance()
        assert cpus(found) == [0, 1, 0, 3, 0]


class TestPowerSave:
    def balance(self, daemon: Irqbalance10, ticks: Ticks, times: int, *load: int) -> None:
        for _ in range(times):
            ticks.add(*load)
            daemon.balance()

    def test_an_idle_cpu_is_left_out_after_six_rounds(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ticks = Ticks(monkeypatch, 4)
        daemon, _ = make(four_cpus(), ["eth0"], powerthresh=1)
        self.balance(daemon, ticks, 6, 0, 500, 500, 500)
        assert saving(daemon) == set()
        self.balance(daemon, ticks, 1, 0, 500, 500, 500)
        assert saving(daemon) == {0}

    def test_it_is_off_unless_asked_for(self, monkeypatch: pytest.MonkeyPatch) -> None:
        ticks = Ticks(monkeypatch, 4)
        daemon, _ = make(four_cpus(), ["eth0"])
        self.balance(daemon, ticks, 9, 0, 500, 500, 500)
        assert saving(daemon) == set()

    def test_as_many_as_the_threshold_have_to_be_idle(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ticks = Ticks(monkeypatch, 4)
        daemon, _ = make(four_cpus(), ["eth0"], powerthresh=2)
        self.balance(daemon, ticks, 9, 0, 500, 500, 500)
        assert saving(daemon) == set()

    def test_overload_brings_all_cpus_back(self, monkeypatch: pytest.MonkeyPatch) -> None:
        ticks = Ticks(monkeypatch, 4)
        daemon, found = make(four_cpus(), [f"eth{n}" for n in range(5)], powerthresh=1)
        self.balance(daemon, ticks, 7, 500, 0, 500, 500)
        assert saving(daemon) == {1}
        for source in found:
            fire(source, 100)
        self.balance(daemon, ticks, 1, 900, 0, 0, 0)
        assert saving(daemon) == set()

    def test_interrupts_leave_the_thread_that_saves_power(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ticks = Ticks(monkeypatch, 4)
        machine = make_machine(Simulator(), cores_per_socket=2, threads_per_core=2)
        daemon, found = make(machine, ["eth0"], powerthresh=1)
        daemon.balance()
        assert cpus(found) == [0]
        self.balance(daemon, ticks, 6, 0, 500, 500, 500)
        assert saving(daemon) == {0}
        assert cpus(found) == [1]


@pytest.mark.parametrize(("until_s", "moved"), [(9.9, False), (10.1, True)])
def test_the_first_round_is_after_10_s(until_s: float, *, moved: bool) -> None:
    env = Environment(unit_ps=1)
    machine = make_machine(env.sim, cores_per_socket=4)
    daemon, found = make(machine, ["eth0", "eth1"])
    env.process(daemon.run(env))
    env.run(until=round(until_s * SECOND))
    assert FIRST_PASS_PS == 10 * SECOND
    assert (len(set(cpus(found))) == 2) == moved


def test_oneshot_places_once() -> None:
    env = Environment(unit_ps=1)
    machine = make_machine(env.sim, cores_per_socket=4)
    daemon, _ = make(machine, ["eth0"], oneshot=True)
    process = env.process(daemon.run(env))
    env.run(until=11 * SECOND)
    assert not process.is_alive
