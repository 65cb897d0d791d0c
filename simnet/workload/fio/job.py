"""A job of fio: asynchronous or synchronous direct I/O on a block device.

Source: `do_io` and `wait_for_completions` in backend.c, `td_io_queue` in ioengines.c,
engines/libaio.c, engines/io_uring.c and engines/sync.c of fio 3.36. A job prepares units until
`iodepth` are in flight or `iodepth_batch` wait to be submitted; what waits goes out with one system
call. With all units in flight it takes at least `iodepth_batch_complete_min` completions, and goes
on until no more than `iodepth_low` are left. libaio asks the kernel for each of these; io_uring
finds completions in its ring, and enters the kernel only to sleep or, with hipri, to poll the
drive. With sqthread_poll a thread of the kernel submits (`sq_thread`): the process makes no system
call, and looks at its ring until completions are there.

Polled I/O never waits for a tag, which only a poll can free: what finds none is tried again after
the next poll (io_uring/io_uring.c, `io_wq_submit_work`, where a worker of the kernel does it).

Latencies are those of fio: submission from the unit's preparation to the end of the call that
submits it (none of the sync engine, whose call is the completion latency), completion from
there until the job has the event.
"""

from typing import Any

import cython

from simnet.host.accounting import PROCESS_LEVEL, SYSTEM
from simnet.host.costs import Spread
from simnet.host.cpu import Cpu
from simnet.host.ledger import Ledger
from simnet.host.scheduler import Task
from simnet.kernel.random import RandomStream
from simnet.storage.block.request import Bio, IoContext
from simnet.workload.fio.files import FioFile, FioFiles, IoUnit, Ring
from simnet.workload.fio.stats import (
    FioCosts,
    FioRules,
    FioStats,
    add_latency,
    call_number,
    depth_number,
)

_SYNC: cython.int = 0
_IO_URING: cython.int = 2
_PERCENT: cython.int = 100
# states: what the piece of work that has just been executed was
_SCHEDULED_IN: cython.int = 0
_PREPARED: cython.int = 1
_SUBMITTED: cython.int = 2
_WAITING: cython.int = 3
_POLLING: cython.int = 4
_RETRYING: cython.int = 5
_SPINNING: cython.int = 6


