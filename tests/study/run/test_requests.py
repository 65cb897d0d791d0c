"""netperf TCP_RR as a scenario's test: requests, responses, latency."""

import pytest

import simnet
from simnet.report.netperf import netperf
from simnet.report.text import text
from simnet.study.run.result import Result

# of the peers: each interrupt at once, and by one CPU a port
AS_THEY_COME = {
    "peer:modprobe e1000 InterruptThrottleRate": "0",
    "peer:/proc/irq/101/smp_affinity": "1",
    "peer:/proc/irq/102/smp_affinity": "4",
}


def run(**settings: str) -> Result:
    chosen = {"nodes": "1", "test": "tcp_rr"} | AS_THEY_COME | settings
    return simnet.run("x460-out-of-box", settings=chosen, warm_up="30 ms", duration="30 ms")


@pytest.fixture(scope="module")
def plain() -> Result:
    return run()


def test_latency_is_that_of_a_transaction(plain: Result) -> None:
    for flow in plain.flows:
        assert flow.transactions_per_s is not None
        assert flow.latency_us.p50 == pytest.approx(1e6 / flow.transactions_per_s, rel=0.05)
        # a byte comes with each
        assert flow.goodput_bps == pytest.approx(8 * flow.transactions_per_s, rel=0.01)


def test_half_of_the_gap_timer_is_in_it(plain: Result) -> None:
    """The driver's 20 us pass before a lone response is announced; with rx-frames 1 they do not.

    The peers' e1000 has no such timer, and here it does not throttle. The response waits, the
    request does not.
    """
    at_once = run(**{"ethtool -C eth0 rx-frames": "1"}).flows[0].latency_us.p50
    waits = plain.flows[0].latency_us.p50
    assert at_once is not None
    assert waits is not None
    assert waits - at_once == pytest.approx(20, abs=0.6)


def test_sizes_are_those_that_were_asked_for() -> None:
    result = run(request="100 B", response="20 kB")
    flow = result.flows[0]
    assert flow.transactions_per_s is not None
    assert flow.goodput_bps == pytest.approx(8 * 20_000 * flow.transactions_per_s, rel=0.1)


def test_tables_show_transactions(plain: Result) -> None:
    shown = f"{plain.flows[0].transactions_per_s:.2f}"
    assert "transactions/s" in text(plain)
    assert "TCP REQUEST/RESPONSE TEST" in netperf(plain)
    assert f"16384  87380  1        1       0.03     {shown}" in netperf(plain)


def test_a_stream_has_none() -> None:
    result = run(test="netserver")
    assert [flow.transactions_per_s for flow in result.flows] == [None, None]


def test_ends_of_streams_answer_no_requests() -> None:
    with pytest.raises(simnet.InputError, match="ends answer no requests"):
        run(peers_simulated="ends")
