"""Mellanox ConnectX-4 to -7 with the driver mlx5."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal

from simnet.scenario.core.knob import Knob, Stage
from simnet.scenario.core.schema import value_spec
from simnet.scenario.core.specs import Flag, count, time
from simnet.scenario.parts.nic.schema import (
    BusLatency,
    Ethernet,
    Multiqueue,
    Polled,
    ReceiveOffload,
    RxModeration,
)

if TYPE_CHECKING:
    from simnet.net.nic.port import Nic as Device
    from simnet.scenario.parts.nic.schema import Given, Slot

__all__ = ["DRIVER"]

# of Ethernet and a VLAN; headroom and skb_shared_info of a frame in one piece; mlx5 of Linux 5.4
_FRAME_HEADER_BYTES: Final = 18
_AROUND_LINEAR_BYTES: Final = 64 + 320
_STRIDE_BYTES: Final = 64
# en.h: MLX5E_RX_MAX_HEAD, what is copied into the sk_buff
_MAX_HEAD_BYTES: Final = 256
# what `ethtool -C` takes, by what it sets
_COALESCE: Final = {
    "adaptive-rx": "adaptive_rx",
    "adaptive-tx": "adaptive_tx",
    "cqe-mode-rx": "rx_cqe_mode",
    "cqe-mode-tx": "tx_cqe_mode",
}


class Mlx5(BusLatency, ReceiveOffload, RxModeration, Polled, Multiqueue, Ethernet):
    """A port whose channels have a completion queue for each direction."""

    driver: Literal["mlx5"]
    tx_usecs_ps: Annotated[int, time("transmit gap that ends a batch", "0 us", "10 ms")]
    tx_frames: Annotated[int, count("sent frames that end a batch", 0, 1023)]
    adaptive_rx: Annotated[bool, Flag("dynamic moderation of receive interrupts (DIM)")]
    adaptive_tx: Annotated[bool, Flag("dynamic moderation of transmit interrupts (DIM)")]
    rx_cqe_mode: Annotated[bool, Flag("each received frame restarts the timer; else an event does")]
    tx_cqe_mode: Annotated[bool, Flag("each sent frame restarts the timer; else an event does")]
    command_latency_ps: Annotated[
        int, time("from a choice of DIM to the changed queue", "0 us", "100 ms")
    ]

    @classmethod
    def check(cls, given: Given) -> None:
        """Refuse receive and transmit queues that are not channels; see `Nic.check`."""
        super().check(given)
        if given["rx_queues"] != given["tx_queues"]:
            name = given.tree.get(given.port)["name"]
            queues = f"{given['rx_queues']} receive and {given['tx_queues']} transmit queues"
            message = f"mlx5 has channels of both, not {queues}: ethtool -L {name} combined N"
            raise given.error("rx_queues", message, "tx_queues")

    @classmethod
    def knobs(cls) -> tuple[Knob, ...]:
        """Return the number of channels, and what `ethtool -C` sets beside times and numbers."""
        channels = Knob(
            "ethtool -L {port} combined",
            "channels, each with a receive and a transmit queue",
            value_spec(cls, "rx_queues"),
            "nic",
            "rx_queues",
            "ethtool -L {port} combined {value}",
            also=("tx_queues",),
            stage=Stage.QUEUES,
        )
        rss = tuple(
            Knob(
                f"ethtool -X {{port}} {name}",
                value_spec(cls, target).doc,
                value_spec(cls, target),
                "nic",
                target,
                f"ethtool -X {{port}} {name} {{value}}",
                unset="ethtool -X {port} default" if name == "equal" else "",
                since="3.16" if name == "hkey" else "2.6.36",
            )
            for name, target in (("equal", "rss_equal"), ("hkey", "rss_key"))
        )
        return (
            channels,
            *rss,
            *(
                Knob(
                    f"ethtool -C {{port}} {name}",
                    value_spec(cls, target).doc,
                    value_spec(cls, target),
                    "nic",
                    target,
                    f"ethtool -C {{port}} {name} {{value}}",
                    since="5.15" if name.startswith("cqe") else "2.6.0",
                    note="before Linux 5.15 a private flag: ethtool --set-priv-flags PORT "
                    f"{name[-2:]}_cqe_moder on|off"
                    if name.startswith("cqe")
                    else "",
                )
                for name, target in _COALESCE.items()
            ),
        )

    @property
    def page_bytes(self) -> int:
        """Pages of the receive buffers (`mlx5e_page_alloc`)."""
        return 4096

    @property
    def frame_buffer_bytes(self) -> int:
        """A stride that holds a full frame, or as many as it takes (`mlx5e_skb_from_cqe_mpwrq`)."""
        full = self.mtu_bytes + _FRAME_HEADER_BYTES
        if full + _AROUND_LINEAR_BYTES <= self.rx_buffer_bytes:
            return self.rx_buffer_bytes
        return -(-full // _STRIDE_BYTES) * _STRIDE_BYTES + _MAX_HEAD_BYTES

    def make(self, slot: Slot) -> Device:
        """Return one channel."""
        from simnet.net.nic import mlx5

        made = mlx5.Mlx5(
            slot.device,
            self.offload(slot),
            tso=self.tso,
            page_bytes=self.page_bytes,
            rx=(self.rx_usecs_ps, self.rx_frames),
            tx=(self.tx_usecs_ps, self.tx_frames),
            rx_cqe=self.rx_cqe_mode,
            tx_cqe=self.tx_cqe_mode,
            adaptive_rx=self.adaptive_rx,
            adaptive_tx=self.adaptive_tx,
            command_ps=self.command_latency_ps,
        )
        self.configure(made.instance, slot)
        return made


DRIVER = Mlx5
