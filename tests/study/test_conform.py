"""The TCP receiver does what recorded kernels did, acknowledgement for acknowledgement."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from simnet.errors import InputError
from simnet.study.conform import Verdict, conform

TRACES = Path(__file__).parents[2] / "validation/external/linux-tcp-receiver-traces.jsonl"


def names() -> list[str]:
    return [
        f"{trace['name']}-{trace['route']}"
        for trace in map(json.loads, TRACES.read_text(encoding="utf-8").splitlines())
    ]


@pytest.fixture(scope="module")
def verdicts() -> tuple[Verdict, ...]:
    return conform([TRACES]).verdicts


def trace(**changed: Any) -> str:
    """One segment, read at once."""
    usual = {
        "kernel": "6.18.44",
        "HZ": 250,
        "mss": 1000,
        "name": "one",
        "inject": [[0.1, 1, 1001, 0]],
        "app_reads": [[1.0, 1000]],
        "acks": [[0.2, 1001, 62, []]],
    }
    return json.dumps(usual | changed)


@pytest.mark.parametrize("number", range(17), ids=names())
def test_a_recorded_kernel(verdicts: tuple[Verdict, ...], number: int) -> None:
    verdict = verdicts[number]
    assert verdict.difference is None
    # the window field and the SACK blocks of every acknowledgement, too
    assert verdict.windows == verdict.blocks == len(verdict.expected) == len(verdict.sent)


@pytest.mark.parametrize(
    ("changed", "difference"),
    [
        ({}, None),
        ({"acks": [[0.2, 1000, 62, []]]}, "expected 1000 at 0.200 ms, win 62, sent 1001 at 0"),
        ({"acks": [[2.2, 1001, 62, []]]}, "expected 1001 at 2.200 ms, win 62, sent 1001 at 0"),
        ({"acks": []}, "expected none, sent 1001"),
        (
            {"acks": [[0.2, 1001, 62, []], [9, 1001, 62, []]]},
            "expected 1001 at 9.000 ms, win 62, sent none",
        ),
    ],
)
def test_what_differs_first_is_told(
    tmp_path: Path, changed: dict[str, Any], difference: str | None
) -> None:
    file = tmp_path / "one.jsonl"
    file.write_text(trace(**changed), encoding="utf-8")
    (verdict,) = conform([file]).verdicts
    assert verdict.agrees == (difference is None)
    assert difference is None or difference in str(verdict.difference)


def test_windows_are_compared_but_do_not_decide(tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    file.write_text(trace(acks=[[0.2, 1001, 61, [[5, 6]]]]), encoding="utf-8")
    (verdict,) = conform([file]).verdicts
    assert (verdict.agrees, verdict.windows, verdict.blocks) == (True, 0, 0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no scenario in it"),
        ("{", "one.jsonl:1: no JSON"),
        ("[" * 100_000, "one.jsonl:1: no JSON: nested too deeply"),
        (trace(mss=7).replace("7", "7" * 5000, 1), "one.jsonl:1: no JSON: a number is too long"),
        (trace(inject=[[1e300, 1, 9, 0]]), "one.jsonl:1: inject.0.0: "),
        (trace(inject=[[float("inf"), 1, 9, 0]]), "one.jsonl:1: inject.0.0: "),
        (trace(inject=[[float("nan"), 1, 9, 0]]), "one.jsonl:1: inject.0.0: "),
        (trace(inject=[[1, 1 << 63, (1 << 63) + 9, 0]]), "one.jsonl:1: inject.0.1: "),
        (trace(acks=[[1e300, 1001, 61, []]]), "one.jsonl:1: acks.0.0: "),
        (trace(app_reads=[[1e300, 1]]), "one.jsonl:1: app_reads.0.0: "),
        (trace(app_writes=[[1, 1 << 63]]), "one.jsonl:1: app_writes.0.1: "),
        (trace(rcvbuf=1 << 63), "one.jsonl:1: rcvbuf: "),
        (trace(rto_min_us=1 << 63), "one.jsonl:1: rto_min_us: "),
        ("\n" + trace(HZ=0), "one.jsonl:2: HZ: "),
        (trace(inject=[[0, 10, 5, 0]]), "one.jsonl:1: inject: a segment ends at 5"),
        (trace(inject=[[0, 10, 5]]), "one.jsonl:1: inject.0.3: "),
        (trace(kernel="5.4"), "one.jsonl:1: kernel: no kernel model of Linux 5.4"),
        (trace(kernel="new"), "one.jsonl:1: kernel: no kernel model of Linux new"),
    ],
)
def test_what_is_no_trace_is_told_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "one.jsonl"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        conform([file])
    line = str(caught.value)
    assert said in line
    assert "\n" not in line


def test_another_kernel_can_be_named(tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    file.write_text(trace(kernel="5.4"), encoding="utf-8")
    (verdict,) = conform([file], kernel="linux-2.6.16-sles10").verdicts
    assert verdict.kernel == "2.6.16"
