"""A host: machine, ports, sockets."""

from simnet.scenario.core.subject import HostPart, ModelFiles, Subject, late
from simnet.scenario.parts.host.schema import Cpu, Kernel, Machine, Server

SUBJECT = Subject(
    "host",
    order=120,
    models=(
        ModelFiles("cpu", "cpus", Cpu, order=10),
        ModelFiles("server", "servers", Server, order=20),
        ModelFiles("kernel", "kernels", Kernel, order=60),
    ),
    host_parts=(
        HostPart("machine", Machine, kind="server", order=1),
        HostPart("cpu", Cpu, kind="cpu", named_by="machine", order=2),
        HostPart("kernel", Kernel, kind="kernel", order=3),
    ),
    knobs=late("host.knobs:CONSTANTS"),
    steps=late("host.checks:Machines"),
    lifts=late("host.lift:LIFTS"),
)
