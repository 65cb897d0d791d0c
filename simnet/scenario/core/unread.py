"""Settings that nothing reads in a configuration: those of another mode, test or workload.

Each subject says which those are, and why (`Subject.idle`, `Subject.unused`).
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Final

from simnet.scenario.core.knobs import KNOBS, UNREAD
from simnet.scenario.core.schema import spec_of
from simnet.scenario.core.section import Reads, reads
from simnet.scenario.core.subject import subjects

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager

    from simnet.scenario.core.effective import Effective
    from simnet.scenario.core.section import Section
    from simnet.scenario.core.tree import Entry

# read before a system is built: how large a buffer can be, which queues there are, the clock
_READ_BEFORE: Final = frozenset({"sb_max_bytes", "rps", "xps", "irq_suspend", "no_turbo", "boost"})
WITH_THIS_LOAD: Final = "has no effect with this load, because "
_HERE: Final = "has no effect in this scenario, because "
NOT_READ: Final = "nothing of this system reads it"


def idle_settings(effective: Effective, origins: Mapping[str, Entry]) -> Iterator[str]:
    """Yield a line for each setting of which no place is read.

    Args:
        effective: the configuration.
        origins: the setting behind a changed value, by dotted path.
    """
    if not origins:
        return
    why: dict[str, str] = {}
    for subject in subjects():
        why |= {place: f"{_HERE}{text}" for place, text in subject.idle(effective)}
        why |= {place: f"{WITH_THIS_LOAD}{text}" for place, text in subject.unused(effective)}
    read: dict[str, bool] = {}
    reasons: dict[str, str] = {}
    found = {"": ""}
    for path, entry in origins.items():
        reason = _reason(path, why, found)
        read[entry.name] = read.get(entry.name, False) or not reason
        reasons.setdefault(entry.name, reason)
    for name, reason in reasons.items():
        if not read[name]:
            yield f"{name}: {reason}"


def reads_of_settings(effective: Effective) -> AbstractContextManager[Reads]:
    """Take note of what is read meanwhile, if a line of `unread_settings` can come of it.

    To do so makes each value that the builder reads three times as dear.
    """
    return reads() if any(_candidates(effective)) else nullcontext(Reads())


def unread_settings(effective: Effective, read: Reads) -> Iterator[str]:
    """Yield a line for each setting that was made for a run, and that its system is built without.

    Of sysctls, and of the workload where that is no streams: those are laid out before.

    Args:
        effective: the configuration.
        read: what the builder of the system read.
    """
    for name, section, target in _candidates(effective):
        if not read.had(section, target):
            yield f"{name}: has no effect in this scenario: {NOT_READ}"


def _candidates(effective: Effective) -> Iterator[tuple[str, Section, str]]:
    """Yield settings that were made for a run: name as typed, and the attribute of a section."""
    for knob in KNOBS:
        of_kernel = knob.scope == "kernel" and knob.system == effective.kernel.system
        if not of_kernel or knob.compile_time or knob.target in UNREAD | _READ_BEFORE:
            continue
        if not _is_set(effective, f"host.kernel.{knob.target}"):
            continue
        if not any(remark.startswith(knob.name) for remark in effective.remarks):
            yield knob.name, effective.kernel, knob.target
    if effective.flows:
        return
    for name in type(effective.workload).model_fields:
        spec = spec_of(type(effective.workload), name)
        if spec and _is_set(effective, f"workload.{name}"):
            yield spec.key(name), effective.workload, name


def _is_set(effective: Effective, path: str) -> bool:
    value = effective.provenance.get(path)
    return value is not None and value.source == "--set"


def _reason(path: str, why: Mapping[str, str], found: dict[str, str]) -> str:
    """Return why nothing reads a place, or what it lies in; `found` has the reasons so far."""
    known = found.get(path)
    if known is None:
        outer = path[: max(path.rfind("."), path.rfind("["), 0)]
        known = found[path] = why[path] if path in why else _reason(outer, why, found)
    return known
