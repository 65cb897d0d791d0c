"""The runs that answer what a kernel did with datagrams that came faster than they were read.

An id holds the settings of its row, as `validation/live/loads.py` draws them:
`live.udp.RATE-per-s.SPIN-us.BUFFER-B.burst-COUNT`, with SO_RCVBUF in bytes, or 0 where the program
does not ask. So every id that is measured or wanted has its answer, and no list is kept twice. The
namespaces have no card: the model is that of `media-udp`, and nothing of it is fitted here.
"""

from collections.abc import Mapping
from typing import Final

from simnet.study.run.result import Result
from simnet.study.validate.document import Answer
from simnet.study.validate.measurements import measurements, wanted
from simnet.study.work.cases import Case

_LOADS: Final = "live.udp."
# as long as a flood of the recorder, and the same of a member, which has no warm-up
_TIMES: Final = ("500 ms", "500 ms", "0 ms")


def _numbers(results: Mapping[str, Result]) -> dict[str, float]:
    """Shares of what was sent that were lost in the socket, and in CPUs' backlogs."""
    found = results["run"].udp
    return {
        "socket_percent": 100 * found.rcvbuf_errors / found.sent,
        "backlog_percent": 100 * found.backlog / found.sent,
    }


def _answer(name: str) -> Answer:
    rate, spin, rcvbuf, burst = name.removeprefix(_LOADS).split(".")
    settings = {
        "system.kernel": "linux-6.18",
        "udp.flows": "1",
        "udp.workers": "1",
        "udp.placement": "pinned",
        "udp.first_cpu": "4",
        "udp.rate": rate.removesuffix("-per-s"),
        "udp.burst": burst.removeprefix("burst-"),
        "udp.size": "1316 B",
        "udp.service": spin.replace("-", " "),
        "udp.rcvbuf": rcvbuf.replace("-", " "),
        "net.core.rmem_max": "4194304",
    }
    case = Case("media-udp", tuple(settings.items()))
    return Answer({"run": case}, _numbers, most=100, times=_TIMES)


ANSWERS: Final = {
    name: _answer(name)
    for name in dict.fromkeys((*measurements(), *wanted()))
    if name.startswith(_LOADS)
}
