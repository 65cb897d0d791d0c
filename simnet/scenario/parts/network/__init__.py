"""Paths of a network."""

from __future__ import annotations

from simnet.scenario.core.subject import ModelFiles, Subject
from simnet.scenario.parts.network.schema import Switch

__all__ = ["SUBJECT"]

SUBJECT = Subject(
    "network",
    models=(ModelFiles("switch", "switches", Switch, order=40),),
)
