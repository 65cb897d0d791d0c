"""Whether a what-if that stops early says what all its runs say: ``[SCENARIO TUNING SEEDS]``.

Each first seed is one comparison; without arguments there are a hundred over the usual questions,
which take turns. Draws of parameters are the same for all, and finished runs are stored, so a
second call goes on where the first was stopped.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final
from unittest.mock import patch

from simnet.study.whatif import whatif as module
from simnet.study.whatif.plan import SEEDS, Look, Plan, looks

QUESTIONS: Final[Mapping[str, str]] = {
    "web-25g": "fixed-50us",
    "container-udp": "veth-napi",
    "stream-100g": "arfs",
    "relay-untuned": "affinity",
    "memcached-100g": "defer50",
}
"""By scenario, a tuning that is usually asked for."""

_APART = 100
_COMPARISONS = 100


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


def _asked(given: list[str]) -> Iterator[tuple[str, str, int]]:
    """Scenario, tuning and number of each comparison."""
    if given:
        scenario, tuning, count = given
        yield from ((scenario, tuning, number) for number in range(int(count)))
        return
    for number in range(_COMPARISONS // len(QUESTIONS)):
        yield from ((scenario, tuning, number) for scenario, tuning in QUESTIONS.items())


def main() -> None:
    """Print every comparison, and how many agree."""
    agree: Counter[tuple[str, bool]] = Counter()
    for scenario, tuning, number in _asked(sys.argv[1:]):
        early, pairs, late = compare(scenario, tuning, number)
        agree[scenario, early == late] += 1
        seeds = f"{scenario} {tuning}, seeds from {1 + number * _APART}"
        print(f"{seeds}: {early} after {pairs} pairs, {late} after all", flush=True)
    for scenario in dict.fromkeys(name for name, _ in agree):
        same, other = agree[scenario, True], agree[scenario, False]
        print(f"{scenario}: {same} of {same + other} agree")


if __name__ == "__main__":
    main()
