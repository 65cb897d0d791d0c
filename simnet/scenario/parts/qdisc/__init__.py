"""What waits for a port's transmit rings."""

from simnet.scenario.core.subject import HostPart, Subject, late
from simnet.scenario.parts.qdisc.schema import Queueing

SUBJECT = Subject(
    "qdisc",
    order=105,
    host_parts=(HostPart("qdisc", Queueing, order=25),),
    knobs=late("qdisc.knobs:KNOBS"),
    check_host=late("qdisc.checks:check_queueing"),
)
