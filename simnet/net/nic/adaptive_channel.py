"""A channel whose queues are moderated as `Dim` chooses, or as they are set.

Source: `mlx5e_handle_rx_dim` (en_txrx.c) and `mlx5e_rx_dim_work` (en_dim.c) of
drivers/net/ethernet/mellanox/mlx5/core, and `ice_net_dim` and `ice_rx_dim_work` of
drivers/net/ethernet/intel/ice, Linux 6.12. Before the driver enables interrupts it gives a sample
to `Dim`. Its choice is programmed by a work queue, and until then no samples are taken.
"""

from __future__ import annotations

import cython

from simnet.kernel.priority import NIC
from simnet.net.link.ethernet import UNCOUNTED_BYTES
from simnet.net.nic.channel import Channel
from simnet.net.nic.completion_queue import CompletionQueue
from simnet.net.nic.dim import Dim

_UPDATE: cython.int = 0
_RX_APPLIED: cython.int = 1
_TX_APPLIED: cython.int = 2


@cython.cclass
class AdaptiveChannel(Channel):
    """One channel of a port. Its driver calls `_adapt`, or chooses by rules of its own."""

    rx_dim: Dim = None
    tx_dim: Dim = None
    command_ps: cython.longlong = 0

    def _adapt(self, rx_dim: Dim | None, tx_dim: Dim | None, command_ps: int) -> None:
        """Let `Dim` choose.

        Args:
            rx_dim: of received frames; None for values that are set.
            tx_dim: of sent frames; likewise.
            command_ps: from a choice to the changed queue.
        """
        self.rx_dim = rx_dim
        self.tx_dim = tx_dim
        self.command_ps = command_ps

    def _apply(self, dim: Dim, cq: CompletionQueue) -> cython.int:
        """Program what `dim` has chosen for a queue."""
        raise NotImplementedError(self.path)

    def _tx_counted(self) -> cython.longlong:
        """Frames handed to the ring, in the driver's counter."""
        return self.tx.sent

    def _tx_counted_bytes(self) -> cython.longlong:
        """Their bytes, as the driver counts them."""
        return self.tx.sent_bytes - UNCOUNTED_BYTES * self.tx.sent

    def _rx_counted_bytes(self) -> cython.longlong:
        """Bytes of the frames that polls have taken, as the driver counts them."""
        return self.polled_bytes - UNCOUNTED_BYTES * self._rx_counted()

    def _rx_events(self) -> cython.longlong:
        """What the driver takes for events of received frames."""
        return self.rx_cq.events

    def _rx_counted(self) -> cython.longlong:
        """Those frames, in the driver's counter: not each driver counts what XDP has taken."""
        return self.consumed - self.uncounted

    def _poll_completed(self, now: cython.longlong) -> cython.int:
        """Give samples to `Dim`."""
        if self.tx_dim is not None and self.tx_dim.sample(
            now, self.tx_cq.events, self._tx_counted(), self._tx_counted_bytes()
        ):
            self.sim.after(self.command_ps, self, _TX_APPLIED, 0, NIC)
        if self.rx_dim is not None and self.rx_dim.sample(
            now, self._rx_events(), self._rx_counted(), self._rx_counted_bytes()
        ):
            self.sim.after(self.command_ps, self, _RX_APPLIED, 0, NIC)
        return 0

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """An interrupt is due, or a queue is programmed by the work queue."""
        if kind == _UPDATE:
            Channel.on_event(self, _UPDATE, arg)
            return
        # what has come until now is under what was programmed before
        self.advance(self.sim.now)
        if kind == _RX_APPLIED:
            self._apply(self.rx_dim, self.rx_cq)
            self.rx_dim.applied()
        else:
            self._apply(self.tx_dim, self.tx_cq)
            self.tx_dim.applied()
        self.arm()
