"""The same plan gives the same result to the last bit, however and wherever it is simulated."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from simnet import _engine
from tests.house.examples import examples
from tests.laws.machines import MS, HostPlan, Lab, NicPlan, Plan, StreamPlan
from tests.laws.strategies import plans

pytestmark = pytest.mark.slow

EXAMPLES = examples(150)
ROOT = Path(__file__).parents[2]
OTHER_PYTHON = ROOT / ".venv-other" / "bin" / "python"

# Here the poll finds out about a frame between two others.
SMALL_FRAMES = NicPlan(mtu=576, rx_usecs_irq=1, tx_frames=5, tx_usecs=20)
NARROW_POLL = Plan(
    host=HostPlan(cores=1, spread_permille=300, dear_permille=0),
    peer=HostPlan(cores=1),
    streams=(StreamPlan(nic=SMALL_FRAMES, peer_nic=SMALL_FRAMES),),
    seed=0,
    whole_peer=False,
)
# Buffers run out while a poll is under way.
SHORT_RING = Plan(
    streams=(StreamPlan(nic=NicPlan(rx_buffers=2, weight=2), peer_nic=NicPlan(tso=True)),),
    host=HostPlan(cost_permille=3000),
)


@settings(max_examples=EXAMPLES)
@given(plans)
@example(NARROW_POLL)
@example(SHORT_RING)
@pytest.mark.nightly
def test_one_event_a_frame_gives_what_arithmetic_gives(plan: Plan) -> None:
    """Exactly where no line waits: what a batch moves counts for the epoch in which it begins."""
    here, there = (replace(host, limited=False) for host in (plan.host, plan.peer))
    plan = replace(plan, host=here, peer=there)
    batched, reference = Lab(plan), Lab(plan, per_frame=True)
    for _ in range(3):
        # what is only observed may be counted ahead of a frame that is on its way
        one, other = (
            replace(lab.run(4 * MS).system.snapshot(), observed={}) for lab in (batched, reference)
        )
        assert one == other


def test_where_lines_wait_both_give_much_the_same() -> None:
    plan = Plan(streams=(StreamPlan(), StreamPlan()), host=HostPlan(stall_permille=900))
    batched, reference = Lab(plan).run(50 * MS), Lab(plan, per_frame=True).run(50 * MS)
    work = [sum(lab.system.machine.costs.ledger.work().values()) for lab in (batched, reference)]
    assert work[0] == pytest.approx(work[1], rel=0.01)


@settings(max_examples=EXAMPLES // 3)
@given(plans)
def test_twice_is_the_same(plan: Plan) -> None:
    first, second = Lab(plan).run(5 * MS), Lab(plan).run(5 * MS)
    assert first.system.snapshot() == second.system.snapshot()
    assert first.sim.events == second.sim.events


def test_seed_matters() -> None:
    one, other = (
        Lab(replace(NARROW_POLL, seed=seed)).run(5 * MS).system.fingerprint() for seed in (1, 2)
    )
    assert one != other


def elsewhere(
    batch: list[Plan], *, engine: str, hash_seed: int = 0, python: str | Path = sys.executable
) -> list[str]:
    """Return which engine ran, and each plan's result, from a process of its own."""
    inherited = {name: value for name, value in os.environ.items() if "COV" not in name}
    done = subprocess.run(
        [str(python), "-P", str(Path(__file__).with_name("twin_run.py"))],
        input="".join(plan.dumps() + "\n" for plan in batch),
        capture_output=True,
        text=True,
        check=False,
        env=inherited
        | {"SIMNET_ENGINE": engine, "PYTHONHASHSEED": str(hash_seed), "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


batches = st.lists(plans, min_size=12, max_size=12)
once = settings(max_examples=1)


@once
@given(batches)
@pytest.mark.nightly
def test_hash_seeds_make_no_difference(batch: list[Plan]) -> None:
    engine = _engine.active()
    assert elsewhere(batch, engine=engine, hash_seed=1) == elsewhere(
        batch, engine=engine, hash_seed=2
    )


@once
@given(batches)
def test_both_engines_agree(batch: list[Plan]) -> None:
    which, *compiled = elsewhere(batch, engine="compiled")
    other, *interpreted = elsewhere(batch, engine="interpreted", hash_seed=3)
    assert (which, other) == ("compiled", "interpreted")
    assert len(compiled) == len(batch)
    assert compiled == interpreted


@pytest.mark.skipif(not OTHER_PYTHON.exists(), reason="no second Python: see make other-python")
@once
@given(batches)
def test_other_python_agrees(batch: list[Plan]) -> None:
    mine, other = (
        elsewhere(batch, engine="interpreted", python=python)
        for python in (sys.executable, OTHER_PYTHON)
    )
    assert len(mine) == 1 + len(batch)
    assert mine == other
