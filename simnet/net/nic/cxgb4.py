"""Chelsio T5 with the driver cxgb4: interrupt holdoff, receive offload (GRO), one queue pair.

Source: drivers/net/ethernet/chelsio/cxgb4 (sge.c `process_responses`, `napi_rx_handler`, `do_gro`,
`t4_eth_xmit`, `reclaim_completed_tx`; cxgb4_main.c `init_rspq`, `closest_thres`) and net/core/dev.c
(`napi_complete`) of Linux 3.8.

Each received frame is an entry of the response queue. An armed queue interrupts (MSI-X, which masks
itself and needs no register read) `holdoff` after its first entry, or when `frames` have come. The
poll takes entries until there are none, or as many as its weight says; then a write of the queue's
index arms it again. The chip has six timers and four counts: the driver takes the nearest
(`closest_timer`, `closest_thres`); 0 is no timer, or no count, and both 0 is every frame. That
the timer runs from the first entry, or from arming if entries wait, is assumed: the chip's manual
is not public.

What has been sent causes no interrupt: the next transmission reclaims up to 16 frames; with TSO
the segments that the chip cut from one are one. Only when frames wait for the ring does the chip
report that it has drained.

Fragments of pages go to receive offload (`napi_gro_frags`): an `sk_buff` is made for what goes up,
and not for each frame.
"""

from __future__ import annotations

import cython

from simnet.host.cpu import Cpu
from simnet.host.softirq.softirq import SoftirqNetRx
from simnet.host.softirq.verdict import POLL_CONTINUES, POLL_DONE, POLL_MORE
from simnet.kernel.sentinel import NEVER
from simnet.net.link.gro import Gro
from simnet.net.link.skb import Skb
from simnet.net.nic.net_device import NetDevice
from simnet.net.nic.offloading import OffloadingNic
from simnet.net.nic.port import Nic

# MAX_TX_RECLAIM
_MAX_TX_RECLAIM: cython.int = 16
# intr_holdoff and MAX_SGE_TIMERVAL; intr_cnt
_TIMERS_PS = tuple(us * 10**6 for us in (5, 10, 20, 50, 100, 200))
_COUNTS = (1, 4, 8, 16)
_FINISHED: cython.int = 3


def _nearest(values: tuple[int, ...], wanted: int) -> int:
    """The value that is nearest, the first of equals."""
    return min(values, key=lambda value: abs(value - wanted))


