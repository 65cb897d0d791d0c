"""The same scenario and seed give the same result to the last bit, wherever it runs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from simnet import _engine
from tests.house.trees import ROOT, run

SCENARIO = ("run", "x460-out-of-box", "--duration", "12 ms", "--warm-up", "3 ms", "--json")
OTHER_PYTHON = ROOT / ".venv-other" / "bin" / "python"


def result(
    *options: str, python: str | Path = sys.executable, **environment: str
) -> dict[str, object]:
    """Run the scenario in a process of its own."""
    command = [str(python), "-m", "simnet", *SCENARIO, *options]
    done = run(*command, cwd=ROOT, PYTHONPATH=str(ROOT), **environment)
    assert done.returncode == 0, done.stderr
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


@pytest.fixture(scope="module")
def reference() -> dict[str, object]:
    """What the engine that these tests run on gives."""
    return result(SIMNET_ENGINE=_engine.active(), PYTHONHASHSEED="0")


def test_result_is_of_a_busy_machine(reference: dict[str, object]) -> None:
    throughput = reference["throughput_bps"]
    assert isinstance(throughput, float)
    assert throughput > 1e9


def test_other_engine_gives_the_same(reference: dict[str, object]) -> None:
    if _engine.active() == "interpreted":
        pytest.skip("the compiled engine is compared where it is the one under test")
    assert result(SIMNET_ENGINE="interpreted") == reference


def test_hash_seed_changes_nothing(reference: dict[str, object]) -> None:
    assert result(SIMNET_ENGINE=_engine.active(), PYTHONHASHSEED="12345") == reference


def test_other_python_gives_the_same(reference: dict[str, object]) -> None:
    if not OTHER_PYTHON.exists():
        pytest.skip("no second Python: `make other-python` looks for one")
    assert result(python=OTHER_PYTHON, SIMNET_ENGINE="interpreted") == reference


def test_seed_changes_the_fingerprint(reference: dict[str, object]) -> None:
    other = result("--seed", "77", SIMNET_ENGINE=_engine.active())
    assert other["fingerprint"] != reference["fingerprint"]
