"""Jobs on a parallel file system."""

from __future__ import annotations

from simnet.scenario.core.subject import ModelFiles, Subject
from simnet.scenario.parts.sas.schema import SasMix

__all__ = ["SUBJECT"]

SUBJECT = Subject(
    "sas",
    models=(ModelFiles("workload", "workloads", SasMix, order=130),),
)
