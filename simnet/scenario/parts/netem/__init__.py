"""The way between two hosts: delay, loss, a bottleneck and its queue."""

from simnet.scenario.core.subject import Part, Subject, late
from simnet.scenario.parts.netem.schema import Bottleneck, Netem

SUBJECT = Subject(
    "netem",
    parts=(
        Part(
            "netem",
            Netem,
            key="netem",
            doc="what lies between the hosts, by the names of tc-netem(8)",
            always=True,
            order=155,
        ),
        Part(
            "netem_to_system",
            Netem,
            key="netem_to_system",
            doc="what lies on the way to the system alone, in place of netem's values, once any is"
            " set here",
            always=True,
            order=156,
        ),
        Part(
            "bottleneck",
            Bottleneck,
            key="bottleneck",
            doc="the queue before the bottleneck of each way that has one (netem.rate)",
            always=True,
            order=157,
        ),
    ),
    check=late("netem.checks:check_bottleneck"),
    idle=late("netem.checks:idle"),
    delayed_actions=late("netem.build:delayed_actions"),
    columns=late("netem.columns:COLUMNS"),
)
