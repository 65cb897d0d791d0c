"""What the way between the system and its peers consists of, or one direction of it.

Source: tc-netem(8).
"""

from __future__ import annotations

from typing import Annotated

from simnet.scenario.core.section import Section
from simnet.scenario.core.specs import count, rate, share, time


class Netem(Section):
    """A way by the names of tc-netem(8): `loss gemodel p r 1-h 1-k` is here gemodel_p to _k."""

    delay_ps: Annotated[int, time("one way, beside the switch's", "0 s", "10 s")] = 0
    jitter_ps: Annotated[
        int, time("what a frame may be earlier or later than that, evenly", "0 s", "10 s")
    ] = 0
    reorder_ppb: Annotated[
        int, share("frames that leave at once, before those that wait for the delay")
    ] = 0
    gap: Annotated[
        int, count("only the last of so many frames may be reordered; 1: each may", 1, 10**6)
    ] = 1
    duplicate_ppb: Annotated[int, share("frames that come twice")] = 0
    loss_ppb: Annotated[int, share("frames that are lost, each by itself")] = 0
    rate_bps: Annotated[
        int, rate("of the bottleneck between; 0: as fast as the links", "0 bit/s", "1 Tbit/s")
    ] = 0
    limit: Annotated[
        int,
        count("frames that may wait or be under way; 0: any number, where tc has 1000", 0, 10**7),
    ] = 0
    gemodel_p_ppb: Annotated[int, share("chance at each frame that a burst of losses begins")] = 0
    gemodel_r_ppb: Annotated[int, share("chance at each frame that it ends")] = 10**9
    gemodel_h_ppb: Annotated[int, share("frames that are lost in a burst: 1-h")] = 10**9
    gemodel_k_ppb: Annotated[int, share("frames that are lost outside of one: 1-k")] = 0

    @property
    def there(self) -> bool:
        """Whether anything lies between."""
        return bool(self.delay_ps or self.rate_bps or self.limit or self.random)

    @property
    def random(self) -> bool:
        """Whether chance decides anything."""
        return bool(
            self.jitter_ps
            or self.reorders
            or self.duplicate_ppb
            or self.loss_ppb
            or self.gemodel_p_ppb
        )

    @property
    def reorders(self) -> bool:
        """Whether frames are reordered: there is no other than the delay to be spared."""
        return bool(self.delay_ps and self.reorder_ppb)
