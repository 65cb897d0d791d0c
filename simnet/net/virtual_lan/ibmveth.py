"""A port of a hypervisor's virtual LAN: the driver ibmveth.

Source: drivers/net/ibmveth.c and ibmveth.h 1.03 of Linux 2.6.16 to 2.6.18; Power Architecture
Platform Requirements, "Logical LAN Option". To send, the driver maps the frame for the hypervisor,
calls H_SEND_LOGICAL_LAN, which copies it into a buffer that the receiver has queued, on the
sender's CPU, and unmaps it; nothing is left to reclaim. If no buffer that is large enough is
queued, the frame is dropped; the sender counts it as sent. (H_BUSY, after which the driver
calls again, is for frames to many receivers.)

Received frames wait in a queue. When one is put there while the interrupt is enabled, the
hypervisor raises it. The handler disables it (H_VIO_SIGNAL) and schedules the poll, which takes up
to `quota` frames, whatever the round's budget, unmaps their buffers, then fills the pools up again:
an `sk_buff`, a mapping and H_ADD_LOGICAL_LAN_BUFFER for each buffer. When it has found the queue
empty, it enables the interrupt and looks once more.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass

import cython

from simnet.host.accounting import SOFT_LEVEL, SOFTIRQ
from simnet.host.costs import whole_ns
from simnet.host.cpu import Cpu
from simnet.host.softirq.softirq import SoftirqNetRx
from simnet.host.softirq.verdict import POLL_CONTINUES, POLL_DONE, POLL_MORE
from simnet.kernel.compiled import Array
from simnet.kernel.priority import NIC
from simnet.kernel.sentinel import NEVER
from simnet.net.link.skb import Endpoint, Skb
from simnet.net.nic.net_device import NetDevice
from simnet.net.nic.port import Nic
from simnet.net.virtual_lan.ibmveth_pools import POOL_BYTES, active_pools

_HANDLE_BYTES: cython.int = 8
_PAGE_BYTES: cython.int = 4096
# preamble, FCS and gap, which no virtual frame has
_WIRE_BYTES: cython.int = 24
# what the piece of work was that has just been executed
_FRAME: cython.int = 0
_REPLENISHED: cython.int = 1
_ENABLED: cython.int = 2
_DISABLED: cython.int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class HypervisorCalls:
    """What the calls cost the partition that makes them."""

    clock_hz: int  # of its CPUs
    call_cycles: int  # entering and leaving the hypervisor
    interrupt_calls: int  # calls that an external interrupt needs
    # of H_SEND_LOGICAL_LAN
    send_cycles: int
    copy_line_cycles: int
    add_buffer_cycles: int  # of H_ADD_LOGICAL_LAN_BUFFER
    map_cycles: int  # of H_PUT_TCE and its kind, a page
    signal_cycles: int  # of H_VIO_SIGNAL
    latency_ps: int  # from a frame in the queue to the interrupt

    def ps(self, cycles: int) -> int:
        """Time of a number of cycles, in whole nanoseconds."""
        return whole_ns(cycles * 10**12 // self.clock_hz)


@cython.final
@cython.cclass
class Ibmveth(Nic):
    """One port; see `Nic` for the arguments that it shares with others.

    Args:
        buffers_by_pool: how many buffers each pool of `POOL_BYTES` has.
        mtu: largest IP packet.

    Its `drops` are frames for which no buffer was queued (`rx_no_buffer`).
    """

    far: Ibmveth = None
    sizes: Array[cython.longlong] = None
    available: Array[cython.longlong] = None
    filled: Array[cython.longlong] = None
    missing: Array[cython.longlong] = None
    pools: cython.int = 0
    state: cython.int = 0
    stopped_full: cython.bint = False
    latency_ps: cython.longlong = 0
    irq_ps: cython.longlong = 0
    signal_ps: cython.longlong = 0
    send_ps: cython.longlong = 0
    copy_line_ps: cython.longlong = 0
    page_ps: cython.longlong = 0
    unmap_ps: cython.longlong = 0
    add_ps: cython.longlong = 0

    needs = ("far",)

    def __init__(self, device: NetDevice, *, buffers_by_pool: tuple[int, ...], mtu: int) -> None:
        super().__init__(device)
        self.pools = active_pools(mtu)
        self.sizes = array("q", POOL_BYTES)
        self.available = array("q", buffers_by_pool)
        # of the frames in the queue, which pool's buffer each is in
        self.filled = array("q", [0] * (sum(buffers_by_pool) + 1))
        self.missing = array("q", [0] * len(buffers_by_pool))
        self.state = _FRAME
        self.copies = True

    def attach(self, far: Ibmveth, calls: HypervisorCalls) -> None:
        """Join the virtual LAN.

        Args:
            far: where frames go to.
            calls: their costs.
        """
        call_ps = calls.ps(calls.call_cycles)
        self.far = far
        self.latency_ps = whole_ns(calls.latency_ps)
        self.irq_ps = calls.interrupt_calls * call_ps
        self.signal_ps = call_ps + calls.ps(calls.signal_cycles)
        self.page_ps = calls.ps(calls.map_cycles)
        self.unmap_ps = call_ps + self.page_ps
        self.send_ps = call_ps + calls.ps(calls.send_cycles) + 2 * self.unmap_ps
        self.copy_line_ps = calls.ps(calls.copy_line_cycles)
        self.add_ps = call_ps + calls.ps(calls.add_buffer_cycles) + self.unmap_ps

    def buffers_queued(self) -> tuple[int, ...]:
        """Buffers that the hypervisor has, by pool; those of inactive pools count for nothing."""
        return tuple(self.available[: self.pools])

    # -- sending ----------------------------------------------------------------------------

    def transmit_cost_ps(self, cpu: Cpu) -> cython.longlong:
        """Mapping, H_SEND_LOGICAL_LAN and unmapping of one frame, its length apart."""
        self.ledger.hypervisor += self.send_ps
        return self.tx.use_ps(cpu) + self.send_ps

    def length_cost_ps(self, cpu: Cpu, wire_bytes: cython.longlong) -> cython.longlong:
        """Copying one frame to the receiver, line by line, and mapping it, page by page."""
        length: cython.longlong = wire_bytes - _WIRE_BYTES
        lines: cython.longlong = self.costs.lines(length)
        work: cython.longlong = (
            lines * self.copy_line_ps + 2 * (length // _PAGE_BYTES) * self.page_ps
        )
        self.ledger.hypervisor += work
        return work

    def transmit(self, skb: Skb) -> cython.int:
        """The call has returned: the frame is in the receiver's buffer, or dropped."""
        self.tx.passed(skb.wire_bytes)
        return self.far._deliver(skb)  # noqa: SLF001 - C method of this class

    def flush(self) -> cython.int:
        """Each frame is sent by itself."""
        return 0

    # -- what the hypervisor does -----------------------------------------------------------

    def _deliver(self, skb: Skb) -> cython.int:
        """Put a frame into the smallest queued buffer that holds it."""
        needed: cython.longlong = skb.wire_bytes - _WIRE_BYTES + _HANDLE_BYTES
        pool: cython.int = 0
        while pool < self.pools and (self.sizes[pool] < needed or self.available[pool] == 0):
            pool += 1
        if pool == self.pools:
            self.drops += 1
            return 0
        self.available[pool] -= 1
        self.filled[self.arrived % len(self.filled)] = pool
        self.rx_packets += 1
        self.rx_bytes += skb.wire_bytes
        skb.arrival_ps = self.sim.now
        self.arrived += 1
        self.ring.append(skb)
        if self.unmasked and not self.asserted:
            self.asserted = True
            self.sim.at(self.sim.now + self.latency_ps, self, 0, 0, NIC)
        return 0

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """The virtual interrupt."""
        self.raise_line()

    def raise_line(self) -> cython.int:
        """Interrupt a CPU: the handler disables further interrupts."""
        cpu: Cpu = self.line.route()
        self.ledger.hardirq += self.costs.hardirq_ps
        self.ledger.hypervisor += self.irq_ps + self.signal_ps
        cpu.raise_irq(self, self.costs.hardirq_ps + self.irq_ps + self.signal_ps)
        return 0

    def step(self, cpu: Cpu) -> None:
        """The interrupt handler has run."""
        softirqs: SoftirqNetRx
        self.unmasked = False
        self.asserted = False
        if not self.scheduled:
            softirqs = cpu.softirqs  # type: ignore[assignment]  # Cython checks it
            softirqs.schedule(self)

    def advance(self, now: cython.longlong) -> cython.int:
        """Nothing happens between events."""
        self.announced = self.arrived
        return 0

    def next_update(self) -> cython.longlong:
        """What comes is not known before it is there."""
        return NEVER

    def frames_added(self) -> cython.int:
        """Frames come by `transmit` of the other end alone."""
        return 0

    # -- ibmveth_poll -----------------------------------------------------------------------

    def poll_begin(
        self, cpu: Cpu, softirq: SoftirqNetRx, budget: cython.int, work_ps: cython.longlong
    ) -> cython.int:
        """Start polling, by the quota alone."""
        self.limit = self.quota
        self.done = 0
        self.debt_ps = work_ps + self.costs.poll_ps
        self.ledger.softirq += self.debt_ps
        return self._next(cpu, softirq)

    def poll_step(self, cpu: Cpu, softirq: SoftirqNetRx) -> cython.int:
        """Go on after a piece of work."""
        skb: Skb
        pool: cython.int
        if self.state == _FRAME:
            skb = self._taken(cpu)
            self.missing[self.filled[self.consumed % len(self.filled)]] += 1
            self.done += 1
            self.consumed += 1
            self._to_stack(skb, cpu)
            return self._next(cpu, softirq)
        if self.state == _REPLENISHED:
            for pool in range(self.pools):
                self.available[pool] += self.missing[pool]
                self.missing[pool] = 0
            self.buffer_node = cpu.node
            if self.stopped_full:
                return self._leave(softirq, POLL_MORE)
            return self._call(cpu, softirq, _ENABLED)
        if self.state == _DISABLED:
            return self._next(cpu, softirq)
        self.unmasked = True
        if self.ring.count > 0:
            # netif_rx_reschedule
            self.unmasked = False
            return self._call(cpu, softirq, _DISABLED)
        softirq.complete(self)
        return self._leave(softirq, POLL_DONE)

    def _leave(self, softirq: SoftirqNetRx, verdict: cython.int) -> cython.int:
        softirq.charge(self.done)
        return verdict

    def _call(self, cpu: Cpu, softirq: SoftirqNetRx, state: cython.int) -> cython.int:
        """H_VIO_SIGNAL."""
        self.state = state
        self.ledger.hypervisor += self.signal_ps
        cpu.run(SOFT_LEVEL, softirq, self.signal_ps, SOFTIRQ)
        return POLL_CONTINUES

    def _next(self, cpu: Cpu, softirq: SoftirqNetRx) -> cython.int:
        """Start on the next frame, or on filling up the pools."""
        work: cython.longlong = self.debt_ps
        stack_ps: cython.longlong = self.costs.driver_rx_ps
        skb: Skb
        endpoint: Endpoint
        self.debt_ps = 0
        if self.sim.tracer is not None:
            self._trace_ring()
        if self.done < self.limit and self.ring.count > 0:
            self.state = _FRAME
            skb = self.ring.head
            endpoint = skb.endpoint
            if self.steering is None:
                stack_ps += self.costs.ip_rx_ps
            stack_ps = self.spread.vary(stack_ps)
            self.ledger.driver += stack_ps
            self.ledger.hypervisor += self.unmap_ps
            if endpoint.freer is not None and endpoint.freer is not cpu:
                work += self.buffers.allocated_ps(cpu, endpoint.freer)
            work += stack_ps + self.unmap_ps
        else:
            self.state = _REPLENISHED
            self.stopped_full = self.done >= self.limit
            work += self._replenish()
        cpu.run(SOFT_LEVEL, softirq, work, SOFTIRQ)
        return POLL_CONTINUES

    def _replenish(self) -> cython.longlong:
        """`ibmveth_replenish_task`: return the work of filling up the active pools."""
        pool: cython.int
        count: cython.longlong
        pages: cython.longlong = 0
        total: cython.longlong = 0
        for pool in range(self.pools):
            count = self.missing[pool]
            total += count
            if self.sizes[pool] > _PAGE_BYTES:
                pages += count * (self.sizes[pool] // _PAGE_BYTES - 1)
        self.ledger.driver += total * self.costs.skb_alloc_ps
        self.ledger.hypervisor += total * self.add_ps + pages * self.page_ps
        return total * (self.costs.skb_alloc_ps + self.add_ps) + pages * self.page_ps
