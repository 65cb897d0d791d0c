"""A host of one's own with what hurts it: `simnet.import_host`.

What the files show and no rate in them explains, such as packets that were lost in bursts, stands
in the scenario by the knobs that would help, as the rules have them. So a what-if of such a knob,
of which the simulated load makes no use, does not say that it makes no difference.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from simnet.diagnose.diagnosis import COUNTS, Finding, diagnose
from simnet.errors import InputError
from simnet.importing import import_host as importing
from simnet.importing.source import Sources
from simnet.importing.writing.folder_out import HEALTHY, Imported
from simnet.importing.writing.models import plain
from simnet.scenario.core.knobs import knob_of

_LONGEST: Final = 300


def import_host(
    source: str | Path | Sequence[str | Path] | Sources | None = None,
    *,
    workload: str | None = None,
    cpus: int | None = None,
    peer: str = HEALTHY,
) -> Imported:
    """Return models and a scenario of a real host; `write` puts them into a folder.

    Args:
        source: a sosreport, a snapshot of /proc and /sys, or outputs of commands, as a folder or
            a tar archive, one file, or several of these; None for this machine.
        workload: `stream`, `rr` or `memcached`; None for one that resembles what the files show.
        cpus: how many the host has, where no file says it.
        peer: `healthy` for a machine like the host with its interrupts spread; `same` for its twin.

    Raises:
        InputError: the files cannot be read or say nothing, take more processor time than an
            import may, or there is no such workload.
    """
    sources = None if source is None else importing.sources_of(source)
    found = importing.import_host(sources, workload=workload, cpus=cpus, peer=peer)
    if sources is None:
        return found
    try:
        findings = diagnose(sources).findings
    except InputError:  # more of it was read than a diagnosis may read
        return found
    return replace(found, unexplained=unexplained(findings))


def unexplained(findings: Iterable[Finding]) -> dict[str, str]:
    """Return what a host counts by the knobs that would help, the heaviest finding of each.

    How a host is set is no load: a simulation has that, too.
    """
    found: dict[str, str] = {}
    for one in findings:
        counted = one.hit.facts[0].kind in COUNTS and not one.rule.outside
        for knob in _knobs(one) if counted else ():
            found.setdefault(knob, plain(f"{one.title}: {one.hit.said}", _LONGEST))
    return found


def _knobs(one: Finding) -> Iterator[str]:
    for action in one.hit.actions:
        name = action.whatif.rpartition("=")[0]
        if knob_of(name) is not None:
            yield name
