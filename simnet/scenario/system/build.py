"""Build the system that an effective configuration describes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simnet.kernel.wiring import check_wiring
from simnet.scenario.core.subject import setup_of, subjects
from simnet.scenario.system.collector import COLLECTOR

if TYPE_CHECKING:
    from simnet.scenario.core.effective import Effective
    from simnet.scenario.system.system import System


def build(
    effective: Effective, *, seed: int, per_frame: bool = False, tracer: Any = None
) -> System:
    """Put the machines, the network and the workload together.

    Args:
        effective: the configuration.
        seed: of all random streams.
        per_frame: one event per frame (the reference) instead of batches.
        tracer: receives spans and counters, or None.

    Raises:
        SimulationError: a builder left something empty that a component needs.
    """
    setup = setup_of(effective.workload.test, lambda part: bool(getattr(effective, part)))
    make = setup.build if setup else next(one.streams for one in subjects() if one.streams)
    with COLLECTOR.spared(grown=True):
        made: System = make(effective, seed=seed, per_frame=per_frame, tracer=tracer)
    check_wiring(made.env.sim)
    return made
