"""Calibrated on one load, does a comparison cover the others? memcached behind 100 GbE.

The folder of a user is made: the scenario `memcached-100g`, and what was measured at one load in
one case. `simnet calibrate` is told that alone. Then every other cell that is known is predicted,
and `simnet compare` holds it against what was measured.

    python -m validation.one_load
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Final

import simnet
from simnet.scenario.core.library import find_model
from simnet.scenario.core.schema import ModelKind
from simnet.scenario.scenarios import find_scenario
from simnet.study.calibrate.host import MEMBERS, write
from simnet.study.compare.compare import MEMBERS as DRAWS
from simnet.study.compare.row import Row
from simnet.study.validate.measurements import measurements

_SCENARIO: Final = "memcached-100g"
_PREFIX: Final = "memcached."
_KINDS: Final[dict[str, ModelKind]] = {
    one: one for one in ("server", "kernel", "switch", "cpu", "nic")
}
_METRICS: Final = {
    "qps": "requests_per_s",
    "p50_us": "latency_us.p50",
    "p99_us": "latency_us.p99",
    "cpu_usr": "workers.user",
    "cpu_sys": "workers.system",
    "cpu_soft": "workers.softirq",
    "cpu_idle": "workers.idle",
    "irqs_per_s": "interrupts_per_s",
    "polls_per_s": "polls_per_s",
}


def main() -> int:
    """Print a line a cell, and sums."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cell", default="base.200000", help="what is calibrated to")
    parser.add_argument("--members", type=int, default=MEMBERS, help="draws of the calibration")
    parser.add_argument("--draws", type=int, default=DRAWS, help="of each comparison")
    given = parser.parse_args()
    cells = {
        name.removeprefix(_PREFIX): one.value
        for name, one in measurements().items()
        if name.startswith(_PREFIX)
    }
    with tempfile.TemporaryDirectory() as place:
        scenario = _calibrated(Path(place), cells.pop(given.cell), given.cell, given.members)
        rows = [
            row
            for name, values in cells.items()
            for row in _compared(scenario, name, values, given.draws)
        ]
    inside = sum(row.inside for row in rows)
    sys.stdout.write(f"all: {inside} of {len(rows)} inside\n")
    for metric in _METRICS.values():
        of_it = [row for row in rows if row.metric == metric and row.predicted]
        half = median((row.high - row.low) / 2 / row.predicted for row in of_it)
        off = median(abs(row.measured / row.predicted - 1) for row in of_it)
        sys.stdout.write(f"{metric}: off by {off:.0%}, interval {half:.0%} to either side\n")
    return 0


def _calibrated(place: Path, values: dict[str, float], cell: str, members: int) -> Path:
    """Make the user's folder and calibrate it; return the scenario."""
    scenario = place / "scenario.toml"
    (place / "models").mkdir()
    scenario.write_text(_owned(place, find_scenario(_SCENARIO), "models/"), "utf-8")
    here = place / "measured" / "cell"
    here.mkdir(parents=True)
    case, _, load = cell.partition(".")
    tunings = "" if case == "base" else f'"{case}"'
    told = f'tunings = [{tunings}]\n[settings]\n"memcached.qps" = {load}\n'
    (here / "case.toml").write_text(told, "utf-8")
    _capture(here / "cell.csv", values)
    found = simnet.calibrate_host(place, members=members)
    for one in found.calibration.fit.estimates:
        sys.stdout.write(f"{one.name}: {one.value} ({one.low} to {one.high})\n")
    write(found)
    return scenario


def _owned(place: Path, file: Path, folder: str) -> str:
    """Return a file's text, with copies of the models that it names as the user's own."""

    def copied(match: re.Match[str]) -> str:
        kind, name = match[1], match[2]
        text = _owned(place, find_model(_KINDS[kind], name), "")
        (place / "models" / f"{name}.toml").write_text(text, "utf-8")
        return f'{kind} = "{folder}{name}.toml"'

    # the line that says where the schema is would be wrong in another folder
    text = re.sub(r"^#:schema.*\n", "", file.read_text("utf-8"))
    return re.sub(rf'^({"|".join(_KINDS)}) = "([\w.-]+)"', copied, text, flags=re.MULTILINE)


def _compared(scenario: Path, cell: str, values: dict[str, float], members: int) -> list[Row]:
    """Print a cell, and return its numbers."""
    case, _, load = cell.partition(".")
    settings = {"memcached.qps": "0" if load == "max" else load}
    tunings = () if case == "base" else (case,)
    result = simnet.run(scenario, settings=settings, tunings=tunings)
    capture = scenario.parent / "capture.csv"
    _capture(capture, values)
    found = simnet.compare(result, capture, scenario=scenario, members=members)
    rows = [row for row in found.rows if row.metric in _METRICS.values()]
    outside = "".join(
        f"; {row.metric} is {row.measured:.4g}, not {row.low:.4g} to {row.high:.4g}"
        for row in rows
        if not row.inside
    )
    inside = sum(row.inside for row in rows)
    sys.stdout.write(f"{cell}: {inside} of {len(rows)} inside{outside}\n")
    sys.stdout.flush()
    return rows


def _capture(path: Path, values: dict[str, float]) -> None:
    lines = [f"{metric},{values[key]}\n" for key, metric in _METRICS.items()]
    path.write_text("".join(("metric,value\n", *lines)), "utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
