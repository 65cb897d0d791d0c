"""A channel: a receive and a transmit ring with completion queues, polled by one NAPI instance.

Source: drivers/net/ethernet/mellanox/mlx5/core/en_txrx.c of Linux 6.12 (`mlx5e_napi_poll`,
`mlx5e_completion_event`). Both completion queues share an MSI-X vector. An event of either calls
`napi_schedule`; nothing is masked, so that the other queue's event may still interrupt during the
poll, which then is made once more. A poll reclaims sent frames, up to a budget of their own, then
takes received ones; when either budget is used up the poll is to be repeated. Else buffers are
posted, `napi_complete_done` is called, and, if that allows, both queues are armed.

With a program of XDP each frame is given to it before anything else is done with it; see
`simnet.net.xdp.program`. Frames up to the next one that passes are one piece of work, at most as
many as the driver hands back buffers at once. The ring for XDP of a channel is taken to be its
transmit ring: nothing else sends by it.
"""

from __future__ import annotations

import cython

from simnet.host.cpu import Context, Cpu
from simnet.host.softirq.napi_instance import NapiInstance
from simnet.host.softirq.softirq import SoftirqNetRx
from simnet.host.softirq.verdict import POLL_CONTINUES, POLL_DONE, POLL_MORE
from simnet.kernel.compiled import Public
from simnet.kernel.priority import NIC
from simnet.kernel.sentinel import NEVER
from simnet.net.link.flood import Flood
from simnet.net.link.gro import Gro
from simnet.net.link.skb import Skb
from simnet.net.nic.completion_queue import CompletionQueue
from simnet.net.nic.net_device import NetDevice
from simnet.net.nic.offloading import OffloadingNic
from simnet.net.nic.pcie_slot import PcieSlot
from simnet.net.nic.port import Nic
from simnet.net.nic.transmit_ring import DeviceAccess, TransmitRing
from simnet.net.xdp.program import BULK, XDP_DROP, XDP_PASS, XDP_TX, Xdp

_ABSORBED: cython.int = 0
_FINISHED: cython.int = 3
_ALL: cython.longlong = -1
_MS_PS: cython.longlong = 1_000_000_000


