"""The files of a job of fio, each of which is a block device, and the rings that io_uring shares.

Each unit is for the next file in turn. What one call submits is given to the kernel file by file.

Source: `get_next_file_rr` in io_u.c, `setup_files` in filesetup.c of fio 3.36; `io_do_iopoll` in
io_uring/rw.c of Linux 6.12.
"""

from typing import Any

import cython

from simnet.host.cpu import Cpu
from simnet.host.ledger import Ledger
from simnet.kernel.compiled import Public
from simnet.storage.block.request import Bio
from simnet.storage.multiqueue.hardware import HardwareQueue
from simnet.storage.multiqueue.queue import MultiQueue


@cython.final
@cython.cclass
class FioFile:
    """One file.

    Args:
        queue: of the device.
        first_sector, blocks: the range that is used, in units.
        begin_sector: where a sequential job begins in it.
        bs_sectors: of a unit.
    """

    queue: MultiQueue = None
    first_sector: cython.longlong = 0
    blocks: cython.longlong = 0
    next_block: list[Any] = None  # where the next sequential read and write are
    number: cython.int = 0

    def __init__(
        self,
        queue: MultiQueue,
        *,
        first_sector: int,
        blocks: int,
        begin_sector: int,
        bs_sectors: int,
    ) -> None:
        self.queue = queue
        self.first_sector = first_sector
        self.blocks = blocks
        self.next_block = [(begin_sector - first_sector) // bs_sectors] * 2


@cython.final
@cython.cclass
class IoUnit(Bio):
    """fio's `io_u`: used again and again."""

    file: FioFile = None
    start_ps: cython.longlong = 0
    issue_ps: cython.longlong = 0


@cython.final
@cython.cclass
class Ring:
    """What a process and the kernel's thread share, with `IORING_SETUP_SQPOLL`."""

    submitted: list[Any] = None  # units that the thread has not taken yet
    # units that are completed, and of which the process does not know yet
    arrived: list[Any] = None
    done: list[Any] = None  # of which it knows
    in_drive: cython.longlong = 0  # units that the thread has submitted and that are not completed

    def __init__(self) -> None:
        self.submitted = []
        self.arrived = []
        self.done = []


def _number(unit: IoUnit) -> int:
    return unit.file.number


@cython.final
@cython.cclass
class FioFiles:
    """All files of one process."""

    files: list[Any] = None  # at least one
    turn: cython.Py_ssize_t = 0
    ledger: Ledger = None
    poll_ps: cython.longlong = 0  # a look at the completion queues of all
    debt_ps: Public[cython.longlong] = 0  # work that was caused and not done

    def __init__(self, files: list[FioFile]) -> None:
        file: FioFile
        self.files = files
        for number, file in enumerate(files):
            file.number = number
            self.ledger = file.queue.ledger
            self.poll_ps += file.queue.poll_ps

    @cython.cfunc
    def next_file(self) -> FioFile:
        """Return the file of the next unit."""
        found: FioFile = self.files[self.turn]
        self.turn += 1
        if self.turn == len(self.files):
            self.turn = 0
        return found

    def submit_work_ps(self, cpu: Cpu, units: list[Any], pages: cython.longlong) -> cython.longlong:
        """Put units in order, and return what submitting them takes, each of so many pages."""
        file: FioFile
        unit: IoUnit
        count: cython.longlong = len(units)
        work_ps: cython.longlong = 0
        if len(self.files) == 1:
            file = self.files[0]
            return file.queue.submit_work_ps(cpu, count, count * pages)
        units.sort(key=_number)
        for file in self.files:
            count = 0
            for unit in units:
                if unit.file is file:
                    count += 1
            if count > 0:
                work_ps += file.queue.submit_work_ps(cpu, count, count * pages)
        return work_ps

    def submit(
        self, units: list[Any], begin: cython.Py_ssize_t, cpu: Cpu, task: Any, polled: cython.bint
    ) -> cython.Py_ssize_t:
        """Submit units from a position on; return that of the first that found no tag."""
        unit: IoUnit
        queue: MultiQueue
        position: cython.Py_ssize_t = begin
        end: cython.Py_ssize_t
        count: cython.Py_ssize_t = len(units)
        while position < count:
            unit = units[position]
            queue = unit.file.queue
            end = position + 1
            while end < count:
                unit = units[end]
                if unit.file.queue is not queue:
                    break
                end += 1
            position = queue.submit(units, position, end, cpu, task, polled)
            self.debt_ps += queue.debt_ps
            self.ledger.storage += queue.debt_ps
            queue.debt_ps = 0
            if position < end:
                break
        return position

    def poll(self, cpu: Cpu) -> cython.longlong:
        """Take from the drives what they have done of their polled queues; return how much."""
        file: FioFile
        queue: MultiQueue
        hardware: HardwareQueue
        task: Any
        found: cython.longlong
        total: cython.longlong = 0
        for file in self.files:
            queue = file.queue
            hardware = queue.queue_of(cpu, True)
            found = hardware.poll(cpu)
            total += found
            self.debt_ps += found * queue.complete_ps + queue.waking_ps(len(queue.woken))
            self.ledger.storage += found * queue.complete_ps
            if len(queue.woken) > 0:
                woken, queue.woken = queue.woken, []
                for task in woken:
                    task.wake_on(cpu)
        return total
