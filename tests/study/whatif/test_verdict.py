import math
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simnet.study.run.measures import CPU_PER_BYTE, MEDIAN, RATE, REAL_TIME, TAIL
from simnet.study.run.result import Result
from simnet.study.validate.changes import Discrepancy
from simnet.study.whatif.aim import Aim, aim_of
from simnet.study.whatif.verdict import (
    MARGIN_PERCENT,
    Answer,
    Change,
    Interval,
    changes,
    exit_status,
    more_may_tell,
    rank,
    ratios,
    student,
    verdict,
)
from tests.study.synthetic import result

BULK, REQUESTS, OFFERED = (aim_of(load) for load in ("bulk", "requests", "offered"))


def _changes(
    throughput: tuple[float, float],
    cpu: tuple[float, float] = (0.0, 0.0),
    tail: tuple[float, float] = (0.0, 0.0),
) -> tuple[Change, ...]:
    """Changes with these 95 % intervals, in percent."""
    return tuple(
        Change(
            metric=name,
            unit="",
            before=1.0,
            after=1.0,
            percent=(low + high) / 2,
            seeds=Interval(low=low, high=high),
            parameters=None,
        )
        for name, (low, high) in (
            (RATE, throughput),
            (CPU_PER_BYTE, cpu),
            (MEDIAN, (0.0, 0.0)),
            (TAIL, tail),
        )
    )


@pytest.mark.parametrize(
    ("throughput", "cpu", "answer", "metric"),
    [
        # better and worse
        ((8, 12), (-1, 1), "yes", RATE),
        ((-12, -8), (-30, -20), "no", RATE),
        # a trade-off: throughput comes first
        ((8, 12), (20, 30), "yes", RATE),
        # at equal throughput CPU time decides
        ((-0.5, 0.5), (-12, -8), "yes", CPU_PER_BYTE),
        ((-0.5, 0.5), (8, 12), "no", CPU_PER_BYTE),
        # nothing
        ((-0.5, 0.5), (-0.9, 0.2), "no difference", CPU_PER_BYTE),
        ((0.2, 0.6), (0.3, 0.5), "no difference", CPU_PER_BYTE),
        # a certain price for an uncertain gain
        ((-7, 9), (10, 47), "no", CPU_PER_BYTE),
        # a certain saving: with a gain expected, with none to lose, and at a price expected
        ((-7, 9), (-47, -10), "yes", CPU_PER_BYTE),
        ((-0.9, 0.2), (-47, -10), "yes", CPU_PER_BYTE),
        ((-9, 7), (-47, -10), "cannot tell", RATE),
        # too wide
        ((-3, 5), (-2, 2), "cannot tell", RATE),
        ((-0.5, 0.5), (-2, 2), "cannot tell", CPU_PER_BYTE),
    ],
)
def test_the_rule(
    throughput: tuple[float, float], cpu: tuple[float, float], answer: Answer, metric: str
) -> None:
    decided = verdict(_changes(throughput, cpu), BULK)
    assert (decided.answer, decided.metric) == (answer, metric)


@pytest.mark.parametrize(
    ("throughput", "told"),
    [((-7, 29), "; expected, but not certain: throughput +11.0 %"), ((-0.5, 0.5), "")],
)
def test_a_yes_tells_what_counts_more_and_is_only_expected(
    throughput: tuple[float, float], told: str
) -> None:
    found = verdict(_changes(throughput, (-12, -8)), BULK)
    assert (found.answer, found.metric) == ("yes", CPU_PER_BYTE)
    assert found.sentence == f"CPU time per byte -10.0 % (-12.0 to -8.0){told}"


@pytest.mark.parametrize(
    ("tail", "limit_us", "answer", "metric"),
    [
        ((50, 90), None, "yes", RATE),
        ((700, 880), None, "no", TAIL),
        ((20, 880), None, "cannot tell", TAIL),
        # changes here leave 1 us
        ((700, 880), 2.0, "yes", RATE),
        ((-5, 5), 0.5, "no", TAIL),
    ],
)
def test_a_gain_is_not_worth_any_latency(
    tail: tuple[float, float], limit_us: float | None, answer: Answer, metric: str
) -> None:
    decided = verdict(_changes((8, 12), (-1, 1), tail), OFFERED, max_p99_us=limit_us)
    assert (decided.answer, decided.metric) == (answer, metric)
    assert verdict(_changes((-12, -8), tail=tail), OFFERED, max_p99_us=limit_us).metric == RATE


