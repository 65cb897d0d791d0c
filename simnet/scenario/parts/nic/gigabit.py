"""What igb and igc share: a throttle for each vector with modes, and how frames lie in pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Final

from simnet.host.release import release
from simnet.scenario.core.specs import Flag, time
from simnet.scenario.parts.nic.channels import RSS_KNOBS, Combined
from simnet.scenario.parts.nic.page_parts import LargeParts
from simnet.scenario.parts.nic.queues import Multiqueue
from simnet.scenario.parts.nic.schema import (
    SHARED_INFO_BYTES,
    BusLatency,
    Ethernet,
    Polled,
    ReceiveOffload,
    RxUsecs,
)
from simnet.time_units import PS_PER_US

if TYPE_CHECKING:
    from simnet.net.nic.port import Nic as Device
    from simnet.scenario.core.knob import Knob
    from simnet.scenario.parts.nic.schema import Given, Slot

_MOST_DESCRIPTORS: Final = 4096
# header, FCS and a VLAN's tag
_AROUND_BYTES: Final = 14 + 4 + 4
# IGB_MAX_FRAME_BUILD_SKB: half a page without skb_shared_info, NET_SKB_PAD and a time stamp
_SMALL_FRAME_BYTES: Final = 2048 - SHARED_INFO_BYTES - 64 - 16
# modes of rx-usecs, and the least time that is one
_ADAPTIVE: Final = (1, 3)
_MODES: Final = (0, *_ADAPTIVE)
_LEAST_USECS: Final = 10
_START_PS: Final = 162 * PS_PER_US
# until then igb_poll took no notice of what napi_complete_done returned
_HEEDS: Final = (5, 0)


class Gigabit(
    LargeParts, Combined, BusLatency, ReceiveOffload, RxUsecs, Polled, Multiqueue, Ethernet
):
    """A port whose vectors have one throttle each."""

    around_bytes: ClassVar[int] = _AROUND_BYTES
    most_small_bytes: ClassVar[int] = _SMALL_FRAME_BYTES
    charges_datagrams: ClassVar[bool] = True
    forwards: ClassVar[bool] = True
    disciplines: ClassVar[bool] = True
    faster: ClassVar[bool] = False  # what adapts, adapts on links of more than 1 Gbit/s, too
    queue_a_cpu: ClassVar[bool] = True
    rss_in_blocks: ClassVar[bool] = True

    rx_usecs_ps: Annotated[
        int,
        time(
            "least time between two interrupts of a vector; 1 and 3 us: it adapts, 0: none",
            "0 us",
            "10 ms",
        ),
    ]
    msix: Annotated[bool, Flag("queues have vectors (MSI-X); off: one interrupt for all")] = True

    @classmethod
    def check(cls, given: Given) -> None:
        """Refuse what `igb_set_coalesce` and `igb_set_ringparam` refuse; see `Nic.check`."""
        super().check(given)
        usecs, rest = divmod(given["rx_usecs_ps"], PS_PER_US)
        if rest or (usecs < _LEAST_USECS and usecs not in _MODES):
            message = f"{cls.name()} takes 0, 1, 3, or whole microseconds from {_LEAST_USECS} on"
            raise given.error("rx_usecs_ps", message)
        cls.refuse_longer(given, _MOST_DESCRIPTORS)
        if not given["msix"] and given["rx_queues"] > 1:
            raise given.error("rx_queues", f"without MSI-X {cls.name()} has one queue", "msix")

    @classmethod
    def knobs(cls) -> tuple[Knob, ...]:
        """Return the number of queues, and RSS."""
        return (*super().knobs(), *RSS_KNOBS)

    @property
    def interrupt_gap_ps(self) -> int:
        """Least time between two interrupts; where it adapts, what it starts from."""
        return _START_PS if self.rx_usecs_ps // PS_PER_US in _ADAPTIVE else self.rx_usecs_ps

    def make(self, slot: Slot) -> Device:
        """Return one vector with its rings."""
        from simnet.net.nic.intel import igb

        made = igb.Igb(
            slot.device,
            self.offload(slot),
            tso=self.tso,
            usecs=self.rx_usecs_ps // PS_PER_US,
            alone=not self.msix,
            faster=self.faster,
        )
        made.rearms = release(slot.kernel.version) < _HEEDS
        self.configure(made.instance, slot)
        return made
