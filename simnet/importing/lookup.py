"""Which of our models is nearest to what was read: of a processor, a kernel, a NIC.

What is taken from another model is assumed, and its costs get a range twice as wide to either side
as the value: nobody has measured them on this processor.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final

from simnet.scenario.core.library import find_model, model_names, read_model
from simnet.scenario.parts.nic.schema import Nic

__all__ = ["nearest_cpu", "nearest_kernel", "nearest_nic", "release_of"]

_ANY_NIC: Final = "mellanox-connectx-5"
# networks inside of one host
_VIRTUAL: Final = ("hypervisor", "bridge")
_RELEASE: Final = re.compile(r"\d+")


def nearest_cpu(description: str) -> str:
    """Return the model of the processor nearest in family to what a host calls its own."""
    fits = [
        (distance, name)
        for name in model_names("cpu")
        for distance, pattern in enumerate(_form("cpu", name).stands_for)
        if re.search(pattern.pattern, description, re.IGNORECASE)
    ]
    return min(fits)[1]


def release_of(version: str) -> tuple[int, ...]:
    """Return a kernel's version as numbers, of `5.14.0-362.el9` (5, 14, 0)."""
    return tuple(int(number) for number in _RELEASE.findall(version.partition("-")[0])[:3])


def nearest_kernel(version: str) -> str:
    """Return the model of the last Linux that is not later, or of the first that there is."""
    wanted = release_of(version)
    known = {
        name: release_of(name.removeprefix("linux-"))
        for name in model_names("kernel")
        if name.startswith("linux-")
    }
    earlier = [name for name in known if known[name][:2] <= wanted[:2]]
    if not earlier:
        return min(known, key=lambda name: known[name])
    return max(earlier, key=lambda name: (known[name], -len(name)))


def nearest_nic(driver: str, *, guest: bool = False) -> tuple[str, bool]:
    """Return the first NIC's model of a driver, and whether there is one; else that of another.

    Args:
        driver: as ethtool names it.
        guest: the devices of guests count, too.
    """
    # the kernel's module of mlx5
    wanted = driver.removesuffix("_core")
    known = _of_drivers(guest=guest)
    return known.get(wanted, _ANY_NIC), wanted in known


@cache
def _of_drivers(*, guest: bool) -> dict[str, str]:
    left_out = _VIRTUAL[: 1 if guest else None]
    found: dict[str, str] = {}
    for name in model_names("nic"):
        driver = _form("nic", name).driver
        if Nic.variants()[driver].network not in left_out:
            found.setdefault(driver, name)
    return found


def _form(kind: str, name: str) -> Any:
    return read_model(kind, find_model(kind, name))[0]
