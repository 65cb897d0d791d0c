"""The way from a card to the host's memory: a limit of packets a second where they are small.

A received frame is written, and a completion for it; for a sent one descriptor and data are asked
for, and a completion is written. Each of these messages (TLP) has its own framing, sequence number,
header and checksum. What is slow waits in the card's buffer; a frame that finds that full is
discarded. A frame for which no descriptor is posted takes nothing of the slot.

Source: PCI Express Base Specification 3.0, 2.2 and 3.6 (header of 16 bytes, framing 4, LCRC 4).
Messages of flow control and replays are left out. Queues share the slot in the order in which
they are looked at, which need not be that of arrival: what is older than what was looked at before
comes with that.
"""

from __future__ import annotations

import cython

TLP_BYTES = 24
"""Of a message beside its data."""
_S_PS = 10**12


@cython.final
@cython.cclass
class PcieSlot:
    """One direction of a slot, towards the host.

    Args:
        bytes_per_s: that the slot carries.
        rx_bytes: that a received frame takes, completion included.
        tx_bytes: that a sent one does.
        buffer_ps: time for which the card's buffer holds what waits.
    """

    rx_ps: cython.longlong = 0
    tx_ps: cython.longlong = 0
    buffer_ps: cython.longlong = 0
    last_ps: cython.longlong = 0
    free_ps: cython.longlong = 0

    def __init__(self, bytes_per_s: int, rx_bytes: int, tx_bytes: int, buffer_ps: int) -> None:
        self.rx_ps = rx_bytes * _S_PS // bytes_per_s
        self.tx_ps = tx_bytes * _S_PS // bytes_per_s
        self.buffer_ps = buffer_ps

    def takes(self, at_ps: cython.longlong) -> cython.bint:
        """Move a frame that came at `at_ps`; False if the buffer was full."""
        self.last_ps = max(self.last_ps, at_ps)
        self.free_ps = max(self.free_ps, self.last_ps)
        if self.free_ps - self.last_ps > self.buffer_ps:
            return False
        self.free_ps += self.rx_ps
        return True

    def sends(self, frames: cython.longlong) -> cython.int:
        """Fetch frames that are to be sent, and report them."""
        self.free_ps += frames * self.tx_ps
        return 0
