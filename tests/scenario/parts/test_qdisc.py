"""Queueing disciplines and byte queue limits, as a user sets them."""

from functools import cache

import pytest

import simnet

BQL = "CONFIG_BQL"
QDISC = "net.core.default_qdisc"
LIMITS = "/sys/class/net/eth0/queues/tx-0/byte_queue_limits"
CODEL = "tc qdisc fq_codel"


@cache
def short_flows_us(**settings: str) -> float:
    """Median latency of 16 short flows beside a stream, by one transmit queue of 5 Gbit/s."""
    given = {f"peer:{name}": value for name, value in settings.items()}
    result = simnet.run(
        "stream-100g",
        tunings=("tso-gro", "16-short-flows"),
        settings={"peer:nic.link_rate": "5 Gbit/s", **given},
        warm_up="30 ms",
        duration="10 ms",
    )
    return float(result.to_frame("flows")["latency_us_p50"].median())


class TestShortFlowsBesideAStream:
    def test_a_turn_of_their_own_in_a_short_ring_is_what_they_need(self) -> None:
        fifo, bql = short_flows_us(), short_flows_us(**{BQL: "on"})
        turns = short_flows_us(**{QDISC: "fq_codel"})
        both = short_flows_us(**{BQL: "on", QDISC: "fq_codel"})
        assert both < fifo / 2
        # alone, neither: the ring holds all, or the fifo does
        assert bql == pytest.approx(fifo, rel=0.2)
        assert turns == pytest.approx(fifo, rel=0.2)

    def test_a_limit_that_may_not_fall_makes_the_ring_long_again(self) -> None:
        both = {BQL: "on", QDISC: "fq_codel"}
        long = short_flows_us(**both, **{f"{LIMITS}/limit_min": "10000000"})
        assert long > 2 * short_flows_us(**both)

    def test_pfifo_fast_without_limits_is_what_there_is_without_a_word(self) -> None:
        runs = [
            simnet.run("stream-100g", settings=settings, warm_up="5 ms", duration="5 ms")
            for settings in ({}, {QDISC: "pfifo_fast", f"{CODEL} target": "1"})
        ]
        assert runs[0].throughput_bps == runs[1].throughput_bps
        assert runs[0].cpus == runs[1].cpus


def test_with_fq_a_stream_is_no_faster_than_its_pacing_rate() -> None:
    def gbps(ratio: str) -> float:
        ratios = {f"peer:net.ipv4.tcp_pacing_{phase}_ratio": ratio for phase in ("ss", "ca")}
        result = simnet.run(
            "stream-100g",
            tunings=("tso-gro",),
            settings={f"peer:{QDISC}": "fq", **ratios},
            warm_up="20 ms",
            duration="10 ms",
        )
        return result.throughput_bps / 1e9

    usual, fifth, tenth = gbps("100"), gbps("20"), gbps("10")
    assert usual > 1.5 * fifth > 1.5 * 1.5 * tenth


@pytest.mark.parametrize(
    ("scenario", "name", "value", "message"),
    [
        ("x460-out-of-box", BQL, "on", "not in Linux 2.6.16: it came with Linux 3.3"),
        ("relay-tuned", QDISC, "fq_codel", "not in Linux 2.6.32: it came with Linux 3.12"),
        ("vm-virtio", BQL, "on",
         "with the driver virtio_net it is not modelled; it is with ena, i40e, ice, igb, igc,"),
        ("stream-100g", QDISC, "sfq", "expected one of pfifo_fast, fq_codel, fq, got 'sfq'"),
        ("stream-100g", f"{LIMITS}/limit_max", "0",
         "0 B is outside the legal range 1 B to"),
    ],
)  # fmt: skip
def test_what_is_refused(scenario: str, name: str, value: str, message: str) -> None:
    with pytest.raises(simnet.InputError, match=message):
        simnet.run(scenario, settings={name: value})
