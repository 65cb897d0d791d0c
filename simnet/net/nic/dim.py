"""Dynamic interrupt moderation: the setting of a completion queue follows from what it brings.

Source: lib/dim/dim.c and lib/dim/net_dim.c of Linux 6.12 (`net_dim`, `net_dim_decision`,
`net_dim_stats_compare`, `net_dim_step`, `dim_on_top`, `dim_turn`). After each 64 events the bytes,
packets and events per millisecond since the last judgement are compared: better means more bytes,
else more packets, else fewer events, each by more than 10 %. The search walks from setting to
setting, turns round when that was not better, and parks where it was best, or when it is tired.

Counters wrap as the kernel's do: events at 16 bits, packets and bytes at 32; rates are in whole
numbers per millisecond, rounded up.
"""

from __future__ import annotations

from typing import Final

import cython

#: the timer of a completion queue runs from its last event, or from each completion
EQE: Final = 0
CQE: Final = 1
#: (microseconds, packets) of each setting, by where the timer starts (`rx_profile`, `tx_profile`)
RX_PROFILES: Final = (
    ((1, 256), (8, 256), (64, 256), (128, 256), (256, 256)),
    ((2, 256), (8, 128), (16, 64), (32, 64), (64, 64)),
)
TX_PROFILES: Final = (
    ((1, 128), (8, 128), (32, 128), (64, 128), (128, 128)),
    ((5, 128), (8, 64), (16, 32), (32, 32), (64, 32)),
)

_PROFILES: cython.int = 5
_NEVENTS: cython.longlong = 64
_US_PS: cython.longlong = 1_000_000
_US_PER_MS: cython.longlong = 1000
_SIGNIFICANT_PERCENT: cython.longlong = 10
_WORD: cython.longlong = 0xFFFFFFFF
_HALF_WORD: cython.longlong = 0xFFFF
# dim->state
_START_MEASURE: cython.int = 0
_MEASURE_IN_PROGRESS: cython.int = 1
_APPLY_NEW_PROFILE: cython.int = 2
# dim->tune_state
_PARKING_ON_TOP: cython.int = 0
_PARKING_TIRED: cython.int = 1
_GOING_RIGHT: cython.int = 2
_GOING_LEFT: cython.int = 3
_WORSE: cython.int = 0
_SAME: cython.int = 1
_BETTER: cython.int = 2
_STEPPED: cython.int = 0
_TOO_TIRED: cython.int = 1
_ON_EDGE: cython.int = 2


