"""Whether a load meets the limits: intervals over replications, and looks that share an error.

A replication is a run with its own seed, so replications are independent, whatever packets within
a run do to each other. Of each limited quantity a two-sided interval is computed, and its limit
decides:

==========  ======================================================================================
quantity    interval
==========  ======================================================================================
loss        Packets lost of those that came: the score interval of a Poisson rate (Wilson, Journal
            of the American Statistical Association 22 (1927) 209) with Student's quantile in place
            of the normal one, losses that come together counted once: variance over mean of the
            replications' counts says how many do (quasi-likelihood: Wedderburn, Biometrika 61
            (1974) 439). Few losses are skewed, and no loss at all has no variance: a symmetric
            interval would be wrong about the one and know everything about the other.
late        Messages later than the limit of p99, of those delivered, likewise: p99 meets its limit
            when no more than 1 % are late. (The quantiles of single runs would not do: in a queue
            messages are late together, most runs see none of it, and the mean of their quantiles
            is too small, by 13 % in an M/M/1 queue at 91 % with 8,000 messages.)
shortfall   Student's t over the replications' shares of messages offered and not delivered. What
            is offered above what is carried piles up, and no loss ever shows it where the senders
            wait (TCP).
==========  ======================================================================================

A load passes when every interval lies within its limit (so both limits may be tested at the full
level: Berger, Technometrics 24 (1982) 295), and fails when one lies beyond it. Otherwise more
replications are run, up to a last look, after which it stays undecided.

Each look at each load is a chance to err, and so is each limit. All of them together err with at
most 5 % (Boole's inequality; Law, Simulation Modeling and Analysis, on multiple measures). Most
searches end after a few loads, so the second load may err half as often as the first, the third a
third as often (Lan and DeMets, Biometrika 70 (1983) 659, on spending an error). The more
replications, the less it matters: with 32 of them a bound lies 4 standard errors from the mean
instead of 2.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from simnet.study.run.measures import LOSS, METRICS

Verdict: TypeAlias = Literal["pass", "fail", "undecided"]

LATE: Final = "late"
SHORTFALL: Final = "shortfall"
LIMITED: Final = {
    LOSS: (METRICS[LOSS].label, METRICS[LOSS].heading),
    LATE: ("later than p99's limit (%)", "late %"),
    SHORTFALL: ("messages piling up (%)", "piling up %"),
}
"""What a limit is on: as an axis has it, and as a column."""
LATE_SHARE: Final = 0.01
"""Share of messages that may be later than p99."""

NOTHING: Final = 1e-3
"""So little of its limit counts what is not seen at all."""


@dataclass(frozen=True)
class Sample:
    """What one replication counted."""

    packets: int  # that came to the ports, those that were dropped included
    dropped: int  # of them, anywhere
    offered: int  # messages
    delivered: int  # messages whose last byte has arrived
    late: int  # of them, later than the limit
    p99_us: float = 0.0  # latency of 99 of 100; 0 where none is limited or known


@dataclass(frozen=True)
class Limits:
    """What a load must meet."""

    loss: float | None  # largest share of packets lost; None for any
    p99_us: float | None  # largest latency that 99 of 100 messages meet; None for any
    shortfall: float  # largest share of messages that may pile up

    @property
    def count(self) -> int:
        """How many there are."""
        return 1 + (self.loss is not None) + (self.p99_us is not None)


@dataclass(frozen=True)
class Criterion:
    """One quantity at one load: its mean over replications, its interval and its limit.

    Attributes:
        excess: by how much the limit is exceeded, as a logarithm; below 0: by none. No part of a
            verdict: it says where to look.
    """

    name: str
    mean: float
    low: float
    high: float
    limit: float
    excess: float

    @property
    def verdict(self) -> Verdict:
        """On which side of the limit the interval lies."""
        if self.high <= self.limit:
            return "pass"
        return "fail" if self.low > self.limit else "undecided"


def criteria(samples: Sequence[Sample], limits: Limits, tail: float) -> tuple[Criterion, ...]:
    """The limited quantities of a load's replications.

    Args:
        samples: at least two.
        limits: what they must meet.
        tail: probability that a quantity lies above its interval, and that it lies below.
    """
    found = []
    if limits.loss is not None:
        lost = _rate([s.dropped for s in samples], [s.packets for s in samples], tail)
        found.append(_criterion(LOSS, lost, limits.loss))
    if limits.p99_us is not None:
        late = _rate([s.late for s in samples], [s.delivered for s in samples], tail)
        criterion = _criterion(LATE, late, LATE_SHARE)
        p99_us = math.fsum(s.p99_us for s in samples) / len(samples)
        if p99_us:  # says more than a share that may be nothing
            criterion = replace(criterion, excess=math.log(p99_us / limits.p99_us))
        found.append(criterion)
    behind = [(s.offered - s.delivered) / s.offered if s.offered else 0.0 for s in samples]
    found.append(_criterion(SHORTFALL, _student(behind, tail), limits.shortfall))
    return tuple(found)


def _criterion(name: str, interval: tuple[float, float, float], limit: float) -> Criterion:
    mean, low, high = interval
    return Criterion(name, mean, low, high, limit, math.log(max(mean / limit, NOTHING)))


def verdict(found: Sequence[Criterion]) -> Verdict:
    """Of all quantities together: one that fails is enough, and all must pass."""
    each = {criterion.verdict for criterion in found}
    if "fail" in each:
        return "fail"
    return "undecided" if "undecided" in each else "pass"


def _rate(counts: Sequence[int], chances: Sequence[int], tail: float) -> tuple[float, float, float]:
    """The rates p with |mean - p| <= t sqrt(together p / chances)."""
    whole = sum(chances)
    if not whole:
        return 1.0, 0.0, 1.0  # nothing is known
    mean = sum(counts) / whole
    half = _quantile(len(counts), tail) ** 2 * _together(counts) / (2 * whole)
    root = math.sqrt(half * half + 2 * half * mean)
    return mean, max(mean + half - root, 0.0), min(mean + half + root, 1.0)


def _together(counts: Sequence[int]) -> float:
    """How many come at a time: variance over mean of the replications' counts."""
    mean = math.fsum(counts) / len(counts)
    if not mean:
        return 1.0
    variance = math.fsum((count - mean) ** 2 for count in counts) / (len(counts) - 1)
    return max(variance / mean, 1.0)


def _student(values: Sequence[float], tail: float) -> tuple[float, float, float]:
    count = len(values)
    mean = math.fsum(values) / count
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    width = _quantile(count, tail) * math.sqrt(variance / count)
    return mean, mean - width, mean + width


def _quantile(count: int, tail: float) -> float:
    """Student's, of so many replications."""
    from scipy.special import stdtrit

    return float(stdtrit(count - 1, 1 - tail))
