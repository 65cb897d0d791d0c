"""Verdicts as an expert gives them, on stored tables of what tunings did to real systems."""

import pytest

from simnet.errors import InputError
from simnet.scenario.core.files import LOADS
from simnet.scenario.core.subject import setups
from simnet.study.run.loss import Latency
from simnet.study.run.measures import (
    CPU_PER_BYTE,
    FAIRNESS,
    LOSS,
    MEDIAN,
    METRICS,
    RATE,
    TAIL,
    fairness,
)
from simnet.study.run.result import Result
from simnet.study.run.rows import FlowRates
from simnet.study.whatif.aim import GOALS, aim_of
from simnet.study.whatif.verdict import Answer, Change, Interval, Verdict, verdict
from simnet.study.whatif.vetoes import vetoed
from tests.study.synthetic import result

ROUND_TRIP, ONE_WAY = "round trip", "one-way"
Row = tuple[str, float, float, float, float, float]


def table(*rows: Row, kind: str) -> tuple[Change, ...]:
    """Changes: name, before, after, percent, and the ends of its interval."""
    return tuple(
        Change(
            metric=name,
            unit=METRICS[name].unit,
            before=before,
            after=after,
            percent=percent,
            seeds=Interval(low=low, high=high),
            parameters=None,
            latency_kind=kind if METRICS[name].unit == "us" else "",
        )
        for name, before, after, percent, low, high in rows
    )


WEB_FIXED_50US = table(
    (RATE, 7440.4e6, 7223.0e6, -2.9, -6.8, -0.7),
    (CPU_PER_BYTE, 16.126, 15.943, -1.1, -2.4, -0.3),
    (MEDIAN, 70.1, 71.2, 1.6, -8.0, 12.0),
    (TAIL, 216.0, 170.9, -20.9, -34.1, -5.1),
    kind=ROUND_TRIP,
)
STREAM_ARFS = table(
    (RATE, 9375.9e6, 12456.9e6, 32.9, 1.9, 95.0),
    (CPU_PER_BYTE, 1.407, 0.639, -54.5, -75.4, -16.0),
    (MEDIAN, 122.2, 615.0, 385.3, -46.3, 1560.1),
    (TAIL, 205.8, 791.4, 276.7, -5.7, 957.7),
    kind=ONE_WAY,
)
WEB_FIXED_50US_LATER = table(
    (RATE, 7440.4e6, 7223.0e6, -2.9, -6.8, -0.7),
    (CPU_PER_BYTE, 16.126, 15.941, -1.1, -2.4, 0.3),
    (MEDIAN, 66.8, 78.1, 17.0, 3.5, 43.0),
    (TAIL, 216.0, 195.2, -9.6, -16.5, -1.6),
    kind=ROUND_TRIP,
)
MEMCACHED_SUSPEND20 = table(
    (RATE, 386.3e6, 385.1e6, -0.3, -1.9, 1.3),
    (CPU_PER_BYTE, 40.757, 59.323, 45.6, 8.7, 95.1),
    (MEDIAN, 118.7, 50.1, -57.7, -78.4, -17.4),
    (TAIL, 541.4, 172.7, -68.1, -86.9, -2.2),
    kind=ROUND_TRIP,
)
STALLS_GONE = table(
    (RATE, 0.4e3, 300e3, 75000.0, 333.4, 13012977.1),
    (CPU_PER_BYTE, 90.0, 60.0, -33.3, -60.0, -5.0),
    (MEDIAN, 41060.0, 50.0, -99.88, -99.99, -76.0),
    (TAIL, 41070.0, 54.0, -99.87, -99.99, -76.0),
    kind=ROUND_TRIP,
)
P99_FALLS = "round trip p99 -20.9 % (-34.1 to -5.1), CPU time per byte -1.1 %"
NOTHING = table(
    (RATE, 1e9, 1e9, 0.0, -0.2, 0.2),
    (CPU_PER_BYTE, 5.0, 5.0, 0.0, -0.3, 0.3),
    (MEDIAN, 40.0, 40.0, 0.0, -0.5, 0.5),
    (TAIL, 80.0, 80.0, 0.0, -0.5, 0.5),
    kind=ROUND_TRIP,
)


