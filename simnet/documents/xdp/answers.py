"""The runs that answer what was measured of XDP.

Ids are those of the hosts' rows: `xdp-ladder.TUNING` of one queue that 10 million packets a second
come to, `xdp-drop.STREAMS`, `xdp-redirect.ringDESCRIPTORS.STREAMS` with more packets than the host
can take, and `idle.xdp.MILLIONS` with so many packets a second on six CPUs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simnet.study.validate.document import Anchored, Answer
from simnet.study.work.cases import Case

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simnet.scenario.parts.xdp.columns import XdpUse
    from simnet.study.run.result import Result

_LADDER: Final = "xdp-firewall"
_CARD: Final = "xdp-connectx5"
_TUNINGS: Final = {
    "baseline": (),
    "throughput": ("throughput-profile",),
    **{name: (name,) for name in ("adaptive-off", "rx-usecs-0", "ring-4096", "ring-256")},
}
_RINGS: Final = (1024, 512, 256, 128)
_QUEUES: Final = 6
# from so many streams on the slot of the card decides: its limit was known before the prediction
_KNOWN: Final = 4
_MILLIONS: Final = ("0.25", "0.5", "1", "2", "3", "5", "10", "15", "20", "24.8")
# of a prediction; of a member with its warm-up: the throttle of i40e takes 50 ms to rise and fall
_LADDER_TIMES: Final = ("200 ms", "100 ms", "50 ms")
_CARD_TIMES: Final = ("10 ms", "4 ms", "1 ms")
_IDLE_TIMES: Final = ("60 ms", "20 ms", "5 ms")
# the largest relative error that a fit may leave
_ERROR: Final = 0.05


def _use(results: Mapping[str, Result]) -> XdpUse:
    found: XdpUse | None = results["run"].xdp
    if found is None:
        raise LookupError(_LADDER)
    return found


def _ladder(results: Mapping[str, Result]) -> dict[str, float]:
    found = _use(results)
    return {
        "drop_pps": found.drop_pps,
        "rx_pps": found.rx_pps,
        "softirq_pct": found.softirq_percent,
    }


def _pps(results: Mapping[str, Result]) -> dict[str, float]:
    return {"pps": _use(results).handled_pps}


def _idle(results: Mapping[str, Result]) -> dict[str, float]:
    return {"idle_percent": _use(results).idle_percent}


def _tuned(tunings: tuple[str, ...]) -> Answer:
    keys = ("drop_pps", "rx_pps", "softirq_pct")
    anchors = (Anchored("xdp-ladder.baseline", keys, _ERROR),)
    case = Case(_LADDER, (), tunings)
    return Answer({"run": case}, _ladder, times=_LADDER_TIMES, anchors=anchors)


def _dropped(streams: int) -> Answer:
    case = Case(_CARD, (("xdp.flows", str(streams)),))
    anchors = (Anchored("xdp-drop.1", ("pps",), _ERROR),)
    return Answer({"run": case}, _pps, times=_CARD_TIMES, anchors=anchors)


def _redirected(ring: int, streams: int) -> Answer:
    rings = ("eth0 rx", "eth0 tx", "eth1 rx", "eth1 tx")
    settings = (("xdp.flows", str(streams)), *((f"ethtool -G {name}", str(ring)) for name in rings))
    anchors = (Anchored("xdp-redirect.ring512.1", ("pps",), _ERROR),)
    case = Case(_CARD, settings, ("to-other-port",))
    return Answer({"run": case}, _pps, times=_CARD_TIMES, anchors=anchors)


def _loaded(millions: str) -> Answer:
    rate = round(float(millions) * 10**6)
    settings = (("xdp.flows", str(_QUEUES)), ("xdp.rate", str(rate)))
    anchors = (Anchored("idle.xdp.1", ("idle_percent",), _ERROR),)
    case = Case(_CARD, settings)
    return Answer({"run": case}, _idle, most=100.0, times=_IDLE_TIMES, anchors=anchors)


ANSWERS: Final = {
    **{f"xdp-ladder.{name}": _tuned(tunings) for name, tunings in _TUNINGS.items()},
    **{f"xdp-drop.{streams}": _dropped(streams) for streams in range(1, _KNOWN)},
    **{
        f"xdp-redirect.ring{ring}.{streams}": _redirected(ring, streams)
        for streams in range(1, _QUEUES + 1)
        for ring in _RINGS
    },
    **{f"idle.xdp.{millions}": _loaded(millions) for millions in _MILLIONS},
}
