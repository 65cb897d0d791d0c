"""How what a tuning sets was ever compared with a measurement: a sentence beside its verdict.

The interval of a change holds how far off the model was for changes that were measured, and these
are of few settings (`compared`). Of one of which none was compared that is what others taught.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from simnet.printable import few
from simnet.scenario.core.effective import Effective
from simnet.study.validate.changes import KnownChange
from simnet.study.validate.compared import (
    Checked,
    checked,
    differing,
    part_of,
    parts_never_compared,
    parts_used,
)
from simnet.study.work.cases import Case

# groups of settings that a sentence has room for
_MOST: Final = 2


def how_checked(base: Case, tuned: Case, sides: Sequence[Effective]) -> str:
    """How changes of a tuning's settings were compared; empty where it sets nothing else.

    `sides` are the configurations of both cases.
    """
    names = sorted(differing(base, tuned))
    used = frozenset[str]().union(*map(parts_used, sides))
    never = [part for part in parts_never_compared() if part in used]
    return "; ".join(_clauses(names, never)) if names else ""


def _clauses(names: Sequence[str], never: Sequence[str]) -> Iterator[str]:
    together: dict[tuple[KnownChange, ...], list[str]] = {}
    for name in names:
        if name in checked():
            together.setdefault(checked()[name].changes, []).append(name)
    most = sorted(together, key=len, reverse=True)
    for changes in most[:_MOST]:
        yield _known(together[changes], checked()[together[changes][0]], names)
    unknown = [name for name in names if name not in checked()]
    if unknown:
        taken = "" if together else "; how far off it may be is taken from other settings"
        yield f"no measured change of {few(unknown)} was compared{taken}"
    if never and all(part_of(name) in never for name in names):
        yield f"this part of the path ({few(never)}) was never compared with a measurement"
    elif never:
        yield f"of the path {few(never)} was never compared with a measurement"


def _known(those: Sequence[str], one: Checked, names: Sequence[str]) -> str:
    count = len(one.changes)
    changes = f"{count} measured change{'s were' if count > 1 else ' was'} compared"
    beside = "" if one.alone(names) else ", always with other settings"
    off = f"off by a factor of {one.worst:.2f}"
    if count > 1:
        off = f"usually off by a factor of {one.usual:.2f}, at most {one.worst:.2f}"
    return f"of {few(those)} {changes}{beside}, {off}"
