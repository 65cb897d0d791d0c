"""The TCP receiver does what recorded kernels did, acknowledgement for acknowledgement."""

import json
from pathlib import Path
from typing import Any

import pytest

from simnet.errors import InputError
from simnet.study.conform.conform import Verdict, conform

EXTERNAL = Path(__file__).parents[3] / "validation/external"
TRACES = EXTERNAL / "linux-tcp-receiver-traces.jsonl"
RANDOM = EXTERNAL / "linux-tcp-receiver-random.jsonl"


def names() -> list[str]:
    return [
        f"{trace['name']}-{trace['route']}"
        for file in (TRACES, RANDOM)
        for trace in map(json.loads, file.read_text(encoding="utf-8").splitlines())
    ]


@pytest.fixture(scope="module")
def verdicts() -> tuple[Verdict, ...]:
    return conform([TRACES, RANDOM]).verdicts


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


@pytest.mark.parametrize("number", range(17 + 84), ids=names())
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
        (trace(kernel="5.7"), "one.jsonl:1: kernel: no kernel model of Linux 5.7"),
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


def delayed(tmp_path: Path, *, acks: list[Any], then: float = 90.0, **more: Any) -> Verdict:
    """Of a warm connection a lone segment's ACK, and one more segment that comes `then`."""
    warm: list[Any] = [[n * 1.2, 1 + 1000 * n, 1001 + 1000 * n, 0] for n in range(20)]
    reads = [[n * 1.2 + 0.1, 1000] for n in range(20)]
    at_once = [[n * 1.2, 1001 + 1000 * n, 62, []] for n in range(16)]
    at_once += [[17 * 1.2 + 0.1, 18001, 62, []], [19 * 1.2 + 0.1, 20001, 62, []]]
    warm += [[40.0, 20001, 21001, 0], [then, 21001, 22001, 0]]
    file = tmp_path / "delayed.jsonl"
    file.write_text(
        trace(inject=warm, app_reads=reads, acks=at_once + acks, **more), encoding="utf-8"
    )
    return conform([file]).verdicts[0]


class TestTicks:
    """A timer runs at a tick; which of the jiffy's times that is, a trace tells."""

    @pytest.mark.parametrize("phase", [0.7, 1.9, 3.1])
    def test_the_phase_is_found(self, tmp_path: Path, phase: float) -> None:
        due = 80 + phase
        acks = [[due + 0.1, 21001, 62, []], [due + 56.1, 22001, 62, []]]
        verdict = delayed(tmp_path, acks=acks, then=due + 13)
        assert verdict.difference is None
        assert verdict.phase_ms == pytest.approx(phase, abs=0.3)

    def test_two_timers_have_one_phase(self, tmp_path: Path) -> None:
        verdict = delayed(tmp_path, acks=[[82, 21001, 62, []], [140, 22001, 62, []]])
        assert verdict.difference is not None

    def test_a_recorded_phase_counts(self, tmp_path: Path) -> None:
        acks = [[81.1, 21001, 62, []], [133.1, 22001, 62, []]]
        assert delayed(tmp_path, acks=acks, tick_ms=1.0).agrees
        assert not delayed(tmp_path, acks=acks, tick_ms=3.5).agrees

    def test_a_timer_may_run_a_jiffy_late_but_no_more(self, tmp_path: Path) -> None:
        last = [133.1, 22001, 62, []]
        for late, agrees in ((0, True), (4, True), (8, False)):
            acks = [[81.1 + late, 21001, 62, []], last]
            assert delayed(tmp_path, acks=acks, tick_ms=1.0).agrees == agrees

    def test_what_comes_before_a_late_timer_is_acknowledged_with_it(self, tmp_path: Path) -> None:
        # due at 81, within ato / 4 of the second segment, which has the ACK sent
        verdict = delayed(tmp_path, acks=[[82.0, 22001, 62, []]], then=82.0, tick_ms=1.0)
        assert verdict.difference is None