@pytest.mark.parametrize(
    ("tail", "limit_us", "answer"),
    [
        # what was 1 us is 0.95 to 1.05 us, or 1.5 to 9 us
        ((-5, 5), 0.94, "no"),
        ((-5, 5), 0.96, "cannot tell"),
        ((50, 800), 1.4, "no"),
        ((50, 800), 1.6, "cannot tell"),
        ((50, 800), None, "cannot tell"),
    ],
)
def test_what_is_open_is_not_worth_a_latency_above_the_limit_for_certain(
    tail: tuple[float, float], limit_us: float | None, answer: Answer
) -> None:
    decided = verdict(_changes((-3, 5), (-2, 2), tail), BULK, max_p99_us=limit_us)
    assert decided.answer == answer
    assert (decided.metric == TAIL) == (answer == "no")


@given(
    throughput=st.tuples(st.floats(-50, 50), st.floats(-50, 50)).map(sorted),
    cpu=st.tuples(st.floats(-50, 50), st.floats(-50, 50)).map(sorted),
)
def test_more_knowledge_never_turns_yes_into_no(throughput: list[float], cpu: list[float]) -> None:
    """Narrower intervals may decide what could not be told; they never contradict."""

    def narrow(low: float, high: float) -> tuple[float, float]:
        middle = (low + high) / 2
        return (low + middle) / 2, (high + middle) / 2

    wide = verdict(_changes((throughput[0], throughput[1]), (cpu[0], cpu[1])), BULK).answer
    close = verdict(_changes(narrow(*throughput), narrow(*cpu)), BULK).answer
    if wide == "yes":
        # what was more for certain may prove to be less than anyone tunes for
        assert close in {"yes", "no difference"}
    if wide == "no difference":
        assert close == "no difference"


_TWO = st.tuples(st.floats(-50, 50), st.floats(-50, 50)).map(sorted)


@given(throughput=_TWO, cpu=_TWO, tail=_TWO, aim=st.sampled_from((BULK, REQUESTS, OFFERED)))
@example(throughput=[-3.0, 5.0], cpu=[20.0, 30.0], tail=[-40.0, 3.0], aim=OFFERED)
@example(throughput=[-3.0, 5.0], cpu=[-30.0, -20.0], tail=[-3.0, 40.0], aim=OFFERED)
@example(throughput=[-1.0, 9.0], cpu=[20.0, 30.0], tail=[0.0, 0.0], aim=BULK)
@example(throughput=[-4.0, -2.0], cpu=[0.0, 0.0], tail=[-40.0, 3.0], aim=REQUESTS)
@example(throughput=[0.0, 3.0], cpu=[1.0, 2.0], tail=[1.0, 6.0], aim=REQUESTS)
@example(throughput=[0.25, 1.5], cpu=[0.0, 0.0], tail=[0.0, 3.0], aim=REQUESTS)
def test_what_more_runs_may_contradict_is_open_until_the_last(
    throughput: list[float], cpu: list[float], tail: list[float], aim: Aim
) -> None:
    """They make intervals narrower, and may decide by what comes before CPU time."""

    def changed(share: float) -> tuple[Change, ...]:
        middles = [(low + high) / 2 for low, high in (throughput, cpu, tail)]
        halves = [share * (high - low) / 2 for low, high in (throughput, cpu, tail)]
        ends = [(m - half, m + half) for m, half in zip(middles, halves, strict=True)]
        return _changes(ends[0], ends[1], ends[2])

    early = verdict(changed(1.0), aim, last=False)
    expected = {one.metric: abs(one.percent or 0.0) for one in changed(1.0)}
    for share in (0.5, 0.1, 0.001):
        late = verdict(changed(share), aim)
        # a change of less than 1 % is not worth it, and may go either way
        if min(expected[early.metric], expected[late.metric]) > MARGIN_PERCENT:
            assert (early.answer, late.answer) not in {("yes", "no"), ("no", "yes")}


