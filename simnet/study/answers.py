"""Which runs answer which measurement, and how the measured numbers follow from their results."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from simnet.errors import InputError
from simnet.scenario.library import nearest
from simnet.study.cases import Case
from simnet.study.measurements import measurements
from simnet.study.result import Result

Results: TypeAlias = Mapping[str, Result]

_SCENARIO = "x460-out-of-box"
LISTING_1 = Case(_SCENARIO, (("message", "8 KiB"), ("nodes", "4")))
# the document's 15 message sizes
MESSAGES = (
    "64 B", "128 B", "256 B", "512 B", "1 KiB", "1460 B", "1480 B", "2 KiB",
    "4 KiB", "8 KiB", "16 KiB", "32 KiB", "64 KiB", "128 KiB", "256 KiB",
)  # fmt: skip
# The cost parameters were fitted to the two CPUs that serve local ports. Their work is the same and
# their listed times differ by 4.7 %: half of that is how far either may be from the truth.
ANCHOR = "x460.listing1.cpu_busy_percent"
ANCHOR_KEYS = ("cpu0", "cpu8")
ANCHOR_ERROR = 0.024
_STEPS = ((1, 2), (2, 4), (1, 4))


@dataclass(frozen=True)
class Answer:
    """The cases to simulate, by a label, and the numbers that follow from their results.

    `most` is what no number can exceed.
    """

    cases: Mapping[str, Case]
    numbers: Callable[[Results], dict[str, float]]
    most: float = math.inf


def answer(name: str) -> Answer:
    """The answer to a measurement's id; raises InputError that names the nearest id."""
    if name in ANSWERS:
        return ANSWERS[name]
    if name in measurements():
        expected = f"no scenario answers this measurement yet; there are {', '.join(ANSWERS)}"
        raise InputError(expected, key=name)
    raise InputError(f"the id of a measurement was expected{nearest(name, ANSWERS)}", key=name)


def _cpu_busy_percent(results: Results) -> dict[str, float]:
    return {f"cpu{cpu.id}": cpu.busy for cpu in results["run"].cpus}


def _interrupts_per_second(results: Results) -> dict[str, float]:
    return {port.name: port.interrupts_per_s for port in results["run"].ports}


def _ratios(results: Results) -> dict[str, float]:
    """Means over the message sizes of throughput and CPU ratios, as the document's tables."""
    numbers = {}
    for few, many in _STEPS:
        pairs = [(results[f"{few} {size}"], results[f"{many} {size}"]) for size in MESSAGES]
        throughput = [after.throughput_bps / before.throughput_bps for before, after in pairs]
        busy = [after.cpu_busy_percent / before.cpu_busy_percent for before, after in pairs]
        numbers[f"throughput_{few}to{many}"] = sum(throughput) / len(pairs)
        numbers[f"cpu_{few}to{many}"] = sum(busy) / len(pairs)
    return numbers


def _sweep(scenario: str) -> dict[str, Case]:
    return {
        f"{nodes} {size}": Case(scenario, (("message", size), ("nodes", str(nodes))))
        for nodes in (1, 2, 4)
        for size in MESSAGES
    }


ANSWERS: dict[str, Answer] = {
    "x460.listing1.cpu_busy_percent": Answer({"run": LISTING_1}, _cpu_busy_percent, 100.0),
    "x460.listing1.interrupts_per_second": Answer({"run": LISTING_1}, _interrupts_per_second),
    "x460.table1.netserver": Answer(_sweep(_SCENARIO), _ratios),
}
