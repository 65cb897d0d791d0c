"""A home router: TCP streams from its wide area to its local network, with NAT."""

from simnet.scenario.core.subject import Part, Setup, Subject, late
from simnet.scenario.parts.gateway.schema import GatewayTable

SUBJECT = Subject(
    "gateway",
    order=97,
    parts=(
        Part(
            "gateway",
            GatewayTable,
            key="gateway",
            doc="what a home router does with packets, with test = gateway",
            order=118,
        ),
    ),
    knobs=late("gateway.knobs:KNOBS"),
    setups=(
        Setup(
            late("gateway.build:build"),
            types=("gateway",),
            tests=("gateway",),
            doc=", gateway sends TCP streams through a router with NAT",
            load="bulk",
            order=18,
        ),
    ),
    check=late("gateway.checks:check_gateway"),
    columns=late("gateway.columns:COLUMNS"),
    idle=late("gateway.checks:idle"),
)
