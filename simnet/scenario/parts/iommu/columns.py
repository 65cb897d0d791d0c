"""What was mapped for each device of the system, and what was asked of its IOMMU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pydantic import Field

from simnet.rows import Count, Row
from simnet.scenario.core.subject import Column, Measure
from simnet.time_units import PS_PER_US

if TYPE_CHECKING:
    from simnet.scenario.system.ground import Ground
    from simnet.scenario.system.system import Snapshot


class IommuUse(Row):
    """A device whose buffers are mapped; the first two as tracepoints of the kernel name them."""

    name: str = Field(description="the device")
    map: Count = Field(description="iommu:map, buffers mapped")
    unmap: Count = Field(description="iommu:unmap, buffers unmapped")
    flush: Count = Field(description="invalidations of all that the device has (flush queue)")
    invalidate: Count = Field(description="requests to its unit, by all devices behind that")
    waited_us: Count = Field(description="time in which CPUs waited for the requests of others")


def equip(ground: Ground) -> None:
    """Have the counters of the system's domains read."""
    domains = ground.machine.domains
    if domains:
        ground.counters["iommu"] = lambda: {
            name: domain.counters() for name, domain in domains.items()
        }


def _rows(start: Snapshot, end: Snapshot) -> tuple[IommuUse, ...]:
    before: dict[str, Any] = start.more.get("iommu", {})
    found = []
    for name, last in end.more.get("iommu", {}).items():
        more = {key: value - before[name][key] for key, value in last.items()}
        more["waited_us"] = more.pop("waited_ps") // PS_PER_US
        found.append(IommuUse(name=name, **more))
    return tuple(found)


def _waited(result: Any) -> float | None:
    rows: tuple[IommuUse, ...] = result.iommu
    return float(max((row.waited_us for row in rows), default=0)) if rows else None


COLUMNS: Final = (
    Column(
        "iommu",
        tuple[IommuUse, ...],
        "one entry a device whose buffers are mapped by the IOMMU",
        _rows,
        table=True,
        measures={"iommu_waited_us": Measure("waited for the IOMMU (us)", "iommu us", _waited)},
        order=13,
    ),
)
