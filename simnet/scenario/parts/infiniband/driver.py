"""An InfiniBand port with the driver ib_ipoib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal

from simnet.scenario.core.specs import Choice, Flag, count, size, time
from simnet.scenario.parts.nic.schema import BusLatency, Rings, RxModeration
from simnet.time_units import PS_PER_S

if TYPE_CHECKING:
    from simnet.net.nic.port import Nic as Device
    from simnet.scenario.core.knob import Knob
    from simnet.scenario.parts.nic.schema import Given, Slot

_UD_HEADERS_BYTES: Final = 4
_CM_LARGEST_MTU_BYTES: Final = 65520


class Ipoib(BusLatency, RxModeration, Rings):
    """An interface of IP over InfiniBand, with a completion queue that is armed anew each time."""

    network: ClassVar[str] = "infiniband"

    most_usecs: ClassVar[int] = 65535

    driver: Literal["ib_ipoib"]
    checksum: Annotated[
        str, Choice("who computes and verifies TCP's checksums", ("device", "cpu"))
    ] = "device"
    ipoib_mode: Annotated[
        str,
        Choice(
            "transport of IP over InfiniBand: reliable connections, or datagrams",
            ("connected", "datagram"),
        ),
    ]
    ib_mtu_bytes: Annotated[int, size("payload of an InfiniBand packet", "256 B", "4 KiB")] = 4096
    rx_page_bytes: Annotated[
        int, size("pages that a connection's received packets are put into", "4 KiB", "64 KiB")
    ] = 4096
    reorder_window: Annotated[
        int, count("received packets ahead of the next that wait for it; 0: none", 0, 32767)
    ] = 0
    drain_after_slide: Annotated[
        bool, Flag("go on handing up from the left edge after a slide; off: the paper's letter")
    ] = True
    flush_timeout_ps: Annotated[
        int, time("give up what is missing after this time; 0: never, as the paper", "0 us", "10 s")
    ] = 0
    send_loss_ppm: Annotated[
        int, count("packets of a million that the driver drops on purpose", 0, 1_000_000)
    ] = 0

    @classmethod
    def check(cls, given: Given) -> None:
        """Refuse an MTU that the transport does not carry; see `Nic.check`."""
        mode = given["ipoib_mode"]
        most = given["ib_mtu_bytes"] - _UD_HEADERS_BYTES
        if mode == "connected":
            most = _CM_LARGEST_MTU_BYTES
        if given["mtu_bytes"] > most:
            message = f"{mode}: an MTU of at most {most} B"
            raise given.error("mtu_bytes", message, "ipoib_mode", "ib_mtu_bytes")
        super().check(given)

    @classmethod
    def knobs(cls) -> tuple[Knob, ...]:
        """Return the module's parameters, and the document's own changes to the driver."""
        from simnet.scenario.parts.infiniband.knobs import ipoib_knobs

        return ipoib_knobs(cls)

    def make(self, slot: Slot) -> Device:
        """Return the queue pair and its driver."""
        from simnet.kernel.random import stream
        from simnet.net.infiniband.ipoib import FLUSHED, Ipoib
        from simnet.net.infiniband.reorder_window import MessageNumbers, ReorderWindow

        device, switch = slot.device, slot.switch
        nic = Ipoib(
            device,
            connected=self.ipoib_mode == "connected",
            ib_mtu=self.ib_mtu_bytes,
            rx_usecs_ps=self.rx_usecs_ps,
            rx_frames=self.rx_frames,
            # the far adapter's acknowledgement crosses two cables and a switch, as the message did
            acknowledged_ps=2 * (2 * switch.cable_delay_ps + switch.latency_ps),
            page_bytes=self.rx_page_bytes,
            jiffy_ps=PS_PER_S // slot.kernel.hz,
            loss_ppm=self.send_loss_ppm,
            luck=stream(slot.seed, f"{device.path}.loss"),
        )
        nic.numbers = MessageNumbers()
        nic.window = ReorderWindow(
            nic.sim,
            f"{device.path}.reorder_window",
            self.reorder_window,
            drain_after_slide=self.drain_after_slide,
            flush_timeout_ps=self.flush_timeout_ps,
            owner=nic,
            kind=FLUSHED,
        )
        return nic

    @property
    def link_overhead_bytes(self) -> int:
        """The encapsulation."""
        from simnet.net.infiniband.ipoib import ENCAPSULATION_BYTES

        return ENCAPSULATION_BYTES

    @property
    def checksum_by_cpu(self) -> bool:
        """Whether the CPU computes and verifies TCP's checksums."""
        return self.checksum == "cpu"


DRIVERS = (Ipoib,)
