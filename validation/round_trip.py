"""Does calibration find the costs of a host? Hosts whose costs are known, drawn, are calibrated.

Of a host of four CPUs with 10 Gigabit Ethernet every uncertain parameter is drawn from its range.
Two loads are simulated with these values, printed as mpstat and netperf print them, and given to
`simnet calibrate`, which knows nothing else. Then the drawn values are held against its intervals.

    python -m validation.round_trip --draws 10
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final, NamedTuple

import simnet
from simnet.report.formats import FORMATS
from simnet.study.calibrate.host import MEMBERS
from simnet.study.work.cases import Case, Member, simulate_all, uncertain

if TYPE_CHECKING:
    from collections.abc import Iterable

_OUTPUTS: Final = {
    "lscpu.txt": (
        "Architecture: x86_64\nCPU(s): 4\nOn-line CPU(s) list: 0-3\nThread(s) per core: 1\n"
        "Core(s) per socket: 4\nSocket(s): 1\nNUMA node(s): 1\nVendor ID: GenuineIntel\n"
        "Model name: Intel(R) Xeon(R) Gold 6128 CPU @ 3.40GHz\nNUMA node0 CPU(s): 0-3\n"
    ),
    "ethtool-i-eth0.txt": "driver: i40e\nbus-info: 0000:03:00.0\n",
    "ethtool-eth0.txt": "Settings for eth0:\n\tSpeed: 10000Mb/s\n",
    "uname.txt": "Linux host 5.14.0-362.8.1.el9_3.x86_64 #1 SMP x86_64 GNU/Linux\n",
}
_LOADS: Final = {"": {}, "requests": {"test": "tcp_rr"}}
_TOOLS: Final = ("mpstat", "netperf")
_SEED: Final = 77


class Found(NamedTuple):
    """How many of the parameters lie inside their intervals, and how many there are."""

    fitted: tuple[int, int]
    told: tuple[int, int]
    whole: tuple[int, int]
    outside: tuple[str, ...]


def main() -> int:
    """Print a line a draw, and sums."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--members", type=int, default=MEMBERS)
    parser.add_argument("--first", type=int, default=1, help="seed of the first draw")
    given = parser.parse_args()
    found: list[Found] = []
    for seed in range(given.first, given.first + given.draws):
        with tempfile.TemporaryDirectory() as place:
            found.append(round_trip(Path(place), seed, given.members))
        sys.stdout.write(f"draw {seed}: {_line(found[-1])}\n")
        sys.stdout.flush()
    sums = Found(
        _sum(one.fitted for one in found),
        _sum(one.told for one in found),
        _sum(one.whole for one in found),
        (),
    )
    sys.stdout.write(f"all: {_line(sums)}\n")
    good = sum(one.fitted[0] == one.fitted[1] for one in found)
    sys.stdout.write(f"every fitted cost inside: {good} of {len(found)} draws\n")
    return 0


def _sum(counts: Iterable[tuple[int, int]]) -> tuple[int, int]:
    inside, there = zip(*counts, strict=True)
    return sum(inside), sum(there)


def _line(found: Found) -> str:
    parts = ("fitted", "narrowed", "of all")
    return ", ".join(
        f"{inside} of {count} {part} inside"
        for part, (inside, count) in zip(parts, found[:3], strict=True)
    ) + "".join(f"; {one}" for one in found.outside)


def round_trip(place: Path, seed: int, members: int) -> Found:
    """Make a host with drawn costs, calibrate it, and compare."""
    outputs = place / "outputs"
    outputs.mkdir()
    for name, text in _OUTPUTS.items():
        (outputs / name).write_text(text, "utf-8")
    host = place / "host"
    simnet.import_host(str(outputs), workload="stream").write(host)
    scenario = str(host / "scenario.toml")
    random = Random(seed)  # noqa: S311 - no secret
    true = {one.path: random.randint(one.low, one.high) for one in uncertain(Case(scenario))}
    values = tuple(sorted(true.items()))
    for load, settings in _LOADS.items():
        here = host / "measured" / load
        here.mkdir(parents=True, exist_ok=True)
        if load:
            lines = "".join(f'{knob} = "{value}"\n' for knob, value in settings.items())
            (here / "case.toml").write_text(f"[settings]\n{lines}", "utf-8")
        case = Case(scenario, tuple(settings.items()))
        (done,) = simulate_all([Member(case, _SEED, values=values)])
        for tool in _TOOLS:
            (here / f"{tool}.txt").write_text(FORMATS[tool](done), "utf-8")
    found = simnet.calibrate_host(host, members=members)
    estimates = [one for one in found.calibration.fit.estimates if one.identified]
    known = found.moved.known
    told = [one for one in known if one.told]
    narrow = {one.name: (float(one.low), float(one.high)) for one in told}
    narrow |= {one.name: (one.low, one.high) for one in estimates}
    return Found(
        (sum(one.low <= true[one.name] <= one.high for one in estimates), len(estimates)),
        (sum(one.low <= true[one.name] <= one.high for one in told), len(told)),
        (sum(one.low <= true[one.name] <= one.high for one in known), len(known)),
        tuple(
            f"{name} is {true[name]}, not {low:.0f} to {high:.0f}"
            for name, (low, high) in narrow.items()
            if not low <= true[name] <= high
        ),
    )


if __name__ == "__main__":
    raise SystemExit(main())