@cython.final
@cython.cclass
class Cxgb4(OffloadingNic):
    """One port; see `Nic` for the arguments that it shares with others.

    Args:
        holdoff_ps: interrupt holdoff asked for, `ethtool -C rx-usecs`.
        frames: packet count asked for that ends it, `rx-frames`.
        gro: generic receive offload of the queue's NAPI instance.
        tso: segmentation offload.
    """

    holdoff_ps: cython.longlong = 0
    frames: cython.longlong = 0
    entries: cython.longlong = 0
    deadline_ps: cython.longlong = 0

    def __init__(
        self,
        device: NetDevice,
        *,
        holdoff_ps: int,
        frames: int,
        gro: Gro,
        tso: bool,
    ) -> None:
        super().__init__(device, gro, tso=tso, makes_each=False)
        if holdoff_ps == 0 and frames == 0:
            frames = 1
        self.holdoff_ps = _nearest(_TIMERS_PS, holdoff_ps) if holdoff_ps else NEVER
        self.frames = _nearest(_COUNTS, frames) if frames else NEVER
        self.deadline_ps = NEVER

    # -- the response queue -------------------------------------------------------------------

    def advance(self, now: cython.longlong) -> cython.int:
        """Take in frames and completions up to `now`; assert if the holdoff is over."""
        skb: Skb = self.incoming.head
        while skb is not None and skb.arrival_ps <= now:
            self.incoming.pop()
            if self._landed(skb, skb.wire_bytes):
                self._entry(skb.arrival_ps)
            skb = self.incoming.head
        while self.tx.seen < self.tx.sent:
            if self.tx.ends[self.tx.seen & self.tx.mask] > now:
                break
            self.tx.seen += 1
            if self.qdisc.count > 0 and self.tx.seen == self.tx.sent:
                # the frame that filled the ring asked for an egress update
                self._entry(self.tx.ends[(self.tx.seen - 1) & self.tx.mask])
        self.announced = self.arrived
        self.tx.announced = self.tx.seen
        if self.unmasked and not self.asserted and self.deadline_ps <= now:
            self.raise_line()
        return 0

    def _entry(self, at: cython.longlong) -> cython.int:
        """An entry of the armed response queue."""
        if not self.unmasked or self.asserted:
            return 0
        self.entries += 1
        if self.entries == 1:
            self.deadline_ps = self._timed(at)
        if self.entries >= self.frames and at < self.deadline_ps:
            self.deadline_ps = at
        return 0

    def _timed(self, at: cython.longlong) -> cython.longlong:
        """When the timer that starts at `at` runs out; never if there is none."""
        return at + self.holdoff_ps if self.holdoff_ps < NEVER else NEVER

    def next_update(self) -> cython.longlong:
        """When the entries that are known to come would interrupt."""
        count: cython.longlong = self.entries
        deadline: cython.longlong = self.deadline_ps
        skb: Skb = self.incoming.head
        spare: cython.int = self.posted
        drained: cython.longlong = NEVER
        at: cython.longlong
        if self.qdisc.count > 0 and self.tx.seen < self.tx.sent:
            drained = self.tx.ends[(self.tx.sent - 1) & self.tx.mask]
        while True:
            at = NEVER
            if skb is not None and spare > 0:
                at = skb.arrival_ps
            if drained < at:
                at = drained
                drained = NEVER
            elif at < NEVER:
                skb = skb.next
                spare -= 1
            if at >= deadline:
                return deadline
            count += 1
            if count == 1:
                deadline = self._timed(at)
            if count >= self.frames:
                self.armed_by_count = True
                return at

    def raise_line(self) -> cython.int:
        """Send the MSI-X message; the handler only schedules the poll."""
        return self._send_message()

    def acknowledge(self, now: cython.longlong) -> cython.int:
        """The interrupt has masked itself."""
        self.entries = 0
        self.deadline_ps = NEVER
        return 0

    def unmask(self, now: cython.longlong) -> cython.int:
        """Arm the queue: entries that wait already start the timer."""
        self.unmasked = True
        self.entries = self.announced - self.consumed
        if self.entries >= self.frames:
            self.deadline_ps = now
        elif self.entries > 0:
            self.deadline_ps = self._timed(now)
        if self.deadline_ps <= now:
            self.raise_line()
        else:
            self.arm()
        return 0

    # -- the poll -------------------------------------------------------------------------------

    def poll_begin(
        self, cpu: Cpu, softirq: SoftirqNetRx, budget: cython.int, work_ps: cython.longlong
    ) -> cython.int:
        """Start polling: as many entries as the weight says, whatever is left of the round's."""
        self._read_status(cpu, work_ps)
        self.limit = self.weight
        self.advance(self.sim.now)
        if self.qdisc.count > 0:
            self._reclaim(cpu)
        return self._next_entry(cpu, softirq)

    def poll_step(self, cpu: Cpu, softirq: SoftirqNetRx) -> cython.int:
        """Go on after a piece of work."""
        if self._goes_on(cpu, softirq):
            return POLL_CONTINUES
        softirq.charge(self._hand_back(cpu))
        if self.done == self.limit:
            return POLL_MORE
        softirq.complete(self)
        self.unmask(self.sim.now)
        return POLL_DONE

    def _finish(self, cpu: Cpu, softirq: SoftirqNetRx) -> cython.int:
        """Write the index of the queue, which arms it unless the weight is used up."""
        self.phase = _FINISHED
        self.ledger.softirq += self.access.near_mmio_ps
        self.ledger.device_lines += self.access.far_mmio_ps
        return self._run(cpu, softirq, self.access.mmio_ps)

    # -- transmit -------------------------------------------------------------------------------

    def transmit_cost_ps(self, cpu: Cpu) -> cython.longlong:
        """What one frame costs from `cpu`, with the reclaiming of earlier ones."""
        work: cython.longlong = Nic.transmit_cost_ps(self, cpu)
        count: cython.int = 0
        self.advance(self.sim.now)
        while self.tx.reclaimed < self.tx.announced:
            if self.tx_parts[self.tx.reclaimed & self.tx.mask]:
                self.tx.free_part(cpu)
                continue
            if count == _MAX_TX_RECLAIM:
                break
            count += 1
            work += self.tx.free(cpu)
        self.tx.freer = cpu
        self.ledger.completion += count * self.costs.tx_completion_ps
        return work + count * self.costs.tx_completion_ps
