"""A host of one's own, from its files; `simnet.import_host` adds what hurts it."""

from collections.abc import Sequence
from pathlib import Path, PurePath

from simnet.errors import InputError
from simnet.host.cpulist import MOST_CPUS
from simnet.importing.bounded import bounded
from simnet.importing.source import read_live, read_sources
from simnet.importing.writing.folder_out import HEALTHY, PEERS, Imported, imported
from simnet.importing.writing.workload import WORKLOADS
from simnet.spelling import nearest_or_all


def import_host(
    source: str | Path | Sequence[str | Path] | None = None,
    *,
    workload: str | None = None,
    cpus: int | None = None,
    peer: str = HEALTHY,
) -> Imported:
    """Return models and a scenario of a real host, without what hurts it; see `simnet.import_host`.

    Raises:
        InputError: the files cannot be read or say nothing, take more processor time than an
            import may, or there is no such workload.
    """
    if workload is not None and workload not in WORKLOADS:
        guess = nearest_or_all(workload, WORKLOADS)
        raise InputError(f"unknown workload {workload!r}{guess}", key="workload")
    if peer not in PEERS:
        raise InputError(f"unknown peer {peer!r}: expected one of {', '.join(PEERS)}", key="peer")
    if cpus is not None and not 0 < cpus <= MOST_CPUS:
        raise InputError(f"expected 1 to {MOST_CPUS} CPUs, got {cpus}", key="cpus")
    several = not (source is None or isinstance(source, str | PurePath))
    names = [str(one) for one in source] if several else [str(source)]  # type: ignore[union-attr]
    if not names:
        raise InputError("expected a folder, a tar archive or a file", key="source")
    with bounded("this machine" if source is None else names[0]):
        host = read_live() if source is None else read_sources(names, cpus)
        return imported(host, workload, peer)
