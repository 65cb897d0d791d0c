"""Hardware queues: tags, submission, and the completion of requests on some CPU.

Completions interrupt the first CPU of the hardware queue's mask. `rq_affinity` says whether a
request is completed there (0), there if that CPU shares a cache with the one that submitted it
(1), or by the latter in any case (2), in a softirq there after an interrupt between the CPUs.

Source: `nvme_irq`, `nvme_poll` in drivers/nvme/host/pci.c and `blk_mq_complete_request_remote` in
block/blk-mq.c of Linux 6.12.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import cython

from simnet.host.costs import Memory
from simnet.host.cpu import Context, Cpu
from simnet.host.dma.iommu import DmaDomain
from simnet.host.interrupt import IrqLine
from simnet.host.ledger import Ledger
from simnet.kernel.compiled import Public
from simnet.storage.block.merging import MergingQueue
from simnet.storage.block.request import Bio
from simnet.storage.multiqueue.costs import MqCosts
from simnet.storage.multiqueue.request import MqRequest

if TYPE_CHECKING:
    from simnet.host.machine import Machine
    from simnet.storage.disk.command import Command
    from simnet.storage.disk.drive import Drive

_SOFT_LEVEL: cython.int = 1
_HARDIRQ: cython.int = 2
_SOFTIRQ_MODE: cython.int = 3
_IRQ_MODE: cython.int = 4
# what a completing context does
_IDLE: cython.int = 0
_ENTERED: cython.int = 1
_COMPLETING: cython.int = 2
_WAKING: cython.int = 3
_SAME_CACHE: cython.int = 1


@cython.cclass
class CompletingQueue(MergingQueue):
    """The part of a device's queue that completing contexts use.

    Args:
        hz: of the kernel.
        drive: that takes the commands.
        machine: whose CPUs complete.
        costs: what steps take.
        rq_affinity: as in sysfs.
        node: that the drive is attached to.
    """

    drive: Drive = None
    memory: Memory = None
    ledger: Ledger = None
    rq_affinity: Public[cython.int] = 0
    node: cython.int = 0
    complete_ps: cython.longlong = 0
    hardirq_ps: cython.longlong = 0
    ipi_ps: cython.longlong = 0
    wakeup_ps: cython.longlong = 0
    woken: Public[list[Any]] = None  # processes that a completion has to wake; who completes does
    debt_ps: Public[cython.longlong] = 0  # work that was caused and not done
    ipis: cython.longlong = 0  # completions that were handed to another CPU
    domain: Public[DmaDomain] = None  # of the drive, where the IOMMU translates its addresses
    softirqs: list[Any] = None

    def __init__(
        self,
        sim: Any,
        path: str,
        hz: int,
        drive: Drive,
        *,
        machine: Machine,
        costs: MqCosts,
        rq_affinity: int,
        node: int,
    ) -> None:
        super().__init__(sim, path, hz)
        self.drive = drive
        self.memory = machine.memory
        self.ledger = machine.costs.ledger
        self.rq_affinity = rq_affinity
        self.node = node
        self.complete_ps = costs.complete_ps
        self.hardirq_ps = machine.costs.hardirq_ps
        self.ipi_ps = machine.costs.ipi_ps
        self.wakeup_ps = machine.costs.wakeup_ps
        self.woken = []
        self.softirqs = [BlockSoftirq(self, cpu) for cpu in machine.cpus]

    @cython.cfunc
    def complete(self, request: MqRequest, cpu: Cpu) -> cython.int:
        """Tell the submitters, account, give the tags back."""
        raise NotImplementedError(self.path)

    def doorbell_ps(self, cpu: Cpu) -> cython.longlong:
        """A register of the drive is written."""
        return self.memory.mmio_write_ps(cpu.node, self.node)

    @cython.cfunc
    def elsewhere(self, request: MqRequest, cpu: Cpu) -> cython.bint:
        """`blk_mq_complete_need_ipi`."""
        if self.rq_affinity == 0 or request.cpu is cpu:
            return False
        return self.rq_affinity > _SAME_CACHE or request.cpu.socket != cpu.socket

    @cython.cfunc
    def owe_booked(self, work_ps: cython.longlong) -> cython.int:
        """Owe work that is in the ledger already, and not the block layer's."""
        self.debt_ps += work_ps
        self.ledger.storage -= work_ps
        return 0

    def waking_ps(self, count: cython.longlong) -> cython.longlong:
        """What waking so many processes takes, and what else was caused."""
        work_ps: cython.longlong = count * self.wakeup_ps
        self.ledger.wakeup += work_ps
        self.ledger.storage += self.debt_ps
        work_ps += self.debt_ps
        self.debt_ps = 0
        return work_ps


