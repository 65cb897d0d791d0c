"""Paths of a network."""

from simnet.scenario.core.subject import ModelFiles, Part, Subject, late
from simnet.scenario.parts.network.schema import Switch

SUBJECT = Subject(
    "network",
    models=(ModelFiles("switch", "switches", Switch, order=40),),
    parts=(
        Part(
            "switch",
            Switch,
            key="switch",
            doc="switch model; none if absent, where nothing is on a network",
            kind="switch",
            absent="nothing here is on a switch",
            order=10,
        ),
    ),
    streams=late("network.streams:build_streams"),
    flows=late("network.flows:flows"),
    check=late("network.addresses:check_flow_rules"),
    needs=late("network.addresses:needs"),
    join=late("network.ends:join"),
    columns=late("network.ends:COLUMNS"),
    lifts=late("network.lift:LIFTS"),
)
