"""Which simulations say what a tuning does, and what they found.

What is and every alternative are simulated with equal seeds, and with equal draws of the parameters
that are not known for certain. Few first: a large change is plain after four pairs. `Look` says
how often the results are looked at, and why that makes no verdict less sure.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from statistics import fmean, variance
from typing import TYPE_CHECKING, NamedTuple

from simnet.scenario.core.units import KINDS, format_quantity, parse_quantity
from simnet.study.run.arguments import options_of
from simnet.study.run.validity import lengthened
from simnet.study.validate.anchored import Held, anchor_of
from simnet.study.validate.document import draws_for
from simnet.study.validate.kinds import log_factor
from simnet.study.whatif.verdict import ratios
from simnet.study.work.cases import (
    Case,
    Draw,
    Member,
    Progress,
    runs_to_completion,
    simulate_all,
    uncertain,
)
from simnet.study.work.ensemble import latin_hypercube
from simnet.study.work.vary import uncertain_parameters
from simnet.time_units import PS_PER_S

if TYPE_CHECKING:
    from simnet.scenario.core.effective import Effective
    from simnet.study.run.result import Result
    from simnet.study.work.store import Store

SEEDS = 8
MEMBERS = 24
# pairs with equal seeds and draws of parameters before each look but the last. Fewer than four
# pairs are no cheaper look: Student's interval of three is 2.5 times as wide, and seldom decides
_EARLY = ((4, 6), (6, 8), (6, 14), (6, 24))
# where runs as short as the load needs will do, pairs are as cheap as draws
_QUICK_SEEDS = 24
_QUICK = ((4, 6), (4, 8), (8, 8), (8, 14), (14, 14))
# that say how much chance does
_FEWEST_PAIRS = 4
_ERROR = 0.05
# how often one look of some numbers of pairs may be wrong, so that all together are in 5 %; where
# there are 8 at last, these are none of the pairs before
_SHARES = {(4, 8, 14, 24): 0.015, (4, 6, 8): 0.018}
_FIRST_MEMBER_SEED = 1000


class Times(NamedTuple):
    """How long runs are: with the known parameters, and with drawn ones."""

    duration: str
    warm_up: str
    drawn_duration: str
    drawn_warm_up: str


# draws say how much a change depends on what is not known: many short runs tell that better than
# few long ones
TIMES = Times("500 ms", "300 ms", "80 ms", "80 ms")
# before the last look, for what is plain
SHORT_TIMES = TIMES._replace(duration="160 ms", warm_up="160 ms")
# half of it says whether runs still change
_LEAST_MEASURED = "20 ms"
# where it is not known how much comes: the p99 of a thousand messages needs as long
_UNKNOWN_MEASURED = "40 ms"
# messages, or packets where nothing else is counted, of which a p99 is known: a hundred are slower
_ENOUGH_MESSAGES = 10_000
_NEARLY = 1.1
# where requests wait for disks, which take milliseconds for each
DISK_TIMES = Times("20 s", "8 s", "12 s", "6 s")


@dataclass(frozen=True)
class Look:
    """How much is simulated before a verdict is tried.

    To look several times and stop at the first clear answer is wrong more often than each look
    alone, but not more often than the errors of all looks together. So each look may err as often
    as the others, and so seldom that together they err in 5 %: Pocock's test, with Student's
    intervals.
    Looks share their pairs, so that is more than an equal part of 5 %, which stands for other
    numbers of pairs than the usual ones. A look that has more draws than the one before it, and no
    more pairs, says nothing new of chance. Source: Jennison and Turnbull, Group Sequential Methods
    (2000), chapters 2, 4.4 and 9.
    """

    pairs: int  # pairs of runs with equal seeds
    members: int  # draws of what is not known for certain
    error: float = _ERROR  # how often chance alone may make a verdict wrong at this look
    # nothing is simulated after it. Only then are the draws moved to the anchor: a covariance
    # of few says little.
    last: bool = True
    short: bool = False  # its pairs with equal seeds are short, and no part of a look at long ones

    @property
    def said(self) -> str:
        """How much is simulated by then."""
        drawn = f", {self.members} with other values" if self.members else ""
        return f"up to {self.pairs} pairs{drawn}"


def looks(
    seeds: int, members: int, early: Iterable[tuple[int, int]] = _EARLY, *, short: bool = False
) -> tuple[Look, ...]:
    """The `early` looks, which may be `short`, and the last, at `seeds` pairs and `members`."""
    before = dict.fromkeys((pairs, min(drawn, members)) for pairs, drawn in early if pairs < seeds)
    if not before:
        return (Look(seeds, members),)
    numbers = (*dict.fromkeys(pairs for pairs, _ in before), seeds)
    error = _SHARES.get(numbers, _ERROR / len(numbers))
    found = [Look(*counts, error, last=False, short=short) for counts in before]
    return (*found, Look(seeds, members, error=error))


@dataclass(frozen=True)
class Found:
    """Results by case: with equal seeds, with equal draws, and of the anchor with those draws.

    `from_pairs`: no draw has the parameters as they are; pairs with equal seeds do.
    """

    paired: Mapping[Case, Sequence[Result]]
    drawn: Mapping[Case, Sequence[Result]]
    at_anchor: Sequence[Result]
    anchor: Held | None
    from_pairs: bool

    def moved(self, before: Case, after: Case) -> dict[str, list[float]]:
        """By which factors draws change what a tuning does, as logarithms by metric.

        What differs by chance is taken out: the draws' spread would hold it once more.
        """
        drawn = ratios(self.drawn[before], self.drawn[after])
        usual = ratios(self.paired[before], self.paired[after])
        if self.from_pairs:
            drawn = {
                name: [math.exp(fmean(map(math.log, usual[name]))), *values]
                for name, values in drawn.items()
                if usual.get(name) and all(usual[name])
            }
        moved = {
            name: [log_factor(value, values[0], "ratio") for value in values[1:]]
            for name, values in drawn.items()
            if len(values) > 1
        }
        if self.anchor:
            return self.anchor.conditioned(moved, self.at_anchor)
        return {name: without_chance(logs, usual.get(name, ())) for name, logs in moved.items()}


def without_chance(drawn: Sequence[float], pairs: Sequence[float]) -> list[float]:
    """Logarithms of draws, as far apart as they would be if runs had no chance.

    Variances of independent causes add up, and `pairs` of runs, with the parameters as they are,
    differ by chance alone: so much of the draws' variance is not what is unknown of the machine.
    Draws are no longer than those pairs, so they have no less of it. Few pairs say too little.
    """
    logs = [math.log(one) for one in pairs if one > 0]
    if min(len(logs), len(drawn)) < _FEWEST_PAIRS or len(logs) < len(pairs):
        return list(drawn)
    mean, spread = fmean(drawn), variance(drawn)
    part = math.sqrt(max(1 - variance(logs) / spread, 0.0)) if spread else 1.0
    return [mean + part * (one - mean) for one in drawn]


@dataclass(frozen=True)
class Plan:
    """Which simulations answer the question."""

    base: Case  # the system as it is
    seed: int  # first of the seeds
    seeds: int | None  # pairs of runs, at most; None: as many as usual
    members: int  # draws of what is not known, at most
    duration: str | None  # of runs, and so `warm_up` and `precision`, where that was said
    warm_up: str | None
    precision: str | None
    effectives: tuple[Effective, ...] = ()  # all configurations
    quick: bool = True  # runs as short as the load needs may do
    later: bool = False  # these begin to measure where those before ended, which had not settled
    per_s: float = 0  # messages a second that came in a first run; 0: none was made

    def after_unsettled(self) -> Plan:
        """The plan where short runs had not settled: warm-ups as long as those; then long runs."""
        return replace(self, quick=False) if self.later else replace(self, later=True)

    def tried(
        self,
        cases: Sequence[Case],
        known: dict[Member, Result],
        *,
        jobs: int | None,
        progress: Progress,
        store: Store | None,
    ) -> Plan:
        """The plan after a first pair, which says how much comes in how long; `known` gets both.

        Where runs are as short as those two, they are part of what is simulated.
        """
        if not self.is_quick:
            return self
        shortest = replace(self, per_s=math.inf)
        times = shortest.times(shortest.looks[0])
        work = [self._paired(case, times)[0] for case in cases[:2]]
        _simulate(work, known, "a first pair", jobs=jobs, progress=progress, store=store)
        return replace(self, per_s=_messages_per_s(known[work[0]]))

    def simulate(
        self,
        cases: Sequence[Case],
        look: Look,
        known: dict[Member, Result],
        *,
        jobs: int | None,
        progress: Progress,
        store: Store | None,
    ) -> Found:
        """Simulate for one look what is not `known`, which gets all results; the base is a case."""
        simulated = partial(_simulate, jobs=jobs, progress=progress, store=store)
        times = self.times(look)
        paired = {case: self._paired(case, times)[: look.pairs] for case in cases}
        drawn = {case: self._drawn(case, times)[: self._most(look)] for case in cases}
        anchor = anchor_of(self.base) if self.members and look.last else None
        at_anchor = self._drawn(anchor.case, times) if anchor else []
        work = [m for parts in (paired, drawn) for members in parts.values() for m in members]
        simulated((*work, *at_anchor), known, look.said)
        if self.duration is None:
            drawn = self._lengthened(drawn, known, self.times(replace(look, short=False)))
            work = [one for members in drawn.values() for one in members]
            simulated(work, known, f"{look.said}, longer")
        return Found(
            {case: [known[member] for member in members] for case, members in paired.items()},
            {case: [known[member] for member in members] for case, members in drawn.items()},
            [known[member] for member in at_anchor],
            anchor,
            self._from_pairs,
        )

    def _lengthened(
        self,
        drawn: Mapping[Case, Sequence[Member]],
        known: Mapping[Member, Result],
        times: Times,
    ) -> dict[Case, list[Member]]:
        """Draws in which a run was too short to mean anything: with every case as long as pairs."""
        spoilt = {
            number
            for members in drawn.values()
            for number, member in enumerate(members)
            if not known[member].conclusive
        }
        warm_up = self.warm_up or times.warm_up
        return {
            case: [
                replace(member, duration=times.duration, warm_up=warm_up)
                if number in spoilt
                else member
                for number, member in enumerate(members)
            ]
            for case, members in drawn.items()
        }

    def _most(self, look: Look) -> int:
        """Draws for a look: before drawn ones the values as they are."""
        return look.members if self._from_pairs or not look.members else look.members + 1

    @cached_property
    def _from_pairs(self) -> bool:
        """Whether pairs say what draws are compared with: they are as long, or the draws kept."""
        return self.is_quick or bool(draws_for(self.base))

    @property
    def options(self) -> dict[str, str]:
        """What was said of the runs, as options."""
        usual = {"seed": 1, "seeds": None, "members": MEMBERS}
        counts = {name: n for name in usual if (n := getattr(self, name)) != usual[name]}
        times = {name: getattr(self, name) for name in ("duration", "warm_up", "precision")}
        return options_of(**counts, **times)

    @cached_property
    def looks(self) -> tuple[Look, ...]:
        """The looks; but for the last, pairs are short unless it was said how long runs are."""
        if self.is_quick:
            return looks(self.seeds or _QUICK_SEEDS, self.members, _QUICK)
        return looks(self.seeds or SEEDS, self.members, short=self._lengths_are_free)

    @cached_property
    def is_quick(self) -> bool:
        """Whether runs are shorter than those where nothing is known of the load."""
        return self.quick and self._lengths_are_free and self._quick != SHORT_TIMES

    @property
    def _lengths_are_free(self) -> bool:
        """Nobody said how long runs are, and no disk does."""
        said = self.duration or self.warm_up or self.precision
        return not (said or Member(self.base).effective().ffsb or runs_to_completion(self.base))

    @property
    def _usual(self) -> Times:
        return DISK_TIMES if Member(self.base).effective().ffsb else TIMES

    def times(self, look: Look) -> Times:
        """Those of a look, with warm-ups as long as what acts late needs."""
        times = SHORT_TIMES if look.short else self._usual
        if self.is_quick:
            times = self._quick
        late = self.effectives
        return times._replace(
            warm_up=lengthened(times.warm_up, late)[0],
            drawn_warm_up=lengthened(times.drawn_warm_up, late)[0],
        )

    @cached_property
    def _quick(self) -> Times:
        """No longer than the load needs: the scenario's warm-up, and as long to measure or twice.

        Warm-ups are paid for and not counted, and what is left of them must weigh little. Once a
        p99 is known, a longer run tells hardly more: seeds differ by states that last for longer
        than runs, and each further run has another.
        """
        own_ps = Member(self.base).effective().run.warm_up_ps

        def no_longer(time: str, needed_ps: int) -> str:
            shortest = min(_ps(time), needed_ps)
            return format_quantity(shortest, KINDS["time"])

        measured_ps = max(2 * own_ps, _ps(_UNKNOWN_MEASURED))
        if self.per_s:
            enough_ps = math.ceil(_ENOUGH_MESSAGES * PS_PER_S / self.per_s)
            shortest_ps = max(own_ps, _ps(_LEAST_MEASURED))
            # a first pair of nearly enough is worth more than one of just enough
            longer = enough_ps > _NEARLY * shortest_ps
            measured_ps = min(measured_ps, enough_ps if longer else shortest_ps)
        settles_ps = own_ps + measured_ps if self.later else own_ps
        return Times(
            no_longer(SHORT_TIMES.duration, measured_ps),
            no_longer(SHORT_TIMES.warm_up, settles_ps),
            no_longer(SHORT_TIMES.drawn_duration, measured_ps),
            no_longer(SHORT_TIMES.drawn_warm_up, settles_ps),
        )

    @property
    def remarks(self) -> tuple[str, ...]:
        """What made warm-ups longer that were not chosen by the user."""
        if self.warm_up or self.precision or runs_to_completion(self.base):
            return ()
        return lengthened(self._usual.warm_up, self.effectives)[1]

    def _paired(self, case: Case, times: Times) -> list[Member]:
        given = Member(case, None, self.duration, self.warm_up, precision=self.precision)
        if not self.precision and not runs_to_completion(case):
            duration, warm_up = self.duration or times.duration, self.warm_up or times.warm_up
            given = replace(given, duration=duration, warm_up=warm_up)
        most = max(look.pairs for look in self.looks)
        return [replace(given, seed=self.seed + number) for number in range(most)]

    def _drawn(self, case: Case, times: Times) -> list[Member]:
        """One a draw of what is uncertain in the base; a tuning may have settled some of it."""
        known = uncertain_parameters(Member(case).effective())
        duration, warm_up = self.duration, self.warm_up
        if not runs_to_completion(case):
            duration, warm_up = duration or times.drawn_duration, warm_up or times.drawn_warm_up
        return [
            replace(draw.among(known).member(case), duration=duration, warm_up=warm_up)
            for draw in self._draws()
        ]

    def _draws(self) -> Sequence[Draw]:
        """Values of what is uncertain: those that a document keeps for the base, else drawn.

        Before drawn ones the values as they are, where pairs do not say what these do.
        """
        kept = draws_for(self.base)
        if kept or not self.members:
            return kept[: self.members]
        draws = [{}, *latin_hypercube(uncertain(self.base), self.members)]
        found = [Draw(_FIRST_MEMBER_SEED + number, draw) for number, draw in enumerate(draws)]
        return found[1:] if self._from_pairs else found


def _ps(time: str) -> int:
    return int(parse_quantity(time, KINDS["time"]))


def _messages_per_s(result: Result) -> float:
    """What came a second: requests, messages, or else packets."""
    if result.messages:
        return result.messages.delivered_per_s
    asked = sum(flow.transactions_per_s or 0 for flow in result.flows)
    return asked or sum(port.rx_packets_per_s + port.tx_packets_per_s for port in result.ports)


def _simulate(
    asked: Iterable[Member],
    known: dict[Member, Result],
    phase: str,
    *,
    jobs: int | None,
    progress: Progress,
    store: Store | None,
) -> None:
    """Simulate what is not `known`, which gets the results."""

    def report(done: int, total: int, _phase: str = "") -> None:
        progress(done, total, phase)

    work = [member for member in asked if member not in known]
    if work:
        mixed = _mixed(work)
        done = simulate_all(mixed, jobs=jobs, progress=report, store=store)
        found = dict(zip(mixed, done, strict=True))
        known.update((member, found[member]) for member in work)


def _mixed(work: Sequence[Member]) -> list[Member]:
    """Long and short runs evenly among each other: the first ones tell how long the rest takes."""
    groups: dict[tuple[str | None, str | None], list[Member]] = {}
    for member in work:
        groups.setdefault((member.duration, member.warm_up), []).append(member)
    places = [
        (number / len(group), member)
        for group in groups.values()
        for number, member in enumerate(group)
    ]
    return [member for _, member in sorted(places, key=lambda one: one[0])]


def fingerprint(results: Iterable[Result]) -> str:
    """32 hexadecimal digits that depend on every result."""
    return fingerprint_of(result.fingerprint for result in results)


def fingerprint_of(fingerprints: Iterable[str]) -> str:
    """The same of their fingerprints."""
    text = " ".join(fingerprints)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
