"""Whether a peer, and nothing of the system under test, was what could do no more."""

from collections.abc import Iterable
from typing import Final

from simnet.scenario.system.resource import FULL, Resource

_CPU: Final = "peer cpu"
_PEER: Final = "peer"


def full_peer(before: Iterable[Resource], after: Iterable[Resource], elapsed_ps: int) -> str:
    """Return the CPU of a peer that was full while nothing else was; empty if there is none.

    Args:
        before: what had been used at the start.
        after: what has been used at the end.
        elapsed_ps: between the two.
    """
    first = {one.name: one.used for one in before}
    shares = {
        (one.kind, one.name): one.used_per_s(first.get(one.name, 0), elapsed_ps)
        / one.capacity_per_s
        for one in after
        if one.simulated
    }
    if any(share >= FULL for (kind, _), share in shares.items() if not kind.startswith(_PEER)):
        return ""
    peers = {name: share for (kind, name), share in shares.items() if kind == _CPU}
    fullest = max(peers, key=lambda name: peers[name], default="")
    return fullest if fullest and peers[fullest] >= FULL else ""
