"""simnet predicts what a tuning will do to a host's data path.

Wire, NIC, interrupt, softirq, TCP and application on NUMA CPUs, as a deterministic
discrete-event simulation calibrated against published measurements.

The names below are the public API; each is imported when it is first used. ``SIMNET_ENGINE``
chooses between the compiled and the interpreted engine.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from simnet import _engine

if TYPE_CHECKING:
    from simnet.diagnose.imported import import_host
    from simnet.errors import (
        EngineError,
        InputError,
        LostRunError,
        OutputError,
        SimnetError,
        SimulationError,
    )
    from simnet.kernel.component import Component
    from simnet.kernel.environment import Environment
    from simnet.page.sliders import sliders
    from simnet.study.calibrate.calibrate import calibrate
    from simnet.study.calibrate.host import calibrate_host
    from simnet.study.capacity.capacity import capacity
    from simnet.study.compare.compare import compare
    from simnet.study.explain.explain import explain
    from simnet.study.recommend.recommend import recommend
    from simnet.study.run.result import Result
    from simnet.study.run.run import run
    from simnet.study.screen.screen import screen
    from simnet.study.sequence.capture import read_capture
    from simnet.study.sweep.into import sweep_into
    from simnet.study.sweep.sweep import sweep
    from simnet.study.validate.validate import validate
    from simnet.study.whatif.whatif import whatif

__version__ = "0.1.0"

__all__ = [
    "Component",
    "EngineError",
    "Environment",
    "InputError",
    "LostRunError",
    "OutputError",
    "Result",
    "SimnetError",
    "SimulationError",
    "calibrate",
    "calibrate_host",
    "capacity",
    "compare",
    "explain",
    "import_host",
    "read_capture",
    "recommend",
    "run",
    "screen",
    "sliders",
    "sweep",
    "sweep_into",
    "validate",
    "whatif",
]

# where what is not `simnet.study.NAME.NAME` is
_HOMES = {
    "Component": "simnet.kernel.component",
    "EngineError": "simnet.errors",
    "Environment": "simnet.kernel.environment",
    "InputError": "simnet.errors",
    "LostRunError": "simnet.errors",
    "OutputError": "simnet.errors",
    "Result": "simnet.study.run.result",
    "SimnetError": "simnet.errors",
    "SimulationError": "simnet.errors",
    "calibrate_host": "simnet.study.calibrate.host",
    "import_host": "simnet.diagnose.imported",
    "read_capture": "simnet.study.sequence.capture",
    "sliders": "simnet.page.sliders",
    "sweep_into": "simnet.study.sweep.into",
}

_engine.install()


def __getattr__(name: str) -> object:
    """Import a name of the public API from where it is defined."""
    if name not in __all__:
        message = f"module 'simnet' has no attribute {name!r}"
        raise AttributeError(message, name=name, obj=import_module("simnet"))
    value = getattr(import_module(_HOMES.get(name, f"simnet.study.{name}.{name}")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public API and what is loaded."""
    return sorted({*globals(), *__all__})
