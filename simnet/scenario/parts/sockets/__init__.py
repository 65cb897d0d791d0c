"""Sockets and routes."""

from simnet.scenario.core.subject import HostPart, Subject, late
from simnet.scenario.parts.sockets.schema import Application

SUBJECT = Subject(
    "sockets",
    order=110,
    adds={"kernel": late("sockets.schema:SocketsKernel")},
    host_parts=(HostPart("application", Application, order=20),),
    knobs=late("sockets.knobs:SOCKETS"),
    idle=late("sockets.idle:idle"),
    unused=late("sockets.idle:unused"),
)
