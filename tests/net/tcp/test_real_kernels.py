"""What real kernels answered to what they were given, segment by segment.

The traces list each acknowledgement that a kernel sent, with its window and its SACK blocks; the
scripts say what it has to send, and when. A kernel's clock ticks at a phase of its own, so its
times are met as closely as they were stamped.
"""

from pathlib import Path

import pytest

from simnet.study.conform.conform import conform
from tests.house.trees import ROOT

TRACES = {"traces": (17, 674, 1.2), "random": (84, 3927, 0.2)}
SCRIPTS = sorted((ROOT / "validation" / "packetdrill").glob("*.pkt"))


@pytest.mark.parametrize("name", TRACES)
def test_a_kernel_s_receiver_acknowledged_the_same(name: str) -> None:
    scenarios, segments, most_ms = TRACES[name]
    file = ROOT / "validation" / "external" / f"linux-tcp-receiver-{name}.jsonl"
    verdicts = conform([file]).verdicts
    assert [its.difference for its in verdicts if not its.agrees] == []
    assert len(verdicts) == scenarios
    told = sum(len(its.expected) for its in verdicts)
    windows, blocks = (
        sum(getattr(its, what) for its in verdicts) for what in ("windows", "blocks")
    )
    assert (told, windows, blocks) == (segments, segments, segments)
    assert max(its.worst_ms for its in verdicts) < most_ms


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_that_kernels_pass(script: Path) -> None:
    (verdict,) = conform([script]).verdicts
    assert verdict.difference is None
    count = len(verdict.expected)
    assert (verdict.windows, verdict.blocks) == (count, count)
