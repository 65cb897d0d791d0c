"""A small key-value server, whole: what its clients get, and how its workers wait."""

from functools import cache
from typing import Any

import pytest

from simnet import Result, run
from simnet.errors import InputError
from simnet.report.text import text
from simnet.scenario.core.load import load
from simnet.study.run.loss import Messages

SMALL = {
    "memcached.hosts": "2",
    "memcached.threads": "4",
    "memcached.connections": "5",
    "memcached.client_wake": "0 us",
    "memcached.other_packets": "0",
}


@cache
def _simulated(qps: int, options: tuple[tuple[str, str], ...]) -> Result:
    settings = {**SMALL, "memcached.qps": str(qps), **dict(options)}
    return run("memcached-100g", settings=settings, warm_up="3 ms", duration="5 ms")


def simulated(qps: int, **options: Any) -> Result:
    """The server with 40 connections at so many requests a second."""
    given = {f"memcached.{name}": str(value) for name, value in options.items()}
    return _simulated(qps, tuple(given.items()))


def messages_of(result: Result) -> Messages:
    """What became of the requests."""
    assert result.messages is not None
    return result.messages


def p50(result: Result) -> float:
    """Median latency in us."""
    median = messages_of(result).latency_us.p50
    assert median is not None
    return median


def test_requests_are_answered_at_the_rate_at_which_they_are_made() -> None:
    messages = messages_of(simulated(100_000))
    assert messages.offered == pytest.approx(500, abs=90)
    assert abs(messages.offered - messages.delivered) <= 40
    assert messages.retransmitted == 0


def test_each_request_and_each_acknowledgement_is_a_packet_and_each_response_one() -> None:
    result = simulated(100_000)
    (port,) = result.ports
    answered = messages_of(result).delivered_per_s
    assert port.rx_packets_per_s / answered == pytest.approx(2, abs=0.1)
    assert port.tx_packets_per_s / answered == pytest.approx(1, abs=0.05)


def test_a_closed_loop_always_has_every_connection_waiting() -> None:
    """Little's law: connections = rate * latency; the thread issues the next one at once."""
    result = simulated(0)
    messages = messages_of(result)
    mean_us = sum(upper * count for upper, count in messages.histogram) / messages.delivered
    assert messages.delivered_per_s * mean_us / 1e6 == pytest.approx(40, rel=0.05)


def test_only_the_workers_cpus_work() -> None:
    busy = {cpu.id for cpu in simulated(100_000).cpus if cpu.busy}
    assert busy <= set(range(32, 40))
    assert len(busy) > 4


def test_columns_of_sar_are_shares_of_their_sum() -> None:
    use = simulated(100_000).key_value
    assert use.user + use.system + use.softirq + use.idle == pytest.approx(100)
    assert use.interrupts_per_s > 0
    assert use.polls_per_s == pytest.approx(use.interrupts_per_s, rel=0.02)


def test_a_worker_that_prefers_busy_polling_polls_before_it_sleeps() -> None:
    sleeper = simulated(100_000).key_value
    once = simulated(100_000, prefer_busy_poll="on", busy_poll_budget=64).key_value
    long = simulated(100_000, prefer_busy_poll="on", busy_poll_budget=64, busy_poll_usecs=1000)
    assert sleeper.polls_per_s < once.polls_per_s < long.key_value.polls_per_s
    assert long.key_value.sleeps_per_s < once.sleeps_per_s
    assert long.key_value.idle < 5 < once.idle
    assert p50(long) < p50(simulated(100_000))


def test_a_later_wake_up_of_the_clients_is_latency_and_nothing_else() -> None:
    prompt, late = simulated(100_000), simulated(100_000, client_wake="200 us")
    assert p50(late) > p50(prompt) + 100
    assert late.key_value.user == pytest.approx(prompt.key_value.user, rel=0.1)


def test_the_printed_result_has_the_workers_cpus_and_their_polls() -> None:
    printed = text(simulated(100_000))
    assert "workers' CPUs" in printed
    assert "pkt/poll" in printed


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"memcached.first_cpu": "60"}, "worker threads run on CPUs up to 67, the system has 0 to"),
        ({"memcached.arrivals": "fb_la"}, "expected one of fb_ia, exponential, fixed"),
    ],
)
def test_what_cannot_be_is_refused(settings: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        load("memcached-100g", settings=settings)


def test_polls_of_other_devices_count_but_not_their_interrupts() -> None:
    alone, beside = simulated(100_000), simulated(100_000, other_packets=100_000, other_queues=2)
    assert beside.key_value.polls_per_s - alone.key_value.polls_per_s == pytest.approx(1e5, rel=0.2)
    assert beside.key_value.interrupts_per_s == alone.key_value.interrupts_per_s
    assert {0, 1} <= {cpu.id for cpu in beside.cpus if cpu.busy}


def test_softirqs_left_to_ksoftirqd_are_executed_at_the_end_of_a_system_call() -> None:
    """At full load the queue runs dry between two batches, and interrupts.

    It would not if the rest had to wait for the thread, which waits for the worker's slice.
    """
    settings = {
        "memcached.hosts": "1",
        "memcached.threads": "20",
        "memcached.connections": "28",
        "memcached.workers": "1",
        "memcached.qps": "0",
        "memcached.other_packets": "0",
        "ethtool -L eth0 rx": "1",
        "ethtool -L eth0 tx": "1",
    }
    result = run("memcached-100g", settings=settings, warm_up="10 ms", duration="5 ms")
    assert result.key_value.interrupts_per_s > 5000
    assert result.key_value.packets_per_poll < 40
