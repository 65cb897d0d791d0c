"""Mellanox ConnectX-4 to -7 with the driver mlx5: one channel of a port.

Source: drivers/net/ethernet/mellanox/mlx5/core of Linux 6.12 (en_txrx.c `mlx5e_napi_poll`,
`mlx5e_handle_rx_dim`; en_tx.c `mlx5e_poll_tx_cq`; en_dim.c `mlx5e_complete_dim_work`; en.h
MLX5E_TX_CQ_POLL_BUDGET). Each completion queue is moderated by `ethtool -C` rx-usecs and rx-frames,
or tx-; with adaptive-rx and adaptive-tx they are only what it starts from, and `Dim` chooses. When
the driver arms a queue it gives a sample to `Dim`; a new setting is programmed by a work queue's
firmware command, and until then no samples are taken.

A poll writes the doorbells of three queues: those of received and of sent frames, and the one of
the channel's internal commands.
"""

from __future__ import annotations

import cython

from simnet.net.gro import Gro
from simnet.net.nic.adaptive_channel import AdaptiveChannel
from simnet.net.nic.completion_queue import CompletionQueue
from simnet.net.nic.dim import RX_PROFILES, TX_PROFILES, Dim
from simnet.net.nic.net_device import NetDevice

__all__ = ["Mlx5"]

_US_PS = cython.declare(cython.longlong, 1_000_000)
_TX_CQ_POLL_BUDGET = 128
_DOORBELLS = 3


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
            rx_dim=Dim() if adaptive_rx else None,
            tx_dim=Dim() if adaptive_tx else None,
            command_ps=command_ps,
        )
        self.rx_cq.moderate(rx[0], rx[1], rx_cqe)
        self.tx_cq.moderate(tx[0], tx[1], tx_cqe)

    def _apply(self, dim: Dim, cq: CompletionQueue) -> cython.int:
        """`mlx5e_complete_dim_work`: by a firmware command."""
        profiles = RX_PROFILES if dim is self.rx_dim else TX_PROFILES
        usecs, frames = profiles[cq.from_cqe][dim.profile_ix]
        return cq.moderate(usecs * _US_PS, frames, cq.from_cqe)
