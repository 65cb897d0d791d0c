"""How long to simulate: until the estimates are as precise as was asked for.

The run is cut into slices; what each counts (bytes delivered, busy time of the CPUs) is a series.

Warm-up is what MSER-5 removes: White, "An effective truncation heuristic for bias reduction in
simulation output", Simulation 69 (1997) 323. Slices are averaged in fives; the cut is where the
squared standard error of what remains is smallest. A minimum in the second half says that the run
is too short for its transient; the last five fives are no candidates (both: Hoad, Robinson and
Davies, "Automating warm-up length estimation", Winter Simulation Conference 2008, 532).

The run ends when the 95 % confidence interval of every mean is narrow enough, relative to the
mean. The interval is Student's t over 20 batch means (Schmeiser, Operations Research 30 (1982)
556: more than 30 batches gain nothing, fewer than 10 lose), and counts only when the batch means
pass von Neumann's test against positive correlation (Law and Carson, Operations Research 27 (1979)
1011, on sequential stopping; Fishman, Communications of the ACM 21 (1978) 310, on the test). Looks
lie a quarter of the run apart, because each check is a chance to stop too early.

Every decision is taken on integers: no machine's arithmetic can make a run longer or shorter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import sqrt
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from simnet.scenario.system.system import Snapshot, System

SLICE_PS: Final = 10 * 10**9
BATCHES: Final = 20
# quantile 0.975 of Student's t with 19 degrees of freedom, 2.093024, squared
_T_SQUARED: Final = Fraction(4_380_750, 1_000_000)
# 2 - 1.2816 sqrt(4 (n - 2) / (n^2 - 1)) for n = 20: one in ten independent series is below
_VON_NEUMANN: Final = Fraction(1_456, 1_000)
_MSER_BATCH: Final = 5
# fewer batches may agree by chance
_MSER_LEAST: Final = 5
# before this there is not enough to judge by: three slices a batch
_FIRST_LOOK: Final = 60
_GROWTH: Final = Fraction(5, 4)
_MOST_MARKS: Final = 64


@dataclass(frozen=True)
class Check:
    """What a series says of itself after so many slices."""

    cut: int  # number of slices at the start that are warm-up
    settled: bool  # whether the transient is over, by MSER-5
    precise: bool  # whether every mean is known as precisely as was asked for
    # of the 95 % intervals, relative to the means; None where the mean is 0
    half_widths: tuple[float | None, ...]

    @property
    def enough(self) -> bool:
        """Whether the run may end here."""
        return self.settled and self.precise


@dataclass(frozen=True)
class Measured:
    """The counters at both ends of the measured time, and what was reached."""

    start: Snapshot  # at the end of the warm-up
    end: Snapshot  # now
    check: Check  # the last check


def mser5(series: Sequence[int]) -> tuple[int, bool]:
    """Return the number of leading values to drop, a multiple of 5, and whether it is known.

    It cannot when the best cut lies in the second half; then it is half of the series.
    """
    batches = [
        sum(series[place : place + _MSER_BATCH])
        for place in range(0, len(series) - _MSER_BATCH + 1, _MSER_BATCH)
    ]
    best: tuple[int, int] | None = None
    cut = count = total = squares = 0
    for place in range(len(batches) - 1, -1, -1):
        value = batches[place]
        count, total, squares = count + 1, total + value, squares + value * value
        # squared standard error, as a fraction: sum of squared deviations over count squared
        above, below = count * squares - total * total, count**3
        # a tie goes to the longer series
        if count >= _MSER_LEAST and (best is None or above * best[1] <= best[0] * below):
            best, cut = (above, below), place
    half = len(batches) // 2
    return (cut * _MSER_BATCH, True) if best and cut <= half else (half * _MSER_BATCH, False)


def independent(batches: Sequence[int]) -> bool:
    """Whether batch means show no positive correlation from one to the next (von Neumann)."""
    steps = sum((b - a) ** 2 for a, b in pairwise(batches))
    return steps * len(batches) >= _VON_NEUMANN * _scatter(batches)


def check(series: Sequence[Sequence[int]], permille: int) -> Check:
    """Judge several series of the same run, one value a slice each.

    Args:
        series: as many values in each.
        permille: half width of the interval that is wanted, in thousandths of the mean.
    """
    cuts = [mser5(values) for values in series]
    cut = max(number for number, _ in cuts)
    batched = [_batches(values[cut:]) for values in series]
    return Check(
        cut=cut,
        settled=all(known for _, known in cuts),
        precise=all(_narrow(b, permille) and independent(b) for b in batched),
        half_widths=tuple(_relative_half_width(b) for b in batched),
    )


def measure(system: System, *, permille: int, most_ps: int, slice_ps: int = SLICE_PS) -> Measured:
    """Run a system until throughput and CPU time are known precisely enough.

    Args:
        system: just built.
        permille: half width of the intervals, in thousandths of the means.
        most_ps: longest simulated time, warm-up included; the interval may then be wider.
        slice_ps: length of a slice.
    """
    slice_ps = max(min(slice_ps, most_ps // _FIRST_LOOK), 1)
    most = max(most_ps // slice_ps, _FIRST_LOOK)
    due = _FIRST_LOOK
    marks = _Marks(system)
    before = system.progress()
    series: tuple[list[int], ...] = tuple([] for _ in before)
    while True:
        system.run(slice_ps)
        after = system.progress()
        for values, first, last in zip(series, before, after, strict=True):
            values.append(last - first)
        before, count = after, len(series[0])
        marks.offer(count)
        if count < due:
            continue
        found = check(series, permille)
        if found.enough or count >= most:
            return Measured(marks.at_or_after(found.cut), system.snapshot(), found)
        due = min(int(count * _GROWTH) // _MSER_BATCH * _MSER_BATCH, most)


class _Marks:
    """Snapshots at the places where the warm-up may end; a bounded number, thinned as they grow."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._step = _MSER_BATCH
        self._kept = {0: system.snapshot()}

    def offer(self, place: int) -> None:
        if place % self._step:
            return
        self._kept[place] = self._system.snapshot()
        if len(self._kept) > _MOST_MARKS:
            self._step *= 2
            self._kept = {p: s for p, s in self._kept.items() if p % self._step == 0}

    def at_or_after(self, place: int) -> Snapshot:
        return self._kept[min(p for p in self._kept if p >= place)]


def _batches(values: Sequence[int]) -> list[int]:
    """Sums of 20 equally long parts; what is left over is dropped at the start."""
    length = max(len(values) // BATCHES, 1)
    used = values[len(values) % BATCHES :] if len(values) >= BATCHES else values
    return [sum(used[place : place + length]) for place in range(0, len(used), length)]


def _scatter(batches: Sequence[int]) -> int:
    """Sum of squared deviations, times the number of batches."""
    total = sum(batches)
    return len(batches) * sum(b * b for b in batches) - total * total


def _narrow(batches: Sequence[int], permille: int) -> bool:
    if len(batches) < BATCHES:
        return False
    wanted = permille**2 * (len(batches) - 1) * sum(batches) ** 2
    return _T_SQUARED * _scatter(batches) * 1000**2 <= wanted


def _relative_half_width(batches: Sequence[int]) -> float | None:
    total = sum(batches)
    if not total or len(batches) < BATCHES:
        return None
    return sqrt(_T_SQUARED * _scatter(batches) / (len(batches) - 1)) / total