@pytest.mark.parametrize(
    ("changes", "load", "goal", "answer", "sentence"),
    [
        # a fifth less p99 is worth a closed loop's 3 %
        (
            *(WEB_FIXED_50US, "requests", "", "yes"),
            f"{P99_FALLS}; costs throughput -2.9 %",
        ),
        # a tenth less is not, if half of the requests take a sixth longer
        (
            *(WEB_FIXED_50US_LATER, "requests", "", "no"),
            "throughput -2.9 % (-6.8 to -0.7), round trip p50 +17.0 %; gains round trip p99 -9.6 %",
        ),
        # and is not if the rate was asked for
        (
            *(WEB_FIXED_50US, "requests", "throughput", "no"),
            f"throughput -2.9 % (-6.8 to -0.7); gains {P99_FALLS.replace(' (-34.1 to -5.1)', '')}",
        ),
        (
            *(WEB_FIXED_50US, "requests", "p99", "yes"),
            f"{P99_FALLS}; costs throughput -2.9 %",
        ),
        # packets that queue for longer in a socket nobody waits at
        (
            *(STREAM_ARFS, "bulk", "", "yes"),
            "throughput +32.9 % (+1.9 to +95.0), CPU time per byte -54.5 %",
        ),
        # what is offered is carried: latency decides, and has its price
        (
            *(MEMCACHED_SUSPEND20, "offered", "", "yes"),
            (
                "round trip p99 -68.1 % (-86.9 to -2.2), round trip p50 -57.7 %;"
                " costs CPU time per byte +45.6 %"
            ),
        ),
        (
            *(MEMCACHED_SUSPEND20, "offered", "cpu", "no"),
            (
                "CPU time per byte +45.6 % (+8.7 to +95.1);"
                " gains round trip p99 -68.1 %, round trip p50 -57.7 %"
            ),
        ),
        # beyond a factor of ten no number says more
        (
            *(STALLS_GONE, "requests", "", "yes"),
            (
                "throughput more than x 10 (+333.4 to more than x 10),"
                " round trip p99 -99.9 %, round trip p50 -99.9 %, CPU time per byte -33.3 %"
            ),
        ),
        (
            *(NOTHING, "requests", "", "no difference"),
            (
                "throughput +0.0 % (-0.2 to +0.2), round trip p99 +0.0 % (-0.5 to +0.5),"
                " round trip p50 +0.0 % (-0.5 to +0.5), CPU time per byte +0.0 % (-0.3 to +0.3)"
            ),
        ),
        (NOTHING, "requests", "loss", "no difference", "no packet is lost, with it or without"),
    ],
)  # fmt: skip
def test_an_expert_would_say_so(
    changes: tuple[Change, ...], load: str, goal: str, answer: Answer, sentence: str
) -> None:
    decided = verdict(changes, aim_of(load, goal))
    assert (decided.answer, decided.sentence) == (answer, sentence)


@pytest.mark.parametrize(
    ("rate", "tail", "answer"),
    [
        # within 5 %, and less than a third of what p99 gains
        ((-2.9, -3.8, -2.0), (-19.7, -30.0, -8.0), "yes"),
        ((-2.9, -3.8, -2.0), (-5.0, -8.0, -2.0), "no"),
        ((-9.0, -12.0, -6.0), (-60.0, -70.0, -50.0), "no"),
        ((-2.9, -3.8, -2.0), (-20.0, -60.0, 20.0), "no"),
        # what may be a price counts as one
        ((-4.0, -9.0, 1.0), (-10.0, -15.0, -5.0), "cannot tell"),
        ((-4.0, -9.0, 1.0), (-15.0, -20.0, -10.0), "yes"),
        # p99 may be what a higher rate costs, but not ten times as much as that gains
        ((30.0, 20.0, 40.0), (40.0, 30.0, 50.0), "yes"),
        ((2.0, 1.5, 2.5), (60.0, 50.0, 70.0), "no"),
        ((50.0, 40.0, 60.0), (150.0, 120.0, 180.0), "no"),
        ((0.0, -0.3, 0.3), (15.0, 10.0, 20.0), "no"),
    ],
)
def test_rate_and_p99_of_requests_are_weighed(
    rate: tuple[float, float, float], tail: tuple[float, float, float], answer: Answer
) -> None:
    rows = ((RATE, 1.0, 1.0, *rate), (CPU_PER_BYTE, 1.0, 1.0, 0.0, -0.2, 0.2))
    found = table(*rows, (TAIL, 1.0, 1.0, *tail), kind=ROUND_TRIP)
    assert verdict(found, aim_of("requests")).answer == answer