@cython.final
@cython.cclass
class Dim:
    """The state of one completion queue (`struct dim`).

    Args:
        profile_ix: number of the setting that it starts from.
        stale_ps: a measurement that has taken so long begins anew; 0: none does.
    """

    state: cython.int = 0  # 0 to start a measurement, 1 measuring, 2 a setting is to be applied
    tune_state: cython.int = 0  # 0 parked on top, 1 parked tired, 2 going right, 3 going left
    profile_ix: cython.int = 0  # number of the setting in use, from 0
    stale_ps: cython.longlong = 0
    steps_right: cython.int = 0
    steps_left: cython.int = 0
    tired: cython.int = 0
    prev_bpms: cython.longlong = 0
    prev_ppms: cython.longlong = 0
    prev_epms: cython.longlong = 0
    start_ps: cython.longlong = 0
    start_events: cython.longlong = 0
    start_packets: cython.longlong = 0
    start_bytes: cython.longlong = 0

    def __init__(self, profile_ix: int = 0, stale_ps: int = 0) -> None:
        self.state = _START_MEASURE
        self.tune_state = _PARKING_ON_TOP
        self.profile_ix = profile_ix
        self.stale_ps = stale_ps

    def sample(
        self,
        now: cython.longlong,
        events: cython.longlong,
        packets: cython.longlong,
        size: cython.longlong,
    ) -> cython.bint:
        """`net_dim`: take counters; True if another setting is to be applied, see `applied`."""
        if 0 < self.stale_ps <= now - self.start_ps:
            self.state = _START_MEASURE
        if self.state == _APPLY_NEW_PROFILE:
            return False
        if self.state == _MEASURE_IN_PROGRESS:
            if (events - self.start_events) & _HALF_WORD < _NEVENTS:
                return False
            delta_us: cython.longlong = (now - self.start_ps) // _US_PS
            if delta_us == 0:
                return False
            if self._decide(
                _rate((size - self.start_bytes) & _WORD, delta_us),
                _rate((packets - self.start_packets) & _WORD, delta_us),
                _rate(_NEVENTS, delta_us),
            ):
                self.state = _APPLY_NEW_PROFILE
                return True
        self.start_ps = now
        self.start_events = events
        self.start_packets = packets
        self.start_bytes = size
        self.state = _MEASURE_IN_PROGRESS
        return False

    def applied(self) -> cython.int:
        """The driver has programmed the setting; the next sample starts a measurement."""
        self.state = _START_MEASURE
        return 0

    def _decide(
        self, bpms: cython.longlong, ppms: cython.longlong, epms: cython.longlong
    ) -> cython.bint:
        """`net_dim_decision`; whether it has come to another setting."""
        before: cython.int = self.tune_state
        index: cython.int = self.profile_ix
        step: cython.int
        if before == _PARKING_ON_TOP:
            if self._compared(bpms, ppms, epms) != _SAME:
                self._exit_parking()
        elif before == _PARKING_TIRED:
            self.tired -= 1
            if self.tired == 0:
                self._exit_parking()
        else:
            if self._compared(bpms, ppms, epms) != _BETTER:
                self._turn()
            if self._on_top():
                self._park(_PARKING_ON_TOP)
            else:
                step = self._step()
                if step == _ON_EDGE:
                    self._park(_PARKING_ON_TOP)
                elif step == _TOO_TIRED:
                    self._park(_PARKING_TIRED)
        if before != _PARKING_ON_TOP or self.tune_state != _PARKING_ON_TOP:
            self.prev_bpms = bpms
            self.prev_ppms = ppms
            self.prev_epms = epms
        return self.profile_ix != index

    def _compared(  # noqa: PLR0911 - as the kernel's
        self, bpms: cython.longlong, ppms: cython.longlong, epms: cython.longlong
    ) -> cython.int:
        """`net_dim_stats_compare` with the statistics of the last decision."""
        if self.prev_bpms == 0:
            return _BETTER if bpms > 0 else _SAME
        if _differs(bpms, self.prev_bpms):
            return _BETTER if bpms > self.prev_bpms else _WORSE
        if self.prev_ppms == 0:
            return _BETTER if ppms > 0 else _SAME
        if _differs(ppms, self.prev_ppms):
            return _BETTER if ppms > self.prev_ppms else _WORSE
        if self.prev_epms == 0:
            return _SAME
        if _differs(epms, self.prev_epms):
            return _BETTER if epms < self.prev_epms else _WORSE
        return _SAME

    def _exit_parking(self) -> cython.int:
        """`dim_exit_parking`."""
        self.tune_state = _GOING_LEFT if self.profile_ix > 0 else _GOING_RIGHT
        self._step()
        return 0

    def _turn(self) -> cython.int:
        """`dim_turn`."""
        if self.tune_state == _GOING_RIGHT:
            self.tune_state = _GOING_LEFT
            self.steps_left = 0
        else:
            self.tune_state = _GOING_RIGHT
            self.steps_right = 0
        return 0

    def _on_top(self) -> cython.bint:
        """`dim_on_top`."""
        if self.tune_state == _GOING_RIGHT:
            return self.steps_left > 1 and self.steps_right == 1
        return self.steps_right > 1 and self.steps_left == 1

    def _park(self, where: cython.int) -> cython.int:
        """`dim_park_on_top` or `dim_park_tired`."""
        self.steps_right = 0
        self.steps_left = 0
        if where == _PARKING_ON_TOP:
            self.tired = 0
        self.tune_state = where
        return 0

    def _step(self) -> cython.int:
        """`net_dim_step`."""
        if self.tired == 2 * _PROFILES:
            return _TOO_TIRED
        if self.tune_state == _GOING_RIGHT:
            if self.profile_ix == _PROFILES - 1:
                return _ON_EDGE
            self.profile_ix += 1
            self.steps_right += 1
        elif self.tune_state == _GOING_LEFT:
            if self.profile_ix == 0:
                return _ON_EDGE
            self.profile_ix -= 1
            self.steps_left += 1
        self.tired += 1
        return _STEPPED


def _rate(count: cython.longlong, delta_us: cython.longlong) -> cython.longlong:
    """Per millisecond, rounded up."""
    return (count * _US_PER_MS + delta_us - 1) // delta_us


def _differs(value: cython.longlong, reference: cython.longlong) -> cython.bint:
    """`IS_SIGNIFICANT_DIFF`: by more than 10 %."""
    difference: cython.longlong = value - reference
    return 100 * abs(difference) // reference > _SIGNIFICANT_PERCENT
