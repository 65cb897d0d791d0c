"""Build what serves a file system's clients."""

from simnet.errors import InputError
from simnet.kernel.simulator import Simulator
from simnet.scenario.core.effective import Effective
from simnet.scenario.parts.nsd.build_servers import cluster_model
from simnet.storage.disk.model import DiskModel
from simnet.storage.nsd.cluster import NsdCluster


def make_cluster(sim: Simulator, effective: Effective, *, clients: int, seed: int) -> NsdCluster:
    """Make servers, disks and network of a file system.

    Args:
        sim: the simulation.
        effective: the configuration; it has `lpars`, `scale`, `storage` and what that has.
        clients: how many use it.
        seed: of its random streams.

    Raises:
        InputError: disks too small for their vdisks.
    """
    lpars, scale = effective.lpars, effective.scale
    storage, filesystem = effective.storage, effective.filesystem
    disk, log_disk = effective.disk, effective.log_disk
    if not (lpars and scale and storage and filesystem and disk and log_disk):
        raise LookupError("storage")
    try:
        model = cluster_model(
            storage,
            filesystem,
            effective.lan,
            lpars,
            (DiskModel(**disk.model_dump()), DiskModel(**log_disk.model_dump())),
            clients=clients,
            block_bytes=scale.block_bytes,
        )
        cluster = NsdCluster(sim, "storage", model, seed)
    except ValueError as error:
        raise InputError(str(error), key="system.storage") from error
    for number in range(effective.workload.failed_disks):
        cluster.fail_disk(
            number % storage.servers,
            0,
            number // storage.servers,
            rebuild=filesystem.nsd_raid_reconstruct_aggressiveness,
        )
    return cluster
