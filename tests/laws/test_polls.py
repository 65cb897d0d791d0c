"""No two polls of one NIC at once, and no device on two poll lists.

The compiled engine does what the interpreted one does (see test_same_result.py), and only in the
latter everything can be observed; so the observed runs are interpreted.
"""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.laws.machines import Plan
from tests.laws.strategies import plans

ROOT = Path(__file__).parents[2]


def restless(plan: Plan) -> Plan:
    """Move the interrupts all the time."""
    moves = tuple((500 * (n + 1), n % 3, 7 * n) for n in range(8))
    return replace(plan, moves=moves)


@settings(max_examples=1)
@given(st.lists(plans.map(restless), min_size=12, max_size=12))
def test_one_poll_at_a_time_and_one_list(batch: list[Plan]) -> None:
    inherited = {name: value for name, value in os.environ.items() if "COV" not in name}
    done = subprocess.run(
        [sys.executable, "-P", str(Path(__file__).with_name("watched_run.py"))],
        input="".join(plan.dumps() + "\n" for plan in batch),
        capture_output=True,
        text=True,
        check=False,
        env=inherited | {"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 200
