"""How long acknowledgements may wait: constants of a kernel and of a route."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["AckTiming"]


@dataclass(frozen=True)
class AckTiming:
    """How long acknowledgements may wait, picoseconds.

    Attributes:
        jiffy_ps: length of a jiffy.
        ato_min_ps: TCP_ATO_MIN.
        delack_max_ps: TCP_DELACK_MAX.
        rto_ps: retransmission timeout that bounds `ato`.
        delack_min_ps: TCP_DELACK_MIN; 0: as TCP_ATO_MIN.
        delack_limit_ps: TCP_DELACK_MAX_US, or `ip route ... rto_min` less a jiffy; 0: none.
        srtt_ps: the smoothed round-trip time that bounds a delayed ACK; 0: not known.
    """

    jiffy_ps: int
    ato_min_ps: int
    delack_max_ps: int
    rto_ps: int
    delack_min_ps: int = 0
    delack_limit_ps: int = 0
    srtt_ps: int = 0

    def jiffies(self, time_ps: int) -> int:
        """So long in jiffies, rounded up."""
        return -(-time_ps // self.jiffy_ps)
