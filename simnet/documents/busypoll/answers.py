"""The runs that answer what was measured of netperf's requests and responses.

Ids are those of the host's rows: `busypoll.TEST.SETTING`. The one given row fixes nothing: it says
which draws of the parameters' ranges are likely.
"""

from collections.abc import Mapping
from typing import Final

from simnet.study.run.measures import transactions_per_s
from simnet.study.run.result import Result
from simnet.study.validate.document import Anchored, Answer
from simnet.study.work.cases import Case

_SCENARIO: Final = "netperf-rr"
_TESTS: Final = {"tcp-rr": (), "udp-rr": ("as-datagrams",)}
_SETTINGS: Final = {"adaptive-no-poll": (), "fixed-100us-poll-50us": ("fixed-100us", "poll-50us")}
# of a prediction; of a member with its warm-up: the throttle settles within 20 ms
_TIMES: Final = ("40 ms", "8 ms", "24 ms")
# the largest relative error that the given row may have
_ERROR: Final = 0.03


def _rate(results: Mapping[str, Result]) -> dict[str, float]:
    found = transactions_per_s(results["run"])
    if found is None:
        raise LookupError(_SCENARIO)
    return {"transactions_per_s": found}


def _of(test: str, setting: str) -> Answer:
    case = Case(_SCENARIO, (), (*_TESTS[test], *_SETTINGS[setting]))
    anchors = (Anchored("busypoll.tcp-rr.adaptive-no-poll", ("transactions_per_s",), _ERROR),)
    return Answer({"run": case}, _rate, times=_TIMES, anchors=anchors)


ANSWERS: Final = {
    f"busypoll.{test}.{setting}": _of(test, setting) for test in _TESTS for setting in _SETTINGS
}
