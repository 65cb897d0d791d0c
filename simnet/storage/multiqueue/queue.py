"""The request queue of a device with several hardware queues, blk-mq.

A process plugs what one system call submits. A bio is merged into the request that was plugged
last or into one of the scheduler's, or gets a tag of the hardware queue of its CPU; without one its
process sleeps. Without a scheduler requests go to the drive at once. A scheduler's tags are its
own, and a request that it gives needs one of the driver's as well; without one the queue waits.

Source: block/blk-mq.c, block/blk-mq-sched.c, block/blk-merge.c and drivers/nvme/host/pci.c of Linux
6.12. Not modelled: merging a plugged request with one that waits, shared tags, requeuing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cython

from simnet.host.costs import SharedLines
from simnet.host.cpu import Cpu
from simnet.host.interrupt import IrqLine
from simnet.kernel.compiled import Public
from simnet.kernel.histogram import LogHistogram
from simnet.storage.block.request import Bio, Request
from simnet.storage.multiqueue.costs import MqCosts
from simnet.storage.multiqueue.hardware import CompletingQueue, HardwareQueue
from simnet.storage.multiqueue.request import MqRequest
from simnet.storage.multiqueue.scheduler import MqScheduler

if TYPE_CHECKING:
    from simnet.host.machine import Machine
    from simnet.storage.disk.drive import Drive

_DEFAULT_RQ = 128
MAX_SEGMENTS = 127
"""NVME_MAX_SEGS: pages of memory of a request."""


@cython.cclass
class MultiQueue(CompletingQueue):
    """The queue of one device.

    Args:
        drive: that takes the commands.
        machine: whose CPUs submit.
        costs: what steps take.
        lines: the interrupt of each hardware queue, and None for each that is polled.
        groups: the CPUs of each.
        hz: of the kernel.
        io_queue_depth: entries of a submission queue, one of which stays empty.
        nr_requests: tags of a hardware queue; 0: all of the driver's, or with a scheduler 256.
        rq_affinity, nomerges: as in sysfs.
        max_sectors: of a request.
        node: that the drive is attached to.
    """

    submit_ps: cython.longlong = 0
    page_ps: cython.longlong = 0
    schedule_ps: cython.longlong = 0
    poll_ps: cython.longlong = 0
    times: Public[LogHistogram] = None  # takes the time of each request, if set
    plug: list[MqRequest] = None
    # the hardware queue that a process submits to, and its CPU
    submitting: HardwareQueue = None
    submitter: Cpu = None
    hardware: list[Any] = None  # the queues, polled ones last
    of_cpu: dict[int, HardwareQueue] = None
    polled_of_cpu: dict[int, HardwareQueue] = None
    lock_ps: cython.longlong = 0
    lock_free_ps: cython.longlong = 0
    locked_ps: cython.longlong = 0  # how long a scheduler's lock was held
    lock: SharedLines = None
    # of a scheduler with a lock for all queues
    submit_holds: cython.longlong = 0
    end_holds: cython.longlong = 0
    nr_requests: cython.longlong = 0
    scheduler: Public[MqScheduler | Any] = None

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
        node: int = 0,
    ) -> None:
        super().__init__(
            sim, path, hz, drive, machine=machine, costs=costs, rq_affinity=rq_affinity, node=node
        )
        self.max_sectors = max_sectors
        self.max_segments = MAX_SEGMENTS
        self.nomerges = nomerges
        self.submit_ps = costs.submit_ps
        self.page_ps = costs.page_ps
        self.schedule_ps = costs.schedule_ps if scheduler else 0
        self.poll_ps = costs.poll_ps
        self.plug = []
        depth = io_queue_depth - 1
        self.hardware = [HardwareQueue(self, n, depth, line) for n, line in enumerate(lines)]
        self.of_cpu = {}
        self.polled_of_cpu = {}
        for hardware, cpus in zip(self.hardware, groups, strict=True):
            where = self.polled_of_cpu if hardware.line is None else self.of_cpu
            where.update((cpu.cpu_id, hardware) for cpu in cpus)
        if scheduler and scheduler.shared:
            self.submit_holds, self.end_holds = scheduler.submit_holds, scheduler.end_holds
            self.lock_ps = costs.lock_ps // (self.submit_holds + self.end_holds)
        self.lock = SharedLines(machine.memory, costs.lock_lines)
        self.nr_requests = nr_requests or (2 * min(depth, _DEFAULT_RQ) if scheduler else depth)
        for hardware in self.hardware:
            hardware.tags = self.nr_requests if scheduler else min(self.nr_requests, depth)
        self.scheduler = scheduler(self) if scheduler else None
        self.elevator = self.scheduler

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

    def submit(
        self,
        bios: list[Any],
        begin: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        cpu: Cpu,
        task: Any,
        polled: cython.bint,
    ) -> cython.Py_ssize_t:
        """Take the bios of one system call from a position on, up to another.

        Returns:
            The position of the first that was not taken: `task` waits for a tag, and is among
            `woken` when there is one. Who polls does not wait (`REQ_NOWAIT`).

        Raises:
            ValueError: a bio is larger than a request may be, or beyond the device.
        """
        hardware: HardwareQueue = self.queue_of(cpu, polled)
        request: MqRequest
        bio: Bio
        position: cython.Py_ssize_t = begin
        self.submitting = hardware
        self.submitter = cpu
        while position < end:
            bio = bios[position]
            if bio.sectors > self.max_sectors or bio.segments > MAX_SEGMENTS:
                limits = f"{self.max_sectors} sectors in {MAX_SEGMENTS} segments"
                raise ValueError(f"{self.path}: {bio!r} does not fit into a request of {limits}")
            if not self._merge_plugged(bio) and not (
                self.scheduler is not None and self.nomerges < 2 and self.merge(bio)  # noqa: PLR2004
            ):
                request = hardware.allocate(bio, cpu)
                if request is None:
                    if not polled:
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
        if self.submit_holds > 0:
            self._take_lock(cpu, len(plug) * self.submit_holds)
        for request in plug:
            request.sorted = True
            self.scheduler.insert(request)
        return self.run_queue(hardware)

    def _take_lock(self, cpu: Cpu, holds: cython.longlong) -> cython.int:
        """Hold the scheduler's lock so often: others spin meanwhile.

        Its lines move to this CPU; each time, if others want it, as they hold it in between.
        """
        begin_ps: cython.longlong = max(self.sim.now, self.lock_free_ps)
        lines_ps: cython.longlong = self.lock.touch(cpu)
        if begin_ps > self.sim.now:
            lines_ps *= holds
        self.lock_free_ps = begin_ps + holds * self.lock_ps + lines_ps
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

    def complete(self, request: MqRequest, cpu: Cpu) -> cython.int:
        """`blk_mq_end_request`: tell the submitters, account, give the tags back."""
        bio: Bio
        hardware: HardwareQueue = request.hardware
        if self.domain is not None:
            # nvme_unmap_data
            self.owe_booked(self.domain.unmap_ps(cpu, 1))
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
        runs: cython.bint = len(hardware.dispatch) > 0 or self.scheduler.has_work(hardware)
        if self.submit_holds > 0 and self.end_holds + runs > 0:
            self._take_lock(cpu, self.end_holds + runs)
        if runs:
            self.run_queue(hardware)
        return 0

    def free(self, request: Request) -> cython.int:
        """Give a request's tag back; the process that waited longest for one goes on."""
        mine: MqRequest = request  # type: ignore[assignment]
        hardware: HardwareQueue = mine.hardware
        hardware.allocated -= 1
        hardware.unused.append(mine)
        if len(hardware.sleepers) > 0:
            self.woken.append(hardware.sleepers.popleft())
        return 0
