"""The clock of busy CPUs: above the nominal one, or not."""

from simnet.scenario.core.subject import Subject, late

SUBJECT = Subject(
    "clocks",
    order=123,
    adds={"kernel": late("clocks.schema:ClockKernel")},
    knobs=late("clocks.knobs:KNOBS"),
    check_host=late("clocks.checks:check_clock"),
    idle=late("clocks.checks:idle"),
    proposals=late("clocks.proposals:proposals"),
)