@pytest.mark.parametrize(
    ("tail", "limit_us", "early", "late"),
    [
        ((-5, 5), 2.0, "yes", "yes"),
        ((-50, 150), 2.0, "cannot tell", "yes"),
        ((-50, 150), 0.9, "cannot tell", "no"),
        ((-5, 5), 0.9, "no", "no"),
    ],
)
def test_a_limit_on_p99_decides_early_only_what_is_certain(
    tail: tuple[float, float], limit_us: float, early: Answer, late: Answer
) -> None:
    found = _changes((8, 12), tail=tail)
    assert verdict(found, BULK, max_p99_us=limit_us, last=False).answer == early
    assert verdict(found, BULK, max_p99_us=limit_us).answer == late


def test_the_wider_interval_decides() -> None:
    before = [result(1e9 + n) for n in range(4)]
    after = [result(1.1e9 + n) for n in range(4)]
    sure = changes(before, after)
    assert verdict(sure, BULK).answer == "yes"
    drawn = [-0.1, 0.0, 0.15]
    unsure = changes(before, after, {RATE: drawn, CPU_PER_BYTE: drawn})
    assert verdict(unsure, BULK).answer == "cannot tell"
    throughput = unsure[0]
    assert throughput.seeds is not None
    assert throughput.parameters is not None
    assert throughput.seeds.high - throughput.seeds.low < 0.1
    assert throughput.parameters.low < -5
    assert throughput.hull == throughput.parameters


def test_pairs_take_the_noise_out() -> None:
    """The seeds' own spread is 40 %; what the tuning adds is told to a tenth."""
    noise = [0.8, 0.9, 1.0, 1.1, 1.2]
    before = [result(1e9 * n) for n in noise]
    after = [result(1e9 * n * 1.02) for n in noise]
    throughput = changes(before, after)[0]
    assert throughput.percent == pytest.approx(2.0)
    assert throughput.seeds is not None
    assert throughput.seeds.low == pytest.approx(2.0)
    assert throughput.seeds.high == pytest.approx(2.0)


def test_students_interval() -> None:
    # t at 97.5 % with 3 degrees of freedom is 3.182 (any table); the sample's s is 1.291
    interval = student([1.0, 2.0, 3.0, 4.0])
    assert interval is not None
    assert interval.high - 2.5 == pytest.approx(3.182 * 1.291 / 2, rel=1e-3)
    assert 2.5 - interval.low == pytest.approx(interval.high - 2.5)
    assert student([1.0]) is None


def test_nothing_falls_by_more_than_all_of_it() -> None:
    throughput = changes([result(1e9)] * 3, [result(n) for n in (1e3, 1e3, 1e9)])[0]
    assert throughput.seeds is not None
    assert -100 <= throughput.seeds.low < -99.9
    gone = changes([result(1e9)] * 3, [result(n) for n in (0.0, 0.0, 1e9)])[0]
    assert gone.seeds is not None
    assert gone.seeds.low == -100


def test_metrics_of_a_result() -> None:
    found = {change.metric: change for change in changes([result()] * 2, [result()] * 2)}
    assert found["cpu_of_one"].before == pytest.approx(500)
    assert found["cpu_of_all"].before == pytest.approx(50)
    # 5 CPUs for 125 MB/s
    assert found[CPU_PER_BYTE].before == pytest.approx(40.0)
    assert found["latency_p50"].before == pytest.approx(40)
    assert found["latency_p99"].before == pytest.approx(80)
    assert found["interrupts"].before == pytest.approx(1000)
    assert {change.percent for change in found.values()} == {0.0}


