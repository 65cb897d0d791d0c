"""Draws every figure of the package for `docs/gallery.md`.

`python -m tests.docs.gallery [NAME...]` at the top of a checkout; all figures by default, which
takes some ten minutes, most of them for the capacity: its runs go on until intervals decide.
"""

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import simnet
from simnet.scenario.core.load import load
from simnet.study.capacity.document import Capacity
from simnet.study.explain.explain import Explanation, observed
from simnet.study.figures import drawn
from simnet.study.recommend.document import Recommendation
from simnet.study.run.result import Result
from simnet.study.screen.document import Screen
from simnet.study.sequence.capture import Capture
from simnet.study.sweep.sweep import Sweep
from simnet.study.validate.record import record as frozen
from simnet.study.whatif.record import record_of_changes
from simnet.study.whatif.whatif import WhatIf
from tests.docs.evidence import published
from tests.docs.pictures import crisp
from tests.house.trees import ROOT

FOLDER: Final = ROOT / "docs" / "gallery"
_X460: Final = "x460-out-of-box"


@cache
def _placed(scenario: str, *tunings: str) -> Result:
    return simnet.run(scenario, tunings=tunings, warm_up="50 ms", duration="100 ms")


def _pair() -> dict[str, Result]:
    return {"as installed": _placed(_X460), "affinity": _placed(_X460, "affinity")}


def _timelines() -> dict[str, Any]:
    found = {}
    for name, tunings in (("before", ()), ("with rmem-25m", ("rmem-25m",))):
        system = load("media-udp", tunings=tunings, warm_up="20 ms", duration="60 ms")
        found[name] = observed(system, over_time=True).timeline
    return found


def _late() -> dict[str, Any]:
    loads = {"untuned": "relay-untuned", "tuned": "relay-tuned"}
    found = {name: _placed(scenario).messages for name, scenario in loads.items()}
    return {name: messages.histogram for name, messages in found.items() if messages}


def _whatif() -> WhatIf:
    tunings = ["affinity", "numactl", "affinity+numactl"]
    return simnet.whatif(_X460, tunings, seeds=3, members=6, warm_up="50 ms", duration="50 ms")


def _explanation() -> Explanation:
    return simnet.explain(_X460, warm_up="50 ms", duration="100 ms")


def _recommendation() -> Recommendation:
    one = {"nodes": "1"}
    return simnet.recommend(
        _X460, settings=one, goal="p99", runs=60, warm_up="30 ms", duration="30 ms"
    )


def _screen() -> Screen:
    return simnet.screen(_X460, settings={"nodes": "1"}, paths=3, warm_up="30 ms", duration="30 ms")


def _placements() -> Sweep:
    return simnet.sweep(
        _X460,
        {"nodes": ("1", "2", "4")},
        tunings=["none", "affinity", "numactl"],
        replications=4,
        warm_up="50 ms",
        duration="100 ms",
    )


@cache
def _plane() -> Sweep:
    over = {"nodes": ("1", "2", "4"), "message": ("64 B", "256 B", "1 KiB", "4 KiB", "16 KiB")}
    return simnet.sweep(_X460, over, replications=4, warm_up="30 ms", duration="50 ms")


def _capacity() -> Capacity:
    return simnet.capacity(
        "relay-untuned",
        max_loss="0.1 %",
        between="20000..160000",
        precision="20 %",
        warm_up="50 ms",
        duration="100 ms",
    )


def _stalls() -> Capture:
    asks = {"nodes": "1", "test": "tcp_rr", "workload.writes": "100,200", "workload.read": "10"}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "stalls.pcapng"
        simnet.run(_X460, settings=asks, warm_up="0 s", duration="150 ms", pcap=path)
        return simnet.read_capture(path)


# a name of a file: module and function in `simnet.study.figures`, and what it is given
SHOWN: Final[dict[str, tuple[str, Callable[[], tuple[Any, ...]]]]] = {
    "capacity": ("capacity:curves", lambda: (_capacity(),)),
    "changes": ("record:changes", lambda: (record_of_changes(),)),
    "cpus": ("result:cpu_bars", lambda: (_placed(_X460),)),
    "explain": ("explain:utilisations", lambda: (_explanation(),)),
    "heat": ("heat:cpu_heat", lambda: (_pair(),)),
    "how-far-off": ("record:scores", lambda: (published(frozen()),)),
    "latency": ("latency:later_curves", lambda: (_late(),)),
    "machine": ("machine:topology", lambda: (_placed(_X460).configuration,)),
    "recommend": ("recommend:pareto", lambda: (_recommendation(),)),
    "sequence": ("sequence:time_sequence", lambda: (_stalls(), 0)),
    "screen": ("screen:tornado", lambda: (_screen(),)),
    "sweep-heat": ("sweep:figure", lambda: (_plane(), "throughput_bps")),
    "sweep-latency": ("sweep:latency", lambda: (_plane(), "throughput_bps")),
    "sweep-pareto": ("pareto:of_sweep", lambda: (_plane(), "throughput_bps")),
    "timeline": ("timeline:over_time", lambda: (_timelines(),)),
    "whatif": ("whatif:intervals", lambda: (_whatif(),)),
    "work": ("work:packet_bars", lambda: (_pair(),)),
    "x460-placement": ("sweep:figure", lambda: (_placements(), "throughput_bps")),
}


def _write(name: str) -> None:
    """Simulate, and draw."""
    picture, given = SHOWN[name]
    shown = given()
    (FOLDER / f"{name}.svg").write_text(crisp(name, lambda: drawn(picture, *shown)), "utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:] or SHOWN:
        _write(name)
