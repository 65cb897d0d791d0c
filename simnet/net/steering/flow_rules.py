"""Rules of a port that send a flow to a queue before RSS is asked: ntuple filters.

Source: ethtool(8), `-N`; Documentation/networking/scaling.rst, "Accelerated RFS"; of the drivers
`mlx5e_ethtool_flow_replace` (en_fs_ethtool.c), `ice_add_fdir_ethtool` (ice_ethtool_fdir.c) and
`i40e_add_fdir_ethtool` (i40e_ethtool.c), Linux 6.12. A rule of an administrator names some of
addresses and ports, and the first that matches decides; one that RFS has asked for names all four,
and comes after those. What no rule matches is sorted by RSS.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cython

from simnet.kernel.compiled import Public
from simnet.net.link.skb import Header

if TYPE_CHECKING:
    from collections.abc import Sequence

_NONE: cython.int = -1


@dataclass(frozen=True)
class FlowRule:
    """What one `ethtool -N PORT flow-type tcp4` says; None stands for any."""

    # 32 bits
    src_ip: int | None = None
    dst_ip: int | None = None
    # of TCP
    src_port: int | None = None
    dst_port: int | None = None
    queue: int = 0  # `action`, a receive queue

    def matches(self, header: Header) -> bool:
        """Whether packets with a header are meant."""
        pairs = (
            (self.src_ip, header.source_ip),
            (self.dst_ip, header.destination_ip),
            (self.src_port, header.source_port),
            (self.dst_port, header.destination_port),
        )
        return all(asked is None or asked == found for asked, found in pairs)


@cython.ccall
def flow_of(header: Header) -> tuple[int, int]:
    """Return what tells a flow from others: both ends, as address and port."""
    return (
        header.source_ip << 16 | header.source_port,
        header.destination_ip << 16 | header.destination_port,
    )


@cython.final
@cython.cclass
class FlowRules:
    """The rules of one port."""

    rules: tuple[Any, ...] = None  # these
    asked: dict[tuple[int, int], int] = None
    # queue of each flow that RFS has asked for, by `flow_of`
    steered: dict[tuple[int, int], int] = None
    frames: cython.longlong = 0  # that went by a rule
    # rules of RFS that were made, sent to another queue, and removed
    added: Public[cython.longlong] = 0
    updated: Public[cython.longlong] = 0
    expired: Public[cython.longlong] = 0

    def __init__(self, rules: Sequence[FlowRule] = ()) -> None:
        self.rules = tuple(rules)
        self.asked = {}
        self.steered = {}

    def counters(self) -> dict[str, int]:
        """Return how many rules there are, what became of those of RFS, and the frames."""
        return {
            "rules": len(self.rules),
            "steered": len(self.steered),
            "frames": self.frames,
            "added": self.added,
            "updated": self.updated,
            "expired": self.expired,
        }

    def queue(self, header: Header | None) -> cython.int:
        """The queue that a rule sends a frame to; -1: no rule does."""
        number: cython.int = _NONE
        if header is None or header.source_ip == 0:
            return number
        flow = flow_of(header)
        if self.rules:
            number = self._ruled(flow, header)
        if number < 0:
            number = self.steered.get(flow, _NONE)
        return number

    @cython.cfunc
    def take(self, header: Header | None) -> cython.int:
        """The same, of a frame that has come: it is counted."""
        number: cython.int = self.queue(header)
        if number >= 0:
            self.frames += 1
        return number

    def _ruled(self, flow: Any, header: Header) -> cython.int:
        """What the administrator's rules say of a flow, which stays as it is."""
        if flow not in self.asked:
            found = (rule.queue for rule in self.rules if rule.matches(header))
            self.asked[flow] = next(found, _NONE)
        return self.asked[flow]