@pytest.mark.parametrize(
    ("lost", "tail", "answer", "metric"),
    [
        # less is lost, and what was lost before is late now
        ((-99.9, -100.0, -80.0), (25.0, 10.0, 40.0), "yes", LOSS),
        ((30.0, 10.0, 50.0), (-50.0, -60.0, -40.0), "no", LOSS),
        ((0.0, -0.5, 0.5), (-20.0, -47.0, -4.0), "yes", TAIL),
        # nothing is lost, with it or without
        (None, (47.0, 8.0, 90.0), "no", TAIL),
        (None, (-20.0, -30.0, -10.0), "yes", TAIL),
    ],
)
def test_media_is_judged_by_loss_and_then_by_age(
    lost: tuple[float, float, float] | None,
    tail: tuple[float, float, float],
    answer: Answer,
    metric: str,
) -> None:
    rows = [(CPU_PER_BYTE, 1.0, 1.0, 0.0, -0.2, 0.2), (TAIL, 1.0, 1.0, *tail)]
    rows += [] if lost is None else [(LOSS, 1.0, 1.0, *lost)]
    decided = verdict(table(*rows, kind=ONE_WAY), aim_of("media"))
    assert (decided.answer, decided.metric) == (answer, metric)


def test_a_goal_leaves_what_else_counts_alone() -> None:
    changes = table(
        (RATE, 1e9, 0.8e9, -20.0, -22.0, -18.0),
        (CPU_PER_BYTE, 5.0, 4.0, -20.0, -22.0, -18.0),
        (TAIL, 80.0, 40.0, -50.0, -60.0, -40.0),
        kind=ROUND_TRIP,
    )
    for load in ("bulk", "requests", "offered"):
        decided = verdict(changes, aim_of(load, "p99"))
        assert (decided.answer, decided.metric) == ("no", RATE)
        assert decided.sentence.endswith("but throughput -20.0 % (-22.0 to -18.0)")
    with pytest.raises(InputError, match="expected one of throughput, cpu, p99, loss"):
        aim_of("bulk", "latency")


def test_fewer_lost_packets_are_a_goal() -> None:
    lost = (LOSS, 4.0, 0.5, -87.0, -95.0, -60.0)
    rows = ((RATE, 1e9, 1e9, 0.1, -0.4, 0.6), (CPU_PER_BYTE, 5.0, 5.5, 10.0, 5.0, 15.0), lost)
    decided = verdict(table(*rows, kind=ONE_WAY), aim_of("bulk", "loss"))
    assert (decided.answer, decided.metric) == ("yes", LOSS)
    assert decided.sentence == (
        "packets lost -87.0 % (-95.0 to -60.0); costs CPU time per byte +10.0 %"
    )


def test_every_workload_says_what_it_is_judged_by() -> None:
    assert set(LOADS) >= {test for setup in setups() for test in setup.tests}
    assert {aim_of(load).load for load in LOADS.values()} == set(LOADS.values())
    assert LOADS["tcp_rr"] == "requests"
    assert TAIL not in aim_of(LOADS["netserver"]).metrics
    assert set(GOALS.values()) <= set(METRICS)


def _flow(name: str, rate: float, *, port: str = "eth0", kind: str = ONE_WAY) -> FlowRates:
    latency = Latency(kind=kind, p50=1.0, p99=2.0)
    way = "in" if kind == ONE_WAY else ""
    return FlowRates(name=name, port=port, goodput_bps=rate, latency_us=latency, direction=way)


def _with(*flows: FlowRates) -> Result:
    return result(sum(flow.goodput_bps for flow in flows)).model_copy(update={"flows": flows})


def test_only_flows_that_compete_can_be_unfair_to_each_other() -> None:
    yes = Verdict("yes", RATE, "throughput +60.0 %")

    def judged(before: tuple[FlowRates, ...], after: tuple[FlowRates, ...]) -> Verdict:
        return vetoed(yes, [_with(*before)] * 3, [_with(*after)] * 3, 0.05)

    # two cards, of which one carries jumbo frames faster; reader, writer; stream, requests
    for other in (_flow("b", 4e9, port="eth1"), _flow("b", 4e9, kind=ROUND_TRIP)):
        less = other.model_copy(update={"goodput_bps": 1e9})
        assert judged((_flow("a", 5e9), other), (_flow("a", 12e9), less)) == yes
    out = _flow("b", 4e9).model_copy(update={"direction": "out"})
    assert fairness(_with(_flow("a", 5e9), out)) is None
    # of one kind at one port
    dear = judged((_flow("a", 5e9), _flow("b", 4e9)), (_flow("a", 12e9), _flow("b", 1e9)))
    assert (dear.answer, dear.metric) == ("no", FAIRNESS)
    # others gain more, and none gets less
    assert judged((_flow("a", 5e9), _flow("b", 4e9)), (_flow("a", 25e9), _flow("b", 4e9))) == yes
