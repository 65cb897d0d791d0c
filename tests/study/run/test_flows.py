"""Arrows of a trace lead a packet from the wire to its reader, and each end is on a slice."""

import gzip
import json
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from simnet.study.run import follow
from simnet.study.run.flows import FlowTracer, Step
from simnet.study.run.run import run
from simnet.study.run.trace import TraceFile

SETTINGS = {"x460-out-of-box": {"nodes": "1"}}
SCENARIOS = ["x460-out-of-box", "relay-untuned", "stream-100g"]


@cache
def _events(scenario: str) -> tuple[dict[str, Any], ...]:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "run.json.gz"
        run(scenario, settings=SETTINGS.get(scenario), warm_up="5 ms", duration="5 ms", trace=file)
        return tuple(json.loads(gzip.decompress(file.read_bytes()))["traceEvents"])


def _slices(events: tuple[dict[str, Any], ...]) -> dict[tuple[int, int], list[Any]]:
    found = defaultdict(list)
    for one in events:
        if one["ph"] == "X":
            found[one["pid"], one["tid"]].append((one["ts"], one["ts"] + one["dur"], one["name"]))
    return found


def _flows(events: tuple[dict[str, Any], ...]) -> dict[int, list[dict[str, Any]]]:
    found = defaultdict(list)
    for one in events:
        if one["ph"] in {"s", "t", "f"}:
            found[one["id"]].append(one)
    return found


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_start_has_an_end_and_time_goes_on(scenario: str) -> None:
    flows = _flows(_events(scenario))
    assert len(flows) > 10
    for steps in flows.values():
        phases = "".join(one["ph"] for one in steps)
        assert phases in {"sttf", "stttf"}
        assert all(one["ts"] <= then["ts"] + 0.001 for one, then in pairwise(steps))
        assert {(one["cat"], one["name"]) for one in steps} == {("packet", "packet")}
        assert all(one.get("bp") == "e" for one in steps[1:])


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_step_is_on_a_slice_that_is_there(scenario: str) -> None:
    events = _events(scenario)
    slices = _slices(events)
    for steps in _flows(events).values():
        around = [
            {
                name.partition(":")[0]
                for begin, end, name in slices[one["pid"], one["tid"]]
                if begin <= one["ts"] < end
            }
            for one in steps
        ]
        assert all(around)
        assert any(name.startswith("frame of ") for name in around[0])
        assert "in the queue" in around[1]
        assert "softirq" in around[2]
        assert around[-1] & {"system", "user"}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_slices_of_packets_do_not_overlap_on_their_track(scenario: str) -> None:
    events = _events(scenario)
    (group,) = {
        one["pid"] for one in events if one["ph"] == "M" and one["args"].get("name") == "packets"
    }
    for (pid, _), slices in _slices(events).items():
        if pid == group:
            assert all(end <= begin for (_, end, _), (begin, _, _) in pairwise(sorted(slices)))


def test_arrows_change_no_result_and_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short: Any = {"settings": {"nodes": "1"}, "warm_up": "5 ms", "duration": "5 ms"}
    monkeypatch.setattr(follow, "MOST_FLOWS", 7)
    file = tmp_path / "run.json"
    traced = run("x460-out-of-box", **short, trace=file, pcap=tmp_path / "run.pcapng")
    assert traced.fingerprint == run("x460-out-of-box", **short).fingerprint
    events = tuple(json.loads(file.read_text(encoding="ascii"))["traceEvents"])
    assert 0 < len(_flows(events)) <= 7
    assert (tmp_path / "run.pcapng").stat().st_size > 10_000


def _drawn(tmp_path: Path, draw: Callable[[FlowTracer], None]) -> list[str]:
    file = tmp_path / "run.json"
    with TraceFile(file) as trace:
        draw(FlowTracer(trace))
    events = json.loads(file.read_text(encoding="ascii"))["traceEvents"]
    return [one["ph"] for one in events if one["ph"] in "stf"]


def test_a_step_whose_slice_never_comes_leaves_no_arrow(tmp_path: Path) -> None:
    def draw(tracer: FlowTracer) -> None:
        wire = tracer.own_step("eth0 wire", "frame", 1000, 2000)
        tracer.flow("packet", [wire, tracer.step_on("cpu0", 5000, ("system",))])
        tracer.span("cpu0", "softirq", 4000, 6000)
        tracer.span("cpu0", "system: reader", 6000, 9000)

    assert _drawn(tmp_path, draw) == []


@pytest.mark.parametrize("written", [True, False])
def test_a_slice_may_be_written_before_or_after(tmp_path: Path, *, written: bool) -> None:
    def draw(tracer: FlowTracer) -> None:
        if written:
            tracer.span("cpu0", "system: reader", 4000, 5000)
        wire = tracer.own_step("eth0 wire", "frame", 1000, 2000)
        tracer.flow("packet", [wire, tracer.step_on("cpu0", 5000, ("system",))])
        if not written:
            tracer.span("cpu0", "system: reader", 4000, 5000)

    assert _drawn(tmp_path, draw) == ["s", "f"]


def test_a_step_at_the_end_of_a_slice_is_moved_into_it_and_one_within_stays() -> None:
    ended, within, at_start = (Step("cpu0", time, ("softirq",)) for time in (6000, 4500, 4000))
    for step in (ended, within, at_start):
        step.bind("softirq: eth0", 4000, 6000)
    assert [one.time_ps for one in (ended, within, at_start)] == [5000, 4500, 4000]
    assert all(one.bound for one in (ended, within, at_start))
    short = Step("cpu0", 4500, ("softirq",))
    short.bind("softirq: eth0", 4200, 4500)
    assert short.time_ps == 4200  # a slice shorter than a viewer's ns begins where it is seen
