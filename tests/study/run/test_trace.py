"""Timelines for Perfetto."""

import gzip
import json
import tracemalloc
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from simnet.errors import InputError
from simnet.study.run.trace import TraceFile


def write(path: Path) -> None:
    with TraceFile(path) as trace:
        trace.counter("eth0 rx ring", "filled", 1, 1)
        trace.span("cpu0", "tg3_interrupt", 2_000_000, 3_500_001)
        trace.instant("cpu1", "wake-up", 3_000_000)
        trace.span("cpu0", "net_rx_action", 1_500_000, 9_000_000)
        trace.span("cpu0", "netserver", 1_000_000, 20_000_000)
        trace.counter("eth0 rx ring", "filled", 9_000_000, 0)


def read(path: Path) -> list[dict[str, Any]]:
    data = path.read_bytes()
    document = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    events: list[dict[str, Any]] = document["traceEvents"]
    return events


@pytest.mark.parametrize("name", ["run.json", "run.json.gz"])
def test_a_trace_is_json_with_named_tracks_grouped_by_kind(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    write(path)
    meta = [event for event in read(path) if event["ph"] == "M"]
    tracks = {e["args"]["name"]: e["pid"] for e in meta if e["name"] == "thread_name"}
    assert set(tracks) == {"cpu0", "cpu1", "eth0 rx ring"}
    assert tracks["cpu0"] == tracks["cpu1"] != tracks["eth0 rx ring"]
    groups = {e["pid"]: e["args"]["name"] for e in meta if e["name"] == "process_name"}
    assert groups[tracks["cpu0"]] == "cpu"
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_spans_nest_and_keep_every_picosecond(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    write(path)
    text = path.read_text(encoding="ascii")
    assert '"ts":2.000000,"dur":1.500001' in text
    tracks: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for event in read(path):
        if event["ph"] == "X":
            tracks[event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    (spans,) = tracks.values()
    open_until: list[float] = []
    for begin, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        while open_until and open_until[-1] <= begin:
            open_until.pop()
        assert not open_until or end <= open_until[-1]
        open_until.append(end)
    assert len(open_until) == 1 or len(spans) == 3


def test_counters_and_instants_carry_their_values(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    write(path)
    events = read(path)
    fills = [(e["ts"], e["args"]["value"]) for e in events if e["ph"] == "C"]
    assert fills == [(0.000001, 1), (9.0, 0)]
    assert {e["name"] for e in events if e["ph"] == "C"} == {"eth0 rx ring filled"}
    assert [e["name"] for e in events if e["ph"] == "i"] == ["wake-up"]


def test_equal_runs_write_equal_bytes(tmp_path: Path) -> None:
    paths = [tmp_path / "a.json.gz", tmp_path / "b.json.gz"]
    for path in paths:
        write(path)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_a_run_that_fails_leaves_no_trace_and_keeps_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text("old", encoding="ascii")

    def fail() -> None:
        with TraceFile(path) as trace:
            trace.span("cpu0", "work", 0, 1)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert [p.read_text(encoding="ascii") for p in tmp_path.iterdir()] == ["old"]


def test_a_trace_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"run\.json: trace: cannot be written: No such file"):
        TraceFile(tmp_path / "missing" / "run.json")


def test_memory_stays_flat_while_the_trace_grows(tmp_path: Path) -> None:
    with TraceFile(tmp_path / "run.json.gz") as trace:
        trace.span("cpu0", "work", 0, 1)
        tracemalloc.start()
        for number in range(20_000):
            trace.span("cpu0", f"packet {number}", number, number + 1)
        grown, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert grown < 400_000
