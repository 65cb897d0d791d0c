"""Settings that nothing reads in a configuration: those of another mode, test or workload.

Each subject says which those are, and why (`Subject.idle`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simnet.scenario.core.knobs import KNOBS, UNREAD
from simnet.scenario.core.schema import spec_of
from simnet.scenario.core.subject import subjects

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from simnet.scenario.core.effective import Effective
    from simnet.scenario.core.section import Reads
    from simnet.scenario.core.tree import Entry

__all__ = ["idle_settings", "unread_settings"]

# read before a system is built: how large a buffer can be, and which queues there are
_READ_BEFORE: Final = frozenset({"sb_max_bytes", "rps", "xps", "irq_suspend"})
_UNREAD_HERE: Final = "has no effect in this scenario: nothing of this system reads it"


def idle_settings(effective: Effective, origins: Mapping[str, Entry]) -> Iterator[str]:
    """Yield a line for each setting of which no place is read.

    Args:
        effective: the configuration.
        origins: the setting behind a changed value, by dotted path.
    """
    if not origins:
        return
    why = {place: text for subject in subjects() for place, text in subject.idle(effective)}
    read: dict[str, bool] = {}
    reasons: dict[str, str] = {}
    for path, entry in origins.items():
        reason = next((why[place] for place in _within(path) if place in why), "")
        read[entry.name] = read.get(entry.name, False) or not reason
        reasons.setdefault(entry.name, reason)
    for name, reason in reasons.items():
        if not read[name]:
            yield f"{name}: has no effect in this scenario, because {reason}"


def unread_settings(effective: Effective, read: Reads) -> Iterator[str]:
    """Yield a line for each setting that was made for a run, and that its system is built without.

    Of sysctls, and of the workload where that is no streams: those are laid out before.

    Args:
        effective: the configuration.
        read: what the builder of the system read.
    """
    for knob in KNOBS:
        of_kernel = knob.scope == "kernel" and knob.system == effective.kernel.system
        if not of_kernel or knob.compile_time or knob.target in UNREAD | _READ_BEFORE:
            continue
        value = effective.provenance.get(f"host.kernel.{knob.target}")
        given = value is not None and value.source == "--set"
        told = any(remark.startswith(knob.name) for remark in effective.remarks)
        if given and not told and not read.had(effective.kernel, knob.target):
            yield f"{knob.name}: {_UNREAD_HERE}"
    if effective.flows:
        return
    for name in type(effective.workload).model_fields:
        value = effective.provenance.get(f"workload.{name}")
        spec = spec_of(type(effective.workload), name)
        given = value is not None and value.source == "--set"
        if spec and given and not read.had(effective.workload, name):
            yield f"{spec.key(name)}: {_UNREAD_HERE}"


def _within(path: str) -> Iterator[str]:
    """Yield a dotted path and what it lies in."""
    while path:
        yield path
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
