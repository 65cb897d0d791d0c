"""A NIC port with one receive and one transmit ring, and the poll function of its driver.

The poll is that of tg3 (`tg3_poll`, `tg3_rx` of Linux 2.6.12 to 2.6.18), which e1000's NAPI
poll shares in all that matters here: reclaim transmitted frames, receive up to
min(quota, budget) frames, re-reading the producer index whenever it is reached, hand buffers
back, and, if nothing is left, leave the poll list and unmask the interrupt.

When frames arrive and when the chip updates what the driver sees is the subclass's matter
(`advance`). It is brought up to date lazily, when it is read; while the interrupt is
unmasked, an event stands at the next time at which it would be asserted.
"""

from __future__ import annotations

from typing import Any

import cython

from simnet.host.accounting import SOFT_LEVEL
from simnet.host.costs import Buffers, Costs, Spread
from simnet.host.cpu import Cpu
from simnet.host.dma.iommu import DmaDomain
from simnet.host.interrupt import IrqLine
from simnet.host.ledger import Ledger
from simnet.host.softirq.softirq import SoftirqNetRx
from simnet.host.softirq.verdict import POLL_CONTINUES, POLL_DONE, POLL_MORE
from simnet.kernel.compiled import Public
from simnet.kernel.priority import NIC
from simnet.kernel.sentinel import NEVER
from simnet.net.link.ethernet import UNCOUNTED_BYTES
from simnet.net.link.skb import Endpoint, Path, Port, Skb, SkbQueue
from simnet.net.nic.net_device import NetDevice
from simnet.net.nic.transmit_ring import DeviceAccess, TransmitRing
from simnet.net.qdisc.egress import Egress
from simnet.net.steering.steering import Steering

_PERMILLE: cython.longlong = 1000


