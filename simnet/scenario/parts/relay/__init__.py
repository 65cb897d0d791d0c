"""A relay of small messages."""

from simnet.scenario.core.subject import Part, Setup, Subject, late
from simnet.scenario.parts.relay.schema import Relay

SUBJECT = Subject(
    "relay",
    parts=(Part("relay", Relay, key="relay", doc="what is relayed, with test = relay", order=110),),
    setups=(
        Setup(
            late("relay.build:build"),
            types=("relay",),
            tests=("relay",),
            doc=", relay passes messages on from one port to the other",
            load="offered",
            rate="relay.rate",
            order=10,
        ),
    ),
    typed=late("relay.commands:typed"),
    check=late("relay.checks:check_relay"),
    needs=late("relay.checks:needs"),
)
