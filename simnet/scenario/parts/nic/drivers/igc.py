"""Intel I225 and I226 with the driver igc."""

from __future__ import annotations

from typing import ClassVar, Final, Literal

from simnet.scenario.parts.nic.gigabit import Gigabit
from simnet.scenario.parts.nic.page_parts import LargeParts
from simnet.scenario.parts.nic.schema import SHARED_INFO_BYTES

# TSO came in 5.7, the last of what is modelled
_FIRST: Final = (5, 10)
# MAX_STD_JUMBO_FRAME_SIZE; header, FCS and a VLAN's tag
_MOST_MTU_BYTES: Final = 9216
_AROUND_BYTES: Final = 14 + 4 + 4
# IGC_MAX_FRAME_BUILD_SKB: half a page without skb_shared_info, NET_SKB_PAD and a time stamp
_SMALL_FRAME_BYTES: Final = 2048 - SHARED_INFO_BYTES - 64 - 16


class Igc(LargeParts, Gigabit):
    """A port of 2.5 Gbit/s; it adapts at each speed from 1 Gbit/s on."""

    first: ClassVar[tuple[int, ...]] = _FIRST
    most_mtu_bytes: ClassVar[int] = _MOST_MTU_BYTES
    around_bytes: ClassVar[int] = _AROUND_BYTES
    most_small_bytes: ClassVar[int] = _SMALL_FRAME_BYTES
    most_usecs: ClassVar[int] = 10_000
    charges_datagrams: ClassVar[bool] = True
    ring_counter: ClassVar[str] = "rx_missed_errors"
    faster: ClassVar[bool] = True
    forwards: ClassVar[bool] = True
    disciplines: ClassVar[bool] = True

    driver: Literal["igc"]


DRIVER = Igc
