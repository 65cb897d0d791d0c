"""What a process does with files, block by block: read, compute, write.

A pass goes over the blocks of one file and writes to another, or to the same one, or does only
one of the two. For each block there is one burst of CPU time, in which everything happens that the
program does with it: its own work, the calls of `call_bytes` each and their copies. The process
waits when a block is not in memory yet, and when there is no room for what it writes.

Blocks are read in sequence, or by turns from several runs of the file, as a merge does: that is no
sequence that a file system can see. A merge takes a little of each run's block at a time, so it
needs a block of every run in memory: one that has been stolen meanwhile is read again.
"""

# mypy: no-strict-optional

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cython

from simnet.host.lpar import LparCpu
from simnet.kernel.priority import CPU
from simnet.kernel.random import RandomStream
from simnet.kernel.simulator import Simulator
from simnet.storage.nsd.nsd import NsdRequest
from simnet.storage.scale.client import ScaleClient
from simnet.storage.scale.files import BlockUser, Handle
from simnet.storage.scale.pagepool import Buffer

_FS_PER_PS: cython.longlong = 1000
_LONGEST_BURST_PS: cython.longlong = 10 * 10**12
# what an event means
_BLOCK: cython.int = 1
_COMPUTE: cython.int = 2
_PART: cython.int = 3
_PAUSED: cython.int = 4


@dataclass(frozen=True)
class CallCosts:
    """What read() and write() cost."""

    call_bytes: int  # that a program reads or writes by one call
    call_ps: int  # CPU time of a call, copying excluded
    copy_fs_per_byte: int  # CPU time of copying between the pagepool and the program, in fs


@dataclass(frozen=True)
class Pass:
    """One pass over a file."""

    read_file: int = -1  # number of the file that is read, or -1
    read_size_bytes: int = 0  # of that file
    first_block: int = 0  # where reading begins
    read_bytes: int = 0  # that are read from there on; to the file's end at most
    ways: int = 1  # runs from which blocks are read by turns; 1 is in sequence
    write_file: int = -1  # number of the file that is written to, or -1
    write_at_bytes: int = 0  # where
    write_bytes: int = 0  # of output, spread over the pass
    # CPU time of the program for a byte read (or written, if none is), in fs
    work_fs_per_byte: int = 0
    # time for a byte read (or written), in fs, that passes after a block for what is not
    # simulated
    pause_fs_per_byte: int = 0
    whole: bool = False  # the last block that is written to is done with, full or not


