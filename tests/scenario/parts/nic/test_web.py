"""web-25g: what the number of queues, steering and moderation do, as scaling.rst tells it."""

from functools import cache

import pytest

import simnet
from simnet.scenario.core.load import load
from simnet.study.run.result import Result

COMBINED = "ethtool -L eth0 combined"
# eight CPUs take the interrupts of all queues
EIGHT_CPUS = tuple(
    (f"/proc/irq/{80 + queue}/smp_affinity_list", str(queue % 8)) for queue in range(32)
)
PLACED = (("taskset --cpu-list", "16-31"),)
FIXED = ("fixed-50us",)


@cache
def ran(*settings: tuple[str, str], tunings: tuple[str, ...] = ()) -> Result:
    return simnet.run(
        "web-25g", settings=dict(settings), tunings=tunings, warm_up="14 ms", duration="4 ms"
    )


def scheduled(scheduler: str, *settings: tuple[str, str]) -> Result:
    asked = (("kernel.scheduler", scheduler), ("peer:kernel.scheduler", scheduler))
    return ran(*asked, *settings)


def queues(count: int, *tunings: str) -> Result:
    return ran((COMBINED, str(count)), tunings=tunings)


def requests(result: Result) -> float:
    """Requests a second."""
    return float(result.to_frame("flows")["transactions_per_s"].sum())


def cpu_us(result: Result) -> float:
    """CPU time of the server for a request."""
    return 1e4 * len(result.cpus) * result.cpu_busy_percent / requests(result)


def interrupts(result: Result) -> float:
    """Interrupts of the port for a request."""
    return result.ports[0].interrupts_per_s / requests(result)


def median_us(result: Result) -> float:
    return float(result.to_frame("flows")["latency_us_p50"].median())


def throttled(usecs: int) -> Result:
    return ran(
        ("ethtool -C eth0 rx-usecs", str(usecs)),
        ("ethtool -C eth0 tx-usecs", str(usecs)),
        tunings=FIXED,
    )


def test_its_processor_is_said_to_be_uncalibrated() -> None:
    remarks = load("web-25g").remarks
    assert [line for line in remarks if line.startswith("uncalibrated: every cost of the system")]
    assert not [line for line in load("stream-100g").remarks if "uncalibrated" in line]


class TestQueues:
    @pytest.mark.nightly
    def test_each_more_helps_up_to_one_a_cpu(self) -> None:
        rates = [requests(queues(count)) for count in (1, 2, 8, 32)]
        assert rates == sorted(rates)
        assert rates[1] > 1.7 * rates[0]
        assert rates[3] > 2.5 * rates[0]

    def test_with_one_queue_its_cpu_has_no_time_left(self) -> None:
        busy = [100 - cpu.idle for cpu in queues(1).cpus]
        assert busy[0] > 99
        assert max(busy[1:]) < 60

    def test_latency_falls_with_the_number(self) -> None:
        medians = [median_us(queues(count)) for count in (1, 2, 8, 32)]
        assert medians == sorted(medians, reverse=True)

    def test_more_than_cpus_only_add_interrupts(self) -> None:
        eight, many = queues(8), ran(*EIGHT_CPUS)
        assert interrupts(many) > 4 * interrupts(eight)
        assert cpu_us(many) > 1.03 * cpu_us(eight)
        assert requests(many) < 1.1 * requests(eight)

    @pytest.mark.nightly
    def test_rss_to_fewer_queues_is_like_fewer_queues(self) -> None:
        rates = [requests(ran(("ethtool -X eth0 equal", str(count)))) for count in (1, 4)]
        assert rates[0] < 0.6 * rates[1]
        assert rates[1] < requests(queues(32))


