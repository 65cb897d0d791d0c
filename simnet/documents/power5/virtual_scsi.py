"""The runs that answer the POWER5 document's listings of virtual SCSI, and what it leaves open.

The three workloads alone are settings of the scenario in which they run at the same time. What a
listing prints for a client's disk is read off the result's `iostat -x` columns; of the server
there is no listing.
"""

from collections.abc import Mapping
from typing import Final

from simnet.study.run.result import Result
from simnet.study.validate.document import Anchored, Answer, Numbers
from simnet.study.work.cases import Case

_SCENARIO: Final = "vscsi-parallel"
_SERVER: Final = "peer0:sdc"
# of a prediction, of a member and its warm-up: a disk takes milliseconds for each request
_TIMES: Final = ("120 s", "20 s", "6 s")

_ALONE: Final = {
    "vscsi.sequential_read_alone": ("sequential-read-alone", "sdb"),
    "vscsi.random_read_alone": ("random-read-alone", "sdc"),
    "vscsi.random_write_alone": ("random-write-alone", "sdd"),
}
_COLUMNS: Final = (
    *("r_s", "w_s", "wrqm_s", "rsec_s", "wsec_s"),
    *("avgrq_sz", "avgqu_sz", "await_ms", "svctm_ms", "util"),
)
_PARALLEL: Final = {
    "sdb": ("r_s", "await_ms", "avgqu_sz"),
    "sdc": ("r_s", "await_ms", "avgqu_sz"),
    "sdd": ("w_s", "await_ms", "avgqu_sz"),
    "server": ("r_s", "w_s", "await_ms", "avgqu_sz", "svctm_ms", "util"),
}


def disk_row(result: Result, name: str) -> dict[str, float]:
    """The columns of `iostat -x` of one disk of a result, by name."""
    disk = next(disk for disk in result.disks if disk["name"] == name)
    return {column: float(disk[column]) for column in _COLUMNS}


def _alone(device: str) -> Numbers:
    return lambda results: disk_row(results["run"], device)


def _parallel(results: Mapping[str, Result]) -> dict[str, float]:
    return {
        f"{device}_{column}": disk_row(results["run"], _SERVER if device == "server" else device)[
            column
        ]
        for device, columns in _PARALLEL.items()
        for column in columns
    }


# what the disk and the threads were fitted to, to 5 %, as a listing of some seconds may be off
_ANCHORS: Final = (
    Anchored("vscsi.sequential_read_alone", ("r_s", "await_ms"), 0.05),
    Anchored("vscsi.random_read_alone", ("r_s", "await_ms"), 0.05),
    Anchored("vscsi.random_write_alone", ("w_s", "await_ms"), 0.05),
)


def _answer(numbers: Numbers, *tunings: str) -> Answer:
    case = Case(_SCENARIO, (), tunings)
    return Answer({"run": case}, numbers, times=_TIMES, anchors=_ANCHORS)


ANSWERS: Final = {
    **{name: _answer(_alone(device), tuning) for name, (tuning, device) in _ALONE.items()},
    "vscsi.parallel": _answer(_parallel),
}
