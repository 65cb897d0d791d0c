"""Which runs answer which measurement, and how the measured numbers follow from their results."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from simnet.errors import InputError
from simnet.scenario.core.library import nearest
from simnet.study import (
    answers_bonding,
    answers_ess,
    answers_ipoib,
    answers_power5,
    answers_relay,
    answers_vlan,
)
from simnet.study.run.result import Result
from simnet.study.validate.measurements import measurements, wanted
from simnet.study.work.cases import Case

Results: TypeAlias = Mapping[str, Result]

_SCENARIO = "x460-out-of-box"
_DEFAULT_TEST = "netserver"
# a CPU on which a process runs, beside those that a stray wake-up reaches
_RUNS_PERCENT = 5.0
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

    `most` is what no number can exceed. `times` are of a prediction, and of a member of an ensemble
    with its warm-up, where those that suit a network are too short.
    """

    cases: Mapping[str, Case]
    numbers: Callable[[Results], dict[str, float]]
    most: float = math.inf
    times: tuple[str, str, str] | None = None

    def of(self, scenario: str = "", messages: Sequence[str] = ()) -> Answer:
        """The same of another scenario, or of some message sizes where the answer is a mean."""
        chosen = {
            label: replace(case, scenario=scenario or case.scenario)
            for label, case in self.cases.items()
            if not messages or len(self.cases) == 1 or dict(case.settings)["message"] in messages
        }
        return replace(self, cases=chosen)


def answer(name: str, others: Iterable[str] = ()) -> Answer:
    """The answer to a measurement's id; raises InputError that names the nearest id.

    `others`: ids that are answered elsewhere.
    """
    if name in ANSWERS:
        return ANSWERS[name]
    if name in measurements() or name in wanted():
        expected = f"no scenario answers this measurement yet; there are {', '.join(ANSWERS)}"
        raise InputError(expected, key=name)
    raise InputError(
        f"the id of a measurement was expected{nearest(name, [*ANSWERS, *others])}", key=name
    )


def _cpu_busy_percent(results: Results) -> dict[str, float]:
    return {f"cpu{cpu.id}": cpu.busy for cpu in results["run"].cpus}


def _interrupts_per_second(results: Results) -> dict[str, float]:
    return {port.name: port.interrupts_per_s for port in results["run"].ports}


def _ratios(results: Results) -> dict[str, float]:
    """Means over the message sizes of throughput and CPU ratios, as the document's tables."""
    numbers = {}
    sizes = [size for size in MESSAGES if f"1 {size}" in results]
    for few, many in _STEPS:
        pairs = [(results[f"{few} {size}"], results[f"{many} {size}"]) for size in sizes]
        throughput = [after.throughput_bps / before.throughput_bps for before, after in pairs]
        busy = [after.cpu_busy_percent / before.cpu_busy_percent for before, after in pairs]
        numbers[f"throughput_{few}to{many}"] = sum(throughput) / len(pairs)
        numbers[f"cpu_{few}to{many}"] = sum(busy) / len(pairs)
    return numbers


def _listing_2(results: Results) -> dict[str, float]:
    """Sums and means that the document's second listing holds, for nodes other than 0."""
    result = results["run"]
    remote = {port.name for port in result.ports if port.node}
    serving = {
        cpu
        for port in result.interrupts
        if port.port in remote
        for cpu, rate in port.by_cpu.items()
        if rate >= 1.0
    }
    interrupts = [cpu.busy for cpu in result.cpus if cpu.id in serving]
    applications = [
        cpu.busy
        for cpu in result.cpus
        if cpu.node and cpu.id not in serving and cpu.user + cpu.system >= _RUNS_PERCENT
    ]
    return {
        "total_busy_percent": sum(cpu.busy for cpu in result.cpus),
        "remote_interrupt_cpu_busy_percent": _mean(interrupts),
        "remote_application_cpu_busy_percent": _mean(applications),
        **{f"interrupts_{port.name}": port.interrupts_per_s for port in result.ports},
    }


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _table(test: str, tunings: tuple[str, ...]) -> Answer:
    """Six ratios from every message size on 1, 2 and 4 nodes."""
    kind = () if test == _DEFAULT_TEST else (("test", test),)
    return Answer(
        {
            f"{nodes} {size}": Case(
                _SCENARIO, (("message", size), ("nodes", str(nodes)), *kind), tunings
            )
            for nodes in (1, 2, 4)
            for size in MESSAGES
        },
        _ratios,
    )


_NUMACTL = ("numactl",)
_CONFIGURATIONS = {
    "table1": (),
    "table2": _NUMACTL,
    "affinity": ("affinity",),
    "affinity_numactl": ("affinity", "numactl"),
}
_TESTS = (_DEFAULT_TEST, "netperf", "bidirectional")
LISTING_2 = Case(LISTING_1.scenario, LISTING_1.settings, _NUMACTL)

ANSWERS: dict[str, Answer] = {
    "x460.listing1.cpu_busy_percent": Answer({"run": LISTING_1}, _cpu_busy_percent, 100.0),
    "x460.listing1.interrupts_per_second": Answer({"run": LISTING_1}, _interrupts_per_second),
    "x460.listing2": Answer({"run": LISTING_2}, _listing_2),
    **{
        f"x460.{name}.{test}": _table(test, tunings)
        for name, tunings in _CONFIGURATIONS.items()
        for test in _TESTS
    },
    "x460.bonding": Answer(answers_bonding.CASES, answers_bonding.numbers),
    **{name: Answer(cases, numbers) for name, (cases, numbers) in answers_relay.ANSWERS.items()},
    **{name: Answer(cases, numbers) for name, (cases, numbers) in answers_vlan.ANSWERS.items()},
    **{
        name: Answer(cases, numbers, 100.0 if name == "ipoib.cpu_utilisation" else math.inf)
        for name, (cases, numbers) in answers_ipoib.ANSWERS.items()
    },
    **{name: Answer(cases, numbers) for name, (cases, numbers) in answers_ess.ANSWERS.items()},
    **{
        name: Answer(cases, numbers, times=answers_power5.TIMES)
        for name, (cases, numbers) in answers_power5.ANSWERS.items()
    },
}


@dataclass(frozen=True)
class Anchored:
    """A measurement that the parameters were fitted to: some keys, and their relative error."""

    id: str
    keys: tuple[str, ...]
    error: float


_ANCHORS = {
    "x460": (Anchored(ANCHOR, ANCHOR_KEYS, ANCHOR_ERROR),),
    "ipoib": tuple(Anchored(*anchor) for anchor in answers_ipoib.ANCHORS),
    "relay": tuple(Anchored(*anchor) for anchor in answers_relay.ANCHORS),
    "ess": tuple(Anchored(*anchor) for anchor in answers_ess.ANCHORS),
    "vscsi": tuple(Anchored(*anchor) for anchor in answers_power5.ANCHORS),
    "vlan": tuple(Anchored(*anchor) for anchor in answers_vlan.ANCHORS),
}


def anchors(name: str) -> tuple[Anchored, ...]:
    """What the parameters behind the answer to a measurement's id were fitted to."""
    return _ANCHORS[name.partition(".")[0]]
