"""Intel 82576, 82580, I350, I354, I210 and I211 with the driver igb."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal

from simnet.host.release import release
from simnet.scenario.core.specs import Flag
from simnet.scenario.parts.nic.gigabit import Gigabit
from simnet.scenario.parts.nic.schema import QUEUE_STATISTICS, USUAL_STATISTICS, Given

_BUILDS: Final = (4, 12)
_SOURCE: Final = "igb_main.c before Linux 4.12: igb_fetch_rx_buffer, igb_add_rx_frag"


class Igb(Gigabit):
    """A gigabit port."""

    most_usecs: ClassVar[int] = 8191
    ring_counter: ClassVar[str] = "rx_fifo_errors"
    statistics: ClassVar[dict[str, str]] = USUAL_STATISTICS
    queue_statistics: ClassVar[dict[str, str]] = QUEUE_STATISTICS | {"drops": "rx_queue_{}_drops"}

    driver: Literal["igb"]
    legacy_rx: Annotated[
        bool, Flag("frames lie in halves of pages beside an sk_buff (`--show-priv-flags`)")
    ] = False

    @classmethod
    def settle(cls, given: Given) -> None:
        """Put frames into halves of pages where the kernel knows no other way."""
        version = given.tree.get((*given.host, "kernel"))["version"]
        if release(version) < _BUILDS and not given.is_set("legacy_rx"):
            given.put("legacy_rx", value=True, source=_SOURCE)

    @classmethod
    def charges(cls, values: Mapping[str, Any]) -> bool:
        """Whether an `sk_buff` is built around the frame; see `Nic.charges`."""
        return not values["legacy_rx"]

    def parts_bytes(self, length: int) -> int:
        """The parts of pages that a frame lies in."""
        return self.whole_buffers_bytes(length) if self.legacy_rx else super().parts_bytes(length)


DRIVER = Igb
