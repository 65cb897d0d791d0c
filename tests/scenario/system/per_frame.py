"""A system beside itself with one event a frame, the slow reference."""

from typing import Any

from simnet.scenario.core.effective import Effective
from simnet.scenario.system.build import build


def agree(effective: Effective, times: int, each_ps: int, *apart: str) -> list[Any]:
    """Run both, and compare all counters at several times but `apart`; return both systems."""
    systems = [build(effective, seed=1, per_frame=per_frame) for per_frame in (False, True)]
    for _ in range(times):
        found = []
        for system in systems:
            system.run(each_ps)
            found.append(system.snapshot().counters())
            # work on several frames is booked when the first of them begins
            for name in ("work_ps", "ends", *apart):
                del found[-1][name]
        assert found[0] == found[1]
    return systems
