"""Which daemon places interrupts, with what options, and where it has left them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from pydantic import BaseModel, Field

from simnet.scenario.core.knob import CpuMask
from simnet.scenario.core.parameter import ModelState, Value
from simnet.scenario.core.schema import FileTable, file_model
from simnet.scenario.core.section import Section
from simnet.scenario.core.specs import Choice, Flag, count


@dataclass(frozen=True)
class BannedCpus(CpuMask):
    """A set of CPUs as a hexadecimal mask, or 0 for none."""

    def parse(self, raw: Any) -> Value:
        """Return the CPUs, ascending; see :meth:`Spec.parse`."""
        return () if str(raw) in {"0", "0x0"} else super().parse(raw)

    def text(self, value: Any) -> str:
        """Return the mask in hexadecimal."""
        return super().text(value) or "0"


class Balancer(Section):
    """The daemon that is simulated with `map = "daemon"`."""

    daemon: Annotated[
        str,
        Choice(
            "who places interrupts: first-fit fills CPUs from 0 upwards, as SLES 10's daemon seems"
            " to; irqbalance 0.55 or 1.0 as published; hand is one queue per CPU, the busiest"
            " relieved every 10 s",
            ("first-fit", "0.55", "1.0", "hand"),
        ),
    ] = "first-fit"
    banned_cpus: Annotated[
        tuple[int, ...], BannedCpus("IRQBALANCE_BANNED_CPUS: mask of CPUs that get no interrupts")
    ] = ()
    oneshot: Annotated[bool, Flag("IRQBALANCE_ONESHOT: place interrupts once, then end")] = False
    powerthresh: Annotated[
        int,
        count("--powerthresh of 1.0: idle CPUs from which one is switched off; 0: never", 0, 4096),
    ] = 0


if TYPE_CHECKING:
    _BalancerTable: TypeAlias = BaseModel
else:
    _BalancerTable = file_model(Balancer, bare=True)


class IrqMap(FileTable):
    """Where the interrupts are while irqbalance runs: an smp_affinity mask per interrupt."""

    description: Annotated[str, Field(description="one line")]
    state: ModelState
    source: str
    smp_affinity: Annotated[
        dict[Annotated[str, Field(pattern=r"^[0-9]+$")], str],
        Field(description="hexadecimal CPU mask by interrupt number"),
    ]


class OtherDevices(FileTable):
    """Which CPUs serve other devices: timer, disk, USB. A simulated first-fit avoids them."""

    smp_affinity: Annotated[str, Field(description="hexadecimal CPU mask")]
    state: ModelState
    source: str


class IrqbalanceTable(_BalancerTable):
    """How a running irqbalance is represented: by where it leaves interrupts, or simulated."""

    map: Annotated[
        str,
        Field(
            description="a map below; daemon: simulate the daemon; none: where the kernel puts them"
        ),
    ] = "none"
    maps: dict[str, IrqMap] = Field(default={})
    other_devices: OtherDevices | None = None
