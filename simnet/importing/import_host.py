"""A host of one's own, from its files; `simnet.import_host` adds what hurts it."""

from collections.abc import Sequence
from pathlib import Path, PurePath

from simnet.errors import InputError
from simnet.host.cpulist import MOST_CPUS
from simnet.importing.bounded import bounded
from simnet.importing.source import Sources, read_live, read_sources
from simnet.importing.writing.folder_out import HEALTHY, PEERS, Imported, imported
from simnet.importing.writing.workload import WORKLOADS
from simnet.spelling import nearest_or_all


def import_host(
    source: str | Path | Sequence[str | Path] | Sources | None = None,
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
    sources = None if source is None else sources_of(source)
    with bounded("this machine" if sources is None else sources.names[0]):
        host = read_live() if sources is None else read_sources(sources, cpus)
        return imported(host, workload, peer)


def sources_of(source: str | Path | Sequence[str | Path] | Sources) -> Sources:
    """Return what a call of the API names.

    Raises:
        InputError: it is nothing.
    """
    if isinstance(source, Sources):
        return source
    names = [source] if isinstance(source, str | PurePath) else source
    if not names:
        raise InputError("expected a folder, a tar archive or a file", key="source")
    return Sources([str(one) for one in names])
