"""Queues whose behaviour is known in closed form come out as they should.

Formulas: Kleinrock, "Queueing Systems" I (1975), chapters 3 to 5, and II (1976), chapter 3.
A mean must lie within 1 % of the formula, or hold it in its 99.9 % confidence interval, which in
turn must be narrow. The unit of time is the mean service time, 1 us.
"""

import math
from collections.abc import Callable, Mapping, Sequence

import pytest

from simnet.host.accounting import HARD_LEVEL, PROCESS_LEVEL, SOFT_LEVEL
from simnet.host.cpu import Cpu
from simnet.kernel.random import stream
from simnet.kernel.simulator import Simulator
from tests.kernel.queueing import SEED, CpuQueue, Customers, Station, mean_and_halfwidth

SERVICE_PS = 1_000_000
CUSTOMERS = 200_000
NARROW = 0.07

# Fewer customers would not tell a formula from a similar one.
pytestmark = [pytest.mark.compiled, pytest.mark.slow]


def exponential(name: str, mean: float = 1) -> Callable[[], int]:
    random = stream(SEED, f"service.{name}")
    mean_ps = round(mean * SERVICE_PS)
    return lambda: random.exponential_ps(mean_ps)


def constant() -> int:
    return SERVICE_PS


def customers(rate: float, service_ps: Callable[[], int]) -> Customers:
    """Return a class of customers that arrive `rate` times in a mean service time."""
    return Customers(round(SERVICE_PS / rate), service_ps)


def simulate(name: str, *classes: Customers, **options: int) -> Station:
    """Let a number of customers pass through a station."""
    sim = Simulator()
    station = Station(sim, name, classes, **options)  # type: ignore[arg-type]
    rate = sum(1 / each.mean_gap_ps for each in classes)
    sim.run_until(round(CUSTOMERS / rate))
    return station


def assert_mean(series: Sequence[int], expected: float, unit: float = SERVICE_PS) -> None:
    mean, halfwidth = (value / unit for value in mean_and_halfwidth(series))
    assert abs(mean - expected) <= max(0.01 * expected, halfwidth)
    assert halfwidth <= NARROW * expected


def wait(load: float, second_moment: float) -> float:
    """Return the mean wait in M/G/1 after Pollaczek and Khinchine."""
    return load * second_moment / (2 * (1 - load))


class TestOneServer:
    def test_m_m_1(self) -> None:
        load = 0.6
        station = simulate("m_m_1", customers(load, exponential("m_m_1")))
        assert_mean(station.classes[0].sojourn_ps, 1 / (1 - load))

    @pytest.mark.nightly
    def test_m_d_1(self) -> None:
        load = 0.7
        station = simulate("m_d_1", customers(load, constant))
        assert_mean(station.classes[0].sojourn_ps, 1 + wait(load, 1))

    def test_m_g_1(self) -> None:
        # One in eleven takes 6 times the mean, the others half of it.
        load, long, short = 0.5, 6.0, 0.5
        random = stream(SEED, "service.m_g_1")

        def service_ps() -> int:
            return round((short if random.below(11) else long) * SERVICE_PS)

        second_moment = (10 * short**2 + long**2) / 11
        station = simulate("m_g_1", customers(load, service_ps))
        assert_mean(station.classes[0].sojourn_ps, 1 + wait(load, second_moment))


class TestManyServersAndLimits:
    def test_m_m_c(self) -> None:
        offered, servers = 2.4, 4
        terms = [offered**n / math.factorial(n) for n in range(servers)]
        last = offered**servers / math.factorial(servers) * servers / (servers - offered)
        delayed = last / (sum(terms) + last)  # Erlang C
        station = simulate("m_m_c", customers(offered, exponential("m_m_c")), servers=servers)
        assert_mean(station.classes[0].sojourn_ps, 1 + delayed / (servers - offered))

    @pytest.mark.nightly
    def test_m_m_1_k_loses_what_it_should(self) -> None:
        load, capacity = 0.9, 6
        blocked = (1 - load) * load**capacity / (1 - load ** (capacity + 1))
        station = simulate("m_m_1_k", customers(load, exponential("m_m_1_k")), capacity=capacity)
        assert_mean(station.classes[0].lost, blocked, unit=1)
        present = sum(n * load**n for n in range(capacity + 1)) / sum(
            load**n for n in range(capacity + 1)
        )
        assert_mean(station.classes[0].sojourn_ps, present / (load * (1 - blocked)))


