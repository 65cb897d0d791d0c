"""What a kernel was told of the IOMMU, and what mapping a buffer costs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

from simnet.scenario.core.specs import Choice, cycles, time
from simnet.scenario.parts.host.schema import Kernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from simnet.scenario.core.effective import Host

SWITCHES: Final = {"intel": "intel_iommu", "amd": "amd_iommu"}
"""The kernel's parameter that switches the IOMMU of a maker's processors, by its attribute."""
_ON: Final = ("off", "on")
_BITS: Final = ("0", "1")


class IommuKernel(Kernel):
    """How buffers are mapped for devices; they are not, unless it says otherwise."""

    intel_iommu: Annotated[str, Choice("intel_iommu at boot: the units of VT-d", _ON)] = "off"
    amd_iommu: Annotated[
        str, Choice("amd_iommu at boot: off; or on, as without that parameter", _ON)
    ] = "off"
    iommu_passthrough: Annotated[
        str, Choice("iommu.passthrough at boot, 1: devices use memory by its own addresses", _BITS)
    ] = "0"
    iommu_strict: Annotated[
        str, Choice("iommu.strict at boot, 1: each unmapping waits for the IOMMU", _BITS)
    ] = "0"
    iommu_map_cycles: Annotated[
        int, cycles("an address for a buffer, and its entry in the IOMMU's page table")
    ] = 0
    iommu_unmap_cycles: Annotated[
        int, cycles("clearing that, and giving the address back, without asking the unit")
    ] = 0
    iommu_answer_ps: Annotated[
        int, time("from asking the IOMMU to forget to its answer", "0 us", "1 ms")
    ] = 0


COSTS: Final = ("iommu_map_cycles", "iommu_unmap_cycles", "iommu_answer_ps")


def translates(host: Host) -> bool:
    """Whether buffers are mapped on a host."""
    return maps(host.cpu.vendor, partial(getattr, host.kernel))


def maps(vendor: str, value: Callable[[str], object]) -> bool:
    """Whether a kernel maps buffers.

    Args:
        vendor: of the processor.
        value: what the kernel was told, by attribute.
    """
    switch = SWITCHES.get(vendor, "")
    return bool(switch) and value(switch) == "on" and value("iommu_passthrough") == "0"
