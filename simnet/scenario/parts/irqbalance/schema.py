"""Which daemon places interrupts, and with what options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from simnet.scenario.core.knob import CpuMask
from simnet.scenario.core.parameter import Value
from simnet.scenario.core.section import Section
from simnet.scenario.core.specs import Choice, Flag, count

__all__ = ["Balancer", "BannedCpus"]


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
