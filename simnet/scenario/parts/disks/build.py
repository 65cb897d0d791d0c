"""From a model in `models/disks/` to the disk that it describes."""

from simnet.kernel.simulator import Simulator
from simnet.scenario.core.library import read_section
from simnet.scenario.parts.disks.schema import Disk as DiskSection
from simnet.storage.disk.disk import Disk
from simnet.storage.disk.flash import FlashDisk
from simnet.storage.disk.model import DiskModel
from simnet.storage.disk.nvme import NvmeDrive


def disk_model(name: str) -> DiskModel:
    """Return a model that comes with simnet, or that of a file.

    Args:
        name: as in `simnet list`, or a path that ends with ``.toml``.

    Raises:
        InputError: no such model, or it breaks the schema.
    """
    return DiskModel(**read_section(DiskSection, "disk", name).model_dump())


def make_disk(sim: Simulator, path: str, model: DiskModel) -> Disk | FlashDisk | NvmeDrive:
    """Return a disk of this model.

    Raises:
        ValueError: values that no such disk has, as a seek curve that falls.
    """
    if model.queues:
        return NvmeDrive(sim, path, model)
    return FlashDisk(sim, path, model) if model.medium == "flash" else Disk(sim, path, model)