@cython.final
@cython.cclass
class BlockStream(BlockUser):
    """Does passes, computes and calls for one process, one after the other.

    Args:
        client: the node's file system.
        cpu: the node's processors.
        costs: of calls.
    """

    client: ScaleClient = None
    cpu: LparCpu = None
    call_bytes: cython.longlong = 0
    call_ps: cython.longlong = 0
    copy_fs_per_byte: cython.longlong = 0
    used_ps: cython.longlong = 0  # time on a processor so far
    # by the program so far
    read_bytes: cython.longlong = 0
    written_bytes: cython.longlong = 0
    io_wait_ps: cython.longlong = 0  # time in which it waited for blocks or for room
    _done: Any = None
    _block_bytes: cython.longlong = 0
    _reading: Handle = None
    _writing: Handle = None
    _buffer: Buffer = None
    _tile: cython.longlong = 0
    _tiles: cython.longlong = 0
    _held: cython.longlong = 0
    _first: cython.longlong = 0
    _ways: cython.longlong = 0
    _end_bytes: cython.longlong = 0
    _tile_bytes: cython.longlong = 0
    _place_bytes: cython.longlong = 0
    _unwritten_bytes: cython.longlong = 0
    _write_left: cython.longlong = 0
    _work_fs: cython.longlong = 0
    _pause_fs: cython.longlong = 0
    _whole: cython.bint = False
    _compute_ps: cython.longlong = 0
    _parts: cython.longlong = 0
    _random: RandomStream = None
    _waits_from_ps: cython.longlong = 0

    def __init__(
        self, sim: Simulator, path: str, client: ScaleClient, cpu: LparCpu, costs: CallCosts
    ) -> None:
        super().__init__(sim, path)
        self.client = client
        self.cpu = cpu
        self.call_bytes = costs.call_bytes
        self.call_ps = costs.call_ps
        self.copy_fs_per_byte = costs.copy_fs_per_byte
        self._block_bytes = client.block_bytes
        self._waits_from_ps = -1
        self._ways = 1

    # -- a pass -------------------------------------------------------------------------------

    def begin(self, what: Pass, reading: Any, writing: Any, done: Callable[[], Any]) -> None:
        """Make a pass over files that are open, or None; `done()` is called at its end."""
        block: cython.longlong = self._block_bytes
        self._done = done
        self._reading = reading
        self._writing = writing
        self._first = what.first_block
        self._end_bytes = min(what.first_block * block + what.read_bytes, what.read_size_bytes)
        if reading is None:
            self._tiles = -(-what.write_bytes // block)
        else:
            self._tiles = -(-(self._end_bytes - what.first_block * block) // block)
        self._ways = min(max(what.ways, 1), max(self._tiles, 1))
        if self._ways > 1:
            reading.not_in_sequence()
        self._tile = self._held = 0
        self._place_bytes = what.write_at_bytes
        self._unwritten_bytes = 0
        self._write_left = what.write_bytes if writing is not None else 0
        self._work_fs = what.work_fs_per_byte
        self._pause_fs = what.pause_fs_per_byte
        self._whole = what.whole
        self._next()

    def _block_of(self, tile: cython.longlong) -> cython.longlong:
        """Return the block that is read `tile`-th: the runs of a merge take turns."""
        each: cython.longlong = self._tiles // self._ways
        place: cython.longlong = tile
        if self._ways > 1 and tile < each * self._ways:
            place = (tile % self._ways) * each + tile // self._ways
        return self._first + place

    def _holds(self) -> cython.bint:
        """Whether the blocks that a merge is at in its other runs are in memory.

        If not, one is being read again, and the process is called when it is there.
        """
        last: cython.longlong = min(self._ways - 1, self._tile)
        block: cython.longlong
        buffer: Buffer
        if self._tile >= self._tiles // self._ways * self._ways:
            return True
        while self._held < last:
            block = self._block_of(self._tile - 1 - self._held)
            if not self.client.touch(self._reading, block):
                buffer = self.client.read(self._reading, block)
                if buffer is None:
                    return False
                self.client.release(self._reading, buffer)
            self._held += 1
        return True

    def _next(self) -> cython.int:
        """Get the next block and work on it, or wait for it; or end the pass."""
        block: cython.longlong
        size: cython.longlong
        out: cython.longlong = 0
        system_ps: cython.longlong
        if self._tile >= self._tiles:
            return self._finish()
        if self._write_left > 0:
            out = self._write_left // (self._tiles - self._tile)
        if self._reading is None:
            size = out
        else:
            if not self._holds():
                return self._wait()
            block = self._block_of(self._tile)
            self._buffer = self.client.read(self._reading, block)
            if self._buffer is None:
                return self._wait()
            size = min(self._end_bytes - block * self._block_bytes, self._block_bytes)
            self.read_bytes += size
        self._resume()
        self._tile += 1
        self._held = 0
        self._tile_bytes = size
        self._unwritten_bytes = out
        self._write_left -= out
        system_ps = self._calls_ps(size if self._reading is not None else 0) + self._calls_ps(out)
        self.cpu.run(self, _BLOCK, system_ps + size * self._work_fs // _FS_PER_PS, system_ps)
        return 0

    def _write(self) -> cython.int:
        """Copy what the block's work has put out to buffers, or wait for room."""
        block: cython.longlong
        start: cython.longlong
        end: cython.longlong
        buffer: Buffer
        behind: cython.bint
        while self._unwritten_bytes > 0:
            block = self._place_bytes // self._block_bytes
            start = self._place_bytes - block * self._block_bytes
            buffer = self.client.write(self._writing, block)
            if buffer is None:
                return self._wait()
            self._resume()
            end = min(start + self._unwritten_bytes, self._block_bytes)
            self.written_bytes += end - start
            self._unwritten_bytes -= end - start
            self._place_bytes += end - start
            behind = end == self._block_bytes or (
                self._whole and self._write_left == 0 and self._unwritten_bytes == 0
            )
            self.client.written(self._writing, buffer, start, end, behind)
        return self._pause()

    def _pause(self) -> cython.int:
        """Let the time pass that the program waits for something else, then go on."""
        pause_ps: cython.longlong = self._tile_bytes * self._pause_fs // _FS_PER_PS
        if pause_ps <= 0:
            return self._next()
        self.sim.after(pause_ps, self, _PAUSED, 0, CPU)
        return 0

    def _wait(self) -> cython.int:
        if self._waits_from_ps < 0:
            self._waits_from_ps = self.sim.now
        return 0

    def _resume(self) -> cython.int:
        if self._waits_from_ps >= 0:
            self.io_wait_ps += self.sim.now - self._waits_from_ps
            self._waits_from_ps = -1
        return 0

    def block_ready(self, handle: Handle) -> None:
        """Try again what had to wait."""
        if handle.writes:
            self._write()
        else:
            self._next()

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """A burst of CPU time is over; it took `arg` ps on a thread."""
        buffer: Buffer
        if kind == _PAUSED:
            self._next()
            return
        self.used_ps += arg
        if kind == _BLOCK:
            buffer = self._buffer
            if buffer is not None:
                self._buffer = None
                self.client.release(self._reading, buffer)
            self._write()
        elif kind == _COMPUTE:
            self._compute()
        else:
            self._call()

    def _calls_ps(self, size_bytes: cython.longlong) -> cython.longlong:
        """The CPU time of moving so many bytes."""
        calls: cython.longlong = (size_bytes + self.call_bytes - 1) // self.call_bytes
        return calls * self.call_ps + size_bytes * self.copy_fs_per_byte // _FS_PER_PS

    def _finish(self) -> cython.int:
        done = self._done
        self._done = None
        done()
        return 0

    # -- computing, and calls at random -------------------------------------------------------

    def compute(self, work_ps: int, done: Callable[[], Any]) -> None:
        """Do nothing but compute."""
        self._done = done
        self._compute_ps = work_ps
        self._compute()

    def _compute(self) -> cython.int:
        piece_ps: cython.longlong = min(self._compute_ps, _LONGEST_BURST_PS)
        if piece_ps <= 0:
            return self._finish()
        self._compute_ps -= piece_ps
        return self.cpu.run(self, _COMPUTE, piece_ps, 0)

    def call_at_random(
        self, reading: Handle, blocks: int, calls: int, random: RandomStream, done: Any
    ) -> None:
        """Read `calls` times at random in the first blocks of a file, by one call each."""
        self._done = done
        self._reading = reading
        self._tiles = max(blocks, 1)
        self._parts = calls
        self._random = random
        self._call()

    def _call(self) -> cython.int:
        block: cython.longlong
        if self._parts <= 0:
            return self._finish()
        self._parts -= 1
        block = self._random.below(self._tiles)
        self._wait()
        self.client.read_part(self._reading.file, block, self.call_bytes, self)
        return 0

    def request_done(self, request: NsdRequest) -> cython.int:
        """What a call at random asked for is there."""
        self._resume()
        self.client.part_received(request.size_bytes)
        self.read_bytes += request.size_bytes
        work_ps: cython.longlong = self._calls_ps(request.size_bytes)
        return self.cpu.run(self, _PART, work_ps, work_ps)

    def waiting_for(self) -> str | None:
        """A block, if it waits for one."""
        return "a block" if self._waits_from_ps >= 0 else None
