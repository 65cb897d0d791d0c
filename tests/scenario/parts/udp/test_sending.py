"""netperf's UDP_STREAM: what limits a sender, and where datagrams are lost on the way."""

from functools import cache

import pytest

import simnet
from simnet.scenario.core.load import load
from simnet.scenario.system.build import build
from simnet.study.run.result import Result

MS = 10**9
FAST = (("cpu.clock", "6 GHz"), ("peer:cpu.clock", "6 GHz"))
SMALL = (("message", "18 B"),)
RPS = "peer:/sys/class/net/eth0/queues/rx-*/rps_cpus"
# what is full, and the settings that make it so
PLACES = {
    "qdisc (SndbufErrors of the sender)": (*FAST, ("net.core.wmem_default", "200000000")),
    "socket (RcvbufErrors)": (*SMALL, ("peer:net.core.rmem_default", "2304")),
    "backlog (softnet_stat, second column)": (
        *SMALL,
        (RPS, "8"),
        ("peer:net.core.netdev_max_backlog", "5"),
    ),
    "ring (port.rx_dropped)": (
        *SMALL,
        ("peer:ethtool -G eth0 rx", "64"),
        ("peer:cpu.clock", "1 GHz"),
    ),
}


@cache
def ran(*settings: tuple[str, str]) -> Result:
    base = {"test": "udp_send", "message": "1472 B"}
    return simnet.run(
        "netperf-rr", settings=base | dict(settings), warm_up="12 ms", duration="4 ms"
    )


def test_a_sender_that_is_faster_than_the_link_waits_for_memory_and_loses_nothing() -> None:
    found = ran(*FAST, ("peer:net.core.rmem_default", "26214400"))
    # 1538 bytes on the wire for 1472 of payload
    assert found.throughput_bps == pytest.approx(10**10 * 1472 / 1538, rel=0.01)
    assert found.udp.sentence == "no datagram is lost"
    assert found.cpus[2].idle > 10
    assert found.datagrams[0].sndbuf_errors == 0


@pytest.mark.parametrize("place", PLACES)
def test_each_place_that_is_full_is_named(place: str) -> None:
    settings = {"test": "udp_send", "message": "1472 B"} | dict(PLACES[place])
    found = simnet.explain("netperf-rr", settings=settings, warm_up="12 ms", duration="2 ms")
    sentence = found.limits[0].sentence
    assert place in sentence.partition(";")[0].partition("lost: ")[2].partition("), ")[0] + ")"
    assert "; first " in sentence


@pytest.mark.parametrize("place", ["", *PLACES])
def test_datagrams_are_read_lost_under_a_name_or_on_their_way(place: str) -> None:
    settings = {"test": "udp_send", "message": "1472 B"} | dict(PLACES.get(place, ()))
    system = build(load("netperf-rr", settings=settings), seed=1)
    sent = gone = 0
    for _ in range(2):
        system.run(7 * MS)
        counts = system.snapshot().observed["udp"]
        sent = counts.sent
        gone = counts.qdisc + counts.ring + counts.backlog
        gone += counts.rcvbuf_errors + counts.mem_errors
        under_way = sent - counts.received - gone - counts.waiting
        # rings of both ends, the queue before the first, and what is being read
        assert 0 <= under_way <= 511 + 1000 + 511 + 1
        sender, reader = system.snapshot().observed["datagrams"]
        assert sender.out_datagrams + sender.sndbuf_errors == sent
        assert reader.in_datagrams == counts.received
    assert sent > 1000
    assert (gone > 0) == bool(place)
    system.close()


def test_a_smaller_send_buffer_holds_less() -> None:
    little = ran(*FAST, ("net.core.wmem_default", "2304"))
    # one datagram at a time
    assert little.throughput_bps < 0.7 * ran(*FAST).throughput_bps


def test_a_datagram_that_does_not_fit_is_refused() -> None:
    with pytest.raises(simnet.InputError, match="a packet has room for 1472 B"):
        load("netperf-rr", settings={"test": "udp_send", "message": "1473 B"})
    with pytest.raises(simnet.InputError, match="ends take no datagrams"):
        load("netperf-rr", settings={"test": "udp_send", "peers_simulated": "ends"})
