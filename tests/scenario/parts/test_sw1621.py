"""The 10 Gigabit Ethernet comparator: a Shenwei 1621 server with a T520."""

import pytest

import simnet
from simnet.study.run.result import Result

LINE_BPS = 10**10 * 1448 / 1538


def run(duration: str = "20 ms", warm_up: str = "30 ms", **settings: str) -> Result:
    return simnet.run("sw1621-t520", settings=settings, warm_up=warm_up, duration=duration)


def test_a_stream_fills_the_line_where_cpus_and_buses_are_free() -> None:
    free = {
        f"{host}cpu.costs.{step}": "100 cycles"
        for host in ("", "peer:")
        for step in ("driver_rx", "hardirq", "tcp_rx", "ip_rx", "copy_line", "ack_tx", "tcp_tx")
    } | {f"{host}nic.{way}_latency": "0 us" for host in ("", "peer:") for way in ("fetch", "dma")}
    # slow start has lost segments, and recovery from that is over
    assert run(warm_up="60 ms", **free).throughput_bps == pytest.approx(LINE_BPS, rel=0.01)


def test_receive_offload_is_what_carries_it() -> None:
    """Without, each frame goes through IP and TCP by itself: the receiver's CPU is the limit."""
    offloaded = run().throughput_bps
    assert 0.5 * LINE_BPS < offloaded <= LINE_BPS
    assert run(**{"peer:nic.gro": "off"}).throughput_bps < 0.6 * offloaded


def test_the_holdoff_is_in_every_latency_twice() -> None:
    waits = run(test="tcp_rr").flows[0].latency_us.p50
    each = ("ethtool -C eth0 rx-usecs", "ethtool -C eth0 rx-frames")
    at_once = run(test="tcp_rr", **dict.fromkeys((*each, *(f"peer:{name}" for name in each)), "0"))
    assert waits is not None
    assert at_once.flows[0].latency_us.p50 == pytest.approx(waits - 10, abs=0.4)


@pytest.mark.parametrize("scenario", ["sw1621-t520", "ipoib-sunway"])
@pytest.mark.parametrize("name", ["nic.fetch_latency", "nic.dma_latency"])
def test_what_the_adapter_waits_for_its_bus_is_in_each_way(scenario: str, name: str) -> None:
    def p50_us(latency: str) -> float:
        settings = {"test": "tcp_rr", name: latency, f"peer:{name}": latency}
        found = simnet.run(scenario, settings=settings, warm_up="5 ms", duration="20 ms")
        assert found.flows[0].latency_us.p50 is not None
        return found.flows[0].latency_us.p50

    assert p50_us("7 us") == pytest.approx(p50_us("1 us") + 12, abs=1.2)


def test_frames_behind_each_other_do_not_wait_for_the_bus_in_turn() -> None:
    slow = run(**dict.fromkeys(("nic.fetch_latency", "peer:nic.fetch_latency"), "20 us"))
    assert slow.throughput_bps == pytest.approx(run().throughput_bps, rel=0.05)


def test_taking_frames_together_changes_nothing() -> None:
    results = [
        simnet.run("sw1621-t520", warm_up="5 ms", duration="5 ms", per_frame=per_frame)
        for per_frame in (False, True)
    ]
    assert results[0].fingerprint == results[1].fingerprint
