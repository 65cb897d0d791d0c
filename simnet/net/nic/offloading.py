"""A port whose driver hands frames to receive offload: the part of its poll that several share.

Frames that only change what the offload holds or collects have no effect outside, so they are one
piece of work. What goes up costs the stack its work at the end of the piece that let it go.

Source: net/core/dev.c of Linux 3.8 and 5.4 (`napi_gro_receive`, `napi_gro_frags`,
`napi_gro_complete`, `gro_normal_list`). A driver that calls `napi_gro_receive` makes an `sk_buff`
for each frame, and that of a merged frame is freed; `napi_gro_frags` takes fragments of pages, and
an `sk_buff` is made for what goes up alone.
"""

from __future__ import annotations

from array import array

import cython

from simnet.host.accounting import SOFT_LEVEL
from simnet.host.cpu import Cpu
from simnet.host.softirq.softirq import SoftirqNetRx
from simnet.host.softirq.verdict import POLL_CONTINUES
from simnet.kernel.compiled import Array
from simnet.net.link.gro import Gro
from simnet.net.link.skb import Endpoint, Skb
from simnet.net.nic.net_device import NetDevice
from simnet.net.nic.port import Nic

# what the piece of work that has just been executed was
_ABSORBED: cython.int = 0
_FRAME: cython.int = 1
_FLUSH: cython.int = 2
_FINISHED: cython.int = 3
_MAX_TSO_BYTES: cython.longlong = 65536
_ALL: cython.longlong = -1


