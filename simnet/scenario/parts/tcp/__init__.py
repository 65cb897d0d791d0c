"""TCP."""

from __future__ import annotations

from simnet.scenario.core.subject import Subject, late

__all__ = ["SUBJECT"]

SUBJECT = Subject(
    "tcp",
    order=90,
    knobs=late("tcp.knobs:SYSCTLS"),
    check_host=late("tcp.checks:check_tcp"),
    columns=late("tcp.columns:COLUMNS"),
    lifts=late("tcp.lift:LIFTS"),
)