@cython.cclass
class Completer(Context):
    """Completes requests on a CPU, then wakes the processes that waited for them."""

    owner: CompletingQueue = None
    level: cython.int = 0
    mode: cython.int = 0
    state: cython.int = 0
    entries: list[MqRequest] = None  # requests that the device is done with
    taken: cython.Py_ssize_t = 0
    woken: list[Any] = None

    def __init__(self, queue: CompletingQueue, path: str, level: int, mode: int) -> None:
        super().__init__(queue.sim, path)
        self.owner = queue
        self.level = level
        self.mode = mode
        self.state = _IDLE
        self.entries = []
        self.woken = []

    def step(self, cpu: Cpu) -> None:
        """Go on after a piece of work."""
        queue: CompletingQueue = self.owner
        task: Any
        if self.state == _COMPLETING:
            batch = self.entries[: self.taken]
            del self.entries[: self.taken]
            for request in batch:
                self._finish(request, cpu)
            if len(queue.woken) > 0 or queue.debt_ps > 0:
                self.woken, queue.woken = queue.woken, []
                self.state = _WAKING
                cpu.run(self.level, self, queue.waking_ps(len(self.woken)), self.mode)
                return
        elif self.state == _WAKING:
            for task in self.woken:
                task.wake_on(cpu)
            self.woken.clear()
        self.taken = len(self.entries)
        if self.taken == 0:
            self.state = _IDLE
            return
        self.state = _COMPLETING
        cpu.run(self.level, self, self._work_ps(cpu), self.mode)

    def _work_ps(self, cpu: Cpu) -> cython.longlong:
        """What completing `taken` entries takes."""
        work_ps: cython.longlong = self.taken * self.owner.complete_ps
        self.owner.ledger.storage += work_ps
        return work_ps

    def _finish(self, request: MqRequest, cpu: Cpu) -> cython.int:
        """Complete one."""
        return self.owner.complete(request, cpu)


@cython.cclass
class _Interprocessor(Context):
    """The interrupt by which another CPU asks for a softirq."""

    softirq: BlockSoftirq = None

    def __init__(self, softirq: BlockSoftirq) -> None:
        super().__init__(softirq.sim, softirq.path + ".ipi")
        self.softirq = softirq

    def step(self, cpu: Cpu) -> None:
        """It is through; the softirq begins."""
        self.softirq.step(cpu)


@cython.cclass
class BlockSoftirq(Completer):
    """BLOCK_SOFTIRQ of one CPU: completes what other CPUs' interrupts found."""

    cpu: Cpu = None
    ipi: Context = None

    def __init__(self, queue: CompletingQueue, cpu: Cpu) -> None:
        super().__init__(queue, f"{queue.path}.{cpu.path}", _SOFT_LEVEL, _SOFTIRQ_MODE)
        self.cpu = cpu
        self.ipi = _Interprocessor(self)

    @cython.cfunc
    def add(self, request: MqRequest) -> cython.int:
        """`blk_mq_complete_send_ipi`."""
        self.entries.append(request)
        if self.state == _IDLE:
            self.state = _ENTERED
            self.owner.ipis += 1
            self.owner.ledger.hardirq += self.owner.ipi_ps
            self.cpu.raise_irq(self.ipi, self.owner.ipi_ps)
        return 0


