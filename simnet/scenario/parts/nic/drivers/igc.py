"""Intel I225 and I226 with the driver igc."""

from typing import ClassVar, Final, Literal

from simnet.scenario.parts.nic.gigabit import Gigabit
from simnet.scenario.parts.nic.schema import QUEUE_STATISTICS, USUAL_STATISTICS

# TSO came in 5.7, the last of what is modelled
_FIRST: Final = (5, 10)
# MAX_STD_JUMBO_FRAME_SIZE
_MOST_MTU_BYTES: Final = 9216


class Igc(Gigabit):
    """A port of 2.5 Gbit/s; it adapts at each speed from 1 Gbit/s on."""

    first: ClassVar[tuple[int, ...]] = _FIRST
    most_mtu_bytes: ClassVar[int] = _MOST_MTU_BYTES
    most_usecs: ClassVar[int] = 10_000
    ring_counter: ClassVar[str] = "rx_missed_errors"
    statistics: ClassVar[dict[str, str]] = USUAL_STATISTICS
    queue_statistics: ClassVar[dict[str, str]] = QUEUE_STATISTICS
    faster: ClassVar[bool] = True

    driver: Literal["igc"]


DRIVER = Igc
