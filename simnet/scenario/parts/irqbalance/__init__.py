"""The daemon that places interrupts."""

from __future__ import annotations

from simnet.scenario.core.subject import Subject

__all__ = ["SUBJECT"]

SUBJECT = Subject("irqbalance")