@cython.cclass
class OffloadingNic(Nic):
    """One port, or one queue of it; see `Nic` for what it shares with others.

    Args:
        device: what the chips and drivers have in common.
        gro: receive offload of its NAPI instance.
        tso: the device cuts large segments.
        makes_each: an `sk_buff` is made for each frame (`napi_gro_receive`).
        page_bytes: of a page of receive buffers; 0: pages are not told apart from the other work.
    """

    gro: Gro = None
    makes_each: cython.bint = False
    flushes_full: cython.bint = False
    page_bytes: cython.int = 0
    jiffy_ps: cython.longlong = 0
    phase: cython.int = 0
    tso: cython.bint = False
    tx_parts: Array[cython.schar] = None
    tx_endpoint: Endpoint = None
    tx_end_seq: cython.longlong = 0
    tx_cut_bytes: cython.longlong = 0

    def __init__(
        self, device: NetDevice, gro: Gro, *, tso: bool, makes_each: bool, page_bytes: int = 0
    ) -> None:
        super().__init__(device)
        self.gro = gro
        self.makes_each = makes_each
        self.phase = _ABSORBED
        self.tso = tso
        # whether a descriptor is a later part of what the one before began
        self.tx_parts = array("b", [0]) * (self.tx.mask + 1)
        self.page_bytes = page_bytes
        self.jiffy_ps = device.jiffy_ps

    def _stays(self, skb: Skb) -> cython.bint:
        """Whether a frame is the stack's: no program takes it."""
        return True

    def _finish(self, cpu: Cpu, softirq: SoftirqNetRx) -> cython.int:
        """Nothing is left to take: start on the last piece of the poll."""
        raise NotImplementedError(self.path)

    def _goes_on(self, cpu: Cpu, softirq: SoftirqNetRx) -> cython.bint:
        """Let a piece of work have its effect and start on the next; False if none is left."""
        if self.phase == _FINISHED:
            return False
        if self.phase == _FLUSH:
            self._flush_held()
            self._hand_up(cpu)
            self._finish(cpu, softirq)
            return True
        if self.phase == _FRAME:
            self.gro.receive(self._counted(cpu), self.sim.now // self.jiffy_ps)
            self._hand_up(cpu)
        self._next_entry(cpu, softirq)
        return True

    def _flush_held(self) -> cython.int:
        """`napi_complete_done` flushes; a poll that used up its weight only hands up."""
        if self.done < self.limit:
            self.gro.flush(_ALL)
        return 0

    def _next_entry(self, cpu: Cpu, softirq: SoftirqNetRx) -> cython.int:
        """Start on what is in the queue."""
        seen: cython.longlong
        work: cython.longlong = 0
        count: cython.int = 0
        jiffy: cython.longlong = self.sim.now // self.jiffy_ps
        self.advance(self.sim.now)
        if self.sim.tracer is not None:
            self._trace_ring()
        seen = self.announced - self.consumed
        if seen > self.limit - self.done:
            seen = self.limit - self.done
        while count < seen and self.gro.absorbs(self.ring.head) and self._stays(self.ring.head):
            work += self._frame_work_ps(cpu)
            self.gro.receive(self._counted(cpu), jiffy)
            count += 1
            if self.per_frame:
                break
        self.phase = _ABSORBED
        if count == 0 and seen > 0:
            work = self._frame_work_ps(cpu)
            self.phase = _FRAME
        elif count == 0 and (
            self.gro.up.count > 0
            or (self.gro.held > 0 and (self.done < self.limit or self.flushes_full))
        ):
            # napi_gro_flush, gro_normal_list: until then nothing has cost above the driver
            self.phase = _FLUSH
        elif count == 0:
            return self._finish(cpu, softirq)
        return self._run(cpu, softirq, work)

    def _run(self, cpu: Cpu, softirq: SoftirqNetRx, work: cython.longlong) -> cython.int:
        """Execute a piece of work, with what earlier effects caused."""
        work += self.debt_ps
        self.debt_ps = 0
        cpu.run(SOFT_LEVEL, softirq, work, softirq.mode)
        return POLL_CONTINUES

    def _frame_work_ps(self, cpu: Cpu) -> cython.longlong:
        """The driver's work for the next frame, what the stack does with it excluded."""
        skb: Skb = self.ring.head
        extra: cython.longlong = self.access.far_frame_ps
        work: cython.longlong
        if self.makes_each:
            extra += self.costs.skb_alloc_ps
            self.ledger.skb += self.costs.skb_alloc_ps
        work = self.spread.vary(self.costs.driver_rx_ps + extra)
        self.ledger.driver += work - self.access.far_frame_ps
        self.ledger.device_lines += self.access.far_frame_ps
        if self.remapped > 0:
            work += self._remap_ps(cpu, 1)
        return work + self._pages_ps(cpu, skb)

    def _pages_ps(self, cpu: Cpu, skb: Skb) -> cython.longlong:
        """Allocating the pages of a frame, each of which begins in one of its own.

        Those that another CPU frees do not come back to this one's list but by the zone's
        (mm/page_alloc.c `rmqueue_bulk`, under its lock).
        """
        pages: cython.longlong
        work: cython.longlong
        if self.page_bytes == 0:
            return 0
        pages = (skb.wire_bytes + self.page_bytes - 1) // self.page_bytes
        work = pages * self.costs.rx_page_ps // 2
        if skb.endpoint.freer is not None and skb.endpoint.freer is not cpu:
            work += pages * self.costs.page_zone_ps
        self.ledger.pages += work
        return work

    def _counted(self, cpu: Cpu) -> Skb:
        """Take the next frame out of the ring, and count it."""
        self.consumed += 1
        self.done += 1
        return self._taken(cpu)

    def _hand_up(self, cpu: Cpu) -> cython.int:
        """Deliver what receive offload lets go."""
        while self.gro.up.count > 0:
            self._deliver(self.gro.take(), cpu)
        return 0

    def _deliver(self, skb: Skb, cpu: Cpu) -> cython.int:
        """`netif_receive_skb`: its work is part of the next piece."""
        work: cython.longlong = 0
        if not self.makes_each:
            work = self.costs.skb_alloc_ps
            self.ledger.skb += work
        if self.steering is None:
            work += self.costs.ip_rx_ps
            self.ledger.ip += self.costs.ip_rx_ps
        self.ledger.driver += work
        if skb.endpoint.freer is not None and skb.endpoint.freer is not cpu:
            work += self.buffers.allocated_ps(cpu, skb.endpoint.freer)
        self.debt_ps += work
        return self._to_stack(skb, cpu)

    # -- transmit -------------------------------------------------------------------------------

    def _send_now(self, skb: Skb) -> cython.int:
        """Put a frame on the wire, and note whether it is cut from the same as the one before."""
        length: cython.longlong = skb.end_seq - skb.seq
        part: cython.bint = (
            self.tso
            and length > 0
            and self.tx_cut_bytes > 0
            and skb.endpoint is self.tx_endpoint
            and skb.seq == self.tx_end_seq
            and self.tx_cut_bytes + length <= _MAX_TSO_BYTES
        )
        self.tx_cut_bytes = self.tx_cut_bytes + length if part else length
        self.tx_endpoint = skb.endpoint
        self.tx_end_seq = skb.end_seq
        self.tx_parts[self.tx.sent & self.tx.mask] = part
        self.tx.part = part
        return Nic._send_now(self, skb)  # noqa: SLF001 - the method that this one extends

    def _packet_begins(self) -> cython.int:
        """What follows is not cut from the same."""
        self.tx_endpoint = None
        return 0

    def flush(self) -> cython.int:
        """End of a burst: what follows is not cut from the same."""
        self.tx_endpoint = None
        return Nic.flush(self)