@cython.cclass
class HardwareQueue(Completer):
    """A hardware queue: a submission and a completion queue of the drive, with its tags.

    Args:
        queue: of the device.
        number: of this one.
        depth: commands that the driver keeps in it.
        line: its interrupt; None if it is polled.
    """

    number: cython.int = 0
    depth: cython.longlong = 0
    tags: Public[cython.longlong] = 0
    line: IrqLine = None
    drive: Drive = None
    unused: list[MqRequest] = None
    allocated: cython.longlong = 0  # tags in use, those of a scheduler if there is one
    in_driver: cython.longlong = 0  # the driver's
    dispatch: deque[MqRequest] = None  # requests that wait for one of these (`hctx->dispatch`)
    sleepers: deque[Any] = None  # processes that wait for a tag
    # counted
    interrupts: cython.longlong = 0
    completions: cython.longlong = 0

    def __init__(
        self, queue: CompletingQueue, number: int, depth: int, line: IrqLine | None
    ) -> None:
        super().__init__(queue, f"{queue.path}q{number}", _HARDIRQ, _IRQ_MODE)
        self.number = number
        self.depth = depth
        self.tags = depth
        self.line = line
        self.drive = queue.drive
        self.unused = []
        self.dispatch = deque()
        self.sleepers = deque()

    @cython.cfunc
    def allocate(self, bio: Bio, cpu: Cpu) -> MqRequest:
        """Return a request for a bio; None without a tag (`__blk_mq_alloc_requests`)."""
        request: MqRequest
        if self.allocated >= self.tags:
            return None
        self.allocated += 1
        request = self.unused.pop() if len(self.unused) > 0 else MqRequest(bio, self)
        request.begin(bio, cpu, self.sim.now)
        self.owner.stats.started(self.sim.now)
        return request

    @cython.cfunc
    def issue(self, request: MqRequest) -> cython.int:
        """Give the drive a request (`nvme_queue_rq`)."""
        if self.owner.domain is not None:
            # nvme_map_data: all of a request at once
            self.owner.domain.maps += 1
            self.owner.owe_booked(self.owner.domain.map_ps(1))
        self.in_driver += 1
        request.started = True
        request.io_start_ps = self.sim.now
        command = request.command
        command.sector = request.sector
        command.sectors = request.sectors
        command.write = request.write
        if not self.drive.submit(command):
            raise ValueError(f"{self.path}: the drive holds fewer commands than its queues")
        return 0

    def command_done(self, command: Command) -> None:
        """There is an entry in the completion queue: interrupt, unless one is served already."""
        cpu: Cpu
        self.entries.append(command.tag)
        self.completions += 1
        if self.line is not None and self.state == _IDLE:
            self.state = _ENTERED
            self.interrupts += 1
            cpu = self.line.route()
            self.owner.ledger.hardirq += self.owner.hardirq_ps
            cpu.raise_irq(self, self.owner.hardirq_ps)

    def poll(self, cpu: Cpu) -> cython.int:
        """Complete what is there in the context of a process (`nvme_poll`); return how many."""
        batch = self.entries
        if len(batch) > 0:
            self.entries = []
            for request in batch:
                self.owner.complete(request, cpu)
        return len(batch)

    def _work_ps(self, cpu: Cpu) -> cython.longlong:
        """Those of other CPUs cost an interrupt to send, and the drive learns what was taken."""
        request: MqRequest
        position: cython.Py_ssize_t
        queue: CompletingQueue = self.owner
        work_ps: cython.longlong = queue.doorbell_ps(cpu)
        for position in range(self.taken):
            request = self.entries[position]
            work_ps += queue.ipi_ps if queue.elsewhere(request, cpu) else queue.complete_ps
        queue.ledger.storage += work_ps
        return work_ps

    def _finish(self, request: MqRequest, cpu: Cpu) -> cython.int:
        """`blk_mq_complete_request`."""
        softirq: BlockSoftirq
        if self.owner.elsewhere(request, cpu):
            softirq = self.owner.softirqs[request.cpu.cpu_id]
            return softirq.add(request)
        return self.owner.complete(request, cpu)
