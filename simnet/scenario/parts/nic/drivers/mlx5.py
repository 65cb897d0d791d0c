"""Mellanox ConnectX-4 to -7 with the driver mlx5."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal

from simnet.host.release import release
from simnet.scenario.core.specs import Flag, count, time
from simnet.scenario.parts.nic.channels import Channels, ethtool
from simnet.scenario.parts.nic.schema import (
    DATAGRAM_HEADERS_BYTES,
    FRAME_HEADER_BYTES,
    SHARED_INFO_BYTES,
    USUAL_STATISTICS,
    Remaps,
    RxModeration,
    of_queues,
)

if TYPE_CHECKING:
    from simnet.net.nic.port import Nic as Device
    from simnet.net.steering.arfs import ArfsDriver
    from simnet.scenario.core.knob import Knob
    from simnet.scenario.parts.nic.schema import Slot

# headroom and skb_shared_info of a frame in one piece; mlx5 of Linux 5.4
_HEADROOM_BYTES: Final = 64
_AROUND_LINEAR_BYTES: Final = _HEADROOM_BYTES + SHARED_INFO_BYTES
_STRIDE_BYTES: Final = 64
# en.h: MLX5E_RX_MAX_HEAD, what is copied into the sk_buff
_MAX_HEAD_BYTES: Final = 256
_HEAD_BYTES: Final = 1024
_POOLED: Final = (6, 4)
_HALF_A_PAGE: Final = 500


class Mlx5(RxModeration, Channels):
    """A port whose channels have a completion queue for each direction."""

    # the largest period of a completion queue, in 12 bits
    most_usecs: ClassVar[int] = 4095
    arfs_since: ClassVar[tuple[int, int] | None] = (4, 7)
    charges_datagrams: ClassVar[bool] = True
    ring_counter: ClassVar[str] = "rx_out_of_buffer"
    statistics: ClassVar[dict[str, str]] = USUAL_STATISTICS
    queue_statistics: ClassVar[dict[str, str]] = of_queues("{}{{}}_{}")

    driver: Literal["mlx5"]
    tx_frames: Annotated[int, count("sent frames that end a batch", 0, 1023)]
    rx_cqe_mode: Annotated[bool, Flag("each received frame restarts the timer; else an event does")]
    tx_cqe_mode: Annotated[bool, Flag("each sent frame restarts the timer; else an event does")]
    command_latency_ps: Annotated[
        int, time("from a choice of DIM or aRFS to what the device does", "0 us", "100 ms")
    ]

    @classmethod
    def knobs(cls) -> tuple[Knob, ...]:
        """Return what `ethtool -C` sets beside what all channels have."""
        note = "before Linux 5.15 a private flag: ethtool --set-priv-flags PORT {}_cqe_moder on|off"
        modes = (
            ethtool(
                cls,
                f"-C {{port}} cqe-mode-{way}",
                f"{way}_cqe_mode",
                since="5.15",
                note=note.format(way),
            )
            for way in ("rx", "tx")
        )
        return (*super().knobs(), *modes)

    @property
    def page_bytes(self) -> int:
        """Pages of the receive buffers (`mlx5e_page_alloc`)."""
        return 4096

    @property
    def frame_buffer_bytes(self) -> int:
        """A stride that holds a full frame, or as many as it takes (`mlx5e_skb_from_cqe_mpwrq`)."""
        full = self.mtu_bytes + FRAME_HEADER_BYTES
        if full + _AROUND_LINEAR_BYTES <= self.rx_buffer_bytes:
            return self.rx_buffer_bytes
        return _strides(full) + _MAX_HEAD_BYTES

    def datagram_truesize(self, length: int, overhead: int) -> int:
        """A frame in one piece, as long as it is (`mlx5e_skb_from_cqe_mpwrq_linear`).

        What does not fit into a stride is a head (`page_frag_alloc_1k` of `napi_alloc_skb`) and
        parts of pages (`mlx5e_skb_from_cqe_mpwrq_nonlinear`).
        """
        frame = length + DATAGRAM_HEADERS_BYTES
        if self.mtu_bytes + FRAME_HEADER_BYTES + _AROUND_LINEAR_BYTES <= self.rx_buffer_bytes:
            return _strides(frame + _HEADROOM_BYTES) + overhead
        rest = _strides(max(frame - _MAX_HEAD_BYTES, 0))
        return _HEAD_BYTES + overhead - SHARED_INFO_BYTES + rest

    @classmethod
    def remaps(cls, version: str) -> Remaps:
        """Half a page a frame, but for those that come back; see `Nic.remaps`."""
        if release(version) >= _POOLED:
            return Remaps(0, "mlx5e_alloc_rq: page_pool keeps pages mapped, PP_FLAG_DMA_MAP")
        cached = "mlx5e_rx_cache_get: pages that are still in use are unmapped, others are not"
        return Remaps(_HALF_A_PAGE // 2, cached, _HALF_A_PAGE)

    def _arfs(self, version: str) -> ArfsDriver:  # noqa: ARG002 - the same in all that have it
        """Return the single-threaded work queue of firmware commands."""
        from simnet.net.steering.arfs import ArfsDriver

        return ArfsDriver(self.command_latency_ps)

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


def _strides(length: int) -> int:
    """A length rounded up to whole strides."""
    return -(-length // _STRIDE_BYTES) * _STRIDE_BYTES


DRIVER = Mlx5
