"""How far off predictions of changes were, and so how far off the next one may be.

A change is known where two measured numbers are of configurations that differ in one thing (their
ids in one part, or in one of the names that a plus puts together), or where the number was measured
as a ratio or as a gain. Each side was predicted with its configuration left out of the fit
(`residuals`), or predicted and frozen before a recorder measured it (`Document.recorded`); of
systems of which neither is known, before one of the two numbers was (`predictions`).

The discrepancy has two parts, both logarithms of factors. The *least* is what changes were off of
which little was predicted, less than a tenth: effects that the model does not have show there. What
larger changes were off beyond that counts as a *part* of what was predicted. Each part is the size
that one more stays below with a probability of 95 % (`intervals.quantile`), learned from changes of
the same sort: of a setting, of the load, or of hardware. The least is of the same kind of quantity,
too. Fewer than 8 are pooled: with the kind's family (CPU time, storage, or all else), then with all
kinds, then with all sorts.
"""

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Final, Literal

from simnet.study.validate.document import Sort, documents, kind_of, sort_of
from simnet.study.validate.intervals import ENOUGH, quantile
from simnet.study.validate.kinds import family, log_factor
from simnet.study.validate.measurements import measurements
from simnet.study.validate.predictions import predictions
from simnet.study.validate.residuals import Residual, residuals

_CHANGES: Final = frozenset({"ratio", "gain"})
# what a configuration is called to which nothing was added
_NOTHING: Final = "none"
# as a logarithm: what is predicted of less says more of what is missing than of what is there
_SMALL: Final = 0.1


@dataclass(frozen=True)
class KnownChange:
    """A change that was predicted and measured."""

    # its sides; the same where a number itself is a ratio or a gain
    before: Residual
    after: Residual
    sort: Sort  # of what differs
    # the change, as the logarithm of a factor
    measured: float
    predicted: float

    @property
    def system(self) -> str:
        """The system that was measured: the first part of the ids."""
        return self.before.id.partition(".")[0]

    @property
    def kind(self) -> str:
        """Of the quantity."""
        return self.before.kind

    @property
    def configurations(self) -> frozenset[str]:
        """Those of its sides."""
        return frozenset({self.before.configuration, self.after.configuration})

    @property
    def looked_at(self) -> bool:
        """Whether a side was known while mechanisms were chosen."""
        return self.before.looked_at or self.after.looked_at

    @property
    def off(self) -> float:
        """How far the prediction was off."""
        return abs(self.measured - self.predicted)


@dataclass(frozen=True)
class Discrepancy:
    """How far off the model itself is for a change: see this module's docstring."""

    least: float = 0.0
    part: float = 0.0

    def of(self, change: float) -> float:
        """By how much a change may be off, both as logarithms."""
        return self.least + self.part * abs(change)


def discrepancy_of_changes(
    known: Sequence[KnownChange], kind: str, sort: Sort | Literal[""] = "setting"
) -> Discrepancy:
    """Learn how far off the model is for a change.

    Args:
        known: what it is learned from.
        kind: of the quantity.
        sort: of what differs; empty where that is not known.
    """
    alike: tuple[Callable[[KnownChange], bool], ...] = (
        lambda one: one.kind == kind,
        lambda one: family(one.kind) == family(kind),
        lambda _: True,
    )
    same = [one for one in known if sort in {"", one.sort}]
    small = [[one for one in group if abs(one.predicted) <= _SMALL] for group in (same, known)]
    pools = [[one for one in small[0] if is_alike(one)] for is_alike in alike]
    least = quantile([one.off for one in _enough((*pools, small[1]))])
    large = [[one for one in group if abs(one.predicted) > _SMALL] for group in (same, known)]
    beyond = [max(one.off - least, 0.0) / abs(one.predicted) for one in _enough(large)]
    return Discrepancy(least, quantile(beyond))


def _enough(pools: Sequence[Sequence[KnownChange]]) -> Sequence[KnownChange]:
    """The first pool from which a quantile is taken."""
    return next((pool for pool in pools if len(pool) >= ENOUGH), pools[-1])


@cache
def known_changes() -> tuple[KnownChange, ...]:
    """All that are known, of all documents."""
    recorded = (number for document in documents() for number in document.recorded())
    left_out = tuple(_left_out((*residuals(), *recorded)))
    systems = {one.system for one in left_out}
    return (*left_out, *_frozen(systems))


def _left_out(known: Sequence[Residual]) -> Iterator[KnownChange]:
    for one in known:
        if one.kind in _CHANGES:
            base = 1.0 if one.kind == "ratio" else 0.0
            measured, predicted = (
                log_factor(value, base, one.kind) for value in (one.measured, one.left_out)
            )
            yield KnownChange(one, one, sort_of(one.id, one.id), measured, predicted)
    pairs = combinations((one for one in known if one.kind not in _CHANGES), 2)
    for before, after in pairs:
        if before.key == after.key and _differ_in_one(before.id, after.id):
            yield _between(before, after)


def _frozen(systems: Container[str]) -> Iterator[KnownChange]:
    """Changes of other systems, of what the newest file says of both sides."""
    sides: dict[tuple[str, str], Residual] = {}
    blind = set()
    for frozen in predictions().values():
        for row in frozen.rows:
            one = measurements().get(row.id)
            if one is None or row.key not in one.value or row.id.partition(".")[0] in systems:
                continue
            if one.blind(row.key):
                blind.add((row.id, row.key))
            sides[row.id, row.key] = Residual(
                id=row.id, key=row.key, kind=kind_of(row.id, row.key), configuration=row.id,
                measured=one.value[row.key], fitted=row.predicted, left_out=row.predicted,
                looked_at=one.looked_at(row.key),
            )  # fmt: skip
    for (name, key), before in sides.items():
        for (other, others_key), after in sides.items():
            if key == others_key and _adds_one(name, other) and {(name, key), (other, key)} & blind:
                yield _between(before, after)


def _between(before: Residual, after: Residual) -> KnownChange:
    measured, predicted = (
        log_factor(now, was, before.kind)
        for now, was in ((after.measured, before.measured), (after.left_out, before.left_out))
    )
    return KnownChange(before, after, sort_of(before.id, after.id), measured, predicted)


def _differ_in_one(one: str, other: str) -> bool:
    parts = one.split("."), other.split(".")
    return len(parts[0]) == len(parts[1]) and sum(a != b for a, b in zip(*parts, strict=True)) == 1


def _adds_one(one: str, other: str) -> bool:
    """Whether the configuration of an id is that of another and one thing more."""
    (system, _, fewer), (same, _, more) = one.partition("."), other.partition(".")
    before, after = (frozenset(names.split("+")) - {_NOTHING} for names in (fewer, more))
    return system == same and before < after and len(after - before) == 1
