"""The daemon that places interrupts."""

from __future__ import annotations

from simnet.scenario.core.subject import Part, Subject, late
from simnet.scenario.parts.irqbalance.schema import Balancer

__all__ = ["SUBJECT"]

SUBJECT = Subject(
    "irqbalance",
    parts=(Part("balancer", Balancer, prefix="irqbalance", order=160),),
    same=late("irqbalance.same:same"),
)
