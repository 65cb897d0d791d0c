"""The same scenario and seed give the same result to the last bit, wherever it runs."""

import json
import sys
from pathlib import Path

import pytest

from simnet import _engine
from tests.house.trees import ROOT, run

TIMES = ("--duration", "12 ms", "--warm-up", "3 ms")
OTHER_PYTHON = ROOT / ".venv-other" / "bin" / "python"


def result(
    *options: str,
    scenario: str = "x460-out-of-box",
    python: str | Path = sys.executable,
    **environment: str,
) -> dict[str, object]:
    """Run a scenario in a process of its own."""
    command = [str(python), "-m", "simnet", "run", scenario, *TIMES, "--json", *options]
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


@pytest.mark.parametrize("mode", ["balance-rr", "broadcast", "802.3ad", "balance-alb"])
@pytest.mark.nightly
def test_a_bond_is_the_same_on_the_other_engine(mode: str) -> None:
    if _engine.active() == "interpreted":
        pytest.skip("the compiled engine is compared where it is the one under test")
    options = ("--set", f"modprobe bonding mode={mode}", "--set", "nodes=1", "--duration", "4 ms")
    one, other = (
        result(*options, scenario="x460-bonding", SIMNET_ENGINE=engine)
        for engine in ("compiled", "interpreted")
    )
    assert one == other


ALL_SCENARIOS = """
import json, simnet
from simnet.scenario.scenarios import scenario_names
def fingerprint(name):
    warm_up = "0 s" if name == "ess-sas" else "1 ms"
    return simnet.run(name, duration="3 ms", warm_up=warm_up).fingerprint
print(json.dumps({name: fingerprint(name) for name in scenario_names()}))
"""


@pytest.mark.nightly
def test_engine_that_checks_itself_gives_the_same() -> None:
    checked, compiled = (
        run(
            sys.executable, "-c", ALL_SCENARIOS, cwd=ROOT, SIMNET_ENGINE=engine, SIMNET_CACHE_DIR=""
        )
        for engine in ("checked", "compiled")
    )
    if "EngineError" in checked.stderr:
        pytest.skip("`make fuzz` builds it")
    assert checked.returncode == compiled.returncode == 0, checked.stderr + compiled.stderr
    assert len(json.loads(compiled.stdout)) > 10
    assert checked.stdout == compiled.stdout


def test_hash_seed_changes_nothing(reference: dict[str, object]) -> None:
    assert result(SIMNET_ENGINE=_engine.active(), PYTHONHASHSEED="12345") == reference


def test_other_python_gives_the_same(reference: dict[str, object]) -> None:
    if not OTHER_PYTHON.exists():
        pytest.skip("no second Python: `make other-python` looks for one")
    assert result(python=OTHER_PYTHON, SIMNET_ENGINE="interpreted") == reference


def test_seed_changes_the_fingerprint(reference: dict[str, object]) -> None:
    other = result("--seed", "77", SIMNET_ENGINE=_engine.active())
    assert other["fingerprint"] != reference["fingerprint"]