@cython.cclass
class FioJob(Task):
    """One process of a job.

    Args:
        cpu: where it starts.
        files: that it reads and writes.
        rules, costs: see there.
        stats: of its group.
        context: its I/O priority.
        random: where it reads and writes.
        spread: how much its own work varies.
        ring: by which a thread of the kernel has its units; None if it submits them itself.
        allowed: CPUs that it may run on.
    """

    files: FioFiles = None
    ring: Ring = None
    stats: FioStats = None
    random: RandomStream = None
    spread: Spread = None
    ledger: Ledger = None
    engine: cython.int = 0
    hipri: cython.bint = False
    pages: cython.longlong = 0
    iodepth: cython.longlong = 0
    batch: cython.longlong = 0
    complete_min: cython.longlong = 0
    complete_max: cython.Py_ssize_t = 0
    iodepth_low: cython.longlong = 0
    bs_sectors: cython.longlong = 0
    at_random: cython.bint = False
    reads: cython.longlong = 0
    unit_ps: cython.longlong = 0
    syscall_ps: cython.longlong = 0
    engine_ps: cython.longlong = 0
    reap_ps: cython.longlong = 0
    ring_ps: cython.longlong = 0
    state: cython.int = 0
    free: list[Any] = None
    queued: list[IoUnit] = None
    position: cython.Py_ssize_t = 0
    done: list[Any] = None
    in_flight: cython.longlong = 0
    needed: cython.longlong = 0
    debt_ps: cython.longlong = 0
    roused: cython.bint = False
    draining: cython.bint = False

    def __init__(
        self,
        scheduler: Any,
        path: str,
        cpu: Cpu,
        files: FioFiles,
        *,
        rules: FioRules,
        costs: FioCosts,
        stats: FioStats,
        context: IoContext,
        random: RandomStream,
        spread: Spread,
        ring: Ring | None = None,
        allowed: frozenset[int] | None = None,
    ) -> None:
        super().__init__(scheduler, path, cpu, 0, allowed)
        self.files = files
        self.ring = ring
        self.stats = stats
        self.random = random
        self.spread = spread
        self.ledger = files.ledger
        self.engine = rules.ioengine
        self.hipri = rules.hipri
        self.pages = rules.pages
        self.iodepth = rules.iodepth
        self.batch = rules.iodepth_batch
        self.complete_min = rules.iodepth_batch_complete_min
        self.complete_max = rules.iodepth_batch_complete_max
        self.iodepth_low = rules.iodepth_low
        self.bs_sectors = rules.bs_sectors
        self.at_random = rules.random
        # percent of reads
        self.reads = 100 * rules.reads if rules.reads != rules.writes else rules.rwmixread
        self.unit_ps = costs.unit_ps
        self.syscall_ps = costs.syscall_ps
        self.engine_ps = costs.engine_ps
        # the kernel's thread hands events over, if there is one
        self.reap_ps = costs.reap_ps if ring is None else 0
        self.ring_ps = costs.ring_ps
        self.state = _SCHEDULED_IN
        self.free = [
            IoUnit(
                0, rules.bs_sectors, write=False, context=context, done=self.completed, sync=True
            )
            for _ in range(rules.iodepth)
        ]
        self.queued = []
        self.done = [] if ring is None else ring.done

    def counters(self) -> dict[str, int]:
        """Units in flight."""
        return {"in_flight": self.in_flight}

    @property
    def waits(self) -> bool:
        """Whether it has all that it may have in flight, and sleeps or polls for completions."""
        return self.state in (_POLLING, _SPINNING) or (self.sleeping and self.in_flight > 0)

    def waiting_for(self) -> str | None:
        """Completions."""
        return "completions" if self.waits else None

    def step(self, cpu: Cpu) -> None:
        """Go on after a piece of work."""
        state: cython.int = self.state
        self.roused = False
        if state == _PREPARED:
            self._submit(cpu)
        elif state == _SUBMITTED:
            self._has_submitted(cpu)
        elif state == _WAITING:
            self._wait(cpu)
        elif state == _POLLING:
            self._poll(cpu)
        elif state == _RETRYING:
            self._retry(cpu)
        elif state == _SPINNING:
            self._reap(cpu, 0)
        else:
            self._prepare(cpu, 0)

    # submission

    def _prepare(self, cpu: Cpu, system_ps: cython.longlong) -> cython.int:
        """Make units until a batch is full, in user mode, after what the kernel has left to do."""
        unit: IoUnit
        user_ps: cython.longlong
        if self.yield_if_needed(cpu):
            self.debt_ps += system_ps
            self.state = _SCHEDULED_IN
            return 0
        system_ps += self.debt_ps
        self.debt_ps = 0
        while len(self.free) > 0 and len(self.queued) < self.batch:
            unit = self.free.pop()
            unit.start_ps = self.sim.now + system_ps
            self._place(unit)
            self.queued.append(unit)
        user_ps = self.spread.vary(len(self.queued) * self.unit_ps)
        self.stats.user_ps += user_ps
        self.stats.system_ps += system_ps
        self.ledger.application += user_ps
        self.state = _PREPARED
        cpu.run_to_user(self, system_ps, user_ps)
        return 0

    def _place(self, unit: IoUnit) -> cython.int:
        """Where it reads or writes (`get_next_offset`, `get_rw_ddir`)."""
        block: cython.longlong
        file: FioFile = self.files.next_file()
        unit.file = file
        unit.write = self.reads < _PERCENT and self.random.below(_PERCENT) >= self.reads
        if self.at_random:
            block = self.random.below(file.blocks)
        else:
            block = file.next_block[unit.write]
            file.next_block[unit.write] = (block + 1) % file.blocks
        unit.sector = file.first_sector + block * self.bs_sectors
        return 0

    def _submit(self, cpu: Cpu) -> cython.int:
        """`io_submit`, `io_uring_enter`, `pread` or `pwrite`; or an entry in the ring."""
        unit: IoUnit
        own_ps: cython.longlong = self.syscall_ps + len(self.queued) * self.engine_ps
        if self.ring is not None:
            self.ring.submitted.extend(self.queued)
            return self._issued(cpu)
        if self.engine == _SYNC:
            for unit in self.queued:
                unit.issue_ps = self.sim.now
        self.position = 0
        self.ledger.syscall += own_ps
        own_ps += self.files.submit_work_ps(cpu, self.queued, self.pages)
        return self._run_system(cpu, _SUBMITTED, own_ps)

    def _run_system(self, cpu: Cpu, state: cython.int, work_ps: cython.longlong) -> cython.int:
        self.state = state
        work_ps += self.debt_ps
        self.debt_ps = 0
        self.stats.system_ps += work_ps
        cpu.run(PROCESS_LEVEL, self, work_ps, SYSTEM)
        return 0

    def _sleep(self, state: cython.int) -> cython.int:
        self.state = state
        self.stats.switches += 1
        self.sleep()
        return 0

    def _has_submitted(self, cpu: Cpu) -> cython.int:
        """The kernel's part is done: the block layer has the units, or there is no tag."""
        self.position = self.files.submit(self.queued, self.position, cpu, self, self.hipri)
        self._owe()
        if self.position < len(self.queued):
            if self.hipri:
                return self._poll_again(cpu, _RETRYING)
            return self._sleep(_SUBMITTED)
        return self._issued(cpu)

    def _issued(self, cpu: Cpu) -> cython.int:
        """All that was prepared is in the hands of the kernel."""
        unit: IoUnit
        stats: FioStats = self.stats
        now: cython.longlong = self.sim.now
        count: cython.longlong = len(self.queued)
        self.in_flight += count
        stats.submits[call_number(count)] += 1
        stats.depths[depth_number(self.in_flight)] += count
        if self.engine != _SYNC:
            for unit in self.queued:
                unit.issue_ps = now
                # `disable_slat` in engines/io_uring.c
                if self.ring is None:
                    add_latency(stats.slat, unit.write, now - unit.start_ps)
        self.queued = []
        if len(self.free) > 0:
            return self._prepare(cpu, 0)
        return self._reap(cpu, self.syscall_ps if self.engine != _SYNC else 0)

    def _owe(self) -> cython.int:
        """What files have caused is this process's to do."""
        self.debt_ps += self.files.debt_ps
        self.files.debt_ps = 0
        return 0

    # completion

    def completed(self, unit: Bio) -> None:
        """The block layer is done with a unit; wake the process if it waits for that."""
        mine: IoUnit = unit  # type: ignore[assignment]
        if self.ring is not None:
            self.ring.in_drive -= 1
            self.ring.arrived.append(unit)
            return
        self.done.append(unit)
        if (
            self.sleeping
            and self.state == _WAITING
            and not self.roused
            and len(self.done) >= self.needed
        ):
            self.roused = True
            mine.file.queue.woken.append(self)

    def _reap(self, cpu: Cpu, enter_ps: cython.longlong) -> cython.int:
        """`td_io_getevents`: take events if there are enough, else wait for them in the kernel."""
        self.needed = min(self.complete_min, self.in_flight)
        if self.needed == 0:
            self.needed = 1
        if len(self.done) >= self.needed:
            return self._take(cpu, 0 if self.engine == _IO_URING else enter_ps)
        if self.ring is not None:
            return self._spin(cpu)
        self.ledger.syscall += enter_ps
        if self.hipri:
            return self._run_system(cpu, _POLLING, enter_ps + self.files.poll_ps)
        if enter_ps > 0 or self.debt_ps > 0:
            return self._run_system(cpu, _WAITING, enter_ps)
        return self._sleep(_WAITING)

    def _spin(self, cpu: Cpu) -> cython.int:
        """Look at the ring once more, in user mode (`fio_ioring_getevents`)."""
        self.state = _SPINNING
        if self.yield_if_needed(cpu):
            return 0
        cpu.spun_ps += self.ring_ps
        self.stats.user_ps += self.ring_ps
        self.ledger.application += self.ring_ps
        cpu.run_to_user(self, 0, self.ring_ps)
        return 0

    def _wait(self, cpu: Cpu) -> cython.int:
        """In the kernel: events are there, or it sleeps until they are."""
        if len(self.done) >= self.needed:
            return self._take(cpu, 0)
        return self._sleep(_WAITING)

    def _poll(self, cpu: Cpu) -> cython.int:
        """`io_do_iopoll`: complete what the drive has, until there is enough."""
        if len(self.done) < self.needed:
            self._complete_polled(cpu)
        if len(self.done) >= self.needed:
            return self._take(cpu, 0)
        return self._poll_again(cpu, _POLLING)

    def _retry(self, cpu: Cpu) -> cython.int:
        """Submit what has found no tag, if a poll has freed one."""
        self._complete_polled(cpu)
        return self._has_submitted(cpu)

    def _complete_polled(self, cpu: Cpu) -> cython.int:
        """Take from the drive what it has done of the polled queue."""
        if self.files.poll(cpu) == 0:
            cpu.waited_ps += self.files.poll_ps
        return self._owe()

    def _poll_again(self, cpu: Cpu, state: cython.int) -> cython.int:
        """Poll once more and go on in a state, unless another process is to run before."""
        if self.yield_if_needed(cpu):
            self.state = state
            return 0
        self.ledger.storage += self.files.poll_ps
        return self._run_system(cpu, state, self.files.poll_ps)

    def _take(self, cpu: Cpu, enter_ps: cython.longlong) -> cython.int:
        """Hand events over, count them, and go on (`io_u_queued_complete`)."""
        stats: FioStats = self.stats
        unit: IoUnit
        count: cython.Py_ssize_t = min(len(self.done), self.complete_max)
        full: cython.bint = self.draining or len(self.free) == 0
        system_ps: cython.longlong = enter_ps + count * self.reap_ps
        at_ps: cython.longlong = self.sim.now + self.debt_ps + system_ps
        taken: list[Any] = self.done[:count]
        del self.done[:count]
        self.ledger.syscall += system_ps
        for unit in taken:
            stats.ios[unit.write] += 1
            stats.sectors[unit.write] += unit.sectors
            add_latency(stats.clat, unit.write, at_ps - unit.issue_ps)
            add_latency(stats.lat, unit.write, at_ps - unit.start_ps)
        stats.completes[call_number(count)] += 1
        self.free.extend(taken)
        self.in_flight -= count
        self.draining = full and self.in_flight > self.iodepth_low
        if self.draining:
            self.debt_ps += system_ps
            return self._reap(cpu, self.syscall_ps)
        return self._prepare(cpu, system_ps)
