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

__all__ = ["MOST_RUNS", "check"]

MOST_RUNS: Final = 10_000


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
    if count <= MOST_RUNS:
        return
    start = time.perf_counter()
    simulate(member.effective())
    each_s = time.perf_counter() - start
    if scheduler is None:
        workers = jobs or cpus()
    else:
        from simnet.study.work.cluster import threads

        workers = threads(scheduler)
    duration = duration_text(each_s * count / workers)
    sentence = f"{count:,} simulations, about {duration} with {workers} at a time"
    if confirm is None:
        raise InputError(f"{sentence}: --yes allows it", key="--over")
    if not confirm(sentence):
        raise InputError(f"{sentence}: not wanted", key="--over")
