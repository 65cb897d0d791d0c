"""What delivers and places interrupts."""

from simnet.scenario.core.subject import Subject, late

SUBJECT = Subject(
    "interrupts",
    delayed_actions=late("interrupts.build:delayed_actions"),
    equip=late("interrupts.build:equip"),
    steps=late("interrupts.settings:Interrupts"),
)
