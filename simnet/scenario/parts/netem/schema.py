"""What the way between the system and its peers consists of, or one direction of it.

Source: tc-netem(8), tc-red(8), tc-codel(8).
"""

from typing import Annotated

from simnet.scenario.core.section import Section
from simnet.scenario.core.specs import Choice, Flag, count, rate, share, size, time


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


class Bottleneck(Section):
    """The queue before each bottleneck that `rate` makes, by names of tc-red(8), tc-codel(8)."""

    queue: Annotated[
        str,
        Choice("which frames wait: all up to limit, or by RED or CoDel", ("fifo", "red", "codel")),
    ] = "fifo"
    ecn: Annotated[bool, Flag("frames are marked rather than dropped, where they may be")] = False
    red_limit_bytes: Annotated[int, size("that may wait", "1 B", "1 GiB")] = 4_000_000
    red_min_bytes: Annotated[
        int,
        size("that wait in the mean before frames are dropped; 0: a third of max", "0 B", "1 GiB"),
    ] = 0
    red_max_bytes: Annotated[
        int,
        size("that wait in the mean before all are dropped; 0: a quarter of limit", "0 B", "1 GiB"),
    ] = 0
    red_avpkt_bytes: Annotated[int, size("of a frame in the mean", "64 B", "64 KiB")] = 1000
    red_burst: Annotated[
        int, count("frames that may come at once; 0: by min, max and avpkt", 0, 10**6)
    ] = 0
    red_probability_ppb: Annotated[int, share("frames that are dropped just below max")] = (
        20_000_000
    )
    codel_limit: Annotated[int, count("frames that may wait", 1, 10**7)] = 1000
    codel_target_ps: Annotated[
        int, time("waiting that is put up with for good", "1 us", "10 s")
    ] = 5 * 10**9
    codel_interval_ps: Annotated[
        int, time("for how long more than that is put up with", "1 us", "100 s")
    ] = 100 * 10**9
    codel_ce_threshold_ps: Annotated[
        int, time("waiting beyond which all are marked that may be; 0 s: none are", "0 s", "10 s")
    ] = 0

    @property
    def managed(self) -> bool:
        """Whether the queue is more than a limit."""
        return self.queue != "fifo"

    @property
    def red_thresholds(self) -> tuple[int, int, int]:
        """RED's min and max in bytes and burst in frames, as tc works them out."""
        most = self.red_max_bytes or 3 * self.red_min_bytes or self.red_limit_bytes // 4
        least = self.red_min_bytes or most // 3
        burst = self.red_burst or (2 * least + most) // (3 * self.red_avpkt_bytes)
        return least, most, burst
