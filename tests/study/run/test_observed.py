"""What TCP and the order of packets looked like, in a result: a researcher's variables."""

import pytest

import simnet
from simnet.study.run.result import Result

TIME = "20 ms"


@pytest.mark.parametrize("ends", ["ends", "machines"])
@pytest.mark.parametrize("test", ["netserver", "netperf"])
def test_segments_and_acks_are_what_the_port_carries(test: str, ends: str) -> None:
    settings = {"nodes": "1", "test": test, "peers_simulated": ends}
    result = simnet.run("x460-out-of-box", settings=settings, warm_up=TIME, duration=TIME)
    carried = {port.name: port for port in result.ports if port.rx_bps}
    assert set(result.to_frame("tcp").index) == set(carried)
    for stream in result.tcp:
        port = carried[stream.name]
        received, sent = (
            rate * result.simulated_s for rate in (port.rx_packets_per_s, port.tx_packets_per_s)
        )
        segments, acks = (received, sent) if test == "netserver" else (sent, received)
        assert stream.segments == pytest.approx(segments, abs=100)
        assert stream.acks == pytest.approx(acks, abs=100)
        assert stream.acks_per_segment == stream.acks / stream.segments
        assert (stream.retransmissions, stream.timeouts, stream.stalls) == (0, 0, 0)
        assert stream.out_of_order_percent == 0


def _over_fabric(window: int) -> Result:
    name = "ib_ipoib reorder_window"
    settings = {"test": "netserver", name: str(window), f"peer:{name}": str(window)}
    return simnet.run("ipoib-sunway", settings=settings, warm_up="100 ms", duration="200 ms")


def test_packets_are_counted_without_a_reorder_window_too() -> None:
    without, within = (_over_fabric(window).reordering for window in (0, 32))
    assert [port.port for port in without] == [port.port for port in within] == ["ib0", "peer0.ib0"]
    assert without[0].out_of_order_before == without[0].out_of_order_after > 0
    assert (without[0].held_mean, without[0].held_us) == (0, None)
    assert within[0].out_of_order_before > within[0].out_of_order_after == 0
    for port in (without[0], within[0]):
        assert port.before_percent == 100 * port.out_of_order_before / port.packets


def test_what_waits_in_a_window_is_its_rate_times_its_time() -> None:
    result = _over_fabric(32)
    port = result.reordering[0]
    assert port.held_us is not None
    assert port.held_us > 0
    came = port.held_mean * result.simulated_s * 1e6 / port.held_us
    assert came == pytest.approx(round(came))
    assert 0 < came < port.packets


def test_tcp_sees_what_no_window_put_in_order() -> None:
    assert _over_fabric(0).tcp[0].out_of_order_percent > 0
    assert _over_fabric(32).tcp[0].out_of_order_percent == 0
