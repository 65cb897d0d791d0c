"""Simulates what answers need, each case in the way that is asked for.

An answer whose numbers are searched for, such as a capacity, says what is to be simulated next when
it has seen what is done. All answers take turns, so every round is one batch. One that is much like
another waits until that is found, and begins where it ended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from simnet.study.run.result import Result
from simnet.study.validate.document import Answer, Results
from simnet.study.work.cases import Case, Member, Progress, simulate_all


@dataclass(frozen=True)
class Ask:
    """An answer, and the simulation of each of its cases."""

    answer: Answer  # what is asked
    member: Callable[[Case], Member]  # what is simulated of a case
    # one before it with nearly the same results, if its cases are searched for
    like: Ask | None = None

    def wanted(self, done: Results, like: Results) -> list[str]:
        """Labels of the cases that are to be simulated next; `like`: results of that one."""
        labels = self.answer.search(done, like) if self.answer.search else self.answer.cases
        return [label for label in labels if label not in done]


def simulated(
    asks: Sequence[Ask], *, jobs: int | None = None, progress: Progress | None = None
) -> list[dict[str, Result]]:
    """The results of each answer's cases, by label; equal simulations are done once."""
    found: list[dict[str, Result]] = [{} for _ in asks]
    known: dict[Member, Result] = {}
    while round_ := _round(asks, found):
        missing = [member for member in dict.fromkeys(round_.values()) if member not in known]
        results = simulate_all(missing, jobs=jobs, progress=_after(len(known), progress), lean=True)
        known.update(zip(missing, results, strict=True))
        for (number, label), member in round_.items():
            found[number][label] = known[member]
    return found


def _round(asks: Sequence[Ask], found: list[dict[str, Result]]) -> dict[tuple[int, str], Member]:
    """What is simulated next, by place; members of a case together: loading a case takes long."""
    places: dict[Case, list[tuple[int, str]]] = {}
    numbers = {id(ask): number for number, ask in enumerate(asks)}
    searching = set()
    for number, (ask, done) in enumerate(zip(asks, found, strict=True)):
        other = numbers.get(id(ask.like))
        if other in searching:
            continue
        wanted = ask.wanted(done, {} if other is None else found[other])
        if wanted and ask.answer.search:
            searching.add(number)
        for label in wanted:
            places.setdefault(ask.answer.cases[label], []).append((number, label))
    return {
        (number, label): asks[number].member(case)
        for case, here in places.items()
        for number, label in here
    }


def _after(before: int, progress: Progress | None) -> Progress | None:
    if progress is None:
        return None

    def report(done: int, total: int, phase: str = "") -> None:
        progress(before + done, before + total, phase)

    return report
