"""The runs that answer what was measured of one stream over 100 GbE, and what is to be predicted.

The system receives; the peer sends. Shares are of the receiver's work. Throughput a busy core is
that by the CPU time of the receiver, which is the busier end; losses are percent of it.
"""

import math
from collections.abc import Mapping
from typing import Final

from simnet.study.run.result import Result
from simnet.study.validate.document import Anchored, Answer, Numbers
from simnet.study.work.cases import Case

_SCENARIO: Final = "stream-100g"
_ALL: Final = ("tso-gro", "jumbo", "arfs")
_SHARES: Final = ("copy", "netdev", "mm", "skb", "sched", "tcpip", "lock")
_RATES: Final = ("gbit_s", "sender_percent", "receiver_percent")
_PER_CORE: Final = "gbit_s_per_core"
_LOSS: Final = "gbit_s_per_core_loss"
_PERCENT: Final = 100


def _numbers_of(result: Result) -> dict[str, float]:
    """All that one run says of the stream."""
    receiver, sender = result.ends
    rate = result.flows[0].goodput_bps / 1e9
    return {
        "gbit_s": rate,
        "sender_percent": sender.cpu_percent,
        "receiver_percent": receiver.cpu_percent,
        _PER_CORE: _PERCENT * rate / receiver.cpu_percent if receiver.cpu_percent else math.inf,
        **{f"share_{kind}": getattr(receiver, f"{kind}_percent") for kind in _SHARES},
    }


def _some(*keys: str) -> Numbers:
    def numbers(results: Mapping[str, Result]) -> dict[str, float]:
        found = _numbers_of(results["run"])
        return {key: found[key] for key in keys}

    return numbers


def _loss(results: Mapping[str, Result]) -> dict[str, float]:
    """How much less a busy core carries."""
    without, found = (_numbers_of(results[name])[_PER_CORE] for name in ("without", "run"))
    return {_LOSS: _PERCENT * (1 - found / without)}


# what the parameters were fitted to, and how far either may be from the truth
_FITTED: Final = (*_RATES, _PER_CORE)
_ANCHORS: Final = (Anchored("stream.none", _FITTED, 0.05), Anchored("stream.tsogro", _FITTED, 0.05))


def _answer(tunings: tuple[str, ...], *keys: str) -> Answer:
    return Answer({"run": Case(_SCENARIO, (), tunings)}, _some(*keys), anchors=_ANCHORS)


def _beside_all(*more: str) -> Answer:
    """What all optimisations together lose when something else is added."""
    cases = {"without": Case(_SCENARIO, (), _ALL), "run": Case(_SCENARIO, (), (*_ALL, *more))}
    return Answer(cases, _loss, anchors=_ANCHORS)


ANSWERS: Final = {
    "stream.none": _answer((), *_FITTED, "share_copy", "share_tcpip"),
    "stream.tsogro": _answer(_ALL[:1], *_FITTED),
    "stream.tsogro+jumbo": _answer(_ALL[:2], *_RATES),
    "stream.tsogro+jumbo+arfs": _answer(_ALL, *_RATES, *(f"share_{kind}" for kind in _SHARES)),
    "stream.tsogro+arfs": _answer(("tso-gro", "arfs"), _PER_CORE),
    "stream.jumbo": _answer(("jumbo",), _PER_CORE),
    "stream.jumbo+arfs": _answer(("jumbo", "arfs"), _PER_CORE),
    "stream.remote-node": _beside_all("remote-node"),
    "stream.with-16-short-flows": _beside_all("16-short-flows"),
}
