"""A load that is known and that no mechanism here simulates: its scenario is read, and never runs.

An import writes it in place of a load that would stand for another one.
"""

from simnet.scenario.core.subject import Part, Setup, Subject, late
from simnet.scenario.parts.unsimulated.schema import Unsimulated

SUBJECT = Subject(
    "unsimulated",
    order=98,
    parts=(
        Part(
            "unsimulated",
            Unsimulated,
            key="unsimulated",
            doc="a load that cannot be simulated, with test = unsimulated",
            order=119,
        ),
    ),
    setups=(
        Setup(
            late("unsimulated.build:build"),
            types=("unsimulated",),
            tests=("unsimulated",),
            doc=", unsimulated is a load that cannot be simulated",
            load="offered",
            order=18,
        ),
    ),
    check=late("unsimulated.checks:check_unsimulated"),
)
