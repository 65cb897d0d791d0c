"""The runs that answer the virtual LAN of the POWER5 document, and what it leaves to be predicted.

vmstat's columns are means over the seconds of load, as the measurement's are, and iperf counts
what it has sent in ten seconds.
"""

from collections.abc import Mapping
from typing import Final

from simnet.study.run.result import Result
from simnet.study.validate.document import Anchored, Answer
from simnet.study.work.cases import Case

_SCENARIO: Final = "vlan-half-cpu"
_IPERF_S: Final = 10
_MIB: Final = 1 << 20


def _mbit_per_s(result: Result) -> float:
    return result.throughput_bps / 1e6


def _half(results: Mapping[str, Result]) -> dict[str, float]:
    result = results["run"]

    def mean(name: str) -> float:
        values: list[float] = [getattr(row, name) for row in result.vmstat]
        return sum(values) / max(len(values), 1)

    return {
        "mbit_per_s": _mbit_per_s(result),
        "mbytes_in_10s": result.throughput_bps / 8 * _IPERF_S / _MIB,
        "interrupts_per_s": mean("interrupts_per_s"),
        "context_switches_per_s": mean("context_switches_per_s"),
        "system_percent": mean("system"),
        "idle_percent": mean("idle"),
    }


def _one(results: Mapping[str, Result]) -> dict[str, float]:
    return {"mbit_per_s": _mbit_per_s(results["run"])}


# what costs were fitted to: iperf prints three places, vmstat's seconds differ by a tenth
_ANCHORS: Final = (
    Anchored("vlan.half_cpu", ("mbit_per_s",), 0.02),
    Anchored("vlan.half_cpu", ("interrupts_per_s", "system_percent", "idle_percent"), 0.1),
)

ANSWERS: Final = {
    "vlan.half_cpu": Answer({"run": Case(_SCENARIO)}, _half, anchors=_ANCHORS),
    "vlan.one_cpu": Answer({"run": Case(_SCENARIO, (), ("one-cpu",))}, _one, anchors=_ANCHORS),
}
