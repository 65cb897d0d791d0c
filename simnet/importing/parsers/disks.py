"""Disks and their schedulers: what lsblk printed, or `/sys/block`.

Source: lsblk(8); Documentation/block/queue-sysfs.rst of Linux.
"""

import json
import re
from collections.abc import Iterator
from typing import Final

from simnet.importing.evidence import Evidence
from simnet.importing.kind import Kind
from simnet.importing.parser import Parser

_BLOCK: Final = "sys/block"
_WORD: Final = re.compile(r"[\w!.:-]{1,32}")
# the one that is in use among those that there are
_SCHEDULER: Final = re.compile(r"\[([\w-]{1,32})\]")
_ROTATING: Final = {True: "rotating", "1": "rotating", False: "flash", "0": "flash"}
# ram, loop devices and optical drives are no disks
_NO_DISK: Final = re.compile(r"(?:ram|loop|sr|zram|dm-|md)\d")
_MOST: Final = 16


def _disks(evidence: Evidence) -> dict[str, list[str]]:
    """Return what is known of each disk, by its name."""
    told = evidence.outputs.one("lsblk -J")
    if told is not None:
        return _listed(told.text)
    files, found = evidence.files, {}
    for name in files.names(_BLOCK):
        if _is_disk(name):
            queue = f"{_BLOCK}/{name}/queue"
            rotating = _ROTATING.get((files.text(f"{queue}/rotational") or "").strip())
            scheduler = _SCHEDULER.search(files.text(f"{queue}/scheduler") or "")
            found[name] = [one for one in (rotating, scheduler and scheduler[1]) if one]
    return found


def _listed(text: str) -> dict[str, list[str]]:
    try:
        devices = json.loads(text)["blockdevices"]
    except (ValueError, RecursionError, KeyError, TypeError):
        return {}
    found = {}
    for one in devices if isinstance(devices, list) else ():
        name = one.get("name") if isinstance(one, dict) else None
        if isinstance(name, str) and _is_disk(name) and one.get("type") == "disk":
            rotating, scheduler = one.get("rota"), one.get("sched")
            known = _ROTATING.get(rotating) if isinstance(rotating, bool | str) else None
            words = (known, scheduler)
            found[name] = [one for one in words if isinstance(one, str) and _WORD.fullmatch(one)]
    return found


def _is_disk(name: str) -> bool:
    return _WORD.fullmatch(name) is not None and _NO_DISK.match(name) is None


def _notes(evidence: Evidence) -> Iterator[str]:
    disks = _disks(evidence)
    listed = [f"{name} ({', '.join(known)})" if known else name for name, known in disks.items()]
    if listed:
        more = f" and {len(listed) - _MOST} more" if len(listed) > _MOST else ""
        yield (
            f"disks {', '.join(listed[:_MOST])}{more}: read, not used; the scenario is of the"
            " network, nvme-local is one of a disk"
        )


PARSER: Final = Parser(
    kinds=(
        Kind(
            "lsblk -J",
            r'\{\s*"blockdevices"',
            command="lsblk -J -d -o NAME,TYPE,ROTA,SCHED",
            folder="block",
            also=("block/lsblk_-J", "block/lsblk_-J_-O"),
            live=True,
        ),
    ),
    trees=(f"{_BLOCK}/*/queue/rotational", f"{_BLOCK}/*/queue/scheduler"),
    notes=_notes,
)
