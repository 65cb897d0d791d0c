"""Whether a what-if that stops early says what all its runs say: ``[SCENARIO TUNING SEEDS]``.

Each first seed is one comparison. Draws of parameters are the same for all, and finished runs are
stored, so a second call goes on where the first was stopped.
"""

import sys
from collections import Counter
from unittest.mock import patch

from simnet.study.whatif import whatif as module
from simnet.study.whatif.plan import SEEDS, Look, Plan, looks

_APART = 100


def _last_only(plan: Plan) -> tuple[Look, ...]:
    return looks(SEEDS, plan.members)[-1:]


def _long(_plan: Plan) -> bool:
    return False


def compare(scenario: str, tuning: str, number: int) -> tuple[str, int, str]:
    """The verdict of a what-if, its pairs of runs, and the verdict of all runs."""
    seed = 1 + number * _APART
    early = module.whatif(scenario, tuning, seed=seed)
    long = patch.object(Plan, "is_quick", property(_long))
    with patch.object(Plan, "looks", property(_last_only)), long:
        late = module.whatif(scenario, tuning, seed=seed)
    return early.tunings[0].verdict, early.seeds, late.tunings[0].verdict


def main() -> None:
    """Print every comparison, and how many agree."""
    given, usual = sys.argv[1:], ("x460-out-of-box", "affinity", "100")
    scenario, tuning, count = (*given, *usual[len(given) :])
    agree: Counter[bool] = Counter()
    for number in range(int(count)):
        early, pairs, late = compare(scenario, tuning, number)
        agree[early == late] += 1
        print(f"seeds from {1 + number * _APART}: {early} after {pairs} pairs, {late} after all")
    print(f"{agree[True]} of {agree.total()} agree")


if __name__ == "__main__":
    main()
