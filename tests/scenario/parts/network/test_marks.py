"""Marks on the way between the hosts of a scenario: who agrees on them, and what they save."""

import pytest

import simnet
from simnet.errors import InputError
from simnet.scenario.core.load import load
from simnet.study.run.result import Result

SCENARIO = "wan-transfer"
NEAR = {"netem.delay": "100 us", "netem.rate": "10 Gbit/s"}
CODEL = {
    "bottleneck.queue": "codel",
    "bottleneck.codel_target": "100 us",
    "bottleneck.codel_interval": "2 ms",
}
STEP = {"bottleneck.queue": "codel", "bottleneck.codel_ce_threshold": "100 us"}
ECN = {"net.ipv4.tcp_ecn": "1", "bottleneck.ecn": "on"}
CONTROL = "net.ipv4.tcp_congestion_control"


def _run(*settings: dict[str, str], warm_up: str = "60 ms") -> Result:
    together = {name: value for given in (NEAR, *settings) for name, value in given.items()}
    return simnet.run(
        SCENARIO, tunings=["both-buffers"], settings=together, duration="60 ms", warm_up=warm_up
    )


def _marks(result: Result) -> tuple[int, int, int, int]:
    """Marked and dropped on the way, and what the two ends count of it."""
    way = max(result.netem, key=lambda one: one.frames)
    (flow,) = result.tcp
    return way.marked, way.early, flow.marked, flow.delivered_ce


def test_with_marks_nothing_has_to_be_sent_again() -> None:
    marked, early, came, echoed = _marks(found := _run(CODEL, ECN))
    assert (early, found.tcp[0].retransmissions) == (0, 0)
    assert marked > 0
    assert came == marked
    # until the sender has said that it has reduced: more than were marked
    assert echoed > marked
    marked, early, *_ = _marks(plain := _run(CODEL))
    assert marked == 0
    assert plain.tcp[0].retransmissions >= early > 0


def test_each_mark_reaches_a_sender_with_dctcp_and_the_way_stays_full() -> None:
    paced = STEP | {"net.core.default_qdisc": "fq"}
    both = {CONTROL: "dctcp", f"peer:{CONTROL}": "dctcp"}
    found = _run(paced, both, warm_up="300 ms")
    marked, early, came, echoed = _marks(found)
    assert marked > 50
    assert early == 0
    assert came == pytest.approx(marked, abs=20)
    # ACKs are under way at both ends of the measurement
    assert echoed == pytest.approx(marked, rel=0.2)
    # K is more than a seventh of the window (Alizadeh and others, 2010, section 3.4)
    assert found.throughput_bps > 0.95 * 9.56e9
    # CUBIC takes a mark for a loss, and leaves the way empty for a while
    assert _run(paced, ECN, warm_up="300 ms").throughput_bps < found.throughput_bps


@pytest.mark.parametrize(
    ("settings", "agreed"),
    [
        ({}, False),
        ({"net.ipv4.tcp_ecn": "1"}, True),
        ({"net.ipv4.tcp_ecn": "1", "peer:net.ipv4.tcp_ecn": "0"}, False),
        # who accepts does not ask
        ({"peer:net.ipv4.tcp_ecn": "1"}, False),
        # a SYN of DCTCP is no request but to DCTCP
        ({CONTROL: "dctcp"}, False),
        ({CONTROL: "dctcp", f"peer:{CONTROL}": "dctcp", "peer:net.ipv4.tcp_ecn": "0"}, True),
    ],
)
def test_who_opens_asks_and_who_accepts_agrees(settings: dict[str, str], agreed: bool) -> None:  # noqa: FBT001
    marked, *_ = _marks(_run(STEP, settings))
    assert (marked > 0) is agreed


@pytest.mark.parametrize("queue", ["red", "codel"])
def test_every_frame_is_delivered_or_has_its_counter(queue: str) -> None:
    found = _run(
        {"bottleneck.queue": queue, "bottleneck.red_limit": "400 kB"}, {"netem.loss": "0.01 %"}
    )
    (way,) = (one for one in found.netem if one.frames > found.tcp[0].acks)
    lost = way.lost + way.early + way.dropped
    assert lost
    assert way.lost_percent == pytest.approx(100 * lost / way.frames)
    # what is lost is sent again, but for what was on its way as the measurement began or ended
    assert found.tcp[0].retransmissions == pytest.approx(lost, abs=0.5 * lost + 20)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"bottleneck.queue": "codel", "netem.rate": "0 bit/s"}, "there is no bottleneck"),
        ({"bottleneck.ecn": "on"}, "the queue marks nothing"),
        ({"bottleneck.queue": "codel", "bottleneck.red_min": "1 kB"}, "bottleneck.queue is codel"),
        ({"bottleneck.queue": "codel", "netem.limit": "10"}, "the limit is that of"),
    ],
)
def test_what_nothing_reads_is_said(settings: dict[str, str], reason: str) -> None:
    assert any(reason in remark for remark in load(SCENARIO, settings=settings).remarks)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bottleneck.red_min": "2 MB", "bottleneck.red_max": "1 MB"}, "expected each more"),
        ({"bottleneck.red_burst": "1", "bottleneck.red_min": "900 kB"}, "no weight"),
    ],
)
def test_thresholds_that_tc_refuses_are_refused(settings: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(SCENARIO, settings={"bottleneck.queue": "red"} | settings)


def test_before_4_18_marks_are_not_modelled() -> None:
    with pytest.raises(InputError, match=r"expected 4\.18 or later"):
        load("x460-out-of-box", settings={"net.ipv4.tcp_ecn": "1"})
