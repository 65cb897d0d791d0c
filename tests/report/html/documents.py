"""Saved files of each kind, made by short simulations once a test run."""

import json
import tempfile
from functools import cache
from pathlib import Path

from simnet.diagnose.diagnosis import diagnose
from simnet.study.capacity.document import Capacity, Interval, LoadResults, TriedLoad
from simnet.study.capacity.verdict import Verdict
from simnet.study.compare.compare import Comparison, compare
from simnet.study.explain.explain import explain
from simnet.study.recommend.document import Recommendation, Step, Tried
from simnet.study.run.loss import Latency
from simnet.study.run.result import Result
from simnet.study.run.run import run
from simnet.study.screen.screen import screen
from simnet.study.sweep.sweep import sweep
from simnet.study.validate.record import record
from simnet.study.validate.validate import Row, Validation
from simnet.study.whatif.whatif import WhatIf, whatif

KINDS = [
    "run", "whatif", "explain", "sweep", "capacity", "validate", "validate --frozen",
    "screen", "recommend", "diagnose", "compare",
]  # fmt: skip
SCENARIO = "x460-out-of-box"
KNOBS = ("ethtool -C {port} rx-frames", "net.ipv4.tcp_sack")


@cache
def saved_documents() -> dict[str, str]:
    """What each command prints with --json, by its name."""
    short = {"settings": {"nodes": "1"}, "duration": "10 ms", "warm_up": "20 ms"}
    rows = tuple(
        Row(
            id=f"x460.number{number}", key="throughput", predicted=10.0 + number, low=9.0,
            high=12.0, measured=None if number == 3 else 11.0, use="calibrate", status="fitted",
        )
        for number in range(4)
    )  # fmt: skip
    ran = run(SCENARIO, **short)  # type: ignore[arg-type]
    found = whatif(SCENARIO, "affinity", seeds=2, members=0, **short)  # type: ignore[arg-type]
    return {
        "run": ran.to_json(),
        "compare": _comparison(ran).to_json(),
        "whatif": found.to_json(),
        "explain": explain(SCENARIO, **short).to_json(),  # type: ignore[arg-type]
        "sweep": sweep(SCENARIO, {"nic.rx_frames": "1,5"}, replications=2, **short).to_json(),  # type: ignore[arg-type]
        "capacity": _capacity().to_json(),
        "screen": screen(SCENARIO, knobs=KNOBS, paths=2, **short).to_json(),  # type: ignore[arg-type]
        "recommend": _recommendation(found).to_json(),
        "validate": Validation(rows, (), {}).to_json(),
        "diagnose": diagnosed_document(),
        "validate --frozen": json.dumps(record("x460.*").to_json()),
    }


def _comparison(predicted: Result) -> Comparison:
    """With what netperf showed: half of the rate, and the same CPU time."""
    with tempfile.TemporaryDirectory() as place:
        measured = Path(place) / "measured.csv"
        rate, busy = predicted.throughput_bps / 2, predicted.cpu_busy_percent
        text = f"metric,value\nthroughput_bps,{rate}\ncpu.all.busy,{busy}\n"
        measured.write_text(text, encoding="utf-8")
        return compare(predicted, str(measured), members=0)


def _recommendation(confirmed: WhatIf) -> Recommendation:
    """A search is long, too: this is what one might say of a what-if."""
    tried = (
        Tried(changes=("affinity",), allowed=True, percent={"throughput": 4.0, "cpu_per_byte": -9}),
        Tried(changes=("numactl",), allowed=False, percent={"throughput": 2.0, "latency_p99": 300}),
    )
    step = Step(
        change="affinity", description="one CPU a port", settings={}, share=100.0, interval=None,
        why="less time for lines of other CPUs",
    )  # fmt: skip
    return Recommendation(
        scenario=SCENARIO, version="0.1.0", fingerprint="0" * 32, settings={"nodes": "1"},
        base_tunings=(), goal="throughput", metric="throughput", limits=("loss<=+1 points",),
        runs=9, verdict="yes", reason="throughput +4 %", exit_status=0, remarks=("short",),
        best=("affinity",), steps=(step,), confirmed=confirmed, tried=tried,
    )  # fmt: skip


def diagnosed_document() -> str:
    """What is found in two outputs, of which one is not known."""
    text = (
        "$ ethtool -S eth0\nNIC statistics:\n rx_packets: 9123456\n rx_missed_errors: 812345\n"
        "$ frob --all\nof which nobody knows a thing\n"
    )
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "paste.txt").write_text(text, encoding="utf-8")
        return diagnose([f"{place}/paste.txt"]).to_json()


def _capacity() -> Capacity:
    """A search is long: these are three loads as one finds them."""
    carried = LoadResults(
        offered_per_s=1e5, delivered_per_s=1e5, goodput_bps=1e8, rx_bps=2e8, rx_packets_per_s=1e5,
        cpu_busy_percent=40.0, latency_us=Latency(p50=90.0, p99=300.0), ports=(), drops={},
    )  # fmt: skip
    tried: tuple[tuple[float, float, Verdict], ...] = (
        (5e4, 0.001, "pass"),
        (1e5, 0.002, "pass"),
        (2e5, 0.2, "fail"),
    )
    loads = tuple(
        TriedLoad(
            load=load, verdict=verdict, runs=8, simulated_s=1.0, carried=carried,
            intervals=(
                Interval(name="loss", limit=0.01, mean=m, low=m / 2, high=2 * m, verdict=verdict),
            ),
        )
        for load, m, verdict in tried
    )  # fmt: skip
    return Capacity(
        scenario="relay-untuned", version="0.1.0", fingerprint="0" * 32, settings={}, tunings=(),
        setting="relay.rate", unit="", max_loss=0.01, max_p99_us=None, max_shortfall=0.1,
        precision=0.2, confidence=0.95, low=1e5, high=2e5, precise=False, undecided=(),
        exceptions=(), simulations=24, conclusive=True, remarks=(), exit_status=3, loads=loads,
    )  # fmt: skip
