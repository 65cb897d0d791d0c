"""`simnet whatif --check`, and the jobs of the documentation that call it."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from simnet.scenario.core.effective import Effective
from simnet.study.run.result import Result
from simnet.study.work import task
from tests.cli.conftest import Simnet
from tests.docs.blocks import blocks
from tests.house.trees import ROOT
from tests.study.synthetic import result

SCENARIO = "x460-out-of-box"
QUICK = ("--seeds", "3", "--members", "0", "--jobs", "1")
pytestmark = pytest.mark.usefixtures("made_up")
PAGE = ROOT / "docs" / "in-your-tools.md"


@pytest.mark.parametrize(
    ("tunings", "status", "sentence"),
    [
        (["affinity"], 0, "not worse: affinity"),
        (["affinity", "net.ipv4.tcp_low_latency=0"], 0,
         "not worse: affinity, net.ipv4.tcp_low_latency=0"),
        (["affinity", "numactl"], 1, "worse: numactl: CPU time per byte +30.0 % ("),
        (["affinity", "net.ipv4.tcp_fack=0"], 3,
         "cannot tell: net.ipv4.tcp_fack=0: nothing of it is modelled"),
        (["numactl", "net.ipv4.tcp_fack=0"], 1, "worse: numactl: "),
        (["affinity", "nodes=9"], 3, "cannot tell: nodes=9: 9 nodes: ibm-x460 has 4"),
    ],
)  # fmt: skip
def test_a_check_asks_of_each_tuning_whether_it_hurts(
    simnet: Simnet, tunings: list[str], status: int, sentence: str
) -> None:
    outcome = simnet("whatif", SCENARIO, *tunings, *QUICK, "--check")
    assert outcome.status == status
    assert outcome.out.splitlines()[-1].startswith(sentence)


def test_a_check_in_markdown_begins_with_what_it_says(simnet: Simnet) -> None:
    outcome = simnet("whatif", SCENARIO, "numactl", *QUICK, "--check", "--format", "markdown")
    first, blank, second = outcome.out.splitlines()[:3]
    assert (outcome.status, blank) == (1, "")
    assert first.startswith("worse: numactl: ")
    assert second.startswith("**numactl on ")


def test_a_file_of_sysctls_is_what_it_sets(simnet: Simnet) -> None:
    Path("90.conf").write_text(
        "# a comment\n; another\n\n-net.ipv4.tcp_low_latency=0\nkernel.panic = 10\n"
        "net/ipv4/tcp_low_latency =  1 \n-net.ipv4.conf.*\n"
    )
    outcome = simnet("whatif", SCENARIO, "sysctl -p 90.conf", *QUICK, "--check")
    assert outcome.err.splitlines()[0].endswith("not known, left out: kernel.panic")
    assert outcome.out.splitlines()[-1] == (
        "not worse: net.ipv4.tcp_low_latency=1; simnet does not know kernel.panic"
    )
    assert outcome.status == 0


@pytest.mark.parametrize(
    ("content", "status", "line"),
    [
        ("kernel.panic = 10\n", 3, "cannot tell: simnet does not know kernel.panic"),
        ("# nothing\n", 2, "simnet: sysctl -p 90.conf: the file sets nothing"),
        ("net.ipv4.tcp_sack\n", 2, "simnet: 90.conf:1: expected NAME = VALUE"),
        ("net.ipv4.tcp_sack = many\n", 2, "simnet: 90.conf:1: net.ipv4.tcp_sack: "),
        (
            "net.ipv4.tcp_sac = 1\n",
            3,
            "cannot tell: simnet does not know net.ipv4.tcp_sac (did you mean net.ipv4.tcp_sack?)",
        ),
        (None, 2, "simnet: 90.conf: "),
    ],
)
def test_a_file_that_says_nothing(
    simnet: Simnet, content: str | None, status: int, line: str
) -> None:
    if content is not None:
        Path("90.conf").write_text(content)
    outcome = simnet("whatif", SCENARIO, "sysctl -p 90.conf", "--check")
    assert outcome.status == status
    assert (outcome.out + outcome.err).startswith(line)


def test_without_a_check_unknown_sysctls_are_bad_input(simnet: Simnet) -> None:
    Path("90.conf").write_text("kernel.panic = 10\n")
    outcome = simnet("whatif", SCENARIO, "sysctl -p 90.conf")
    assert outcome == (2, "", "simnet: TUNING: simnet does not know kernel.panic\n")


def jobs() -> list[tuple[str, str]]:
    """Command lines of simnet in the files that the page shows, with the name of the file."""
    call = re.compile(r"^\s*(?:- run|entry): (simnet .*)$", re.MULTILINE)
    return [
        (block.title, line)
        for block in blocks(PAGE, PAGE.read_text())
        for line in call.findall(block.text)
    ]


def test_the_page_has_a_job_and_a_hook() -> None:
    assert [title for title, _ in jobs()] == [
        ".github/workflows/sysctl.yml",
        ".pre-commit-config.yaml",
    ]


@pytest.mark.parametrize(("title", "line"), jobs())
@pytest.mark.parametrize(
    ("carried", "status", "said"), [(1.0, 0, "not worse: "), (0.5, 1, "worse: ")]
)
def test_a_job_of_the_page_works(
    simnet: Simnet,
    monkeypatch: pytest.MonkeyPatch,
    title: str,
    line: str,
    *,
    carried: float,
    status: int,
    said: str,
) -> None:
    def with_less_memory(effective: Effective, **_options: Any) -> Result:
        less = any(one.name == "net.ipv4.tcp_wmem" for one in effective.applied)
        configuration = effective.model_dump(mode="json")
        return result(1e9 * (carried if less else 1), 1.0, configuration=configuration)

    monkeypatch.setattr(task, "simulate", with_less_memory)
    Path("sysctl.d").mkdir()
    Path("sysctl.d/90-net.conf").write_text("net.ipv4.tcp_wmem = 4096 16384 1048576\n")
    command, _, written = line.partition(" > ")
    outcome = simnet(*shlex.split(command)[1:], *QUICK)
    assert outcome.status == status, title
    assert outcome.out.splitlines()[0 if written else -1].startswith(said)
