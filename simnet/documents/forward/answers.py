"""The runs that answer what was measured of a router, by what it does, CPUs and load.

Ids are those of the host's rows: `forward.ROUTES.CPUS` and `drop.RULES.CPUS` with more packets than
the host can take, `idle.linux.MILLIONS` with so many packets a second on six CPUs, each of which a
rule of raw drops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simnet.study.validate.document import Anchored, Answer
from simnet.study.work.cases import Case

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simnet.scenario.parts.forward.columns import ForwardUse
    from simnet.study.run.result import Result

_SCENARIO: Final = "router-connectx5"
_CPUS: Final = range(1, 7)
# what the host does, and the tuning of the scenario
_DONE: Final = {
    "forward.single-route": (),
    "forward.full-table": ("full-table",),
    "drop.iptables-raw": ("drop-raw",),
    "drop.iptables-filter": ("drop-filter",),
    "drop.conntrack": ("drop-conntrack",),
    "drop.firewalld": ("drop-firewalld",),
}
_MILLIONS: Final = ("0.25", "0.5", "1", "2", "3", "5", "10", "15", "20", "24.8")
# of a prediction; of a member with its warm-up
_TIMES: Final = ("20 ms", "5 ms", "2 ms")
# the largest relative error that a fit may leave
_ERROR: Final = 0.01


def _numbers(results: Mapping[str, Result]) -> dict[str, float]:
    return {"pps": _used(results).packets_per_s}


def _idle(results: Mapping[str, Result]) -> dict[str, float]:
    return {"idle_percent": _used(results).idle_percent}


def _used(results: Mapping[str, Result]) -> ForwardUse:
    found: ForwardUse | None = results["run"].forward
    if found is None:
        raise LookupError(_SCENARIO)
    return found


def _by_cpus(done: str, cpus: int) -> Answer:
    settings = (("ethtool -L eth0 combined", str(cpus)), ("ethtool -L eth1 combined", str(cpus)))
    anchors = (Anchored(f"{done}.1", ("pps",), _ERROR),)
    case = Case(_SCENARIO, settings, _DONE[done])
    return Answer({"run": case}, _numbers, times=_TIMES, anchors=anchors)


def _by_load(millions: str) -> Answer:
    rate = round(float(millions) * 10**6)
    settings = (("forward.rate", str(rate)), ("forward.arrivals", "poisson"))
    anchors = (
        Anchored("drop.iptables-raw.1", ("pps",), _ERROR),
        Anchored("idle.linux.1", ("idle_percent",), _ERROR),
    )
    case = Case(_SCENARIO, settings, ("drop-raw", "usecs-1"))
    return Answer({"run": case}, _idle, most=100.0, times=_TIMES, anchors=anchors)


ANSWERS: Final = {
    **{f"{done}.{cpus}": _by_cpus(done, cpus) for cpus in _CPUS for done in _DONE},
    **{f"idle.linux.{millions}": _by_load(millions) for millions in _MILLIONS},
}
