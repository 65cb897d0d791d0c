"""A host of one's own, from its files: `simnet.import_host`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.errors import InputError
from simnet.importing.bounded import bounded
from simnet.importing.source import read_live, read_source
from simnet.importing.writing.folder_out import Imported, imported
from simnet.importing.writing.workload import WORKLOADS
from simnet.scenario.core.library import nearest

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["import_host"]


def import_host(source: str | Path | None = None, *, workload: str | None = None) -> Imported:
    """Return models and a scenario of a real host; `write` puts them into a folder.

    Args:
        source: a sosreport, a snapshot of /proc and /sys, or outputs of commands, as a folder or
            a tar archive; None for this machine.
        workload: `stream`, `rr` or `memcached`; None for one that resembles what the files show.

    Raises:
        InputError: the files cannot be read or say too little, take more processor time than an
            import may, or there is no such workload.
    """
    if workload is not None and workload not in WORKLOADS:
        guess = nearest(workload, WORKLOADS) or f": expected one of {', '.join(WORKLOADS)}"
        raise InputError(f"unknown workload {workload!r}{guess}", key="workload")
    with bounded("this machine" if source is None else str(source)):
        return imported(read_live() if source is None else read_source(str(source)), workload)
