"""A recommendation as a user asks for it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Simnet

SHORT = (
    *("x460-out-of-box", "--set", "nodes=1", "--warm-up", "10 ms", "--duration", "10 ms"),
    *("--knobs", "ethtool -C {port} rx-frames", "--runs", "6", "--jobs", "1"),
)


@pytest.mark.compiled
def test_text_and_picture(simnet: Simnet, tmp_path: Path) -> None:
    picture = tmp_path / "tried.svg"
    status, out, err = simnet("recommend", *SHORT, "--goal", "p99", "--out", str(picture))
    assert (status, err) == (0, "")
    assert out.startswith("For a lower one-way p99 of x460-out-of-box with nodes=1: yes: ")
    assert "simulated again with fresh random numbers" in out
    assert "\nethtool -C eth0 rx-frames " in out
    assert "what changes do to one-way p99" in picture.read_text("utf-8")


@pytest.mark.compiled
@pytest.mark.nightly
def test_json_is_the_document(simnet: Simnet) -> None:
    arguments = (*SHORT, "--limit", "cpu_per_byte<=+1 %", "--goal", "p99", "--json")
    status, out, _ = simnet("recommend", *arguments)
    found = json.loads(out)
    assert found["schema"] == "simnet.recommend/1"
    assert found["exit_status"] == status


def test_bad_input_is_one_line(simnet: Simnet) -> None:
    for given, hint in (
        (("--limit", "latency_p98<=2ms"), "did you mean latency_p99?"),
        (("--limit", "loss<=200 %"), "loss is at most 100 %"),
        (("--limit", "fairness>=1.2"), "fairness is at most 1"),
        (("--knobs", "numactk"), "did you mean numactl?"),
    ):
        status, out, err = simnet("recommend", "x460-out-of-box", *given)
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert hint in err


@pytest.mark.compiled
@pytest.mark.nightly
def test_a_limit_on_what_no_run_has_is_not_taken_for_kept(simnet: Simnet) -> None:
    status, out, err = simnet("recommend", *SHORT, "--limit", "transactions>=1")
    assert (status, out) == (2, "")
    assert err == "simnet: --limit: transactions>=1: its runs have no transactions\n"


def test_an_install_without_extras_lacks_this_command_alone() -> None:
    code = (
        "import sys\n"
        "sys.modules.update(dict.fromkeys(('distributed', 'optuna', 'pyarrow', 'sqlalchemy')))\n"
        "from simnet.cli import _simnet, main\n"
        "[_simnet.get_command(None, name) for name in _simnet.commands]\n"
        "main(['recommend', 'x460-out-of-box'])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "simnet: recommend: needs Optuna: python -m pip install optuna\n"
