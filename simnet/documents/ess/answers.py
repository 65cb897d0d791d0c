"""The runs that answer the Spectrum Scale document's measurements, and what it leaves to predict.

A gain of the jobs is the relative reduction of the sum of their real times; of gpfsperf it is the
relative growth of what it moves in a second. gpfsperf's threads have a file of 3 GiB each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simnet.documents.ess.ensemble import CALIBRATION, kept, numbers
from simnet.study.validate.document import Answer, Numbers
from simnet.study.work.cases import Case

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simnet.study.run.result import Result

__all__ = ["ANSWERS"]

_SCENARIO: Final = "ess-sas"
_FAST: Final = ("56gbe",)
_TESTS: Final = {
    "sas20_one_node": ("20-test", "1"),
    "sas30_one_node": ("30-test", "1"),
    "sas30_four_nodes": ("30-test", "4"),
}
_GPFSPERF: Final = (
    ("type", "gpfsperf"),
    ("test", "mixrw-seq"),
    ("message", "1 MiB"),
    ("nodes", "4"),
)


def _jobs(name: str, tunings: tuple[str, ...] = ()) -> Case:
    test, nodes = _TESTS[name]
    return Case(_SCENARIO, (("test", test), ("nodes", nodes)), tunings)


def _gain(before: Result, after: Result) -> float:
    old, new = numbers(before)["real_minutes"], numbers(after)["real_minutes"]
    return 1 - new / old


def _one_node(results: Mapping[str, Result]) -> dict[str, float]:
    return numbers(results["run"])


def _four_nodes(results: Mapping[str, Result]) -> dict[str, float]:
    found = numbers(results["run"])
    return {"mean": found["mean_gb_per_s"], "peak": found["peak_gb_per_s"]}


def _fast(results: Mapping[str, Result]) -> dict[str, float]:
    found = {f"{name}_gain": _gain(results[name], results[f"{name} fast"]) for name in _TESTS}
    four = numbers(results["sas30_four_nodes fast"])
    perf = {name: results[name].simulated_s for name in ("gpfsperf", "gpfsperf fast")}
    return {
        **found,
        "sas30_four_nodes_peak_gb_s": four["peak_gb_per_s"],
        "sas30_four_nodes_mean_gb_s": four["mean_gb_per_s"],
        "gpfsperf_gain": perf["gpfsperf"] / perf["gpfsperf fast"] - 1,
    }


def _pagepool(results: Mapping[str, Result]) -> dict[str, float]:
    return {"gain_64_over_32": _gain(results["32G"], results["64G"])}


def _answer(cases: Mapping[str, Case], of: Numbers) -> Answer:
    """Return an answer without anchors: its workloads are those that fit the calibration."""
    return Answer(cases, of, ensemble=kept, hours=True)


ANSWERS: Final = {
    "ess.sas20_one_node_40gbe": _answer(
        {"run": CALIBRATION["ess.sas20_one_node_40gbe"]}, _one_node
    ),
    "ess.sas30_four_nodes_40gbe": _answer(
        {"run": CALIBRATION["ess.sas30_four_nodes_40gbe"]}, _four_nodes
    ),
    "ess.56gbe": _answer(
        {name: _jobs(name) for name in _TESTS}
        | {f"{name} fast": _jobs(name, _FAST) for name in _TESTS}
        | {
            "gpfsperf": Case(_SCENARIO, _GPFSPERF),
            "gpfsperf fast": Case(_SCENARIO, _GPFSPERF, _FAST),
        },
        _fast,
    ),
    "ess.pagepool": _answer(
        {
            "32G": _jobs("sas30_four_nodes"),
            "64G": _jobs("sas30_four_nodes", ("pagepool-64g",)),
        },
        _pagepool,
    ),
}
