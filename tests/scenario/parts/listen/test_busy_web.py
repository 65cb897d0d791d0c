"""Short connections as an administrator sees them: queues, counters, who tries again."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import simnet
from simnet.scenario.core.load import load
from simnet.scenario.scenarios import find_scenario
from simnet.scenario.system.build import build
from simnet.study.run.result import Result
from tests.house.examples import examples
from tests.scenario.system.per_frame import agree

MS = 10**9
# one worker that is far slower than anything else, and visitors one by one
SLOW = (
    ("listen.burst", "1"),
    ("listen.arrivals", "poisson"),
    ("listen.workers", "1"),
    ("listen.service", "5 ms"),
)


@cache
def ran(*chosen: tuple[str, str], tuning: str = "", duration: str = "1 s") -> Result:
    return simnet.run(
        "busy-web",
        settings=dict(chosen),
        tunings=(tuning,) if tuning else (),
        warm_up="500 ms",
        duration=duration,
    )


def p99_us(result: Result) -> float:
    assert result.messages is not None
    assert result.messages.latency_us.p99 is not None
    return result.messages.latency_us.p99


def test_a_crowd_that_finds_no_room_is_200_ms_late() -> None:
    result = ran()
    found = result.listen
    assert found.longest == 101
    assert found.listen_overflows == found.listen_drops > 0
    assert found.requests_again > 0
    # the SYN-ACK was sent, so a request is sent again: TCP_RTO_MIN, and a jiffy
    assert 200_000 < p99_us(result) < 300_000
    assert {flow.latency_us.kind for flow in result.flows} == {"round trip"}


def test_a_larger_backlog_holds_a_crowd_and_somaxconn_alone_does_not() -> None:
    larger = ran(tuning="backlog-4096")
    assert larger.listen.listen_overflows == larger.listen.syns_again == 0
    assert p99_us(larger) < 100_000
    assert ran(tuning="somaxconn-65535").listen == ran().listen
    cut = ran(("listen backlog", "4096"), ("net.core.somaxconn", "100"))
    assert cut.listen == ran().listen


def test_who_is_reset_does_not_come_again() -> None:
    found = ran(tuning="abort-on-overflow").listen
    assert found.reset == found.embryonic_rsts > 0
    assert ran().listen.reset == 0


def test_without_cookies_a_quarter_is_kept_and_syns_are_dropped() -> None:
    none = (("net.ipv4.tcp_syncookies", "0"),)
    full = ran(*none).listen
    assert full.req_q_full_drop > 0
    assert full.syncookies_sent == full.req_q_full_do_cookies == 0
    few = ran(*none, ("net.ipv4.tcp_max_syn_backlog", "64"), tuning="backlog-4096").listen
    assert few.listen_drops > few.listen_overflows == few.req_q_full_drop == 0
    always = ran(("net.ipv4.tcp_syncookies", "2"), tuning="backlog-4096").listen
    assert always.syncookies_sent == always.begun == always.syncookies_recv
    assert always.half_open == 0


def test_what_is_more_than_workers_can_do_is_dropped() -> None:
    """The accept queue stays full: a worker does what it can, and the rest comes again."""
    result = ran(*SLOW, ("listen.rate", "400"), duration="4 s")
    found = result.listen
    assert found.answered == pytest.approx(4 / 0.00502, rel=0.25)
    assert found.waiting >= 90
    assert found.syns_again > 0.5 * (found.begun - found.answered)


def test_less_than_workers_can_do_waits_as_a_queue_does() -> None:
    """M/D/1: the mean wait is half of rho / (1 - rho) services; its p99 by Crommelin."""
    result = ran(*SLOW, ("listen.rate", "100"), ("listen.backlog", "1000"), duration="20 s")
    assert result.listen.listen_drops == 0
    assert result.messages is not None
    median, late = result.messages.latency_us.p50, result.messages.latency_us.p99
    assert median is not None
    assert late is not None
    # rho = 0.5: 5 ms and, of half of them, a wait; 1 % wait four services and more
    assert 5_000 < median < 7_500
    assert 3 * 5_000 < late < 6 * 5_000


def test_a_listener_each_has_a_queue_each() -> None:
    result = ran(tuning="listener-each", duration="2 s")
    effective = load("busy-web", tunings=("listener-each",))
    system = build(effective, seed=1)
    system.run(300 * MS)
    built = system.parts["listen"]
    assert len(built.listeners) == 4
    assert all(one.accepted > 0 for one in built.listeners)
    assert sum(one.accepted for one in built.listeners) >= sum(w.answered for w in built.workers)
    system.close()
    # a queue of 101 each holds more than one of 101 for all
    assert 0 < result.listen.listen_overflows < ran(duration="2 s").listen.listen_overflows


@pytest.mark.parametrize(("kernel", "second_s"), [("6.1", 3), ("6.6", 2)])
def test_a_syn_is_sent_again_as_its_kernel_does(kernel: str, second_s: int, tmp_path: Path) -> None:
    """After 1 s and 3 s before Linux 6.5; since then after 1 s and 2 s."""
    text = find_scenario("busy-web").read_text("utf-8")
    text = text.replace('kernel = "linux-6.6"', f'kernel = "linux-{kernel}"')
    file = tmp_path / "busy.toml"
    file.write_text(text, "utf-8")
    slow = {"listen.service": "10 s", "listen.rate": "20", "listen backlog": "0"}
    system = build(load(file, settings=dict(SLOW) | slow), seed=1)
    crowd = system.parts["listen"].crowd
    system.run(400 * MS)
    crowd.burst = 0
    seen = []
    for _ in range(45):
        system.run(100 * MS)
        seen.append(crowd.syns_again)
    dropped = crowd.begun - 2
    # all came in half a second, and jiffies far away are up to 64 ms late
    assert dropped > 3
    assert seen[4] == 0
    assert seen[13] == dropped
    assert seen[10 * second_s - 7] == dropped
    assert seen[10 * second_s + 3] == 2 * dropped
    system.close()


@pytest.mark.parametrize("tuning", ["", "backlog-4096", "listener-each"])
def test_a_reference_with_one_event_a_frame_agrees(tuning: str) -> None:
    effective = load("busy-web", tunings=(tuning,) if tuning else ())
    agree(effective, 10, 20 * MS)


chosen_loads = st.fixed_dictionaries(
    {
        "listen.rate": st.sampled_from([200, 3000, 20_000]),
        "listen.burst": st.sampled_from([1, 30, 300]),
        "listen.arrivals": st.sampled_from(["periodic", "poisson"]),
        "listen.workers": st.integers(1, 6),
        "listen.placement": st.sampled_from(["pinned", "scheduler"]),
        "listen.service": st.sampled_from(["0 us", "50 us", "2 ms"]),
        "listen.answer": st.sampled_from(["1 B", "1448 B", "14480 B"]),
        "listen backlog": st.sampled_from([0, 1, 16, 500]),
        "listen SO_REUSEPORT": st.sampled_from(["on", "off"]),
        "net.ipv4.tcp_syncookies": st.integers(0, 2),
        "net.ipv4.tcp_abort_on_overflow": st.sampled_from(["on", "off"]),
    },
    optional={
        "net.ipv4.tcp_max_syn_backlog": st.sampled_from([4, 64]),
        "net.ipv4.tcp_synack_retries": st.sampled_from([0, 1]),
        "ethtool -G eth0 rx": st.just("64"),
        "ethtool -L eth0 combined": st.just("1"),
        "netem.delay": st.just("7 ms"),
        "system.kernel": st.sampled_from(["linux-5.4", "linux-6.18"]),
    },
)


@settings(max_examples=examples(40))
@given(chosen_loads)
def test_each_connection_is_answered_reset_given_up_or_under_way(chosen: dict[str, Any]) -> None:
    given_ = {name: str(value) for name, value in chosen.items()}
    if given_.get("system.kernel") == "linux-5.4":
        given_ |= {"ethtool -C eth0 adaptive-rx": "off", "ethtool -C eth0 adaptive-tx": "off"}
    system = build(load("busy-web", settings=given_), seed=1)
    built = system.parts["listen"]
    for _ in range(3):
        system.run(20 * MS)
        counts = built.counts()
        ended = counts.answered + counts.reset + counts.given_up
        assert ended <= counts.begun == counts.syns
        assert counts.passive_opens == sum(one.accepted + one.waiting for one in built.listeners)
        assert counts.listen_overflows <= counts.listen_drops
    built.crowd.burst, built.crowd.gap_ps = 0, 10**15
    # `tcp_retries2` is over by then
    system.run(2_000_000 * MS)
    counts = built.counts()
    assert counts.begun == counts.answered + counts.reset + counts.given_up
    assert counts.waiting == counts.half_open == 0
    assert counts.answered == sum(one.connections for one in built.crowd.served)
    assert counts.answered <= sum(one.answered for one in built.workers) <= counts.passive_opens
    for one in built.crowd.served:
        assert one.received_bytes == one.connections * built.crowd.setup.answer_bytes
    system.close()


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"netem.loss": "1 %"}, "only its delay is modelled"),
        ({"listen.placement": "pinned", "listen.first_cpu": "30"}, "workers run on CPUs up to 33"),
        ({"listen.answer": "64 KiB"}, "outside the legal range"),
    ],
)
def test_what_does_not_fit_is_refused(settings_: dict[str, str], message: str) -> None:
    with pytest.raises(simnet.InputError, match=message):
        simnet.run("busy-web", settings=settings_)
