"""Receive packet steering."""

from simnet.scenario.core.subject import Subject, late

SUBJECT = Subject(
    "steering",
    order=100,
    adds={"kernel": late("steering.knobs:SteeringKernel")},
    knobs=late("steering.knobs:STEERING"),
    idle=late("steering.checks:idle"),
    check_host=late("steering.checks:check_steering"),
    needs=late("steering.checks:needs"),
    proposals=late("steering.proposals:proposals"),
)
