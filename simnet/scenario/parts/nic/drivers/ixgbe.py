"""Intel 82599, X540 and X550 with the driver ixgbe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal

from simnet.host.release import release
from simnet.scenario.core.parameter import Parameter
from simnet.scenario.core.specs import count, time
from simnet.scenario.core.tree import dotted
from simnet.scenario.parts.nic.channels import RSS_KNOBS, Combined
from simnet.scenario.parts.nic.flow_steering import FlowSteering
from simnet.scenario.parts.nic.page_parts import LargeParts
from simnet.scenario.parts.nic.queues import Multiqueue
from simnet.scenario.parts.nic.schema import (
    FRAME_HEADER_BYTES,
    MOST_QUEUES,
    QUEUE_STATISTICS,
    USUAL_STATISTICS,
    BusLatency,
    Ethernet,
    Polled,
    ReceiveOffload,
    RxUsecs,
)
from simnet.time_units import PS_PER_US

if TYPE_CHECKING:
    from simnet.net.nic.multiqueue import MultiqueuePort
    from simnet.net.nic.port import Nic as Device
    from simnet.scenario.core.knob import Knob
    from simnet.scenario.core.tree import Path
    from simnet.scenario.parts.nic.schema import Given, Slot

_START_PS: Final = 50 * PS_PER_US
# a register of 2 us
_STEP_PS: Final = 2 * PS_PER_US
# the driver fills pages by halves and builds an sk_buff around a frame since then
_FIRST: Final = (4, 12)
# until then ixgbe_poll took no notice of what napi_complete_done returned
_HEEDS: Final = (5, 0)
_LONG_RINGS: Final = (6, 2)
_SHORT_RING: Final = 4096
# IXGBE_MAX_JUMBO_FRAME_SIZE 9728 without header and FCS; ETH_DATA_LEN
_MOST_MTU_BYTES: Final = 9710
_SMALL_FRAME_BYTES: Final = 1500 + FRAME_HEADER_BYTES
_LEAST_BPS: Final = 10**9
_XPS: Final = "ixgbe_main.c: ixgbe_configure_tx_ring, netif_set_xps_queue"


class Ixgbe(
    FlowSteering,
    Combined,
    BusLatency,
    ReceiveOffload,
    RxUsecs,
    Polled,
    Multiqueue,
    LargeParts,
    Ethernet,
):
    """A 10-gigabit port whose vectors have one throttle each, and which learns flows' queues."""

    first: ClassVar[tuple[int, ...]] = _FIRST
    most_mtu_bytes: ClassVar[int] = _MOST_MTU_BYTES
    most_small_bytes: ClassVar[int] = _SMALL_FRAME_BYTES
    most_usecs: ClassVar[int] = 1022
    charges_datagrams: ClassVar[bool] = True
    ring_counter: ClassVar[str] = "rx_missed_errors"
    statistics: ClassVar[dict[str, str]] = USUAL_STATISTICS
    queue_statistics: ClassVar[dict[str, str]] = QUEUE_STATISTICS
    queue_a_cpu: ClassVar[bool] = True
    one_input_set: ClassVar[bool] = True
    rules_need_ntuple: ClassVar[bool] = True
    forwards: ClassVar[bool] = True
    disciplines: ClassVar[bool] = True

    driver: Literal["ixgbe"]
    rx_usecs_ps: Annotated[
        int,
        time(
            "least time between two interrupts of a vector; 1 us: it adapts, 0: none",
            "0 us",
            "10 ms",
        ),
    ]
    rss_most: Annotated[int, count("receive queues that RSS can sort to", 1, MOST_QUEUES)]

    @classmethod
    def settle(cls, given: Given) -> None:
        """Have each CPU send by the queue with its number, and shorten rings of older drivers."""
        version = given.tree.get((*given.host, "kernel"))["version"]
        if release(version) < _LONG_RINGS and not given.typed("rx_ring"):
            short = min(given["rx_ring"], _SHORT_RING)
            given.put("rx_ring", short, "ixgbe.h before Linux 6.2: IXGBE_MAX_RXD")
        queues = given["tx_queues"]
        for queue in range(queues if queues > 1 else 0):
            path: Path = (*given.port, "xps_cpus", queue)
            if dotted(path) not in given.table.origins:
                known: Any = {"unit": "", "state": "datasheet", "text": str(queue)}
                given.tree.put(path, Parameter(value=(queue,), source=_XPS, **known))

    @classmethod
    def check(cls, given: Given) -> None:
        """Refuse what the driver refuses, and what is not modelled; see `Nic.check`."""
        super().check(given)
        version = given.tree.get((*given.host, "kernel"))["version"]
        if given["rx_usecs_ps"] % PS_PER_US:
            raise given.error("rx_usecs_ps", "ixgbe takes whole microseconds")
        if given["link_rate_bps"] < _LEAST_BPS:
            message = "ixgbe on links slower than 1 Gbit/s is not modelled"
            raise given.error("link_rate_bps", message)
        if given["rss_equal"] > given["rss_most"]:
            message = f"RSS of this card sorts to at most {given['rss_most']} queues"
            raise given.error("rss_equal", message, "rss_most")
        most = _SHORT_RING if release(version) < _LONG_RINGS else given["rx_ring"]
        cls.refuse_longer(given, most)

    @classmethod
    def knobs(cls) -> tuple[Knob, ...]:
        """Return rules, the number of queues, and RSS."""
        return (*super().knobs(), *RSS_KNOBS)

    @property
    def rss_spread(self) -> int:
        """As many receive queues as RSS knows."""
        return min(super().rss_spread, self.rss_most)

    @property
    def learns_flows(self) -> bool:
        """Unless rules are on (`ixgbe_set_features`)."""
        return not self.ntuple

    @property
    def interrupt_gap_ps(self) -> int:
        """Least time between two interrupts; where it adapts, what it starts from."""
        if self.rx_usecs_ps == PS_PER_US:
            return _START_PS
        return self.rx_usecs_ps // _STEP_PS * _STEP_PS

    def make(self, slot: Slot) -> Device:
        """Return one vector with its rings."""
        from simnet.net.nic.intel import ixgbe, ixgbe_itr

        version = slot.kernel.version
        made = ixgbe.Ixgbe(
            slot.device,
            self.offload(slot),
            tso=self.tso,
            usecs=self.rx_usecs_ps // PS_PER_US,
            rules=ixgbe_itr.itr_rules(version),
        )
        made.rearms = release(version) < _HEEDS
        self.configure(made.instance, slot)
        return made

    def complete(self, port: MultiqueuePort) -> None:
        """Have rings look at what they send."""
        from simnet.net.nic.intel import atr

        if self.learns_flows:
            filters = atr.Atr(port.obey_rules())
            for number, queue in enumerate(port.queues):
                queue.atr = atr.AtrRing(filters, number)


DRIVER = Ixgbe
