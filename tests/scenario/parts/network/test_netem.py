"""The way between the hosts of a scenario: what TCP makes of distance, loss and a bottleneck."""

import math

import pytest

import simnet
from simnet.scenario.core.load import load
from simnet.study.run.result import Result

STREAM = "stream-100g"
MSS = 1448


def _run(settings: dict[str, str], duration: str = "20 ms", warm_up: str = "20 ms") -> Result:
    return simnet.run(STREAM, settings=settings, duration=duration, warm_up=warm_up)


def test_nothing_between_is_as_if_there_were_no_way() -> None:
    plain, base = load(STREAM), load(STREAM, settings={"netem.delay": "0 s"})
    assert base.digest() == plain.digest()
    assert not _run({}).netem


def test_a_send_buffer_in_a_round_trip_is_the_rate() -> None:
    buffers = {"peer:net.ipv4.tcp_wmem": "4096 16384 1048576", "netem.delay": "10 ms"}
    far = _run(buffers, "100 ms", "400 ms")
    # of a segment's true size, 1448 bytes and less than as much again are payload
    assert 2**19 < far.throughput_bps * 20e-3 / 8 < 2**20


def test_the_bottleneck_serialises_what_passes() -> None:
    found = _run({"netem.rate": "1 Gbit/s"})
    assert found.throughput_bps == pytest.approx(1e9 * MSS / (MSS + 66), rel=0.01)
    assert not sum(one.lost + one.dropped for one in found.netem)


def test_losses_bound_the_rate_as_mathis_says() -> None:
    # sqrt(3/2) segments a round trip and square root of the loss: also CUBIC's, on a short way
    loss, trip_s = 1e-3, 2e-3
    found = _run({"netem.loss": "0.1 %", "netem.delay": "1 ms"}, "3 s", "300 ms")
    data = max(found.netem, key=lambda one: one.frames)
    assert data.lost == pytest.approx(loss * data.frames, rel=0.5)
    law = 8 * MSS / trip_s * math.sqrt(1.5 / loss)
    assert found.throughput_bps == pytest.approx(law, rel=0.35)


@pytest.mark.nightly
def test_the_reference_of_one_event_a_frame_agrees() -> None:
    settings = {"netem.loss": "0.1 %", "netem.delay": "100 us", "netem.limit": "100"}
    found = [
        simnet.run(
            "web-25g", settings=settings, duration="5 ms", warm_up="5 ms", per_frame=per_frame
        ).netem
        for per_frame in (False, True)
    ]
    assert found[0] == found[1]
    assert sum(one.dropped + one.lost for one in found[0]) > 0


@pytest.mark.parametrize(
    ("scenario", "reason"),
    [
        ("nvme-local", "nothing here is on a network"),
        ("ipoib-sunway", "the way through a fabric is not modelled"),
        ("x460-bonding", "the way behind a bond is not modelled"),
        ("vm-virtio", "the hosts share a machine"),
        ("ess-sas", "the way between clients and servers of files is not modelled"),
    ],
)
def test_where_no_way_is_modelled_a_setting_says_so(scenario: str, reason: str) -> None:
    remarks = load(scenario, settings={"netem.delay": "1 ms"}).remarks
    assert any(f"because {reason}" in remark for remark in remarks)


def test_a_measurement_before_the_window_is_open_is_warned_of() -> None:
    found = _run({"netem.delay": "40 ms"})
    assert any("round trips to fill the way" in warning for warning in found.warnings)


def test_copies_and_frames_that_overtake_reach_tcp_and_all_is_delivered() -> None:
    settings = {
        "netem.delay": "200 us",
        "netem.jitter": "20 us",
        "netem.duplicate": "1 %",
        "netem.reorder": "1 %",
    }
    found = _run(settings)
    data = max(found.netem, key=lambda one: one.frames)
    assert data.duplicated == pytest.approx(data.frames / 100, rel=0.3)
    assert data.reordered == pytest.approx(data.frames / 100, rel=0.3)
    assert not data.lost
    (stream,) = found.tcp
    # one of a hundred leaves 200 us before its turn, and others within 40 us
    assert (stream.out_of_order_percent or 0) > 10
    # what was sent again was not missing: TCP finds that out, and goes on
    assert 2e8 < found.throughput_bps < _run({"netem.delay": "200 us"}).throughput_bps


def test_one_direction_may_have_a_way_of_its_own() -> None:
    found = _run({"netem.delay": "100 us", "netem_to_system.rate": "200 Mbit/s"})
    assert found.throughput_bps == pytest.approx(200e6 * MSS / (MSS + 66), rel=0.02)
    assert len(found.netem) == 2
    # a send buffer in a round trip, 5 ms there and 15 ms back
    buffers = {"peer:net.ipv4.tcp_wmem": "4096 16384 1048576", "netem.delay": "15 ms"}
    far = _run({**buffers, "netem_to_system.delay": "5 ms"}, "100 ms", "400 ms")
    assert 2**19 < far.throughput_bps * 20e-3 / 8 < 2**20


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ("netem.gap=5", "no frame is reordered"),
        ("netem.reorder=5 %", "no frame is late"),
        ("netem_to_system.gemodel_r=5 %", "no burst of losses begins"),
    ],
)
def test_what_nothing_reads_is_said(setting: str, reason: str) -> None:
    name, _, value = setting.partition("=")
    assert any(reason in remark for remark in load(STREAM, settings={name: value}).remarks)
