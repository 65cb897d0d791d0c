"""What the way between the system and its peers consists of, the same in both directions.

Source: tc-netem(8).
"""

from __future__ import annotations

from typing import Annotated

from simnet.scenario.core.section import Section
from simnet.scenario.core.specs import count, rate, share, time


class Netem(Section):
    """A way by the names of tc-netem(8): `loss gemodel p r 1-h 1-k` is here gemodel_p to _k."""

    delay_ps: Annotated[int, time("one way, beside the switch's", "0 s", "10 s")] = 0
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
        return bool(
            self.delay_ps or self.loss_ppb or self.rate_bps or self.limit or self.gemodel_p_ppb
        )

    @property
    def random(self) -> bool:
        """Whether chance decides anything."""
        return bool(self.loss_ppb or self.gemodel_p_ppb)
