"""The request queue of a device with several hardware queues, blk-mq.

A process plugs what one system call submits. A bio is merged into the request that was plugged
last or into one of the scheduler's, or gets a tag of the hardware queue of its CPU; without one its
process sleeps. Without a scheduler requests go to the drive at once. A scheduler's tags are its
own, and a request that it gives needs one of the driver's as well; without one the queue waits.

Completions interrupt the first CPU of the hardware queue's mask. `rq_affinity` says whether a
request is completed there (0), there if that CPU shares a cache with the one that submitted it
(1), or by the latter in any case (2), in a softirq there after an interrupt between the CPUs.

Source: block/blk-mq.c, block/blk-mq-sched.c, block/blk-merge.c and drivers/nvme/host/pci.c of Linux
6.12. Not modelled: merging a plugged request with one that waits, shared tags, requeuing.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import cython

from simnet.host.cpu import Context, Cpu
from simnet.host.interrupt import IrqLine
from simnet.host.memory import SharedLines
from simnet.kernel.histogram import LogHistogram
from simnet.storage.block.merging import MergingQueue
from simnet.storage.block.request import Bio, Request
from simnet.storage.multiqueue.costs import MqCosts
from simnet.storage.multiqueue.request import MqRequest
from simnet.storage.multiqueue.scheduler import MqScheduler

if TYPE_CHECKING:
    from simnet.host.machine import Machine
    from simnet.storage.disk.command import Command
    from simnet.storage.disk.drive import Drive

if not cython.compiled:
    from simnet.kernel.priority import CPU

__all__ = ["BlockSoftirq", "HardwareQueue", "MultiQueue"]

_SOFT_LEVEL = cython.declare(cython.int, 1)
_HARDIRQ = cython.declare(cython.int, 2)
_SOFTIRQ_MODE = cython.declare(cython.int, 3)
_IRQ_MODE = cython.declare(cython.int, 4)
# what a completing context does
_IDLE = cython.declare(cython.int, 0)
_ENTERED = cython.declare(cython.int, 1)
_COMPLETING = cython.declare(cython.int, 2)
_WAKING = cython.declare(cython.int, 3)
_SAME_CACHE = cython.declare(cython.int, 1)
_DEFAULT_RQ = 128
_UPTIME_S = 300


class Completer(Context):
    """Completes requests on a CPU, then wakes the processes that waited for them.

    Attributes:
        entries: requests that the device is done with.
    """

    def __init__(self, queue: MultiQueue, path: str, level: int, mode: int) -> None:
        super().__init__(queue.sim, path)
        self.owner = queue
        self.level = level
        self.mode = mode
        self.state = _IDLE
        self.entries: list[MqRequest] = []
        self.taken = 0
        self.woken: list[Any] = []

    def step(self, cpu: Cpu) -> None:
        """Go on after a piece of work."""
        queue: MultiQueue = self.owner
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


class _Interprocessor(Context):
    """The interrupt by which another CPU asks for a softirq."""

    def __init__(self, softirq: BlockSoftirq) -> None:
        super().__init__(softirq.sim, softirq.path + ".ipi")
        self.softirq = softirq

    def step(self, cpu: Cpu) -> None:
        """It is through; the softirq begins."""
        self.softirq.step(cpu)


class BlockSoftirq(Completer):
    """BLOCK_SOFTIRQ of one CPU: completes what other CPUs' interrupts found."""

    def __init__(self, queue: MultiQueue, cpu: Cpu) -> None:
        super().__init__(queue, f"{queue.path}.{cpu.path}", _SOFT_LEVEL, _SOFTIRQ_MODE)
        self.cpu = cpu
        self.ipi = _Interprocessor(self)

    def add(self, request: MqRequest) -> cython.int:
        """`blk_mq_complete_send_ipi`."""
        self.entries.append(request)
        if self.state == _IDLE:
            self.state = _ENTERED
            self.owner.ipis += 1
            self.owner.ledger.hardirq += self.owner.ipi_ps
            self.cpu.raise_irq(self.ipi, self.owner.ipi_ps)
        return 0


