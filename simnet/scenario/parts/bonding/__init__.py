"""Bonds."""

from simnet.scenario.core.subject import HostPart, Subject, late
from simnet.scenario.parts.bonding.schema import Bonding

SUBJECT = Subject(
    "bonding",
    order=30,
    adds={"kernel": late("bonding.schema:BondingKernel")},
    host_parts=(HostPart("bonding", Bonding, order=10),),
    knobs=late("bonding.knobs:BONDING"),
    delayed_actions=late("bonding.build:delayed_actions"),
    typed=late("bonding.commands:typed"),
    idle=late("bonding.checks:idle"),
    check_host=late("bonding.checks:check_bond"),
)