def test_what_is_not_measured_is_unknown() -> None:
    silent = [result(0.0, p99_us=None)] * 3
    found = {change.metric: change for change in changes(silent, silent)}
    assert found["latency_p99"].before is None
    assert found[RATE].percent is None
    assert found[RATE].direction == "unknown"
    assert verdict(tuple(found.values()), BULK).answer == "cannot tell"
    assert set(ratios(silent, silent)) == {"cpu_of_all", "cpu_of_one", "interrupts"}


@pytest.mark.parametrize(
    ("throughput", "cpu", "tail", "answer", "metric"),
    [
        ((8, 12), (-1, 1), (50, 90), "yes", RATE),
        ((-0.5, 0.5), (8, 12), (-90, -70), "yes", TAIL),
        ((-0.5, 0.5), (-12, -8), (10, 90), "no", TAIL),
        ((-0.5, 0.5), (-12, -8), (-9, 9), "yes", CPU_PER_BYTE),
        ((-0.5, 0.5), (8, 12), (-9, 9), "no", CPU_PER_BYTE),
    ],
)
def test_with_an_open_loop_load_latency_comes_before_cpu_time(
    throughput: tuple[float, float],
    cpu: tuple[float, float],
    tail: tuple[float, float],
    answer: Answer,
    metric: str,
) -> None:
    decided = verdict(_changes(throughput, cpu, tail), OFFERED)
    assert (decided.answer, decided.metric) == (answer, metric)


def test_a_latency_changes_by_the_geometric_mean() -> None:
    before = [result(1.0, p99_us=100.0), result(1.0, p99_us=100.0)]
    after = [result(1.0, p99_us=10_000.0), result(1.0, p99_us=1.0)]
    found = {change.metric: change for change in changes(before, after)}
    assert found[TAIL].percent == pytest.approx(0.0)
    assert found[TAIL].direction == "unknown"


def test_the_best_comes_first() -> None:
    ordered: list[tuple[Answer, tuple[Change, ...]]] = [
        ("yes", _changes((10, 12), (5, 6))),
        ("yes", _changes((8, 9), (-9, -7))),
        ("yes", _changes((8, 9), (-5, -4))),
        ("no difference", _changes((0, 0))),
        ("cannot tell", _changes((-3, 20))),
        ("cannot tell", _changes((-3, 3))),
        ("no", _changes((0, 0), (5, 6))),
        ("no", _changes((-3, -2))),
        ("cannot tell", _changes((-40, 4))),
        ("no", _changes((-50, -30))),
    ]
    keys = [rank(answer, found, BULK) for answer, found in ordered]
    assert all(one < other for one, other in pairwise(keys))


def test_jobs_that_take_three_times_as_long_come_last_however_open_that_is() -> None:
    def jobs(low: float, high: float) -> tuple[Change, ...]:
        return tuple(
            one.model_copy(update={"metric": REAL_TIME}) for one in _changes((low, high))[:1]
        )

    ordered: list[tuple[Answer, tuple[Change, ...]]] = [
        ("yes", jobs(-9, -7)),
        ("no difference", jobs(-0.2, 0.2)),
        ("cannot tell", jobs(-40, 3)),
        ("no", jobs(2, 4)),
        ("cannot tell", jobs(-20, 500)),
    ]
    keys = [rank(answer, found, aim_of("jobs")) for answer, found in ordered]
    assert all(one < other for one, other in pairwise(keys))


@pytest.mark.parametrize(
    ("answers", "status"),
    [
        (["yes", "no"], 0),
        (["no", "cannot tell", "yes"], 0),
        (["no"], 1),
        (["no difference", "no"], 1),
        (["no", "cannot tell"], 3),
    ],
)
def test_exit_status(answers: list[Answer], status: int) -> None:
    assert exit_status(answers) == status


def test_no_number_is_infinite() -> None:
    some: list[Result] = [result(1e9), result(1e9)]
    for change in changes(some, [result(0.0), result(0.0)]):
        assert change.percent is None or math.isfinite(change.percent)


def off_by(least: float, part: float) -> Callable[[str], Discrepancy]:
    return lambda _kind: Discrepancy(least, part)


