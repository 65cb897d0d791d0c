"""BBR between the hosts of a scenario: what random losses, buffers and pacing make of it."""

import math
from functools import cache

import pytest

import simnet
from simnet.errors import InputError
from simnet.net.tcp.congestion.bbr import DRAIN, PROBE_BW, PROBE_RTT, STARTUP
from simnet.scenario.core.load import load
from simnet.scenario.system.build import build
from simnet.study.run.result import Result

SCENARIO = "wan-transfer"
CONTROL = "net.ipv4.tcp_congestion_control"
MSS = 1448
RATE = 100e6
TRIP_S = 20e-3
WAY = {"netem.rate": "100 Mbit/s", "netem.delay": "10 ms"}
# what the headers leave of the rate
GOODPUT = RATE * MSS / (MSS + 66)


def _run(control: str, settings: dict[str, str], duration: str = "2 s") -> Result:
    return _ran(tuple((WAY | {CONTROL: control} | settings).items()), duration)


@cache  # two tests look at the same loss
def _ran(settings: tuple[tuple[str, str], ...], duration: str) -> Result:
    return simnet.run(
        SCENARIO,
        tunings=["both-buffers"],
        settings=dict(settings),
        duration=duration,
        warm_up="2 s",
    )


def test_random_loss_leaves_bbr_its_rate_where_cubic_has_that_of_mathis() -> None:
    lossy = {"netem.loss": "1 %"}
    bbr, cubic = (_run(name, lossy).throughput_bps for name in ("bbr", "cubic"))
    # figure 8 of "BBR: Congestion-Based Congestion Control": what is lost is all that is missing
    assert bbr == pytest.approx(0.99 * GOODPUT, rel=0.04)
    law = 8 * MSS / TRIP_S * math.sqrt(1.5 / 0.01)
    assert cubic == pytest.approx(law, rel=0.4)


@pytest.mark.parametrize("qdisc", ["fq", "fq_codel"])
def test_fq_or_tcp_s_own_timer_paces_it_and_nothing_overflows(qdisc: str) -> None:
    # a queue of a third of what the way holds: CUBIC's bursts do not fit
    short = {"netem.limit": "240", "net.core.default_qdisc": qdisc}
    found = _run("bbr", short)
    assert found.throughput_bps == pytest.approx(GOODPUT, rel=0.03)
    (flow,) = found.tcp
    assert flow.retransmissions < 0.02 * flow.segments


def test_its_timer_costs_the_cpu_more_than_fq_does() -> None:
    near = {"netem.rate": "2 Gbit/s", "netem.delay": "1 ms"}
    by_fq, by_timer = (
        _run("bbr", near | {"net.core.default_qdisc": name}, "300 ms")
        for name in ("fq", "fq_codel")
    )
    assert by_timer.throughput_bps == pytest.approx(by_fq.throughput_bps, rel=0.03)
    assert by_timer.cpu_busy_percent > 1.03 * by_fq.cpu_busy_percent


def test_what_waits_behind_a_loss_has_to_fit_the_receive_buffer() -> None:
    # twice what the way holds is on its way, and as much waits until the loss is repaired
    lossy = {"netem.loss": "1 %"}
    small = {
        "net.ipv4.tcp_wmem": "4096 16384 600000",
        "peer:net.ipv4.tcp_rmem": "4096 131072 600000",
    }
    assert _run("bbr", lossy | small).throughput_bps < 0.8 * _run("bbr", lossy).throughput_bps


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({CONTROL: "bbr", "net.ipv4.tcp_sack": "off"}, "bbr without net.ipv4.tcp_sack"),
        ({f"peer:{CONTROL}": "bbr", "peers_simulated": "ends"}, "machines or auto"),
    ],
)
def test_what_is_not_modelled_of_it_is_refused(settings: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        load("stream-100g", settings=settings)


def test_an_older_kernel_has_none() -> None:
    with pytest.raises(InputError, match="bbr is not in Linux"):
        load("x460-out-of-box", settings={CONTROL: "bbr"})


def test_after_ten_seconds_it_empties_the_way_for_a_fifth_of_one() -> None:
    settings = WAY | {CONTROL: "bbr"}
    system = build(load(SCENARIO, tunings=["both-buffers"], settings=settings), seed=1)
    bbr = system.parts["senders"][0].sender.congestion
    modes: list[tuple[int, int]] = [(0, STARTUP)]
    for ms in range(0, 11_000, 4):
        system.env.sim.run_until(ms * 10**9)
        if bbr.mode != modes[-1][1]:
            modes.append((ms, bbr.mode))
            if bbr.mode == PROBE_RTT:
                assert bbr.cwnd == 4
    system.close()
    assert [mode for _, mode in modes] == [STARTUP, DRAIN, PROBE_BW, PROBE_RTT, PROBE_BW]
    times = [ms for ms, _ in modes]
    # doubling from 10 segments to the 170 that the way holds takes five round trips, then three
    assert times[1] < 20 * 1000 * TRIP_S
    assert times[3] == pytest.approx(10_000, abs=500)
    assert 200 <= times[4] - times[3] < 200 + 4 * 1000 * TRIP_S
