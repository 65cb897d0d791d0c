"""The cluster of the Spectrum Scale document by itself, without jobs on it."""

from simnet.scenario.core.library import read_section
from simnet.scenario.parts.disks.build import disk_model
from simnet.scenario.parts.network.schema import Switch
from simnet.scenario.parts.nsd.build_servers import cluster_model
from simnet.scenario.parts.nsd.schema import Filesystem, Storage
from simnet.scenario.parts.scale.schema import Lpars
from simnet.storage.nsd.model import ClusterModel


def ess(block_bytes: int, clients: int, *, rate_bps: int = 40 * 10**9) -> ClusterModel:
    """The cluster of the document with so many clients, all ports of one rate.

    For notebooks and tests; a scenario says what differs.
    """
    rate = {"link_rate_bps": rate_bps}
    storage = read_section(Storage, "storage", "ess-gl4").model_copy(update=rate)
    return cluster_model(
        storage,
        read_section(Filesystem, "filesystem", "gnr-8-2p"),
        read_section(Switch, "switch", "mellanox-sx1710").model_copy(update=rate),
        read_section(Lpars, "lpars", "ess-clients"),
        (disk_model(storage.disk), disk_model(storage.log_disk)),
        clients=clients,
        block_bytes=block_bytes,
    )
