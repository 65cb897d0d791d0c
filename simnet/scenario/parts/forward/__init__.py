"""Forwarding: packets that a host routes or drops, which are for nobody on it."""

from simnet.scenario.core.subject import Part, Setup, Subject, late
from simnet.scenario.parts.forward.schema import Forward

SUBJECT = Subject(
    "forward",
    order=96,
    parts=(
        Part(
            "forward",
            Forward,
            key="forward",
            doc="packets, rules and routes, with test = forward",
            order=117,
            absent="the host forwards nothing here",
        ),
    ),
    knobs=late("forward.knobs:KNOBS"),
    setups=(
        Setup(
            late("forward.build:build"),
            types=("forward",),
            tests=("forward",),
            doc=", forward routes or drops what comes by the first port",
            load="media",
            rate="forward.rate",
            order=17,
        ),
    ),
    check=late("forward.checks:check_forward"),
    needs=late("forward.checks:needs"),
    columns=late("forward.columns:COLUMNS"),
    typed=late("forward.commands:typed"),
    idle=late("forward.checks:idle"),
)
