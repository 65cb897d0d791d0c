"""What tools should show on the machine itself, once a tuning is there: the prediction to check."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from simnet.report.html.blocks import Block, Notes, Section, Table
from simnet.scenario.core.knobs import knob_of
from simnet.study.run.measures import LOSS, METRICS, RATE, REAL_TIME, REQUESTS, TAIL

if TYPE_CHECKING:
    from simnet.study.whatif.verdict import Change
    from simnet.study.whatif.whatif import Judged

# by metric: the tool, and what of it to read
_TOOLS: Final = {
    REAL_TIME: ("time", "real"),
    RATE: ("iperf3, netperf", "sum of all streams at their receivers, Mbit/s"),
    REQUESTS: ("netperf -t TCP_RR", "transactions/s, sum of all"),
    TAIL: ("netperf -t TCP_RR -- -k P99_LATENCY", "p99, us"),
    "cpu_of_all": ("sar -u 1 10", "100 - %idle"),
    "interrupts": ("cat /proc/interrupts, twice", "lines of the ports, 1/s"),
    LOSS: ("iperf3 -u", "Lost/Total Datagrams, %"),
}
_ROUND_TRIP: Final = "round trip"
_MOST_SETTINGS: Final = 12
# what shows a setting of ethtool has the same letter, small
_SETS: Final = re.compile(r"ethtool -([ACGKLX]) \S+ (.+)")


def expected_section(judged: Judged) -> Section | None:
    """Each number that a tool shows, before and after with its range; None where there is none."""
    rows = [row for change in judged.changes for row in _row(change)]
    if not rows:
        return None
    blocks: list[Block] = []
    if is_set := list(dict.fromkeys(_is_set(judged.settings)))[:_MOST_SETTINGS]:
        blocks.append(Table("First: is it set?", ("type", "shows"), tuple(is_set), 2))
    heading = ("tool", "number", "before", "after", "after, 95 %")
    blocks.append(
        Table("Then: what these should show, of the whole machine", heading, tuple(rows), 2)
    )
    said = "Where a number before is another already, the load or the machine is another"
    advice = "simnet compare and simnet calibrate take what the tools print"
    blocks.append(Notes((f"{said}: {advice}.",)))
    return Section("Try it, and see whether this is so", blocks)


def _row(change: Change) -> Iterator[tuple[str, ...]]:
    before, after, hull = change.before, change.after, change.hull
    if change.metric not in _TOOLS or before is None or after is None or hull is None:
        return
    if change.metric == TAIL and change.latency_kind != _ROUND_TRIP:
        return  # of one way no tool tells
    measure = METRICS[change.metric]
    most = measure.most[0] if measure.most else math.inf
    ends = (before * (1 + percent / 100) for percent in (hull.low, hull.high))
    low, high = (measure.shown(min(max(one, 0.0), most)) for one in ends)
    tool, number = _TOOLS[change.metric]
    yield tool, number, measure.shown(before), measure.shown(after), f"{low} to {high}"


def _is_set(settings: dict[str, str]) -> Iterator[tuple[str, str]]:
    """What shows that a setting is there."""
    for name, value in settings.items():
        if found := _SETS.fullmatch(name):
            yield f"ethtool -{found[1].lower()} PORT", f"{found[2]}: {value}"
        elif name.startswith("/"):
            yield f"cat {name}", value
        elif (known := knob_of(name)) and known[0].command.startswith("sysctl "):
            yield f"sysctl {name}", value
