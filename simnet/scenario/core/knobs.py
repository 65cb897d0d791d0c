"""The knobs: what an administrator can turn, by the names that the administrator types.

Every knob knows its value's form and legal range, what it changes in the effective configuration,
how to apply it on a real machine, and whether the model implements it. Its default is the value
of the scenario's models; undoing a knob is applying its default. Each subject announces its own.
"""

from __future__ import annotations

from typing import Final

from simnet.scenario.core.knob import Knob, ModelName
from simnet.scenario.core.subject import subjects

__all__ = ["KNOBS", "MODELS"]

MODELS: Final = (
    Knob(
        "system.server",
        "server model of the system under test",
        ModelName("server model"),
        "model",
        "server",
        "use the machine {value}",
    ),
    Knob(
        "system.kernel",
        "kernel model of the system under test",
        ModelName("kernel model"),
        "model",
        "kernel",
        "install and boot the kernel of {value}",
    ),
)
"""Exchange a model: they apply before all others."""

KNOBS: Final[tuple[Knob, ...]] = (
    *MODELS,
    *(knob for subject in subjects() for knob in subject.knobs()),
)
