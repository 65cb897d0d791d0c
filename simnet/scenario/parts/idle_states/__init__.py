"""Idle states: how deep CPUs may sleep."""

from simnet.scenario.core.subject import Subject, late

SUBJECT = Subject(
    "idle_states",
    order=121,
    adds={"kernel": late("idle_states.schema:IdleKernel")},
    knobs=late("idle_states.knobs:KNOBS"),
    check_host=late("idle_states.checks:check_idle_states"),
    join=late("idle_states.build:join"),
    idle=late("idle_states.checks:idle"),
    proposals=late("idle_states.proposals:proposals"),
)