@cython.cclass
class Nic(Port):
    """One port.

    Args:
        device: what the chips and drivers have in common.

    Attributes:
        steering: chooses the CPU whose stack gets a received packet; None for the one that polls.
            To be set before the first frame comes.
        egress: queueing discipline and byte queue limits; None for a plain queue, which only a full
            ring fills (pfifo_fast without BQL).
        capture: gets every frame as it comes and leaves, with its time: `frame(skb, time_ps, out)`;
            None for nothing.
        remapped: in 1/1000 of the received frames, buffers that the driver unmaps, mapping others
            in their place.
        followed: the frame of which `capture.taken(cpu)` is told when the driver takes it.
    """

    name: Any = None
    line: Public[IrqLine] = None
    costs: Costs = None
    ledger: Ledger = None
    access: DeviceAccess = None
    sending: DeviceAccess = None
    path_out: Public[Path] = None
    ring: SkbQueue = None
    qdisc: SkbQueue = None
    qdisc_limit: cython.int = 0
    posted: cython.int = 0
    buffer_node: cython.int = 0
    arrived: cython.longlong = 0
    consumed: cython.longlong = 0
    announced: cython.longlong = 0
    tx: TransmitRing = None
    buffers: Buffers = None
    unmasked: cython.bint = False
    asserted: cython.bint = False
    timer: cython.longlong = 0
    armed_ps: cython.longlong = 0
    armed_by_count: cython.bint = False
    finishing: cython.bint = False
    batch: cython.int = 0
    limit: cython.int = 0
    done: cython.int = 0
    returned: cython.int = 0
    debt_ps: cython.longlong = 0
    near_frame_ps: cython.longlong = 0
    per_frame: Public[cython.bint] = False
    steering: Public[Steering] = None
    egress: Public[Egress] = None
    capture: Public[Any] = None
    followed: Public[Skb] = None
    remapped: cython.longlong = 0
    remap_permille: cython.longlong = 0
    spread: Public[Spread] = None
    drops: cython.longlong = 0
    rx_packets: cython.longlong = 0
    rx_bytes: cython.longlong = 0
    qdisc_drops: Public[cython.longlong] = 0

    def __init__(self, device: NetDevice) -> None:
        super().__init__(device.sim, device.path, device.weight, device.node)
        self.name = device.name
        self.costs = device.costs
        self.ledger = device.costs.ledger
        # of a received frame, in a device on the own node
        self.near_frame_ps = self.costs.driver_rx_ps + self.costs.skb_alloc_ps + self.costs.ip_rx_ps
        self.access = DeviceAccess(device)
        self.sending = self.access
        self.ring = SkbQueue()
        self.qdisc = SkbQueue()
        self.qdisc_limit = device.qdisc_limit
        self.posted = device.rx_buffers
        self.buffer_node = device.node
        self.tx = TransmitRing(device)
        self.buffers = device.buffers
        self.dma_ps = device.dma_ps
        self.unmasked = True
        self.armed_ps = NEVER
        self.spread = Spread(0, 0)

    def map_in(self, domain: DmaDomain, remapped: cython.longlong) -> cython.int:
        """Map buffers in a device's domain from now on; see `remapped`."""
        self.domain = domain
        self.tx.domain = domain
        self.remapped = remapped
        return 0

    @property
    def uncounted_bytes(self) -> int:
        """What `tx_bytes` and `rx_bytes` hold of a frame beyond what the driver counts."""
        return UNCOUNTED_BYTES

    @property
    def tx_packets(self) -> int:
        """Frames that have left: what is still in the ring is not sent."""
        return self.tx.packets_left(self.sim.now)

    @property
    def tx_bytes(self) -> int:
        """Bytes of the frames that have left."""
        return self.tx.bytes_left(self.sim.now)

    @property
    def lines(self) -> list[IrqLine]:
        """Its interrupt lines."""
        return [self.line]

    def out_of_order(self) -> tuple[int, ...]:
        """Packets that a reorder window got, and handed up, behind one with a higher number."""
        return ()

    # -- the chip: subclasses -------------------------------------------------------------

    def advance(self, now: cython.longlong) -> cython.int:
        """Bring ring and status up to `now`, asserting the interrupt if that is due."""
        raise NotImplementedError(self.path)

    def next_update(self) -> cython.longlong:
        """When the interrupt would be asserted next, from the frames known to come; or NEVER.

        Sets `armed_by_count` when frames that are not known yet cannot change it.
        """
        raise NotImplementedError(self.path)

    def acknowledge(self, now: cython.longlong) -> cython.int:
        """The handler masks the interrupt and takes note of the chip's state."""
        raise NotImplementedError(self.path)

    def unmask(self, now: cython.longlong) -> cython.int:
        """The poll is over: enable the interrupt again."""
        raise NotImplementedError(self.path)

    def has_work(self) -> cython.bint:
        """Whether the driver sees frames to receive or to reclaim."""
        return self.announced > self.consumed or self.tx.announced > self.tx.reclaimed

    def _landed(self, skb: Skb, counted_bytes: cython.longlong) -> cython.bint:
        """Put a frame that has come into the ring; False if no buffer is posted for it."""
        if self.capture is not None:
            self.capture.frame(skb, skb.arrival_ps, False)
        if self.posted == 0:
            self.drops += 1
            return False
        self.posted -= 1
        self.rx_packets += 1
        self.rx_bytes += counted_bytes
        self.arrived += 1
        self.ring.append(skb)
        return True

    # -- interrupt ------------------------------------------------------------------------

    def frames_added(self) -> cython.int:
        """Frames have been added to `incoming`."""
        if self.per_frame:
            self.advance(self.sim.now)
        if not self.asserted and self.unmasked and not self.armed_by_count:
            self.arm()
        return 0

    def frames_lost(self) -> cython.int:
        """Without the frames that will not come, a gap may end a batch sooner."""
        return self.arm()

    def arm(self) -> cython.int:
        """Place the event at the next interrupt."""
        if self.asserted or not self.unmasked:
            return 0
        self.armed_by_count = False
        return self._place_event(self.next_update())

    def _place_event(self, when: cython.longlong) -> cython.int:
        """Have the chip looked at then, unless it will be before."""
        if self.timer != 0:
            if self.armed_ps <= when:
                # looked at again when the event comes
                return 0
            self.sim.cancel(self.timer)
            self.timer = 0
        self.armed_ps = when
        if when < NEVER:
            self.timer = self.sim.at(when, self, 0, 0, NIC)
        return 0

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """The time of the next interrupt has come."""
        self.timer = 0
        self.armed_by_count = False
        self.advance(self.sim.now)
        if not self.asserted:
            self.arm()

    def raise_line(self) -> cython.int:
        """Assert the interrupt line."""
        cpu: Cpu = self._asserted_to()
        # the handler compares the tag in the status block, which the device has just written
        self.ledger.hardirq += self.costs.hardirq_ps + 2 * self.access.near_mmio_ps
        self.ledger.device_lines += self.access.far_line_ps + 2 * self.access.far_mmio_ps
        cpu.raise_irq(
            self, self.costs.hardirq_ps + 2 * self.access.mmio_ps + self.access.far_line_ps
        )
        return 0

    def _asserted_to(self) -> Cpu:
        """Note that the interrupt is asserted; return the CPU that it goes to."""
        cpu: Cpu = self.line.route()
        self.asserted = True
        self.armed_by_count = False
        if self.timer != 0:
            self.sim.cancel(self.timer)
            self.timer = 0
        self.access.use_from(cpu)
        return cpu

    def _send_message(self) -> cython.int:
        """Interrupt by MSI-X: no register is read, and the handler only schedules the poll."""
        cpu: Cpu = self._asserted_to()
        self.ledger.hardirq += self.costs.hardirq_ps
        cpu.raise_irq(self, self.costs.hardirq_ps)
        return 0

    def step(self, cpu: Cpu) -> None:
        """The interrupt handler has run: mask the chip, schedule the poll."""
        now: cython.longlong = self.sim.now
        softirqs: SoftirqNetRx
        self.advance(now)
        self.acknowledge(now)
        self.unmasked = False
        self.asserted = False
        if not self.scheduled:
            softirqs = cpu.softirqs  # type: ignore[assignment]  # Cython checks it
            softirqs.schedule(self)

    # -- the poll -------------------------------------------------------------------------

    def poll_begin(
        self, cpu: Cpu, softirq: SoftirqNetRx, budget: cython.int, work_ps: cython.longlong
    ) -> cython.int:
        """Read the status block, reclaim transmitted frames, start on received ones."""
        self.limit = self.quota if self.quota < budget else budget
        self._read_status(cpu, work_ps)
        self.advance(self.sim.now)
        self._reclaim(cpu)
        return self._next_frames(cpu, softirq)

    def _read_status(self, cpu: Cpu, work_ps: cython.longlong) -> cython.int:
        """Start a poll on `cpu`, which owes `work_ps` already: read what the device has written."""
        self.access.use_from(cpu)
        self.access.count_moved(
            cpu,
            self.buffer_node,
            self.rx_packets + self.tx.sent,
            self.rx_bytes + self.tx.sent_bytes,
        )
        self.done = 0
        self.returned = 0
        work_ps += self.costs.poll_ps
        self.debt_ps = work_ps + self.access.far_line_ps
        self.ledger.softirq += work_ps
        self.ledger.device_lines += self.access.far_line_ps
        return 0

    def poll_step(self, cpu: Cpu, softirq: SoftirqNetRx) -> cython.int:
        """Go on after a piece of work."""
        now: cython.longlong = self.sim.now
        done: cython.int
        if not self.finishing:
            done = self.batch
            self.done += done
            self.consumed += done
            while done > 0:
                done -= 1
                self._to_stack(self._taken(cpu), cpu)
            return self._next_frames(cpu, softirq)
        softirq.charge(self._hand_back(cpu))
        self.acknowledge(now)
        if softirq.weight_each_poll:
            if self.done >= self.limit:
                return POLL_MORE
            if self.has_work():
                # the driver goes on for as long as there is work and weight
                self._reclaim(cpu)
                return self._next_frames(cpu, softirq)
        elif self.has_work():
            return POLL_MORE
        softirq.complete(self)
        self.unmask(now)
        return POLL_DONE

    def _taken(self, cpu: Cpu) -> Skb:
        """Take the next frame out of the ring, as its device and the driver's CPU leave it."""
        skb: Skb = self.ring.pop()
        skb.home_node = self.buffer_node
        skb.writer_node = self.node
        skb.toucher = cpu
        if skb is self.followed:
            self.capture.taken(cpu)
        return skb

    def _to_stack(self, skb: Skb, cpu: Cpu) -> cython.int:
        """Let the stack receive a frame, here or where it is steered to: `debt_ps` grows."""
        if self.steering is None:
            self.debt_ps += skb.endpoint.receive(skb, cpu)
        else:
            self.debt_ps += self.steering.deliver(skb, cpu)
        return 0

    def _hand_back(self, cpu: Cpu) -> cython.int:
        """Post buffers for the frames taken since this was done last; return how many.

        What has come until now found only the buffers posted before.
        """
        count: cython.int = self.done - self.returned
        self.advance(self.sim.now)
        self.returned = self.done
        self.posted += count
        self.buffer_node = cpu.node
        return count

    def _trace_ring(self) -> None:
        """Report to the tracer how many frames wait in the ring."""
        self.sim.tracer.counter(self.path, "frames in ring", self.sim.now, self.ring.count)

    def _next_frames(self, cpu: Cpu, softirq: SoftirqNetRx) -> cython.int:
        """Start on the next frames of the ring, as one piece of work."""
        seen: cython.longlong
        work: cython.longlong = self.debt_ps
        frame_ps: cython.longlong
        frames_ps: cython.longlong = 0
        skb: Skb
        endpoint: Endpoint
        self.debt_ps = 0
        # the producer index is in the host's memory: how many frames make a piece of work must
        # not depend on when it was read last
        self.advance(self.sim.now)
        if self.sim.tracer is not None:
            self._trace_ring()
        seen = self.announced - self.consumed
        if seen > self.limit - self.done:
            seen = self.limit - self.done
        if seen > 0:
            self.finishing = False
            self.batch = 1
            skb = self.ring.head
            endpoint = skb.endpoint
            endpoint.fetch(skb.end_seq > skb.seq)
            if self.steering is not None:
                self.steering.fetch(skb)
            if seen > 1 and self.steering is None and endpoint.only_queues(cpu):
                while self.batch < seen and skb.next.endpoint is endpoint:
                    skb = skb.next
                    self.batch += 1
            seen = self.batch
            frame_ps = self.near_frame_ps + self.access.far_frame_ps
            if self.steering is not None:
                # the stack runs where the packet is steered to, and is paid there
                frame_ps -= self.costs.ip_rx_ps
            while seen > 0:
                seen -= 1
                frames_ps += self.spread.vary(frame_ps)
            self.ledger.driver += frames_ps - self.batch * self.access.far_frame_ps
            self.ledger.device_lines += self.batch * self.access.far_frame_ps
            if endpoint.freer is not None and endpoint.freer is not cpu:
                seen = self.batch
                while seen > 0:
                    seen -= 1
                    work += self.buffers.allocated_ps(cpu, endpoint.freer)
            work += frames_ps
            if self.remapped > 0:
                work += self._remap_ps(cpu, self.batch)
        else:
            self.finishing = True
            work += self._closing_ps()
        cpu.run(SOFT_LEVEL, softirq, work, softirq.mode)
        return POLL_CONTINUES

    def _remap_ps(self, cpu: Cpu, frames: cython.longlong) -> cython.longlong:
        """Unmap the buffers of so many frames, and map others in their place; return the work."""
        buffers: cython.longlong
        self.remap_permille += frames * self.remapped
        buffers = self.remap_permille // _PERMILLE
        self.remap_permille -= buffers * _PERMILLE
        self.domain.maps += buffers
        return self.domain.unmap_ps(cpu, buffers) + self.domain.map_ps(buffers)

    def _closing_ps(self) -> cython.longlong:
        """Mailboxes that end a poll: return ring consumer, standard ring producer, interrupt."""
        self.ledger.softirq += 3 * self.access.near_mmio_ps
        self.ledger.device_lines += 3 * self.access.far_mmio_ps
        return 3 * self.access.mmio_ps

    # -- transmit -------------------------------------------------------------------------

    def transmit_cost_ps(self, cpu: Cpu) -> cython.longlong:
        """What descriptor, header line and doorbell of one frame cost from `cpu`.

        The device has read descriptor and header of earlier frames, so that writing them again
        takes the lines back from its node; the doorbell, uncached, waits for them.
        """
        far_ps: cython.longlong
        access: DeviceAccess = self.sending
        access.use_from(cpu)
        far_ps = access.far_mmio_ps + access.far_line_ps + access.far_header_ps
        self.ledger.tcp_send += access.near_mmio_ps
        self.ledger.device_lines += far_ps
        if self.domain is not None:
            far_ps += self.domain.map_ps(1)
        return access.near_mmio_ps + far_ps + self.tx.use_ps(cpu)

    def transmit(self, skb: Skb) -> cython.int:
        """Queue a frame; call `flush` after the last of a burst."""
        if self.egress is not None:
            return self.egress.enqueue(skb)
        if self.qdisc.count > 0 or self.tx.sent - self.tx.reclaimed >= self.tx.size:
            if self.qdisc.count >= self.qdisc_limit:
                self.qdisc_drops += 1
            else:
                self.qdisc.append(skb)
            return 0
        self._send_now(skb)
        return 0

    def _send_now(self, skb: Skb) -> cython.int:
        """Put a frame on the wire."""
        end_ps: cython.longlong = self.tx.post(skb, self.sim.now, skb.wire_bytes)
        if self.capture is not None:
            self.capture.frame(skb, end_ps, True)
        self.path_out.send(skb, end_ps)
        return 0

    def _packet_begins(self) -> cython.int:
        """The frame that is sent next is no part of the large one before."""
        return 0

    def flush(self) -> cython.int:
        """End of a burst."""
        if self.egress is not None:
            self.egress.run()
        self.path_out.flush()
        self.arm()
        return 0

    def _reclaim(self, cpu: Cpu) -> cython.int:
        """Free transmitted frames and send what waited for their descriptors."""
        if self.tx.reclaimed < self.tx.announced:
            self.debt_ps += self.tx.reclaim(cpu, self.tx.announced - self.tx.reclaimed)
        return self._send_waiting()

    def _send_waiting(self) -> cython.int:
        """Send what has waited for descriptors, as far as there are some."""
        if self.egress is not None:
            return self.egress.completed()
        if self.qdisc.count > 0:
            while self.qdisc.count > 0 and self.tx.sent - self.tx.reclaimed < self.tx.size:
                self._send_now(self.qdisc.pop())
            self.path_out.flush()
        return 0
