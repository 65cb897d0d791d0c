"""The numbers of the Spectrum Scale document, and the tests that they are of.

A gain of the jobs is the relative reduction of the sum of their real times; of gpfsperf it is the
relative growth of what it moves in a second. gpfsperf's threads have a file of 3 GiB each.
"""

from collections.abc import Mapping
from typing import Final

from simnet.scenario.parts.scale.columns import totals
from simnet.study.run.result import Result
from simnet.study.work.cases import Case

_SCENARIO: Final = "ess-sas"
_FOUR_NODES: Final = "sas30_four_nodes"
_TESTS: Final = {
    "sas20_one_node": ("20-test", "1"),
    "sas30_one_node": ("30-test", "1"),
    _FOUR_NODES: ("30-test", "4"),
}
_GPFSPERF: Final = (
    ("type", "gpfsperf"),
    ("test", "mixrw-seq"),
    ("message", "1 MiB"),
    ("nodes", "4"),
)
_FAST: Final = ("56gbe",)
_MINUTE: Final = 60.0
_GB: Final = 1e9


def _jobs(name: str, tunings: tuple[str, ...] = ()) -> Case:
    test, nodes = _TESTS[name]
    return Case(_SCENARIO, (("test", test), ("nodes", nodes)), tunings)


TWENTY: Final = {"run": _jobs("sas20_one_node")}
THIRTY: Final = {"run": _jobs(_FOUR_NODES)}
# each test with the slower network and, named so, the faster one
FASTER: Final = (
    {name: _jobs(name) for name in _TESTS}
    | {f"{name} fast": _jobs(name, _FAST) for name in _TESTS}
    | {"gpfsperf": Case(_SCENARIO, _GPFSPERF), "gpfsperf fast": Case(_SCENARIO, _GPFSPERF, _FAST)}
)
LARGER: Final = {"32G": _jobs(_FOUR_NODES), "64G": _jobs(_FOUR_NODES, ("pagepool-64g",))}


def numbers(result: Result) -> dict[str, float]:
    """The document's numbers of a test, computed from a result and scaled to whole jobs."""
    permille = result.configuration["workload"]["length_permille"]
    found = totals(result.jobs, result.lpars)
    series = result.series
    whole = _MINUTE * permille / 1000
    return {
        "real_minutes": found.real_s / whole,
        "cpu_minutes": found.cpu_s / whole,
        "mean_gb_per_s": series.mean / _GB if series else 0.0,
        "peak_gb_per_s": series.peak / _GB if series else 0.0,
        "cpu_utilisation_percent": found.utilisation_percent,
    }


def of_twenty(results: Mapping[str, Result]) -> dict[str, float]:
    """The numbers of the 20-test on one node."""
    return numbers(results["run"])


def of_thirty(results: Mapping[str, Result]) -> dict[str, float]:
    """The numbers of the 30-test on four nodes, in GB/s."""
    found = numbers(results["run"])
    return {"mean": found["mean_gb_per_s"], "peak": found["peak_gb_per_s"]}


def of_faster(results: Mapping[str, Result]) -> dict[str, float]:
    """What the faster network gains in those tests of `FASTER` that there are results of."""
    found = {
        f"{name}_gain": _gain(results[name], results[f"{name} fast"])
        for name in _TESTS
        if name in results
    }
    if _FOUR_NODES in results:
        four = numbers(results[f"{_FOUR_NODES} fast"])
        found["sas30_four_nodes_peak_gb_s"] = four["peak_gb_per_s"]
        found["sas30_four_nodes_mean_gb_s"] = four["mean_gb_per_s"]
    if "gpfsperf" in results:
        before, after = (results[name].simulated_s for name in ("gpfsperf", "gpfsperf fast"))
        found["gpfsperf_gain"] = before / after - 1
    return found


def of_larger(results: Mapping[str, Result]) -> dict[str, float]:
    """What the larger pagepool gains in the 30-test on four nodes."""
    return {"gain_64_over_32": _gain(results["32G"], results["64G"])}


def _gain(before: Result, after: Result) -> float:
    return 1 - numbers(after)["real_minutes"] / numbers(before)["real_minutes"]
