"""What an answer says beside its verdict: how p99 moves, and what would make it clear."""

import pytest

from simnet.printable import capital
from simnet.report.html.first import rests_on
from simnet.report.whatif import moved_tail, next_step, reason, whatif
from simnet.study.whatif.same import OTHER_LOAD
from simnet.study.whatif.verdict import Change, Interval
from simnet.study.whatif.whatif import Judged, WhatIf


def change(metric: str, **parts: tuple[float, float]) -> Change:
    intervals = {name: Interval(low=low, high=high) for name, (low, high) in parts.items()}
    percent = sum(next(iter(parts.values()))) / 2
    made = Change(
        metric=metric, unit="", before=1.0, after=1.0, percent=percent, seeds=None,
        parameters=None, latency_kind="one-way",
    )  # fmt: skip
    return made.model_copy(update=intervals)


def judged(*changes: Change, verdict: str = "cannot tell", why: str = "throughput") -> Judged:
    return Judged(
        rank=1, tuning="t", description="", verdict=verdict, decided_by="throughput",  # type: ignore[arg-type]
        reason=why, pairs=3, changes=changes, mechanisms=(), settings={}, commands=(), warnings=(),
    )  # fmt: skip


def found(one: Judged) -> WhatIf:
    return WhatIf(
        scenario="x460-out-of-box", version="0.1.0", fingerprint="0" * 32, settings={},
        base_tunings=(), load="bulk", seeds=2, members=4, simulated_s=0.1, cpus=64, remarks=(),
        exit_status=3, tunings=(one,),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("ends", "why", "said"),
    [
        ((20.0, 40.0), "throughput", "throughput; one-way p99 +30.0 % (+20.0 to +40.0)"),
        ((-40.0, -20.0), "throughput", "throughput; one-way p99 -30.0 % (-40.0 to -20.0)"),
        ((-5.0, 40.0), "throughput", "throughput"),
        ((20.0, 40.0), "rate; costs one-way p99 +30.0 %", "rate; costs one-way p99 +30.0 %"),
    ],
)
def test_a_p99_that_moves_for_certain_is_told_once(
    ends: tuple[float, float], why: str, said: str
) -> None:
    one = judged(change("latency_p99", seeds=ends), why=why)
    assert reason(one) == said
    assert bool(moved_tail(one)) == (min(ends) * max(ends) > 0)
    assert said in whatif(found(one))


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"seeds": (-9.0, 9.0), "parameters": (-1.0, 1.0)}, "--seeds 8 --members 24"),
        ({"seeds": (-1.0, 1.0), "parameters": (-9.0, 9.0)}, "simnet calibrate"),
        ({"seeds": (-1.0, 1.0), "model": (-9.0, 9.0)}, "try it"),
    ],
)
def test_an_open_answer_names_the_next_step(
    parts: dict[str, tuple[float, float]], said: str
) -> None:
    one = judged(change("throughput", **parts))
    step = next_step(found(one), one)
    assert said in step
    assert f"\n{step}\n" in whatif(found(one))
    assert next_step(found(one), judged(change("throughput", **parts), verdict="yes")) == ""


def test_where_no_more_runs_may_tell_none_are_asked_for() -> None:
    one = judged(change("throughput", seeds=(-9.0, 9.0), model=(-5.0, 5.0)))
    assert "more runs" in next_step(found(one), one)
    hopeless = one.model_copy(update={"more_may_tell": False})
    assert next_step(found(hopeless), hopeless).startswith("the change is smaller than the model")


def test_what_a_load_does_not_do_is_tried_where_it_happens() -> None:
    one = judged(change("throughput", seeds=(-1.0, 1.0)), why=f"{OTHER_LOAD}: a ring is full")
    assert next_step(found(one), one).startswith("where it happens would tell: try it there")


def test_how_its_settings_were_compared_stands_below_an_answer_and_in_what_it_rests_on() -> None:
    said = "no measured change of net.ipv4.tcp_autocorking was compared"
    one = judged(change("throughput", seeds=(-1.0, 1.0))).model_copy(update={"checked": said})
    assert f"\nchecked: {said}\n" in whatif(found(one))
    assert f"{capital(said)}." in rests_on(found(one), None).lines
    assert "checked:" not in whatif(found(judged(change("throughput", seeds=(-1.0, 1.0)))))
