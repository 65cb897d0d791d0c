"""Where interrupts and processes are."""

from simnet.scenario.core.subject import Subject, late

SUBJECT = Subject(
    "placement",
    order=10,
    unread=("preferred_node",),
    knobs=late("placement.knobs:PLACEMENT"),
    steps=late("placement.bindings:Bindings"),
    typed=late("placement.commands:typed"),
    proposals=late("placement.proposals:proposals"),
)