def made(factor: float, model: Callable[[str], Discrepancy] | None) -> tuple[Change, ...]:
    before, after = ([result(one * 1e9 + n) for n in range(4)] for one in (1.0, factor))
    return changes(before, after, model=model)


@pytest.mark.parametrize("part", [0.3, 0.7])
def test_what_the_model_is_off_by_grows_with_the_change(part: float) -> None:
    large, none = (made(factor, off_by(0.05, part))[0] for factor in (1.5, 1.0))
    assert large.model is not None
    assert none.model is not None
    least = math.exp(0.05)
    assert large.model.low == pytest.approx(100 * (1.5 ** (1 - part) / least - 1), rel=1e-3)
    assert large.model.high == pytest.approx(100 * (1.5 ** (1 + part) * least - 1), rel=1e-3)
    assert (none.model.low, none.model.high) == pytest.approx((-4.877, 5.127), abs=1e-3)
    assert large.hull == large.model
    assert made(1.5, None)[0].model is None


@pytest.mark.parametrize(
    ("factor", "least", "answer"),
    [
        (1.5, 0.05, "yes"),
        (1.1, 0.05, "cannot tell"),
        # the interval is all within 10 %, and part of it beyond
        (1.02, 0.05, "no difference"),
        (1.02, 0.09, "cannot tell"),
        # of what the simulation does not change, only the model's error is left
        (1.0, 0.2, "no difference"),
    ],
)
def test_what_is_less_than_the_model_can_tell_is_no_difference_where_that_is_little(
    factor: float, least: float, answer: Answer
) -> None:
    assert verdict(made(factor, off_by(least, 0.5)), BULK).answer == answer


def test_each_quantity_has_its_own_error() -> None:
    found = made(1.0, lambda kind: Discrepancy(0.1 if kind == "CPU share" else 0.01, 0.0))
    highs = {one.metric: one.model.high for one in found if one.model}
    assert highs == {**highs, RATE: pytest.approx(1.005, abs=1e-2)}
    assert highs[CPU_PER_BYTE] > 10


def test_a_model_that_misses_the_direction_of_changes_recommends_none() -> None:
    assert verdict(made(1.5, off_by(0.0, 1.1)), BULK).answer == "cannot tell"


@pytest.mark.parametrize(
    ("cpu", "least", "may"),
    [
        # a saving of 20 to 28 % that the model may be off by 15 %, and by 40 %
        ((-28, -20), 0.15, True),
        ((-28, -20), 0.4, False),
        # chance alone leaves it open
        ((-28, 4), 0.15, True),
        ((-9, 4), 0.15, False),
        # as bad as chance allows it is a price for certain
        ((-4, 30), 0.2, True),
        ((-4, 12), 0.2, False),
    ],
)
def test_more_runs_are_made_only_where_they_may_tell(
    cpu: tuple[float, float], least: float, *, may: bool
) -> None:
    found = _changes((-0.5, 0.5), cpu)
    assert more_may_tell(found, BULK, off_by(least, 0.0)) == may


def test_where_nothing_is_known_of_chance_or_of_the_model_more_runs_may_tell() -> None:
    found = _changes((-0.5, 0.5), (-9, 4))
    assert more_may_tell(found, BULK, None)
    unknown = [one.model_copy(update={"seeds": None}) for one in found]
    assert more_may_tell(unknown, BULK, off_by(0.4, 0.0))


def test_the_model_alone_decides_nothing() -> None:
    (one,) = changes([result(1e9)], [result(2e9)], model=off_by(0.1, 0.2))[:1]
    assert (one.hull, one.direction, one.is_little) == (None, "unknown", False)


def test_requests_and_responses_are_shown_as_transactions() -> None:
    asks = [
        one.model_copy(
            update={"flows": (one.flows[0].model_copy(update={"transactions_per_s": rate}),)}
        )
        for one, rate in ((result(), 100.0), (result(), 150.0))
    ]
    first = changes(asks[:1], asks[1:])[0]
    assert (first.metric, first.unit) == ("transactions", "1/s")
    assert first.percent == pytest.approx(50.0)
    assert changes([result()], [result()])[0].metric == RATE