@cython.cclass
class Channel(OffloadingNic):
    """One channel of a port.

    Args:
        device: what the chips and drivers have in common.
        gro: receive offload of its NAPI instance.
        tso: the device cuts large segments.
        page_bytes: of a page of receive buffers; 0: not told apart from other work.
        tx_budget: sent frames that one poll reclaims.
        doorbells: registers written to arm the completion queues.
    """

    instance: NapiInstance = None  # its NAPI instance
    # a load generator whose frames come to this queue alone; None for none
    flood: Public[Flood] = None
    # completion queues of received and of sent frames
    rx_cq: CompletionQueue = None
    tx_cq: CompletionQueue = None
    tx_budget: cython.int = 0
    doorbells: cython.int = 0
    ran_out: cython.bint = False
    ended: cython.bint = False
    arms: cython.bint = False
    tx_whole: cython.longlong = 0
    polled_bytes: cython.longlong = 0
    xdp: Public[Xdp] = None  # program that sees received frames first; None for none
    slot: Public[PcieSlot] = None  # way to the host, which has a limit; None: it is never the limit
    # frames that found the card's own buffer full, as the slot was too slow
    discards: cython.longlong = 0
    clean_ps: Public[cython.longlong] = 0  # freeing a frame that has left
    # its driver enables the interrupt after each poll that is over, whatever
    # `napi_complete_done` says, also while a process polls busily
    rearms: Public[cython.bint] = False
    uncounted: cython.longlong = 0

    def __init__(
        self,
        device: NetDevice,
        gro: Gro,
        *,
        tso: bool,
        page_bytes: int,
        tx_budget: int,
        doorbells: int,
    ) -> None:
        super().__init__(device, gro, tso=tso, makes_each=True, page_bytes=page_bytes)
        self.instance = NapiInstance(self, device.costs)
        # another CPU may send in the middle of a poll
        self.sending = DeviceAccess(device)
        self.rx_cq = CompletionQueue()
        self.tx_cq = CompletionQueue()
        self.tx_budget = tx_budget
        self.doorbells = doorbells
        self.flushes_full = True
        self.clean_ps = device.costs.tx_completion_ps

    def instance_of(self) -> Context:
        """What processes may poll it by."""
        return self.instance

    # -- the chip -----------------------------------------------------------------------------

    def advance(self, now: cython.longlong) -> cython.int:
        """Write entries for what has come and what has left up to `now`, and events if due."""
        fired: cython.bint
        at: cython.longlong
        skb: Skb = self.incoming.head
        while skb is not None and skb.arrival_ps <= now:
            self.incoming.pop()
            if self.slot is not None and self.posted > 0 and not self.slot.takes(skb.arrival_ps):
                self.discards += 1
            elif self._landed(skb, skb.wire_bytes):
                self.rx_cq.completed(skb.arrival_ps)
            skb = self.incoming.head
        if self.flood is not None and self.flood.next_ps <= now:
            self._flooded(now)
        while self.tx.seen < self.tx.sent:
            at = self.tx.ends[self.tx.seen & self.tx.mask]
            if at > now:
                break
            self.tx.seen += 1
            if not self._is_part(self.tx.seen):
                # a large segment is reported when all of it has left
                self.tx_whole = self.tx.seen
                self.tx_cq.completed(at)
        self.announced = self.arrived
        self.tx.announced = self.tx_whole
        fired = self.rx_cq.fire(now)
        if self.tx_cq.fire(now) or fired:
            self._notify()
        return 0

    def flooded_by(self, flood: Flood) -> None:
        """Let a load generator's frames come, from now on."""
        self.flood = flood
        self.sim.after(0, self, 0, 0, NIC)

    def _flooded(self, now: cython.longlong) -> cython.int:
        """Land what the load generator's frames fill; the others find no buffer."""
        skb: Skb
        while self.posted > 0 and self.flood.next_ps <= now:
            skb = self.flood.frame()
            self._landed(skb, skb.wire_bytes)
            self.rx_cq.completed(skb.arrival_ps)
        self.drops += self.flood.skip(now)
        return 0

    def _coming(self, skb: Skb) -> Skb:
        """The frame `skb` of those that are known to come; behind them the generator's next."""
        if skb is None and self.flood is not None:
            skb = self.flood.frame()
            self.incoming.append(skb)
        return skb

    def _notify(self) -> cython.int:
        """Interrupt, unless an interrupt is on its way that will find this event, too."""
        if not self.asserted:
            self.instance.interrupts += 1
            self._send_message()
        return self.arm()

    def next_update(self) -> cython.longlong:
        """When one of the armed queues will write an event, from what is known to come."""
        when: cython.longlong = NEVER
        if self.rx_cq.armed:
            when = self._rx_due_ps()
        if self.tx_cq.armed:
            when = min(when, self._tx_due_ps())
        return when

    def _rx_due_ps(self) -> cython.longlong:
        """When what has been received and comes is announced."""
        cq: CompletionQueue = self.rx_cq
        count: cython.longlong = cq.count
        deadline: cython.longlong = cq.deadline_ps
        spare: cython.int = self.posted
        skb: Skb = self._coming(self.incoming.head)
        while skb is not None and spare > 0 and skb.arrival_ps <= deadline:
            count += 1
            spare -= 1
            deadline = cq.due_ps(count, skb.arrival_ps, deadline)
            if count >= cq.frames:
                self.armed_by_count = True
                break
            skb = self._coming(skb.next)
        return deadline

    def _tx_due_ps(self) -> cython.longlong:
        """When what has been sent and leaves is announced."""
        cq: CompletionQueue = self.tx_cq
        count: cython.longlong = cq.count
        deadline: cython.longlong = cq.deadline_ps
        position: cython.longlong = self.tx.seen
        at: cython.longlong
        while position < self.tx.sent:
            at = self.tx.ends[position & self.tx.mask]
            if at > deadline:
                break
            position += 1
            if self._is_part(position):
                continue
            count += 1
            deadline = cq.due_ps(count, at, deadline)
            if count >= cq.frames:
                break
        return deadline

    # -- interrupt ----------------------------------------------------------------------------

    def frames_added(self) -> cython.int:
        """Frames have been added to `incoming`."""
        if self.per_frame:
            self.advance(self.sim.now)
        if not self.armed_by_count:
            self.arm()
        return 0

    def arm(self) -> cython.int:
        """Place the event at the next interrupt."""
        self.armed_by_count = False
        # a shorter period may have been programmed since the first entry
        return self._place_event(max(self.next_update(), self.sim.now))

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """The time of the next event has come."""
        self.timer = 0
        self.armed_by_count = False
        self.advance(self.sim.now)
        self.arm()

    def step(self, cpu: Cpu) -> None:
        """The handler takes the events that are there: `napi_schedule` for each."""
        self.advance(self.sim.now)
        self.asserted = False
        self.rx_cq.take()
        self.tx_cq.take()
        self.instance.schedule(cpu)

    # -- the poll -----------------------------------------------------------------------------

    def poll_begin(
        self, cpu: Cpu, softirq: SoftirqNetRx, budget: cython.int, work_ps: cython.longlong
    ) -> cython.int:
        """Reclaim sent frames, start on received ones."""
        self._read_status(cpu, work_ps)
        self.limit = budget
        self.advance(self.sim.now)
        self.ended = False
        self.ran_out = self._reclaim(cpu) == self.tx_budget
        return self._next_entry(cpu, softirq)

    def _reclaim(self, cpu: Cpu) -> cython.int:
        """Free what has been sent, up to the budget, and send what waited; return how many."""
        count: cython.int = 0
        work: cython.longlong
        if self.tx.reclaimed < self.tx.announced:
            work = self.tx.lines.touch(cpu)
            self.ledger.socket_lines += work
            while self.tx.reclaimed < self.tx.announced and count < self.tx_budget:
                count += 1
                work += self.tx.free(cpu)
                while self._is_part(self.tx.reclaimed):
                    self.tx.free_part(cpu)
            self.ledger.completion += count * self.clean_ps
            self.debt_ps += work + count * self.clean_ps
        self._send_waiting()
        return count

    def _is_part(self, number: cython.longlong) -> cython.bint:
        """Whether the frame of that number is a later part of what the one before began."""
        return number < self.tx.sent and self.tx_parts[number & self.tx.mask] != 0

    def _next_entry(self, cpu: Cpu, softirq: SoftirqNetRx) -> cython.int:
        """Start on what is in the ring; it is looked at again after the work of the last frame."""
        work: cython.longlong
        if self.xdp is not None:
            work = self._run_program(cpu)
            if work > 0:
                self.phase = _ABSORBED
                return self._run(cpu, softirq, work)
        if 0 < self.done < self.limit and self.debt_ps > 0:
            self.advance(self.sim.now)
            if self.announced == self.consumed:
                self.phase = _ABSORBED
                return self._run(cpu, softirq, 0)
        return OffloadingNic._next_entry(  # noqa: SLF001 - the method that it extends
            self, cpu, softirq
        )

    # -- XDP ----------------------------------------------------------------------------------

    def _run_program(self, cpu: Cpu) -> cython.longlong:
        """Give frames to the program until one passes or buffers are due; return the work."""
        xdp: Xdp = self.xdp
        skb: Skb
        verdict: cython.int
        most: cython.longlong
        work: cython.longlong = 0
        if self.done - self.returned >= xdp.refill:
            self._hand_back(cpu)
        self.advance(self.sim.now)
        xdp.sees(self.announced - self.consumed)
        most = min(self.limit - self.done, xdp.refill - (self.done - self.returned))
        most = min(most, self.announced - self.consumed)
        while most > 0:
            verdict = xdp.says(self.ring.head)
            if verdict == XDP_PASS:
                break
            most -= 1
            work += self.access.far_frame_ps + xdp.read_ps()
            skb = self._counted(cpu)
            if not xdp.counted:
                self.uncounted += 1
                self.polled_bytes -= skb.wire_bytes
            if verdict == XDP_DROP:
                xdp.drop += 1
            elif verdict == XDP_TX:
                work += self._post(skb, self)
            elif cpu.cpu_id < len(xdp.targets):
                xdp.bulk.append(skb)
                work += xdp.redirect_ps
                if xdp.bulk.count == BULK:
                    work += self._xmit(self._target(cpu))
            else:
                xdp.redirect_err += 1
        self.ledger.xdp += work
        return work

    def _target(self, cpu: Cpu) -> Channel:
        """The other port's channel whose ring this CPU uses."""
        target: Channel = self.xdp.targets[cpu.cpu_id]  # type: ignore[assignment]  # as above
        return target

    def _post(self, skb: Skb, target: Channel) -> cython.longlong:
        """Put a frame into a ring for XDP, or drop it if that is full; return the work."""
        xdp: Xdp = self.xdp
        ring: TransmitRing = target.tx
        if ring.sent - ring.reclaimed + xdp.posted.count >= ring.size:
            xdp.tx_full += 1
            return 0
        xdp.posted.append(skb)
        if target is self:
            xdp.tx += 1
        else:
            xdp.redirect += 1
        return xdp.tx_ps

    def _xmit(self, target: Channel) -> cython.longlong:
        """`bq_xmit_all`: the other driver takes the bulk."""
        xdp: Xdp = self.xdp
        work: cython.longlong = 0
        while xdp.bulk.count > 0:
            work += self._post(xdp.bulk.pop(), target)
        return work

    def _flush_program(self, cpu: Cpu) -> cython.longlong:
        """`xdp_do_flush_map`: the rest of the bulk, and the doorbell; return the work."""
        xdp: Xdp = self.xdp
        target: Channel = self
        work: cython.longlong = 0
        if xdp.verdict != XDP_TX and (xdp.bulk.count > 0 or xdp.posted.count > 0):
            target = self._target(cpu)
            work = self._xmit(target)
        if xdp.posted.count > 0:
            work += self.access.mmio_ps
            if self.slot is not None:
                self.slot.sends(xdp.posted.count)
            while xdp.posted.count > 0:
                target._send_now(xdp.posted.pop())  # noqa: SLF001 - C method of this class
            target.path_out.flush()
            target.arm()
        self.ledger.xdp += work
        return work

    def _frame_work_ps(self, cpu: Cpu) -> cython.longlong:
        """The driver's work for a frame that passes, the program's included."""
        work: cython.longlong = 0
        if self.xdp is not None:
            work = self.xdp.read_ps()
            self.xdp.passed += 1
            self.ledger.xdp += work
        return work + OffloadingNic._frame_work_ps(  # noqa: SLF001 - the method that it extends
            self, cpu
        )

    def _stays(self, skb: Skb) -> cython.bint:
        """Whether the program lets a frame pass."""
        return self.xdp is None or self.xdp.says(skb) == XDP_PASS

    def _taken(self, cpu: Cpu) -> Skb:
        """Take the next frame out of the ring, and count its bytes as the driver does."""
        skb: Skb = Nic._taken(self, cpu)  # noqa: SLF001 - the method that this one extends
        self.polled_bytes += skb.wire_bytes
        return skb

    def _end(self) -> cython.int:
        """No frame is left, or none may be taken: `napi_complete_done`, unless all is used up."""
        if self.ended:
            return 0
        self.ended = True
        if self.done >= self.limit:
            self.ran_out = True
        if self.ran_out:
            self.arms = False
        else:
            self.arms = self.instance.completing(self.done, self.gro.held > 0) or self.rearms
        return 0

    def _flush_held(self) -> cython.int:
        """Let held packets go, the young ones only if the poll is over and nothing else will."""
        young: cython.longlong = self.sim.now // self.jiffy_ps
        self._end()
        if self.ran_out:
            # net_rx_action, of a poll that is to be repeated: by the jiffy if that is short
            if self.jiffy_ps > _MS_PS:
                young = _ALL
        elif self.instance.in_busy_poll:
            return 0
        elif not self.instance.keeps_young:
            young = _ALL
        self.gro.flush(young)
        return 0

    def _finish(self, cpu: Cpu, softirq: SoftirqNetRx) -> cython.int:
        """Arm the queues, if the poll is over."""
        work: cython.longlong = 0
        self._end()
        self.phase = _FINISHED
        if self.arms:
            work = self.doorbells * self.access.mmio_ps
            self.ledger.softirq += self.doorbells * self.access.near_mmio_ps
            self.ledger.device_lines += self.doorbells * self.access.far_mmio_ps
        if self.xdp is not None:
            work += self._flush_program(cpu)
        return self._run(cpu, softirq, work)

    def poll_step(self, cpu: Cpu, softirq: SoftirqNetRx) -> cython.int:
        """Go on after a piece of work."""
        now: cython.longlong = self.sim.now
        work: cython.int
        if self._goes_on(cpu, softirq):
            return POLL_CONTINUES
        self._hand_back(cpu)
        work = self.limit if self.ran_out else self.done
        softirq.charge(work)
        self.instance.polled(work, self.limit)
        if self.ran_out:
            if softirq.process is not None or self.instance.left_to_process(cpu, softirq, work):
                return POLL_DONE
            return POLL_MORE
        if self.instance.completed(cpu, softirq) or self.rearms:
            self._poll_completed(now)
            self._arm_queues(now)
            self.advance(now)
            self.arm()
        return POLL_DONE

    def _poll_completed(self, now: cython.longlong) -> cython.int:
        """What the driver does before it arms the queues."""
        return 0

    def _arm_queues(self, now: cython.longlong) -> cython.int:
        """Arm both, naming the last entry that the driver has seen."""
        self.rx_cq.arm(now, self.announced - self.consumed)
        self.tx_cq.arm(now, self.tx.announced - self.tx.reclaimed)
        return 0
