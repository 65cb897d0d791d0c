"""How often a what-if takes a system for different from itself: ``[SCENARIO COMPARISONS]``.

Without arguments it is asked of each scenario of `early_verdicts`, a thousand times.
Each comparison gives two groups of runs of one system to the looks of a what-if, as long as they
are there: those of the lengths that its looks have. Draws of parameters, which only make
intervals wider, are left out. Finished runs are stored, so a second call goes on where the first
was stopped.
"""

import sys
from collections.abc import Mapping, Sequence

import numpy as np

from bench.early_verdicts import QUESTIONS
from simnet.study.run.result import Result
from simnet.study.whatif.aim import aim_of, load_of
from simnet.study.whatif.plan import Plan, Times
from simnet.study.whatif.verdict import changes, verdict
from simnet.study.work.cases import Case, Member, simulate_all

# of each length, of which every comparison has two groups
_RUNS = 96
_MOST_WRONG = 0.05
_COMPARISONS = 1000


def runs(scenario: str, times: Times) -> list[Result]:
    """Runs of a system with different seeds."""
    members = [
        Member(Case(scenario), seed, times.duration, times.warm_up) for seed in range(1, 1 + _RUNS)
    ]
    return simulate_all(members, lean=True)


def answer(plan: Plan, pools: Mapping[Times, Sequence[Result]], chosen: Sequence[int]) -> str:
    """What a what-if says of two groups of runs of one system."""
    for look in plan.looks:
        pool = [pools[plan.times(look)][number] for number in chosen]
        before, after = pool[: look.pairs], pool[len(pool) // 2 :][: look.pairs]
        aim = aim_of(load_of(before[0].configuration["workload"]["test"]))
        changed = changes(before, after, error=look.error, deciding=len(aim.criteria))
        found = verdict(changed, aim, last=look.last).answer
        if found != "cannot tell":
            return found
    return "cannot tell"


def main() -> None:
    """Print how often the answer is yes or no."""
    given = sys.argv[1:]
    for scenario in given[:1] or QUESTIONS:
        _print(scenario, int(given[1]) if given else _COMPARISONS)


def _print(scenario: str, count: int) -> None:
    plan = Plan(Case(scenario), 1, None, 0, None, None, None)
    plan = plan.tried([plan.base], {}, jobs=None, progress=lambda *_: None, store=None)
    pools = {times: runs(scenario, times) for times in map(plan.times, plan.looks)}
    most = max(look.pairs for look in plan.looks)
    draw = np.random.default_rng(1)
    found = [
        answer(plan, pools, draw.permutation(_RUNS)[: 2 * most].tolist()) for _ in range(count)
    ]
    wrong = sum(one in {"yes", "no"} for one in found)
    within = "yes" if wrong <= _MOST_WRONG * len(found) else "NO"
    print(f"{scenario}: {wrong} of {len(found)} see a difference (at most 5 %: {within})")
    for one in sorted(set(found)):
        print(f"  {one}: {found.count(one)}", flush=True)


if __name__ == "__main__":
    main()
