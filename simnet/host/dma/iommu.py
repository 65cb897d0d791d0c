"""The IOMMU: what mapping a buffer for a device costs, and what forgetting it again does.

Each device has a domain: its own addresses (IOVA) and page table. Before a transfer the buffer is
mapped: an address is taken from the CPU's own cache, the page table is written. After it the entry
is cleared, and what the unit has cached of it (IOTLB) has to be invalidated. In strict mode each
unmapping asks the unit and waits for its answer. In lazy mode (DMA-FQ) the address goes into a
flush queue of the CPU; the whole domain is invalidated when that is full, or 10 ms after the first
came into any of them, and what all CPUs have queued until then is free.

A unit answers one request after another, whichever CPU asks: they wait for each other. AMD's
driver looks for the answer once a microsecond, and keeps the lock of its command buffer meanwhile.

Source: drivers/iommu/dma-iommu.c of Linux 6.12 (`__iommu_dma_map`, `__iommu_dma_unmap`,
`queue_iova`, `fq_full`, `fq_flush_timeout`, IOVA_DEFAULT_FQ_SIZE, IOVA_DEFAULT_FQ_TIMEOUT; the
queue was in iova.c before, since 4.14); iova.c (`alloc_iova_fast`, `iova_rcache_insert`);
intel/dmar.c (`qi_submit_sync`); amd/iommu.c (`iommu_completion_wait`, `wait_on_sem`). Where a flush
is due by the timer, the CPU that queues next does it. What a CPU asks for in one poll is answered
together.
"""

# mypy: no-strict-optional
from __future__ import annotations

from array import array

import cython

from simnet.host.costs import Memory
from simnet.host.cpu import Cpu
from simnet.host.ledger import Ledger
from simnet.kernel.compiled import Array, Public
from simnet.kernel.simulator import Simulator

_NS_PS: cython.longlong = 1000
_FQ_SIZE: cython.longlong = 256
_FRAGMENT_BYTES: cython.longlong = 32768
_FQ_TIMEOUT_PS: cython.longlong = 10_000_000_000


@cython.final
@cython.cclass
class RemappingUnit:
    """What answers requests to invalidate, one after another.

    Args:
        sim: the simulation.
        memory: of the machine.
        answer_ps: from a request to its answer.
        look_ps: the driver looks for the answer so often, with the lock held; 0: all the time.
    """

    sim: Simulator = None
    memory: Memory = None
    answer_ps: cython.longlong = 0
    owner: Cpu = None
    free_ps: cython.longlong = 0
    invalidations: cython.longlong = 0  # requests
    waited_ps: cython.longlong = 0  # for the requests of other CPUs, by all

    def __init__(self, sim: Simulator, memory: Memory, answer_ps: int, look_ps: int = 0) -> None:
        self.sim = sim
        self.memory = memory
        self.answer_ps = answer_ps
        if look_ps > 0:
            self.answer_ps = -(-answer_ps // look_ps) * look_ps

    def invalidate(self, cpu: Cpu, times: cython.longlong) -> cython.longlong:
        """Ask so many times from `cpu`, each time for the answer; return what that takes."""
        now: cython.longlong = self.sim.now
        wait_ps: cython.longlong = 0
        work_ps: cython.longlong = times * self.answer_ps
        self.invalidations += times
        if self.owner is not cpu:
            # its own requests of this instant are work that the CPU has still to do
            if self.free_ps > now:
                wait_ps = (self.free_ps - now + _NS_PS - 1) // _NS_PS * _NS_PS
                self.waited_ps += wait_ps
            if self.owner is not None:
                work_ps += self.memory.dirty_lines_ps(cpu, self.owner, 1)
            self.owner = cpu
        self.free_ps = max(self.free_ps, now) + work_ps
        return wait_ps + work_ps


@cython.final
@cython.cclass
class DmaDomain:
    """What a device's buffers are mapped in.

    Args:
        unit: that the device is behind.
        ledger: where the work is booked.
        map_ps, unmap_ps: work of mapping a buffer and of clearing it, without the unit.
        strict: each unmapping waits for the unit.
        cpus: how many the machine has.
    """

    unit: RemappingUnit = None
    ledger: Ledger = None
    map_cost_ps: cython.longlong = 0
    unmap_cost_ps: cython.longlong = 0
    strict: cython.bint = False
    queued: Array[cython.longlong] = None
    seen: Array[cython.longlong] = None
    timer_ps: cython.longlong = 0
    # buffers
    maps: Public[cython.longlong] = 0
    unmaps: cython.longlong = 0
    flushes: cython.longlong = 0  # of the whole domain

    def __init__(
        self,
        unit: RemappingUnit,
        ledger: Ledger,
        *,
        map_ps: int,
        unmap_ps: int,
        strict: bool,
        cpus: int,
    ) -> None:
        self.unit = unit
        self.ledger = ledger
        self.map_cost_ps = map_ps
        self.unmap_cost_ps = unmap_ps
        self.strict = strict
        # entries in the queue of each CPU, and how many flushes it had seen when it queued last
        self.queued = array("q", [0]) * cpus
        self.seen = array("q", [0]) * cpus

    @cython.cfunc
    def fragments(self, length: cython.longlong) -> cython.longlong:
        """Buffers in which a socket keeps so many bytes (net/core/sock.c SKB_FRAG_PAGE_ORDER)."""
        return (length + _FRAGMENT_BYTES - 1) // _FRAGMENT_BYTES

    def map_ps(self, buffers: cython.longlong) -> cython.longlong:
        """Return the work of mapping so many buffers, which who does it counts."""
        work_ps: cython.longlong = buffers * self.map_cost_ps
        self.ledger.iommu += work_ps
        return work_ps

    def unmap_ps(self, cpu: Cpu, buffers: cython.longlong) -> cython.longlong:
        """Unmap so many buffers on `cpu`, each by itself; return the work."""
        work_ps: cython.longlong = buffers * self.unmap_cost_ps
        self.unmaps += buffers
        if self.strict:
            work_ps += self.unit.invalidate(cpu, buffers)
        else:
            work_ps += self._queue(cpu, buffers)
        self.ledger.iommu += work_ps
        return work_ps

    def _queue(self, cpu: Cpu, buffers: cython.longlong) -> cython.longlong:
        """`queue_iova`: flush where the queue is full, or where the timer has run out."""
        now: cython.longlong = self.unit.sim.now
        number: cython.int = cpu.cpu_id
        flushes: cython.longlong = 0
        if self.timer_ps > 0 and now >= self.timer_ps:
            self.timer_ps = 0
            self.flushes += 1
            flushes += 1
        if self.seen[number] != self.flushes:
            self.queued[number] = 0
        while buffers > 0:
            buffers -= 1
            if self.queued[number] == _FQ_SIZE - 1:
                # one place stays empty (`fq_full`)
                self.queued[number] = 0
                self.flushes += 1
                flushes += 1
            self.queued[number] += 1
        self.seen[number] = self.flushes
        if self.timer_ps == 0:
            self.timer_ps = now + _FQ_TIMEOUT_PS
        return self.unit.invalidate(cpu, flushes) if flushes > 0 else 0

    def counters(self) -> dict[str, int]:
        """Buffers, flushes of the domain, and what its unit has been asked, by all."""
        return {
            "map": self.maps,
            "unmap": self.unmaps,
            "flush": self.flushes,
            "invalidate": self.unit.invalidations,
            "waited_ps": self.unit.waited_ps,
        }
