"""RED as net/sched/sch_red.c and tc have it: thresholds, chance, the mean, and what is marked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.kernel.random import stream
from simnet.net.link.skb import CE, ECT
from simnet.net.qdisc.qdisc import Packet
from simnet.net.qdisc.red import Red, eval_ewma, eval_idle_damping
from tests.net.qdisc.test_codel import MS, packet

SIZE = 1000
RATE = 100_000_000
PPB = 10**9


def made(
    qmin: int,
    qmax: int,
    *,
    wlog: int = 1,
    ecn: bool = False,
    limit: int = 10**9,
    most_ppb: int = PPB // 50,
) -> Red:
    cell_log, shifts = eval_idle_damping(wlog, SIZE, RATE)
    return Red(
        stream(3, "red"), limit=limit, qmin=qmin, qmax=qmax, probability_ppb=most_ppb,
        wlog=wlog, cell_log=cell_log, shifts=shifts, ecn=ecn,
    )  # fmt: skip


def put(red: Red, bits: int = 0) -> Packet:
    one = packet(size=SIZE)
    one.head.ecn = bits
    red.enqueue(one, 0)
    return one


def held(red: Red, count: int, rounds: int, bits: int = 0) -> int:
    """Keep `count` packets in the queue for as many rounds; return those that were dropped."""
    while red.waiting.count < count:
        put(red, bits)
    # until the mean is what waits
    for _ in range(200):
        put(red, bits)
        while red.waiting.count > count:
            red.dequeue(0)
    before = red.dropped.count + red.marks()
    for _ in range(rounds):
        put(red, bits)
        while red.waiting.count > count:
            red.dequeue(0)
    return red.dropped.count + red.marks() - before


@pytest.mark.parametrize(
    ("wlog", "burst"), [(1, 33), (2, 35), (3, 39), (4, 46), (5, 57), (6, 75), (7, 101), (9, 190)]
)
def test_the_weight_lets_the_bursts_pass_that_the_kernel_s_table_says(
    wlog: int, burst: int
) -> None:
    # include/net/red.h, th_min / S = 32: a burst that is less than in the table
    assert eval_ewma(32 * SIZE, burst - 1, SIZE) == wlog


def test_a_burst_that_no_weight_lets_pass_is_refused() -> None:
    with pytest.raises(ValueError, match="no weight"):
        eval_ewma(64 * SIZE, 20, SIZE)


def test_below_the_minimum_none_is_dropped_and_above_the_maximum_all_are() -> None:
    assert held(made(20 * SIZE, 60 * SIZE), 15, 1000) == 0
    red = made(20 * SIZE, 21 * SIZE)
    for _ in range(100):
        put(red)
    assert red.waiting.count < 30
    assert red.forced_drop > 60
    assert red.prob_drop + red.forced_drop + red.waiting.count == 100


@pytest.mark.parametrize("count", [30, 40, 50])
def test_between_them_twice_the_share_that_the_mean_says_is_dropped(count: int) -> None:
    # gaps are even up to 1 / p: half of that in the mean (Floyd and Jacobson, section 7)
    red, rounds = made(20 * SIZE, 60 * SIZE), 40_000
    law = 2 * 0.02 * (count - 20) / 40
    assert held(red, count, rounds) / rounds == pytest.approx(law, rel=0.15)
    assert red.forced_drop == 0


def test_the_first_packet_between_them_draws_and_is_not_dropped() -> None:
    # `qcount` is -1 below and above: the number that is drawn is for the packets to come
    red = made(2 * SIZE, 5 * SIZE, most_ppb=PPB)
    first = {"below": 0, "above": 0}
    where = "below"
    for number in range(3000):
        # fill it, and empty it but for one
        for _ in range(2 * (number % 30 >= 20)):
            if red.waiting.count > 1:
                red.dequeue(0)
        dropped, before = red.prob_drop, where
        put(red)
        above = "above" if red.qavg >= red.qth_max else "between"
        where = "below" if red.qavg < red.qth_min else above
        if where == "between" and before != "between":
            first[before] += 1
            assert red.prob_drop == dropped
    assert min(first.values()) > 50
    assert red.prob_drop > 100


def test_with_ecn_what_may_be_marked_is_marked_and_the_rest_is_dropped() -> None:
    red = made(20 * SIZE, 60 * SIZE, ecn=True)
    assert held(red, 50, 2000, ECT) > 20
    assert red.dropped.count == 0
    assert red.marks() == red.prob_mark + red.forced_mark > 20
    before = red.marks()
    assert held(red, 50, 2000) > 20
    assert (red.marks(), red.dropped.count > 20) == (before, True)


def test_a_packet_above_the_maximum_is_marked_and_queued() -> None:
    red = made(1, 2, ecn=True)
    found = [put(red, ECT).head.ecn for _ in range(8)]
    assert found[0] == ECT
    assert found[-1] == CE
    assert red.waiting.count == 8
    assert red.forced_mark == found.count(CE)


def test_what_finds_no_room_is_dropped_whatever_the_mean() -> None:
    red = made(10**8, 2 * 10**8, limit=3 * SIZE)
    for _ in range(5):
        put(red)
    assert (red.waiting.count, red.pdrop, red.over_limit(), red.dropped.count) == (3, 2, 2, 2)


def test_the_mean_follows_what_waits_by_its_weight() -> None:
    red = made(10**8, 2 * 10**8, wlog=3)
    for number in range(5):
        before, waits = red.qavg, red.waiting.bytes
        put(red)
        assert red.qavg == before + waits - (before >> 3)
        assert waits == number * SIZE


def test_an_idle_queue_forgets_its_mean() -> None:
    # (1 - W)^m after m packets' time; tc counts in ticks of 64 ns what the kernel does in us
    red = made(10**8, 2 * 10**8, wlog=4)
    for _ in range(200):
        put(red)
    while red.waiting.count:
        red.dequeue(MS)
    full = red.qavg
    red.dequeue(MS)
    idle_us = 20_000
    red.enqueue(packet(size=SIZE), MS + idle_us * 10**6)
    packets = idle_us / (8 * SIZE / RATE * 1e6) / 15.625
    law = full * (1 - 1 / 16) ** packets
    assert law / 2.1 < red.qavg < law * 2.1


@given(
    st.lists(
        st.tuples(st.booleans(), st.sampled_from([0, 1, 7, 60, 300, 4_000, 90_000, 10**7])),
        min_size=9,
        max_size=80,
    ),
    st.integers(1, 9),
)
def test_the_mean_is_the_kernel_s(steps: list[tuple[bool, int]], wlog: int) -> None:
    # red_calc_qavg: of a queue that was idle for so many us, by its table
    red = made(10**8, 2 * 10**8, wlog=wlog)
    cell_log, shifts = eval_idle_damping(wlog, SIZE, RATE)
    now, qavg, idle_since = 0, 0, None
    for arrives, gap_us in steps:
        now += gap_us
        if arrives:
            backlog = red.waiting.bytes
            red.enqueue(packet(size=SIZE), now * 10**6)
            if idle_since is None:
                qavg += backlog - (qavg >> wlog)
            else:
                idle_us = min(now - idle_since, 255 << cell_log)
                shift = shifts[idle_us >> cell_log]
                less = qavg * idle_us >> cell_log
                half = qavg >> 1
                qavg = qavg >> shift if shift else (qavg - less if less < half else half)
                idle_since = None
        elif red.dequeue(now * 10**6) is None and idle_since is None:
            idle_since = now
        assert red.qavg == qavg


@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, MS)), max_size=80),
    st.integers(1, 5),
    st.booleans(),
)
def test_every_packet_is_sent_dropped_or_waits(
    steps: list[tuple[bool, int]],
    least: int,
    ecn: bool,  # noqa: FBT001
) -> None:
    red = made(least * SIZE, 3 * least * SIZE, ecn=ecn, limit=12 * SIZE)
    now, came, sent = 0, 0, 0
    for arrives, gap in steps:
        now += gap
        if arrives:
            one = packet(size=SIZE)
            one.head.ecn = ECT
            red.enqueue(one, now)
            came += 1
        else:
            sent += red.dequeue(now) is not None
    assert came == sent + red.dropped.count + red.waiting.count
    assert red.dropped.count == red.prob_drop + red.forced_drop + red.pdrop
    assert red.segments == red.waiting.count
    if ecn:
        assert red.dropped.count == red.pdrop
    else:
        assert red.marks() == 0
