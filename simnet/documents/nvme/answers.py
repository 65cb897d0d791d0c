"""The runs that answer what was measured of fio on an NVMe drive.

Ids are those of the host's rows, `nvme980.SET.SCHEDULER.N`: N units in flight of one process on one
core, N processes with one unit each on one core or on ten, or N processes with 128 units each on
ten.
"""

from collections.abc import Mapping
from typing import Final

from simnet.study.run.result import Result
from simnet.study.validate.document import Anchored, Answer
from simnet.study.work.cases import Case

_SCENARIO: Final = "nvme-980pro"
_SCHEDULERS: Final = ("none", "mq-deadline", "bfq", "kyber")
_POWERS: Final = tuple(2**power for power in range(9))
# of each set: its N, and what a row sets
_SETS: Final = {
    "one-process": (_POWERS, "iodepth", {"numjobs": "1", "cpus_allowed": "0"}),
    "one-core": (_POWERS, "numjobs", {"iodepth": "1", "cpus_allowed": "0"}),
    "all-cores": (_POWERS, "numjobs", {"iodepth": "1"}),
    "throughput": (tuple(range(1, 16)), "numjobs", {"iodepth": "128"}),
}
# rows that the parameters were fitted to, by what decides them
_DRIVE: Final = ("one-process.none.1", "one-process.none.128", "throughput.none.10")
_OWN: Final = {
    "none": (),
    "mq-deadline": ("throughput.mq-deadline.1", "throughput.mq-deadline.10"),
    "bfq": ("throughput.bfq.1", "throughput.bfq.10"),
    "kyber": ("throughput.kyber.1",),
}
# of a prediction; of a member with its warm-up
_TIMES: Final = ("40 ms", "10 ms", "5 ms")
# the largest relative error that a fit may leave of the rate
_ERROR: Final = 0.03
_NS_PER_US: Final = 1000


def _numbers(results: Mapping[str, Result]) -> dict[str, float]:
    (job,) = results["run"].fio
    latency = job.read.clat_ns
    if latency is None:
        raise LookupError(job.jobname)
    return {
        "iops": job.read.iops,
        "lat_us_mean": latency.mean / _NS_PER_US,
        "p99_us": latency.percentile["99.000000"] / _NS_PER_US,
    }


def _answer(name: str, scheduler: str, number: int) -> Answer:
    _, varied, options = _SETS[name]
    settings = {f"fio.reads.{option}": value for option, value in options.items()}
    settings[f"fio.reads.{varied}"] = str(number)
    tunings = () if scheduler == "none" else (f"scheduler-{scheduler}",)
    anchors = tuple(
        Anchored(f"nvme980.{row}", ("iops",), _ERROR) for row in (*_DRIVE, *_OWN[scheduler])
    )
    case = Case(_SCENARIO, tuple(settings.items()), tunings)
    return Answer({"run": case}, _numbers, times=_TIMES, anchors=anchors)


ANSWERS: Final = {
    f"nvme980.{name}.{scheduler}.{number}": _answer(name, scheduler, number)
    for name, (numbers, _, _) in _SETS.items()
    for scheduler in _SCHEDULERS
    for number in numbers
}
