"""What a what-if predicts of one of its tunings: that is simulated again, as it was asked for.

A what-if keeps how tunings compare, and not a result of each. With the same version and scenario
the simulation is the one of its first pair, for as long as the scenario says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import simnet
from simnet.errors import InputError
from simnet.spelling import nearest
from simnet.study.whatif.tuning import read_tuning
from simnet.study.work.cases import Case, Member, Progress, simulate_all

if TYPE_CHECKING:
    from simnet.study.run.result import Result
    from simnet.study.whatif.whatif import WhatIf


def tuned(found: WhatIf, tuning: str | None, scenario: str) -> Case:
    """What is simulated of a tuning.

    Args:
        found: the what-if.
        tuning: which one; may be None where there is only one.
        scenario: its name or file.

    Raises:
        InputError: it is not one of those that were asked about, or which one is not said.
    """
    names = [one.tuning for one in found.tunings]
    if tuning is None and len(names) > 1:
        expected = f"which tuning was applied? expected one of {', '.join(sorted(names))}"
        raise InputError(expected, key="--tuning")
    name = names[0] if tuning is None else tuning
    if name not in names:
        expected = f"the what-if has {', '.join(sorted(names))}{nearest(name, names)}"
        raise InputError(expected, key=name)
    return read_tuning(scenario, name).on(untuned(found, scenario))


def untuned(found: WhatIf, scenario: str) -> Case:
    """What is simulated of the system before any tuning."""
    settings = dict(found.settings)
    apply = settings.pop("--apply", "")
    return Case(scenario, tuple(settings.items()), found.base_tunings, tuple(apply.split()))


def predicted_again(
    found: WhatIf, case: Case, *, jobs: int | None, progress: Progress | None
) -> tuple[Result, str]:
    """The result of a tuning, and a line that says how it was made."""
    (result,) = simulate_all([Member(case)], jobs=jobs, progress=progress)
    version = "" if found.version == simnet.__version__ else f", which version {found.version} made"
    return result, f"the tuning of the what-if{version} is simulated again as the scenario is now"
