"""The parts of a scenario's storage, for ``simnet show``; by the names that ``--set`` takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simnet.scenario.core.effective import Effective


def storage_places(configuration: Effective) -> Iterator[tuple[str, str, str]]:
    """Yield title, dotted path and prefix of the names, of each part that there is."""
    if configuration.vscsi:
        yield "virtual SCSI", "vscsi", "vscsi."
    for number, group in enumerate(configuration.ffsb):
        yield f"ffsb: {group.name} on {group.disk}", f"ffsb[{number}]", f"ffsb.{group.name}."
    hosts = [("host", "", configuration.host)]
    hosts += [(f"peers[{n}]", "peer:", peer) for n, peer in enumerate(configuration.peers)]
    for place, prefix, host in hosts:
        whose = f"peer {place[6:-1]}, " if prefix else ""
        for number, disk in enumerate(host.disks):
            here = f"{place}.disks[{number}]"
            if model := configuration.models.get(f"{here}.disk"):
                yield f"{whose}disk {disk.name}: {model}", f"{here}.disk", f"{prefix}disk."
            on = f", on {disk.backing}" if disk.backing else ""
            yield f"{whose}queue of {disk.name}{on}", f"{here}.queue", f"{prefix}{disk.name}."
            for row, part in enumerate(disk.partitions):
                title = f"{whose}partition {part.name}"
                yield title, f"{here}.partitions[{row}]", f"{prefix}{part.name}."
