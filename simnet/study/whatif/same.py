"""Whether runs with a tuning are to the last bit what they are without it, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from simnet.scenario.commands.commands import changed_knobs
from simnet.scenario.core.knobs import UNREAD, knob_of
from simnet.scenario.core.section import reads
from simnet.scenario.core.subject import subjects
from simnet.scenario.core.unread import NOT_READ, WITH_THIS_LOAD
from simnet.scenario.system.build import build

if TYPE_CHECKING:
    from simnet.scenario.commands.commands import ChangedKnob
    from simnet.scenario.core.effective import Effective
    from simnet.scenario.core.section import Reads
    from simnet.study.run.result import Result

AS_IT_IS: Final = "that is how the system is already"
OTHER_LOAD: Final = "this load does not do what this host's files show"
_NOT_USED: Final = "nothing in these runs made use of it"


def same(before: Sequence[Result], after: Sequence[Result]) -> bool:
    """Whether runs with and without a tuning did the same to the last bit."""
    pairs = list(zip(before, after, strict=True))
    return bool(pairs) and all(_did(was) == _did(now) for was, now in pairs)


def _did(result: Result) -> tuple[Any, ...]:
    return result.cpus, result.ports, result.flows, result.work, result.drops, result.jobs


def why_same(base: Effective, tuned: Sequence[Effective]) -> str:
    """Why none of some tuned configurations does anything else than the base, as far as is known.

    A remark of theirs says so, or a subject, or nothing that makes the system reads what they set.
    """
    remarks = [text for one in tuned for text in one.remarks if text not in base.remarks]
    if remarks:
        return remarks[0].partition(": ")[2] or remarks[0]
    if all(values_read(one) == values_read(base) for one in tuned):
        return AS_IT_IS
    said = [text for one in tuned for text in _of_subjects(base, one)]
    if said:
        return said[0]
    return _NOT_USED if any(is_read(base, one) for one in tuned) else NOT_READ


def of_this_load(why: str) -> bool:
    """Whether a reason of `why_same` is one of the load, and another load may be no reason."""
    return why in {_NOT_USED, NOT_READ} or why.startswith(WITH_THIS_LOAD)


def values_read(effective: Effective) -> Any:
    """Return the values that a simulation reads."""

    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: without(v) for k, v in value.items() if k not in UNREAD}
        return [without(item) for item in value] if isinstance(value, list) else value

    return without(effective.model_dump(mode="json", exclude={"run"}))


def unexplained(base: Effective, tuned: Sequence[Effective]) -> str:
    """What of it the host's files show though a load made no use of a knob; empty if nothing."""
    changed = [one for side in tuned for one in changed_knobs(base, side) if not one.on_peers]
    shown = [
        text
        for name, text in base.unexplained.items()
        if any(_sets_the_same(name, one) for one in changed)
    ]
    return f"{OTHER_LOAD}: {shown[0]}" if shown else ""


def _sets_the_same(name: str, changed: ChangedKnob) -> bool:
    """Whether a knob's name is of what a change sets, maybe for all queues or by another form."""
    found = knob_of(name)
    if found is None:
        return False
    knob, parts = found
    places = [(one.scope, one.target or one.name) for one in (knob, changed.knob)]
    return places[0] == places[1] and all(
        p in {"*", changed.parts.get(of)} for of, p in parts.items()
    )


def _of_subjects(base: Effective, tuned: Effective) -> Iterator[str]:
    for subject in subjects():
        found: Iterable[str] = subject.same(base, tuned)
        yield from found


def is_read(base: Effective, tuned: Effective) -> bool:
    """Whether the builder of the system reads a knob that differs; True where that is not known."""
    changed = changed_knobs(base, tuned)
    if not changed:
        return True
    effective, read = _read_by(_Base(base.digest(), base))
    nic = effective.ports[0].nic if effective.ports else None
    sections = {"kernel": effective.kernel, "nic": nic}
    places = [(sections.get(one.knob.scope), one.knob.target) for one in changed]
    return any(section is None or read.had(section, target) for section, target in places)


@dataclass(frozen=True)
class _Base:
    """A configuration that is known by its digest."""

    digest: str
    effective: Effective = field(compare=False)


@lru_cache(maxsize=1)
def _read_by(base: _Base) -> tuple[Effective, Reads]:
    """A configuration, and what the builder of its system reads of it."""
    effective = base.effective
    with reads() as found:
        build(effective, seed=effective.run.seed)
    return effective, found
