"""A container that takes datagrams: in the host's network, or behind a veth pair."""

from simnet.scenario.core.subject import Part, Subject, late
from simnet.scenario.parts.container.schema import Container

SUBJECT = Subject(
    "container",
    order=98,
    parts=(
        Part(
            "container",
            Container,
            key="container",
            doc="how datagrams come to a container, with test = udp_stream",
            order=119,
        ),
    ),
    knobs=late("container.knobs:KNOBS"),
    check=late("container.checks:check_container"),
    columns=late("container.columns:COLUMNS"),
    idle=late("container.checks:idle"),
)
