"""From a model in `models/disks/` to the disk that it describes."""

from __future__ import annotations

from typing import Any, Final

from simnet.kernel.simulator import Simulator
from simnet.scenario.library import read_section
from simnet.scenario.schema_disk import Disk as DiskSection
from simnet.storage.disk import Disk
from simnet.storage.flash import FlashDisk
from simnet.storage.model import DiskModel

__all__ = ["disk_model", "faster", "make_disk"]

_RATES: Final = ("rpm", "outer_rate_bps", "inner_rate_bps", "bus_rate_bps")
_TIMES: Final = (
    "seek_track_ps",
    "seek_average_ps",
    "seek_full_ps",
    "write_settle_ps",
    "head_switch_ps",
    "command_overhead_ps",
    "flash_read_ps",
    "flash_program_ps",
)


def disk_model(name: str) -> DiskModel:
    """Return a model that comes with simnet, or that of a file.

    Args:
        name: as in `simnet list`, or a path that ends with ``.toml``.

    Raises:
        InputError: no such model, or it breaks the schema.
    """
    return DiskModel(**read_section(DiskSection, "disk", name).model_dump())


def faster(disk: DiskModel | DiskSection, permille: int) -> dict[str, Any]:
    """Return the values of a disk that does everything `permille`/1000 times as fast."""
    rates: dict[str, Any] = {name: getattr(disk, name) * permille // 1000 for name in _RATES}
    return rates | {name: getattr(disk, name) * 1000 // permille for name in _TIMES}


def make_disk(sim: Simulator, path: str, model: DiskModel) -> Disk | FlashDisk:
    """Return a disk of this model.

    Raises:
        ValueError: values that no such disk has, as a seek curve that falls.
    """
    return FlashDisk(sim, path, model) if model.medium == "flash" else Disk(sim, path, model)
