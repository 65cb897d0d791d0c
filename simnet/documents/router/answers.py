"""The runs that answer what was measured of home routers.

Ids are those of the host's rows, `router.SOC.eth0-M.brlan-M.plain` or `offload`: the masks of CPUs
in `rps_cpus` of the port and of the bridge, and whether connections pass by a flow table.
"""

from collections.abc import Mapping
from typing import Final

from simnet.study.run.result import Result
from simnet.study.validate.document import Anchored, Answer
from simnet.study.work.cases import Case

_SCENARIO: Final = "home-router"
_PORT: Final = "/sys/class/net/eth0/queues/rx-0/rps_cpus"
_BRIDGE: Final = "/sys/class/net/br-lan/queues/rx-0/rps_cpus"
_OF_TWO: Final = ("0", "1", "2")
_OF_FOUR: Final = (*_OF_TWO, "4", "8")
# masks and what else was varied, by chip
_VARIED: Final = {
    "BCM4708": (_OF_TWO, ("plain", "offload")),
    "BCM47094": (_OF_TWO, ("plain", "offload")),
    "BCM4908": (_OF_FOUR, ("plain",)),
}
# of which chip the scenario is
_OWN: Final = "BCM4708"
_FITTED: Final = (
    "router.BCM4708.eth0-0.brlan-0.plain",
    "router.BCM4708.eth0-0.brlan-0.offload",
    "router.BCM4708.eth0-0.brlan-2.plain",
    "router.BCM47094.eth0-0.brlan-0.plain",
    "router.BCM4908.eth0-0.brlan-0.plain",
)
# the largest relative error that a fit may leave
_ERROR: Final = 0.06
# of a prediction; of a member with its warm-up
_TIMES: Final = ("300 ms", "60 ms", "100 ms")
# Mbit/s that 1 Gbit/s carries of segments with timestamps, 941.5, and a segment more or less
_LINE: Final = 942.0
_MBIT: Final = 10**6


def _numbers(results: Mapping[str, Result]) -> dict[str, float]:
    return {"mbit_s": results["run"].throughput_bps / _MBIT}


def _answer(chip: str, port: str, bridge: str, passes: str) -> Answer:
    settings = ((_PORT, port), (_BRIDGE, bridge))
    tunings = () if chip == _OWN else (chip.lower(),)
    if passes == "offload":
        tunings = (*tunings, "software-offload")
    anchors = tuple(Anchored(row, ("mbit_s",), _ERROR) for row in _FITTED)
    case = Case(_SCENARIO, settings, tunings)
    return Answer({"run": case}, _numbers, most=_LINE, times=_TIMES, anchors=anchors)


ANSWERS: Final = {
    f"router.{chip}.eth0-{port}.brlan-{bridge}.{passes}": _answer(chip, port, bridge, passes)
    for chip, (masks, ways) in _VARIED.items()
    for port in masks
    for bridge in masks
    for passes in ways
}
