"""How long a grid takes, for a person to say whether it is meant."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from simnet.errors import InputError
from simnet.study.run.duration_text import duration_text
from simnet.study.run.run import simulate
from simnet.study.work.workers import cpus

if TYPE_CHECKING:
    from simnet.study.work.cases import Member

MOST_RUNS: Final = 10_000
# what a first simulation imports takes little of that
_FIRST_S: Final = 1.0


def check(
    member: Member,
    count: int,
    confirm: Callable[[str], bool] | None,
    *,
    jobs: int | None,
    scheduler: str | None,
) -> None:
    """Ask before more than `MOST_RUNS` simulations such as this one, which is timed for that.

    Raises InputError when the answer is no, or there is no terminal to ask at.
    """
    if count > MOST_RUNS:
        ask(count, seconds_of(member), at_a_time(jobs, scheduler), confirm)


def ask(count: int, each_s: float, workers: int, confirm: Callable[[str], bool] | None) -> None:
    """Ask before more than `MOST_RUNS` simulations of so many seconds each; see `check`."""
    if count <= MOST_RUNS:
        return
    duration = duration_text(each_s * count / workers)
    sentence = f"{count:,} simulations, about {duration} with {workers} at a time"
    if confirm is None:
        raise InputError(f"{sentence}: --yes allows it", key="--over")
    if not confirm(sentence):
        raise InputError(f"{sentence}: not wanted", key="--over")


def seconds_of(member: Member) -> float:
    """CPU time of a simulation; what only a first one does is left out where it counts."""
    effective = member.effective()
    taken = []
    for _ in range(2):
        start = time.process_time()
        simulate(effective)
        taken.append(time.process_time() - start)
        if taken[0] > _FIRST_S:
            break
    return min(taken)


def at_a_time(jobs: int | None, scheduler: str | None) -> int:
    """How many simulations are done at a time."""
    if scheduler is None:
        return jobs or cpus()
    from simnet.study.work.cluster import threads

    return threads(scheduler)
