"""The daemon that places interrupts."""

from simnet.scenario.core.subject import Part, Subject, late
from simnet.scenario.parts.irqbalance.schema import Balancer, IrqbalanceTable

SUBJECT = Subject(
    "irqbalance",
    parts=(
        Part(
            "balancer",
            Balancer,
            key="irqbalance",
            prefix="irqbalance",
            form=lambda: IrqbalanceTable,
            beside={"irqbalance": (str, ...), "occupied_cpus": (tuple[int, ...], ())},
            early=True,
            always=True,
            order=160,
        ),
    ),
    same=late("irqbalance.same:same"),
)
