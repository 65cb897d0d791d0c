"""The runs that answer what was measured of memcached: ten ways to be told of packets, six loads.

Each id is `memcached.CASE.LOAD`: a tuning of the scenario, and the requests a second that the
clients try to make; `max` is as many as are answered.
"""

from collections.abc import Mapping
from typing import Final

from simnet.study.run.result import Result
from simnet.study.validate.document import Anchored, Answer
from simnet.study.work.cases import Case

_SCENARIO: Final = "memcached-100g"
_CASES: Final = (
    "base",
    *(f"defer{usecs}" for usecs in (10, 20, 50, 200)),
    *("napibusy", "fullbusy"),
    *(f"suspend{usecs}" for usecs in (0, 10, 20, 50, 200)),
)
_LOADS: Final = {"max": 0} | {str(load): load for load in range(200_000, 1_000_001, 200_000)}
# of a prediction; of a member with its warm-up
_TIMES: Final = ("100 ms", "20 ms", "20 ms")
# what was fitted, and the largest relative error that may be left
_ANCHORS: Final = (
    Anchored("memcached.base.200000", ("cpu_usr", "cpu_sys", "cpu_soft"), 0.15),
    Anchored("memcached.fullbusy.800000", ("p50_us", "p99_us", "cpu_usr", "polls_per_s"), 0.15),
)


def _numbers(results: Mapping[str, Result]) -> dict[str, float]:
    result = results["run"]
    messages, use = result.messages, result.key_value
    if messages is None:
        raise LookupError(_SCENARIO)
    return {
        "qps": messages.delivered_per_s,
        "p50_us": messages.latency_us.p50 or 0.0,
        "p99_us": messages.latency_us.p99 or 0.0,
        "cpu_usr": use.user,
        "cpu_sys": use.system,
        "cpu_soft": use.softirq,
        "cpu_idle": use.idle,
        "irqs_per_s": use.interrupts_per_s,
        "polls_per_s": use.polls_per_s,
        "packets_per_poll": use.packets_per_poll,
    }


def _answer(case: str, load: int) -> Answer:
    tunings = () if case == "base" else (case,)
    settings = (("memcached.qps", str(load)),)
    return Answer(
        {"run": Case(_SCENARIO, settings, tunings)}, _numbers, times=_TIMES, anchors=_ANCHORS
    )


ANSWERS: Final = {
    f"memcached.{case}.{name}": _answer(case, load)
    for name, load in _LOADS.items()
    for case in _CASES
}
