"""The same events in the same order: both engines, any hash seed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from simnet import _engine

ROOT = Path(__file__).parents[2]


def run(engine: str, hash_seed: int) -> tuple[str, list[str]]:
    """Return which engine ran, and its events."""
    environ = os.environ | {
        "SIMNET_ENGINE": engine,
        "PYTHONHASHSEED": str(hash_seed),
        "PYTHONPATH": str(ROOT),
    }
    done = subprocess.run(
        [sys.executable, "-P", str(Path(__file__).with_name("twin_run.py"))],
        capture_output=True,
        text=True,
        check=True,
        env=environ,
    )
    active, *events = done.stdout.splitlines()
    return active, events


def test_hash_seeds_make_no_difference() -> None:
    (_, first), (_, second) = run(_engine.active(), 1), run(_engine.active(), 2)
    assert first == second


@pytest.mark.skipif(_engine.active() == "interpreted", reason="there is no compiled engine here")
def test_the_interpreted_engine_does_what_the_compiled_one_does() -> None:
    compiled, interpreted = run("compiled", 3), run("interpreted", 4)
    assert (compiled[0], interpreted[0]) == ("compiled", "interpreted")
    assert len(compiled[1]) > 2000
    assert any(" 1 1" in line for line in compiled[1])
    assert compiled[1] == interpreted[1]
