"""Inputs that once broke something end as they should, and so do a few more each time."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from simnet import _engine
from tests.fuzz.case import Case, End
from tests.fuzz.generate import KINDS, case_of

ROOT = Path(__file__).parents[2]
CORPUS = sorted((Path(__file__).parent / "corpus").glob("*.json"))

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="the driver needs Linux"),
]


def fuzz(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the driver in a process of its own: it forks, and a test runner has threads."""
    return subprocess.run(
        [sys.executable, "-m", "tests.fuzz", *arguments],
        cwd=ROOT,
        env=os.environ | {"SIMNET_ENGINE": _engine.active()},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.nightly
def test_what_once_broke_something_ends_as_it_should(tmp_path: Path) -> None:
    assert CORPUS
    file = tmp_path / "corpus.jsonl"
    cases = [Case.loads(one.read_text(encoding="utf-8")) for one in CORPUS]
    file.write_text("".join(f"{case.dumps()}\n" for case in cases), encoding="utf-8")
    done = fuzz("--replay", str(file))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(": allowed\n") == len(CORPUS)


@pytest.mark.nightly
def test_a_short_run_finds_nothing() -> None:
    done = fuzz("--cases", "60", "--start", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\n0 findings" in done.stdout


@pytest.mark.parametrize("kind", KINDS)
def test_a_case_is_made_again_from_its_seed(kind: str) -> None:
    for seed in range(20):
        case = case_of(seed, kind)
        assert case == case_of(seed, kind)
        assert Case.loads(case.dumps()) == case


def test_ends_of_one_cause_have_one_signature() -> None:
    ends = [
        End(70, f"net/link/skb.py send: IndexError: {n} is beyond 0x{n:x}", "", n) for n in (3, 44)
    ]
    assert ends[0].signature == ends[1].signature != End(-signal.SIGSEGV, "x", "", 0).signature


DEFECTS = {
    "raise RuntimeError('x')": "exit 70: : RuntimeError: x",
    "import os; os.abort()": "exit -6: signal SIGABRT",
    "print('\\x1b[2J')": "exit 0: control characters",
    "while True: pass": "exit -24: too slow",
    "bytearray(1 << 40)": "exit 3: \n",
}


@pytest.mark.parametrize(("body", "told"), DEFECTS.items())
def test_every_bad_end_is_told(tmp_path: Path, body: str, told: str) -> None:
    script = tmp_path / "defect.py"
    script.write_text(
        "from simnet import cli\n"
        "from tests.fuzz import worker\n"
        "from tests.fuzz.case import Case\n"
        f"def status(arguments):\n    try:\n        exec({body!r})\n"
        "    except Exception as error:\n        return cli._explain(error)[1]\n    return 0\n"
        "cli._status = status\n"
        "end = worker.run_case(Case('run', ('x',)), cpu_seconds=1)\n"
        "print(f'exit {end.status}: {end.problem}')\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, str(script)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told in done.stdout, done.stdout + done.stderr