class HardwareQueue(Completer):
    """A hardware queue: a submission and a completion queue of the drive, with its tags.

    Args:
        queue: of the device.
        number: of this one.
        depth: commands that the driver keeps in it.
        line: its interrupt; None if it is polled.

    Attributes:
        allocated: tags in use, those of a scheduler if there is one.
        in_driver: the driver's.
        dispatch: requests that wait for one of these (`hctx->dispatch`).
        sleepers: processes that wait for a tag.
        interrupts, completions: counted.
    """

    def __init__(self, queue: MultiQueue, number: int, depth: int, line: IrqLine | None) -> None:
        super().__init__(queue, f"{queue.path}q{number}", _HARDIRQ, _IRQ_MODE)
        self.number = number
        self.depth = depth
        self.tags = depth
        self.line = line
        self.drive: Drive = queue.drive
        self.unused: list[MqRequest] = []
        self.allocated = self.in_driver = 0
        self.dispatch: deque[MqRequest] = deque()
        self.sleepers: deque[Any] = deque()
        self.interrupts = self.completions = 0

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

    def issue(self, request: MqRequest) -> cython.int:
        """Give the drive a request (`nvme_queue_rq`)."""
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
        queue: MultiQueue = self.owner
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


class MultiQueue(MergingQueue):
    """The queue of one device.

    Args:
        sim: the simulation.
        path: component path.
        drive: that takes the commands.
        machine: whose CPUs submit.
        costs: what steps take.
        lines: the interrupt of each hardware queue, and None for each that is polled.
        groups: the CPUs of each.
        hz: of the kernel.
        io_queue_depth: entries of a submission queue, one of which stays empty.
        nr_requests: tags of a hardware queue; 0: all of the driver's, or with a scheduler 256.
        rq_affinity, nomerges: as in sysfs.
        max_sectors, max_segments: of a request.
        node: that the drive is attached to.

    Attributes:
        hardware: the queues, polled ones last.
        submitting: the hardware queue that a process submits to.
        woken: processes that a completion has to wake; who completes does.
        debt_ps: work that was caused and not done.
        times: takes the time of each request, if set.
        ipis: completions that were handed to another CPU.
        locked_ps: how long a scheduler's lock was held.
    """

    def __init__(
        self,
        sim: Any,
        path: str,
        drive: Drive,
        *,
        machine: Machine,
        costs: MqCosts,
        lines: list[IrqLine | None],
        groups: list[list[Cpu]],
        hz: int = 1000,
        io_queue_depth: int = 1024,
        nr_requests: int = 0,
        scheduler: type[MqScheduler] | None = None,
        rq_affinity: int = 1,
        nomerges: int = 0,
        max_sectors: int = 2560,
        max_segments: int = 127,
        node: int = 0,
    ) -> None:
        super().__init__(sim, path, hz)
        self.drive = drive
        self.memory = machine.memory
        self.ledger = machine.costs.ledger
        self.max_sectors = max_sectors
        self.max_segments = max_segments
        self.nomerges = nomerges
        self.rq_affinity = rq_affinity
        self.node = node
        self.submit_ps = costs.submit_ps
        self.page_ps = costs.page_ps
        self.complete_ps = costs.complete_ps
        self.schedule_ps = costs.schedule_ps if scheduler else 0
        self.poll_ps = costs.poll_ps
        self.hardirq_ps = machine.costs.hardirq_ps
        self.ipi_ps = machine.costs.ipi_ps
        self.wakeup_ps = machine.costs.wakeup_ps
        self.times: LogHistogram | None = None
        self.woken: list[Any] = []
        self.plug: list[MqRequest] = []
        self.submitting: HardwareQueue = None
        self.debt_ps = 0
        self.ipis = 0
        depth = io_queue_depth - 1
        self.hardware = [HardwareQueue(self, n, depth, line) for n, line in enumerate(lines)]
        self.softirqs = [BlockSoftirq(self, cpu) for cpu in machine.cpus]
        self.of_cpu: dict[int, HardwareQueue] = {}
        self.polled_of_cpu: dict[int, HardwareQueue] = {}
        for hardware, cpus in zip(self.hardware, groups, strict=True):
            where = self.polled_of_cpu if hardware.line is None else self.of_cpu
            where.update((cpu.cpu_id, hardware) for cpu in cpus)
        self.lock_ps = costs.lock_ps
        self.lock_free_ps = self.locked_ps = 0
        self.lock = SharedLines(machine.memory, costs.lock_lines)
        self._timers: dict[int, int] = {}
        self.nr_requests = nr_requests or (2 * min(depth, _DEFAULT_RQ) if scheduler else depth)
        for hardware in self.hardware:
            hardware.tags = self.nr_requests if scheduler else min(self.nr_requests, depth)
        self.scheduler: Any = scheduler(self) if scheduler else None
        self.elevator = self.scheduler

    @property
    def jiffies(self) -> int:
        """The kernel's clock; the machine has been up for five minutes at the start."""
        return self.sim.now // self.jiffy_ps + _UPTIME_S * self.hz

    def counters(self) -> dict[str, int]:
        """Requests by direction, merged bios, interrupts, requests completed by another CPU."""
        reads, writes = self.stats.ios
        return {
            "reads": reads,
            "writes": writes,
            "merges": sum(self.stats.merges),
            "interrupts": sum(one.interrupts for one in self.hardware),
            "ipis": self.ipis,
        }

    def waiting_for(self) -> str | None:
        """Completions, if any command is in the drive."""
        return "the drive" if self.stats.in_flight else None

    # timers of a scheduler

    def set_timer(self, number: int, jiffy: int) -> None:
        """Set a timer of the scheduler (`mod_timer`): it runs when `jiffies` has this value."""
        at_ps = max((jiffy - _UPTIME_S * self.hz) * self.jiffy_ps, self.sim.now)
        self.set_timer_at(number, at_ps)

    def set_timer_at(self, number: int, at_ps: int) -> None:
        """Set a timer of high resolution (`hrtimer_start`)."""
        self.delete_timer(number)
        self._timers[number] = self.sim.at(at_ps, self, 0, number, CPU)

    def delete_timer(self, number: int) -> bool:
        """Take a timer back; False if it was not set."""
        return number in self._timers and self.sim.cancel(self._timers.pop(number))

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """A timer of the scheduler."""
        del self._timers[arg]
        self.scheduler.timer(arg)

    def run_all(self) -> None:
        """Run all hardware queues (`blk_mq_run_hw_queues`)."""
        for hardware in self.hardware:
            self.run_queue(hardware)

    # submission

    def queue_of(self, cpu: Cpu, polled: cython.bint) -> HardwareQueue:
        """Return the hardware queue of a CPU (`blk_mq_map_queue`)."""
        found: HardwareQueue = (self.polled_of_cpu if polled else self.of_cpu)[cpu.cpu_id]
        return found

    def submit_work_ps(
        self, cpu: Cpu, count: cython.longlong, pages: cython.longlong
    ) -> cython.longlong:
        """What submitting so many bios with so many pages in all takes."""
        work_ps: cython.longlong = count * (self.submit_ps + self.schedule_ps)
        work_ps += pages * self.page_ps + self.doorbell_ps(cpu)
        self.ledger.storage += work_ps
        return work_ps

    def doorbell_ps(self, cpu: Cpu) -> cython.longlong:
        """A register of the drive is written."""
        return self.memory.mmio_write_ps(cpu.node, self.node)

    def submit(
        self,
        bios: list[Any],
        begin: cython.Py_ssize_t,
        cpu: Cpu,
        task: Any,
        polled: cython.bint,
    ) -> cython.Py_ssize_t:
        """Take the bios of one system call from a position on.

        Returns:
            The position of the first that was not taken: `task` waits for a tag, and is among
            `woken` when there is one.

        Raises:
            ValueError: a bio is larger than a request may be, or beyond the device.
        """
        hardware: HardwareQueue = self.queue_of(cpu, polled)
        request: MqRequest
        bio: Bio
        position: cython.Py_ssize_t = begin
        self.submitting = hardware
        while position < len(bios):
            bio = bios[position]
            if bio.sectors > self.max_sectors or bio.segments > self.max_segments:
                limits = f"{self.max_sectors} sectors in {self.max_segments} segments"
                raise ValueError(f"{self.path}: {bio!r} does not fit into a request of {limits}")
            if not self._merge_plugged(bio) and not (
                self.scheduler is not None and self.nomerges < 2 and self.merge(bio)  # noqa: PLR2004
            ):
                request = hardware.allocate(bio, cpu)
                if request is None:
                    hardware.sleepers.append(task)
                    break
                self.plug.append(request)
            position += 1
        self._unplug(hardware, cpu)
        return position

    def _merge_plugged(self, bio: Bio) -> cython.bint:
        """`blk_attempt_plug_merge`: with the request that was plugged last."""
        last: MqRequest
        if len(self.plug) == 0 or self.nomerges == 2:  # noqa: PLR2004 - as in sysfs
            return False
        last = self.plug[len(self.plug) - 1]
        if last.write != bio.write or not self._fits(last, bio):
            return False
        if last.sector + last.sectors == bio.sector:
            last.bios.append(bio)
        elif bio.sector + bio.sectors == last.sector:
            last.bios.insert(0, bio)
            last.sector = last.key = bio.sector
        else:
            return False
        last.sectors += bio.sectors
        last.segments += bio.segments
        self.stats.merges[last.rw] += 1
        return True

    def _unplug(self, hardware: HardwareQueue, cpu: Cpu) -> cython.int:
        """`blk_mq_flush_plug_list`."""
        request: MqRequest
        plug: list[Any] = self.plug
        if len(plug) == 0:
            return 0
        self.plug = []
        if self.scheduler is None:
            for request in plug:
                hardware.issue(request)
            return 0
        if self.scheduler.shared:
            self._take_lock(cpu, len(plug))
        for request in plug:
            request.sorted = True
            self.scheduler.insert(request)
        return self.run_queue(hardware)

    def _take_lock(self, cpu: Cpu, count: cython.longlong) -> cython.int:
        """Others of the scheduler's lock spin while it is held; its lines move."""
        begin_ps: cython.longlong = max(self.sim.now, self.lock_free_ps)
        lines_ps: cython.longlong = self.lock.touch(cpu)
        self.lock_free_ps = begin_ps + count * self.lock_ps + lines_ps
        self.locked_ps += self.lock_free_ps - begin_ps
        self.debt_ps += (begin_ps - self.sim.now + 999) // 1000 * 1000 + lines_ps
        return 0

    def run_queue(self, hardware: HardwareQueue) -> cython.int:
        """Let the driver have what waits (`blk_mq_sched_dispatch_requests`)."""
        request: MqRequest
        other: HardwareQueue
        while len(hardware.dispatch) > 0:
            if hardware.in_driver >= hardware.depth:
                return 0
            hardware.issue(hardware.dispatch.popleft())
        while True:
            request = self.scheduler.next_request(hardware)
            if request is None:
                return 0
            if self.last_merge is request:
                self.last_merge = None
            # from here on it does not grow
            request.started = True
            other = request.hardware
            if other.in_driver >= other.depth:
                other.dispatch.append(request)
                return 0
            other.issue(request)

    # completion

    def elsewhere(self, request: MqRequest, cpu: Cpu) -> cython.bint:
        """`blk_mq_complete_need_ipi`."""
        if self.rq_affinity == 0 or request.cpu is cpu:
            return False
        return self.rq_affinity > _SAME_CACHE or request.cpu.socket != cpu.socket

    def complete(self, request: MqRequest, cpu: Cpu) -> cython.int:
        """`blk_mq_end_request`: tell the submitters, account, give the tags back."""
        bio: Bio
        hardware: HardwareQueue = request.hardware
        for bio in request.bios:
            if bio.done is not None:
                bio.done(bio)
        self.stats.ended(self.sim.now, request.rw, request.sectors, request.start_ps)
        if self.times is not None:
            self.times.add(self.sim.now - request.start_ps)
        hardware.in_driver -= 1
        if self.scheduler is None:
            self.free(request)
            return 0
        self.scheduler.done(request)
        self.free(request)
        if len(hardware.dispatch) > 0 or self.scheduler.has_work(hardware):
            if self.scheduler.shared:
                self._take_lock(cpu, 1)
            self.run_queue(hardware)
        return 0

    def free(self, request: Request) -> None:
        """Give a request's tag back; the process that waited longest for one goes on."""
        mine: MqRequest = request  # type: ignore[assignment]
        hardware: HardwareQueue = mine.hardware
        hardware.allocated -= 1
        hardware.unused.append(mine)
        if len(hardware.sleepers) > 0:
            self.woken.append(hardware.sleepers.popleft())

    def waking_ps(self, count: cython.longlong) -> cython.longlong:
        """What waking so many processes takes, and what else was caused."""
        work_ps: cython.longlong = count * self.wakeup_ps
        self.ledger.wakeup += work_ps
        self.ledger.storage += self.debt_ps
        work_ps += self.debt_ps
        self.debt_ps = 0
        return work_ps
