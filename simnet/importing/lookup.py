"""Which of our models is nearest to what was read: of a processor, a kernel, a NIC.

What is taken from another model is assumed, and its costs get a range twice as wide to either side
as the value: nobody has measured them on this processor.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final

from simnet.scenario.core.library import find_model, model_names, read_model

__all__ = ["nearest_cpu", "nearest_kernel", "nearest_nic", "release_of"]

# by what /proc/cpuinfo calls the processor; the first that fits
_CPUS: Final = (
    (r"E5504", "intel-xeon-e5504"),
    (r"XEON MP|Xeon\(TM\) CPU", "intel-xeon-7040"),
    (r"EPYC|Ryzen|AuthenticAMD|HygonGenuine", "amd-epyc-7662"),
    (r"POWER5", "ibm-power5-1650"),
    (r"POWER|IBM/S390|PPC", "ibm-power8-4356"),
    (r"Xeon|Core|GenuineIntel", "intel-xeon-gold-6128"),
    (r"", "intel-xeon-gold-6128"),
)
_FALLBACK: Final = "intel-xeon-e5504"
_ANY_NIC: Final = "mellanox-connectx-5"
_RELEASE: Final = re.compile(r"\d+")


def nearest_cpu(description: str) -> str:
    """Return the model of the processor nearest in family to what a host calls its own."""
    for pattern, name in _CPUS:
        if re.search(pattern, description, re.IGNORECASE) and name in model_names("cpu"):
            return name
    return _FALLBACK


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


def nearest_nic(driver: str) -> tuple[str, bool]:
    """Return the first NIC's model of a driver, and whether there is one; else that of another."""
    # the kernel's module of mlx5
    wanted = driver.removesuffix("_core")
    return _of_drivers().get(wanted, _ANY_NIC), wanted in _of_drivers()


@cache
def _of_drivers() -> dict[str, str]:
    found: dict[str, str] = {}
    for name in model_names("nic"):
        form: Any = read_model("nic", find_model("nic", name))[0]
        found.setdefault(form.driver, name)
    return found