class TestSteering:
    @pytest.mark.parametrize(("count", "least"), [(1, 1.8), (2, 1.15)])
    def test_rps_helps_where_there_are_fewer_queues_than_cpus(
        self, count: int, least: float
    ) -> None:
        assert requests(queues(count, "rps-all")) > least * requests(queues(count))

    def test_rps_only_costs_where_each_cpu_has_a_queue(self) -> None:
        plain, steered = queues(32), queues(32, "rps-all")
        assert requests(steered) < 1.05 * requests(plain)
        assert cpu_us(steered) > 1.05 * cpu_us(plain)

    @pytest.mark.nightly
    def test_rfs_has_packets_processed_where_they_are_read(self) -> None:
        lines = {}
        for tunings in (("rps-all",), ("rps-all", "rfs-all")):
            result = ran((COMBINED, "32"), *PLACED, tunings=tunings)
            share = result.to_frame("work")["percent"]["socket lines from another CPU"]
            lines[tunings] = (share / requests(result), cpu_us(result))
        assert lines["rps-all", "rfs-all"][0] < 0.2 * lines["rps-all",][0]
        assert lines["rps-all", "rfs-all"][1] < lines["rps-all",][1]


class TestModeration:
    @pytest.mark.nightly
    def test_a_longer_throttle_trades_latency_for_cpu_time(self) -> None:
        results = [throttled(usecs) for usecs in (2, 50, 250)]
        medians = [median_us(result) for result in results]
        costs = [cpu_us(result) for result in results]
        assert medians == sorted(medians)
        assert medians[2] > 1.5 * medians[0]
        assert costs == sorted(costs, reverse=True)
        assert costs[0] > 1.08 * costs[2]

    @pytest.mark.nightly
    def test_no_queue_interrupts_more_often_than_its_throttle_allows(self) -> None:
        assert ran(tunings=FIXED).ports[0].interrupts_per_s <= 32 / 50e-6
        assert throttled(250).ports[0].interrupts_per_s <= 32 / 250e-6

    def test_what_adapts_lies_between(self) -> None:
        assert interrupts(throttled(250)) < interrupts(ran()) < interrupts(throttled(2))


class TestLoad:
    def test_the_system_answers(self) -> None:
        port = ran().ports[0]
        assert port.tx_bps > 3 * port.rx_bps

    def test_thinking_makes_room(self) -> None:
        assert requests(ran(("think", "2 ms"))) < 0.2 * requests(ran())

    def test_the_applications_time_is_the_servers(self) -> None:
        assert cpu_us(ran(("service", "30 us"))) > cpu_us(ran()) + 15


class TestWakeUps:
    def test_the_fair_scheduler_wakes_processes_on_idle_cpus(self) -> None:
        near, spread = scheduled("o1"), scheduled("fair")
        assert median_us(spread) < 0.85 * median_us(near)
        assert requests(spread) > 1.03 * requests(near)

    def test_on_one_cpu_there_is_no_choice(self) -> None:
        here = (("taskset --cpu-list", "16"),)
        near, same = scheduled("o1", *here), scheduled("fair", *here)
        assert requests(same) == pytest.approx(requests(near), rel=0.03)


class TestThreadedNapi:
    ONE_CPU = (
        (COMBINED, "8"),
        *((f"/proc/irq/{80 + queue}/smp_affinity_list", "0") for queue in range(8)),
    )
    THREADED = (("/sys/class/net/eth0/threaded", "1"),)

    def test_threads_leave_the_cpu_that_is_interrupted(self) -> None:
        softirq = scheduled("fair", *self.ONE_CPU)
        threads = scheduled("fair", *self.ONE_CPU, *self.THREADED)
        assert requests(threads) > 2 * requests(softirq)
        assert softirq.cpus[0].softirq > 95
        assert sum(cpu.softirq for cpu in threads.cpus) == 0

    def test_threads_that_are_bound_to_it_do_not(self) -> None:
        softirq = scheduled("fair", *self.ONE_CPU)
        bound = (("taskset --pid napi/eth0/rx-*", "0"),)
        threads = scheduled("fair", *self.ONE_CPU, *self.THREADED, *bound)
        assert requests(threads) == pytest.approx(requests(softirq), rel=0.1)
