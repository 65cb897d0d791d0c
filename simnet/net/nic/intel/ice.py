"""Intel E810 with the driver ice: one vector with its rings.

Source: drivers/net/ethernet/intel/ice of Linux 5.14 and 6.6 (ice_main.c `ice_init_moderation`,
`ice_rx_dim_work`, ice_lib.c `ice_set_q_vector_intrl`, ice_txrx.c `__ice_update_sample`). Since 5.14
`Dim` chooses the throttle of each direction from profiles of the driver. At first a profile had a
rate limit, too; since 5.16 the limit is one interrupt in 4 us while a direction adapts. Samples
that are a second apart begin a measurement anew. The events of a sample are the vector's
interrupts, whatever their cause.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import cython

from simnet.host.release import release
from simnet.net.link.gro import Gro
from simnet.net.nic.completion_queue import CompletionQueue
from simnet.net.nic.dim import Dim
from simnet.net.nic.intel.itr_channel import ItrChannel
from simnet.net.nic.net_device import NetDevice

_FIXED_LIMIT: Final = (5, 16)
_FIRST_PROFILE = 1
_STALE_PS = 10**12
_US_PS: cython.longlong = 1_000_000


@dataclass(frozen=True)
class Profiles:
    """(throttle, rate limit) of each setting in microseconds, received and sent (`struct ice_dim`).

    `rx_profile` and `tx_profile`.
    """

    rx: tuple[tuple[int, int], ...]
    tx: tuple[tuple[int, int], ...]


_FIRST: Final = Profiles(
    rx=((2, 10), (8, 16), (32, 0), (96, 0), (128, 0)),
    tx=((2, 10), (8, 16), (64, 0), (128, 0), (256, 0)),
)
_LIMITED: Final = Profiles(
    rx=((2, 4), (8, 4), (16, 4), (62, 4), (126, 4)),
    tx=((2, 4), (8, 4), (40, 4), (128, 4), (256, 4)),
)


def profiles(version: str) -> Profiles:
    """Return the profiles of a kernel's driver."""
    return _FIRST if release(version) < _FIXED_LIMIT else _LIMITED


@cython.final
@cython.cclass
class Ice(ItrChannel):
    """One vector; see `ItrChannel`.

    Args:
        device: what the chips and drivers have in common.
        gro: receive offload of its NAPI instance.
        tso: the device cuts large segments.
        rx_itr_ps, tx_itr_ps: throttles that are set; of a direction that adapts the profile's.
        intrl_ps: rate limit that is set; while a direction adapts the profile's.
        profiles: what `Dim` chooses from.
        adaptive_rx, adaptive_tx: `Dim` chooses.
        command_ps: from its choice to the changed register.
    """

    profiles: Any = None

    def __init__(
        self,
        device: NetDevice,
        gro: Gro,
        *,
        tso: bool,
        rx_itr_ps: int,
        tx_itr_ps: int,
        intrl_ps: int,
        profiles: Profiles,
        adaptive_rx: bool,
        adaptive_tx: bool,
        command_ps: int,
    ) -> None:
        self.profiles = profiles
        super().__init__(
            device, gro, tso=tso, rx_itr_ps=rx_itr_ps, tx_itr_ps=tx_itr_ps, intrl_ps=intrl_ps
        )
        self._adapt(
            Dim(_FIRST_PROFILE, _STALE_PS) if adaptive_rx else None,
            Dim(_FIRST_PROFILE, _STALE_PS) if adaptive_tx else None,
            command_ps,
        )
        for dim, cq in ((self.tx_dim, self.tx_cq), (self.rx_dim, self.rx_cq)):
            if dim is not None:
                self._apply(dim, cq)

    def _apply(self, dim: Dim, cq: CompletionQueue) -> cython.int:
        """`ice_write_itr`, and the limit of the profile."""
        table = self.profiles.rx if cq is self.rx_cq else self.profiles.tx
        itr, intrl = table[dim.profile_ix]
        if cq is self.rx_cq:
            self.rx_itr_ps = itr * _US_PS
        else:
            self.tx_itr_ps = itr * _US_PS
        self.intrl_ps = intrl * _US_PS
        return self._throttle()
