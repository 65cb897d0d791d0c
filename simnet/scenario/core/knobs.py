"""The knobs: what an administrator can turn, by the names that the administrator types.

Every knob knows its value's form and legal range, what it changes in the effective configuration,
how to apply it on a real machine, and whether the model implements it. Its default is the value
of the scenario's models; undoing a knob is applying its default. Each subject announces its own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import Final

from simnet.scenario.core.knob import Knob, ModelName
from simnet.scenario.core.subject import Subject, subjects

UNREAD: Final = frozenset(chain.from_iterable(one.unread for one in subjects()))
"""Attributes that no mechanism reads.

They are facts of the hardware or the kernel, and defaults of knobs that an administrator knows. A
setting of one is accepted and reported as not modelled. Each subject names its own; a mechanism
that starts to read one takes it off there. A test compares them with what the builder reads.
"""

MODELS: Final = (
    Knob(
        "system.server",
        "server model of the system under test",
        ModelName("server model"),
        "model",
        "server",
        "use the machine {value}",
        own=True,
        by_hand=True,
    ),
    Knob(
        "system.kernel",
        "kernel model of the system under test",
        ModelName("kernel model"),
        "model",
        "kernel",
        "install and boot the kernel of {value}",
        own=True,
        by_hand=True,
    ),
)
"""Exchange a model: they apply before all others."""


def knobs_of(subject: Subject) -> Iterator[Knob]:
    """Yield the knobs of a subject, then those of its drivers."""
    for knob in subject.knobs():
        yield _judged(knob)
    drivers: dict[Knob, list[str]] = {}
    for driver in subject.drivers():
        for knob in driver.knobs():
            drivers.setdefault(knob, []).append(driver.name())
    for knob, names in drivers.items():
        yield _judged(replace(knob, drivers=tuple(names)))


def _judged(knob: Knob) -> Knob:
    """The knob itself if it is modelled."""
    read = knob.scope != "none" and knob.target not in UNREAD
    return knob if read else replace(knob, modelled=False)


KNOBS: Final[tuple[Knob, ...]] = (
    *MODELS,
    *(knob for subject in subjects() for knob in knobs_of(subject)),
)


OF_PORTS: Final = {knob.target: knob.default for knob in KNOBS if knob.scope == "interface"}
"""What knobs can set of a port, with what it is before."""
OF_QUEUES: Final = {
    way: {knob.target: knob.default for knob in KNOBS if knob.scope == f"{way}-queue"}
    for way in ("rx", "tx")
}
"""Likewise of each of its receive and transmit queues."""


@cache
def knob_of(name: str) -> tuple[Knob, Mapping[str, str]] | None:
    """Return the knob of a name, and which port, interrupt or queue it is of; None if it is none.

    No name is of two knobs.
    """
    found = ((knob, knob.match(name)) for knob in KNOBS)
    return next(((knob, parts) for knob, parts in found if parts is not None), None)
