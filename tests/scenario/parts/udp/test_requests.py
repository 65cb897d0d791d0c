"""netperf's UDP_RR and TCP_RR, and readers that poll the device (net.core.busy_read)."""

from functools import cache

import pytest

import simnet
from simnet.scenario.core.load import load
from simnet.scenario.system.build import build
from simnet.study.run.result import Result

MS = 10**9


# they begin within 10 ms
@cache
def ran(*tunings: str) -> Result:
    return simnet.run("netperf-rr", tunings=tunings, warm_up="24 ms", duration="3 ms")


def rate(result: Result) -> float:
    found = result.flows[0].transactions_per_s
    assert found is not None
    return found


@pytest.mark.parametrize(
    "tunings", [("as-datagrams",), ("as-datagrams", "fixed-100us", "poll-50us")]
)
def test_each_datagram_is_sent_read_and_answered(tunings: tuple[str, ...]) -> None:
    system = build(load("netperf-rr", tunings=tunings), seed=1)
    system.run(11 * MS)
    for _ in range(3):
        system.run(MS)
        here, there = system.snapshot().observed["datagrams"]
        assert here.out_datagrams > 20
        for sender, reader in ((here, there), (there, here)):
            assert 0 <= sender.out_datagrams - reader.in_datagrams <= 1
            assert sender.sndbuf_errors == reader.rcvbuf_errors == reader.mem_errors == 0
        # one is outstanding
        assert 0 <= here.out_datagrams - here.in_datagrams <= 1
    system.close()


def test_datagrams_cost_less_than_segments() -> None:
    assert rate(ran("as-datagrams")) > 1.02 * rate(ran())
    work = {one.mechanism: one.percent for one in ran("as-datagrams").work}
    assert work["UDP send"] > 0
    assert work["UDP receive"] > 0
    assert work["TCP receive"] == 0


@pytest.mark.parametrize("kind", [(), ("as-datagrams",)])
def test_who_polls_needs_no_interrupt_and_no_wake_up(kind: tuple[str, ...]) -> None:
    waits, polls = ran(*kind), ran(*kind, "fixed-100us", "poll-50us")
    assert rate(polls) > 1.3 * rate(waits)
    assert polls.ports[0].interrupts_per_s <= 10_000
    assert polls.cpus[2].idle == 0
    assert polls.cpus[2].system > 90
    assert {one.mechanism: one.percent for one in polls.work}["wake-up and context switch"] == 0


@pytest.mark.parametrize("kind", [(), ("as-datagrams",)])
def test_interrupts_that_are_far_apart_hold_up_who_does_not_poll(kind: tuple[str, ...]) -> None:
    assert rate(ran(*kind, "fixed-100us")) == pytest.approx(10_000, rel=0.02)
    # a loop that is over before the answer comes is of no use
    short = {"net.core.busy_read": "2", "peer:net.core.busy_read": "2"}
    settled = simnet.run(
        "netperf-rr",
        tunings=(*kind, "fixed-100us"),
        settings=short,
        warm_up="24 ms",
        duration="3 ms",
    )
    assert rate(settled) == pytest.approx(10_000, rel=0.02)
    assert 2 < settled.cpus[2].system < 50


def test_one_end_may_poll_alone() -> None:
    alone = simnet.run(
        "netperf-rr", settings={"net.core.busy_read": "50"}, warm_up="24 ms", duration="3 ms"
    )
    assert rate(ran()) < rate(alone) < rate(ran("poll-50us"))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"request": "1473 B"}, "a packet has room for 1472 B"),
        ({"think": "1 us"}, "udp_rr has none"),
        ({"system.kernel": "linux-3.8-sunway"}, "Linux 4.10 on"),
        ({"peers_simulated": "ends"}, "ends answer no requests"),
    ],
)
def test_what_requests_in_datagrams_have_not_is_refused(
    settings: dict[str, str], message: str
) -> None:
    with pytest.raises(simnet.InputError, match=message):
        load("netperf-rr", settings=settings, tunings=("as-datagrams",))


def test_without_its_costs_there_are_no_requests_in_datagrams() -> None:
    with pytest.raises(simnet.InputError, match=r"no table \[datagrams\]"):
        load("tcp-rr-one-queue", settings={"test": "udp_rr"})


@pytest.mark.parametrize(
    ("scenario", "name", "why"),
    [
        ("netperf-rr", "net.core.busy_poll", "polls in poll, select or epoll_wait"),
        ("router-connectx5", "net.core.busy_read", "no process of it reads a socket"),
        ("vm-outside", "net.core.busy_poll", "polls in poll, select or epoll_wait"),
    ],
)
def test_polling_that_nobody_does_is_said(scenario: str, name: str, why: str) -> None:
    remarks = load(scenario, settings={name: "50"}).remarks
    assert any(name in one and why in one for one in remarks)


def test_epoll_polls_by_the_sysctl_unless_the_program_says_otherwise() -> None:
    few = {"memcached.qps": "20000", "memcached.threads": "2", "memcached.connections": "2"}

    def polls(settings: dict[str, str]) -> float:
        result = simnet.run(
            "memcached-100g", settings=few | settings, warm_up="1 ms", duration="2 ms"
        )
        return sum(cpu.idle for cpu in result.cpus)

    assert polls({"net.core.busy_poll": "200"}) < polls({}) - 20


def test_who_polls_is_not_full() -> None:
    settings = {"as-datagrams": (), "polls": ("fixed-100us", "poll-50us")}
    for tunings in settings.values():
        found = simnet.explain("netperf-rr", tunings=tunings, warm_up="24 ms", duration="3 ms")
        assert found.limits[0].sentence.startswith("nothing is full: 1 outstanding at a time")
