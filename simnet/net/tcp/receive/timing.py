"""How long acknowledgements may wait: constants of a kernel and of a route."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

_NEVER: Final = 1 << 40


@dataclass(frozen=True)
class AckTiming:
    """How long acknowledgements may wait, picoseconds."""

    jiffy_ps: int  # length of a jiffy
    ato_min_ps: int  # TCP_ATO_MIN
    delack_max_ps: int  # TCP_DELACK_MAX
    rto_ps: int  # retransmission timeout that bounds `ato`
    delack_min_ps: int = 0  # TCP_DELACK_MIN; 0: as TCP_ATO_MIN
    delack_limit_ps: int = 0  # TCP_DELACK_MAX_US, or `ip route ... rto_min` less a jiffy; 0: none
    srtt_ps: int = 0  # the smoothed round-trip time that bounds a delayed ACK; 0: not known

    @cached_property
    def in_jiffies(self) -> tuple[int, ...]:
        """All but the first, rounded up; a limit that there is not is beyond any time."""
        ato_min, delack_max, rto, delack_min, limit, srtt = (
            -(-time_ps // self.jiffy_ps)
            for time_ps in (
                *(self.ato_min_ps, self.delack_max_ps, self.rto_ps),
                *(self.delack_min_ps, self.delack_limit_ps, self.srtt_ps),
            )
        )
        return ato_min, delack_max, rto, delack_min or ato_min, limit or _NEVER, srtt or _NEVER
