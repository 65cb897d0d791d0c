"""Verdicts in words: what is judged, what is expected, and why it stays open."""

import pytest

from simnet.study.run.measures import CPU_PER_BYTE, RATE
from simnet.study.whatif.aim import aim_of
from simnet.study.whatif.plain import plain
from simnet.study.whatif.verdict import Change, Interval, verdict
from simnet.study.whatif.whatif import Judged

AIM = aim_of("bulk")


def judged(*changes: Change, reason: str = "") -> Judged:
    decided = verdict(changes, AIM)
    return Judged(
        rank=1, tuning="a", description="", verdict=decided.answer, decided_by=decided.metric,
        reason=reason or decided.sentence, pairs=4, changes=changes, mechanisms=(), settings={},
        commands=(), warnings=(),
    )  # fmt: skip


def change(
    metric: str, low: float, high: float, parameters: tuple[float, float] | None = None
) -> Change:
    return Change(
        metric=metric, unit="", before=1.0, after=1.0, percent=(low + high) / 2,
        seeds=Interval(low=low, high=high),
        parameters=None if parameters is None else Interval(low=parameters[0], high=parameters[1]),
    )  # fmt: skip


def test_an_open_verdict_says_what_is_judged_and_what_would_be_possible() -> None:
    one = judged(change(RATE, -3, 5), change(CPU_PER_BYTE, -2, 2))
    assert plain(one, AIM.metrics) == (
        "Throughput counts most, and more is better. Expected is +1.0 %, but anything from -3.0 to"
        " +5.0 % is possible, so it may as well be less: it differs from run to run by chance, and"
        " few were simulated. CPU time per byte is as open"
    )


def test_where_no_more_runs_may_tell_chance_is_not_why() -> None:
    one = judged(change(RATE, -3, 5), change(CPU_PER_BYTE, -2, 2))
    hopeless = one.model_copy(update={"more_may_tell": False})
    assert "such changes were predicted no better" in plain(hopeless, AIM.metrics)


def test_where_less_is_better_that_is_said_and_the_widest_part_is_why() -> None:
    one = judged(change(RATE, -0.5, 0.5), change(CPU_PER_BYTE, -2, 2, (-9.0, 8.0)))
    assert plain(one, AIM.metrics) == (
        "CPU time per byte counts, and less is better. Expected is +0.0 %, but anything from -9.2"
        " to +8.3 % is possible, so it may as well be more: it depends on values of this host that"
        " no file says"
    )


@pytest.mark.parametrize(
    ("throughput", "cpu", "verdict"), [((8, 12), (-1, 1), "yes"), ((-12, -8), (-1, 1), "no")]
)
def test_what_is_decided_keeps_its_sentence(
    throughput: tuple[float, float], cpu: tuple[float, float], verdict: str
) -> None:
    one = judged(change(RATE, *throughput), change(CPU_PER_BYTE, *cpu))
    assert one.verdict == verdict
    assert plain(one, AIM.metrics) == one.reason


def test_no_difference_says_of_what_and_how_little() -> None:
    one = judged(change(RATE, -0.5, 0.5), change(CPU_PER_BYTE, -0.3, 0.3))
    said = "Throughput and CPU time per byte would stay about the same, within 1 %"
    assert plain(one, AIM.metrics) == said


def test_another_reason_is_not_replaced() -> None:
    one = judged(change(RATE, -3, 5), change(CPU_PER_BYTE, -2, 2), reason="the runs are too short")
    assert plain(one, AIM.metrics) == "the runs are too short"
