"""Requests in datagrams as an administrator sees them: sockets, workers, batches."""

from functools import cache

import pytest

import simnet
from simnet.scenario.core.load import load
from simnet.scenario.system.build import build
from simnet.study.run.result import Result
from tests.scenario.system.per_frame import agree

MS = 10**9


@cache
def ran(*settings: tuple[str, str], tunings: tuple[str, ...] = ()) -> Result:
    return simnet.run("dns-udp", settings=dict(settings), tunings=tunings, duration="20 ms")


def system_us(result: Result) -> float:
    """Time of CPUs in the kernel for a request, us."""
    busy = sum(cpu.system + cpu.softirq for cpu in result.cpus)
    return float(busy / 100 * result.simulated_s * 1e6 / result.udp.answers)


def p99_us(result: Result) -> float:
    """Of all requests."""
    assert result.messages is not None
    assert result.messages.latency_us.p99 is not None
    return result.messages.latency_us.p99


def test_workers_that_keep_up_answer_all() -> None:
    result = ran(("udp.rate", "350"))
    assert result.drops == ()
    assert result.udp.answers == pytest.approx(result.udp.sent, rel=0.01)
    assert result.messages is not None
    assert result.messages.delivered == result.udp.answers
    assert {flow.latency_us.kind for flow in result.flows} == {"round trip"}
    # 2 us of the wire and the switch, 3 us of service, and what the host takes
    assert min(flow.latency_us.p50 or 0.0 for flow in result.flows) > 5


def test_a_batch_holds_up_more_load_by_fewer_calls() -> None:
    one = ran()
    assert one.udp.rcvbuf_errors > 0
    assert ran(tunings=("batches-of-16",)).udp.rcvbuf_errors < one.udp.rcvbuf_errors / 10
    less = ("udp.rate", "450")
    assert system_us(ran(less, tunings=("batches-of-16",))) < system_us(ran(less))


def test_a_socket_of_the_own_cpu_moves_no_lines() -> None:
    less = ("udp.rate", "350")
    lines = {
        name: {row.mechanism: row.percent for row in ran(less, tunings=name).work}
        for name in ((), ("sockets-by-hash",), ("sockets-by-cpu",))
    }
    for label in ("socket lines from another CPU", "sk_buff lines from another CPU"):
        assert lines[("sockets-by-cpu",)][label] < 0.02 * lines[("sockets-by-hash",)][label]
        assert lines[("sockets-by-hash",)][label] < lines[()][label]
    by_cpu, by_hash = (
        ran(less, tunings=("sockets-by-cpu",)),
        ran(less, tunings=("sockets-by-hash",)),
    )
    assert system_us(by_cpu) < system_us(by_hash)


def test_who_shares_a_queue_waits_less_than_who_has_his_own() -> None:
    """Eight workers of one queue (M/D/8) wait less than eight with a queue each (M/D/1)."""
    apart = (("udp.rate", "550"), ("udp.first_cpu", "8"), ("udp.service", "5 us"))
    shared, own = ran(*apart), ran(*apart, ("setsockopt SO_REUSEPORT", "on"))
    assert p99_us(shared) < p99_us(own)


def test_a_program_chooses_the_socket_of_the_cpu_that_receives() -> None:
    for tuning in ("sockets-by-hash", "sockets-by-cpu"):
        effective = load("dns-udp", tunings=(tuning,), settings={"udp.flows": "8"})
        system = build(effective, seed=1)
        system.run(5 * MS)
        lines, sockets = system.nics[0].lines, system.parts["udp"].sockets
        came = [line.total > 0 for line in lines]
        assert (came == [socket.received > 0 for socket in sockets]) == (tuning == "sockets-by-cpu")
        system.close()


@pytest.mark.parametrize("tunings", [(), ("sockets-by-cpu", "batches-of-16")])
def test_a_reference_with_one_event_a_frame_agrees(tunings: tuple[str, ...]) -> None:
    effective = load("dns-udp", tunings=tunings)
    agree(effective, 5, MS)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"udp.answer": "0 B"}, "udp_serve sends answers"),
        ({"udp.sendmsg": "0 cycles"}, "udp_serve sends answers"),
        ({"udp.answer": "1473 B"}, "a packet has room for 1472 B"),
        ({"setsockopt SO_ATTACH_REUSEPORT_CBPF": "cpu"}, "sockets that share a port"),
        ({"udp.first_cpu": "30"}, "workers run on CPUs up to 37"),
    ],
)
def test_what_does_not_fit_is_refused(settings: dict[str, str], message: str) -> None:
    with pytest.raises(simnet.InputError, match=message):
        simnet.run("dns-udp", settings=settings)
