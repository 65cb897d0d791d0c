"""Mellanox ConnectX-4 to -7 with the driver mlx5: one channel of a port.

Source: drivers/net/ethernet/mellanox/mlx5/core of Linux 6.12 (en_txrx.c `mlx5e_napi_poll`,
`mlx5e_handle_rx_dim`; en_tx.c `mlx5e_poll_tx_cq`; en_dim.c `mlx5e_complete_dim_work`; en.h
MLX5E_TX_CQ_POLL_BUDGET). Each completion queue is moderated by `ethtool -C` rx-usecs and rx-frames,
or tx-; with adaptive-rx and adaptive-tx they are only what it starts from, and `Dim` chooses. When
the driver arms a queue it gives a sample to `Dim`; a new setting is programmed by a work queue's
firmware command, and until then no samples are taken.

Frames are received into work-queue entries of 256 KiB, a small one into a stride of 2 KiB. When two
of them are used up, the poll maps their pages anew by commands to the device (UMR), whose
completion queue is armed with the others but not moderated: if nothing has polled until then, it
interrupts (en_rx.c `mlx5e_post_rx_mpwqes`; en/params.c UMR_WQE_BULK, MLX5_MPWRQ_LOG_WQE_SZ;
en_main.c `icocq_moder`).

A poll writes the doorbells of three queues: those of received and of sent frames, and the one of
the channel's internal commands.
"""

from __future__ import annotations

import cython

from simnet.host.cpu import Cpu
from simnet.host.softirq.softirq import SoftirqNetRx
from simnet.kernel.priority import NIC
from simnet.net.link.gro import Gro
from simnet.net.link.skb import Skb
from simnet.net.nic.adaptive_channel import AdaptiveChannel
from simnet.net.nic.completion_queue import CompletionQueue
from simnet.net.nic.dim import RX_PROFILES, TX_PROFILES, Dim
from simnet.net.nic.net_device import NetDevice

_US_PS: cython.longlong = 1_000_000
_TX_CQ_POLL_BUDGET = 128
_DOORBELLS = 3
_STRIDE_BYTES: cython.longlong = 2048
_MAPPED_BYTES: cython.longlong = 2 << 18
# an event of the channel: pages have been mapped
_MAPPED: cython.int = 3


@cython.final
@cython.cclass
class Mlx5(AdaptiveChannel):
    """One channel; see `Nic` for what it shares with others.

    Args:
        device: what the chips and drivers have in common.
        gro: receive offload of its NAPI instance.
        tso: the device cuts large segments.
        page_bytes: of a page of receive buffers; 0: not told apart from other work.
        rx: usecs, in ps, and frames, of the receive queue.
        tx: of the transmit queue.
        rx_cqe, tx_cqe: CQE mode, else EQE mode.
        adaptive_rx, adaptive_tx: `Dim` chooses.
        command_ps: from its choice to the changed queue.
    """

    map_ps: cython.longlong = 0
    strided_bytes: cython.longlong = 0
    mapped: cython.longlong = 0
    maps: cython.bint = False

    def __init__(
        self,
        device: NetDevice,
        gro: Gro,
        *,
        tso: bool,
        page_bytes: int,
        rx: tuple[int, int],
        tx: tuple[int, int],
        rx_cqe: bool,
        tx_cqe: bool,
        adaptive_rx: bool,
        adaptive_tx: bool,
        command_ps: int,
    ) -> None:
        super().__init__(
            device,
            gro,
            tso=tso,
            page_bytes=page_bytes,
            tx_budget=_TX_CQ_POLL_BUDGET,
            doorbells=_DOORBELLS,
        )
        self._adapt(Dim() if adaptive_rx else None, Dim() if adaptive_tx else None, command_ps)
        self.rx_cq.moderate(rx[0], rx[1], rx_cqe)
        self.tx_cq.moderate(tx[0], tx[1], tx_cqe)
        self.map_ps = device.fetch_ps + device.dma_ps

    def _taken(self, cpu: Cpu) -> Skb:
        """Take the next frame, and count what it takes of its work-queue entry."""
        skb: Skb = AdaptiveChannel._taken(self, cpu)  # noqa: SLF001 - the method that it extends
        self.strided_bytes += max(skb.wire_bytes, _STRIDE_BYTES)
        return skb

    def _finish(self, cpu: Cpu, softirq: SoftirqNetRx) -> cython.int:
        """`mlx5e_post_rx_mpwqes` before the queues are armed."""
        mapped: cython.longlong = self.strided_bytes // _MAPPED_BYTES
        self.maps = mapped > self.mapped
        self.mapped = mapped
        return AdaptiveChannel._finish(  # noqa: SLF001 - the method that it extends
            self, cpu, softirq
        )

    def _poll_completed(self, now: cython.longlong) -> cython.int:
        """The queue of commands is armed, too."""
        if self.maps:
            self.sim.after(self.map_ps, self, _MAPPED, 0, NIC)
        return AdaptiveChannel._poll_completed(self, now)  # noqa: SLF001 - as above

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """Pages have been mapped, or what others have, too."""
        if kind != _MAPPED:
            AdaptiveChannel.on_event(self, kind, arg)
            return
        self.advance(self.sim.now)
        self._notify()

    def _apply(self, dim: Dim, cq: CompletionQueue) -> cython.int:
        """`mlx5e_complete_dim_work`: by a firmware command."""
        profiles = RX_PROFILES if dim is self.rx_dim else TX_PROFILES
        usecs, frames = profiles[cq.from_cqe][dim.profile_ix]
        return cq.moderate(usecs * _US_PS, frames, cq.from_cqe)