class Priorities:
    """Three classes with different services: exponential, constant, exponential."""

    LOADS = (0.2, 0.2, 0.2)
    MEANS = (0.5, 1.0, 2.0)
    SECOND_MOMENTS = (2 * 0.5**2, 1.0, 2 * 2.0**2)

    def classes(self, name: str) -> list[Customers]:
        services = [exponential(f"{name}.0", 0.5), constant, exponential(f"{name}.2", 2)]
        rates = [load / mean for load, mean in zip(self.LOADS, self.MEANS, strict=True)]
        return [customers(*pair) for pair in zip(rates, services, strict=True)]

    def residual(self, classes: int) -> float:
        """Return the mean of what is left of the service of one of the first `classes`."""
        terms = list(zip(self.LOADS, self.MEANS, self.SECOND_MOMENTS, strict=True))
        return sum(load / mean * moment / 2 for load, mean, moment in terms[:classes])

    def assert_non_preemptive(self, classes: Sequence[Customers]) -> None:
        for k in range(3):
            before, with_k = sum(self.LOADS[:k]), sum(self.LOADS[: k + 1])
            waiting = self.residual(3) / ((1 - before) * (1 - with_k))
            assert_mean(classes[k].sojourn_ps, self.MEANS[k] + waiting)

    def assert_preemptive_resume(self, classes: Sequence[Customers]) -> None:
        for k in range(3):
            before, with_k = sum(self.LOADS[:k]), sum(self.LOADS[: k + 1])
            waiting = self.residual(k + 1) / ((1 - before) * (1 - with_k))
            assert_mean(classes[k].sojourn_ps, self.MEANS[k] / (1 - before) + waiting)


class TestPriorities(Priorities):
    def test_non_preemptive(self) -> None:
        station = simulate("non_preemptive", *self.classes("non_preemptive"))
        self.assert_non_preemptive(station.classes)

    @pytest.mark.nightly
    def test_preemptive_resume(self) -> None:
        station = simulate("preemptive", *self.classes("preemptive"), preemptive=True)
        self.assert_preemptive_resume(station.classes)


class TestOnTheCpu(Priorities):
    """The same, executed by the model of a CPU."""

    def simulate(self, name: str, levels: Mapping[int, Sequence[Customers]]) -> Cpu:
        sim = Simulator()
        cpu = Cpu(sim, "cpu0", 0, 0, 0, 0, 1000, 4_000_000_000)
        for level, classes in levels.items():
            CpuQueue(sim, f"{name}.{level}", cpu, level, classes)
        rate = sum(1 / each.mean_gap_ps for classes in levels.values() for each in classes)
        sim.run_until(round(CUSTOMERS / rate))
        return cpu

    def test_m_m_1(self) -> None:
        load = 0.6
        served = customers(load, exponential("cpu.m_m_1"))
        times = self.simulate("m_m_1", {PROCESS_LEVEL: [served]}).times()
        assert_mean(served.sojourn_ps, 1 / (1 - load))
        assert times["user_ps"] == pytest.approx(load * sum(times_ps(times)), rel=NARROW / 2)

    def test_m_d_1(self) -> None:
        load = 0.7
        served = customers(load, constant)
        self.simulate("m_d_1", {SOFT_LEVEL: [served]})
        assert_mean(served.sojourn_ps, 1 + wait(load, 1))

    def test_hard_interrupts_preempt_softirqs_and_those_processes(self) -> None:
        classes = self.classes("cpu.preemptive")
        levels = {HARD_LEVEL: classes[:1], SOFT_LEVEL: classes[1:2], PROCESS_LEVEL: classes[2:]}
        times = self.simulate("preemptive", levels).times()
        self.assert_preemptive_resume(classes)
        shares = [
            times[name] / sum(times_ps(times)) for name in ("irq_ps", "softirq_ps", "user_ps")
        ]
        assert shares == pytest.approx(self.LOADS, rel=NARROW / 2)

    def test_softirqs_do_not_preempt_each_other(self) -> None:
        classes = self.classes("cpu.non_preemptive")
        self.simulate("non_preemptive", {SOFT_LEVEL: classes})
        self.assert_non_preemptive(classes)


def times_ps(times: dict[str, int]) -> list[int]:
    """Return a CPU's exact times, which add up to all there was."""
    return [time for name, time in times.items() if name.endswith("_ps")]


def test_littles_law_holds_to_the_picosecond() -> None:
    station = simulate("little", customers(0.8, exponential("little")), servers=2)
    present = [customer for customer in station.serving if customer is not None]
    present += [customer for queue in station.queues for customer in queue]
    assert len(present) == station.population
    # Time that customers spent there, added up by instants and by customers.
    by_customers = sum(station.classes[0].sojourn_ps)
    by_customers += sum(station.changed_ps - customer.arrived_ps for customer in present)
    assert station.customer_ps == by_customers


def test_a_wrong_formula_would_be_noticed() -> None:
    station = simulate("wrong", customers(0.6, exponential("wrong")))
    with pytest.raises(AssertionError):
        assert_mean(station.classes[0].sojourn_ps, 1.1 / (1 - 0.6))
