"""A host: machine, ports, sockets."""

from __future__ import annotations

from simnet.scenario.core.subject import ModelFiles, Subject, late
from simnet.scenario.parts.host.schema import Cpu, Kernel, Server

__all__ = ["SUBJECT"]

SUBJECT = Subject(
    "host",
    order=120,
    models=(
        ModelFiles("cpu", "cpus", Cpu, order=10),
        ModelFiles("server", "servers", Server, order=20),
        ModelFiles("kernel", "kernels", Kernel, order=60),
    ),
    unread=(
        "tcp_app_win",
        "prequeue_timer_ps",
    ),
    knobs=late("host.knobs:CONSTANTS"),
    lifts=late("host.lift:LIFTS"),
)
