"""The daemon that places interrupts."""

from __future__ import annotations

from simnet.scenario.core.subject import Part, Subject
from simnet.scenario.parts.irqbalance.schema import Balancer

__all__ = ["SUBJECT"]

SUBJECT = Subject(
    "irqbalance",
    parts=(Part("balancer", Balancer, prefix="irqbalance", order=160),),
)
