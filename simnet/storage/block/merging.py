"""How bios become parts of requests that wait, and requests parts of others.

Source: `elv_merge`, `ll_back_merge_fn`, `ll_front_merge_fn` and `attempt_merge` in block/elevator.c
and block/ll_rw_blk.c of Linux 2.6.18; later in block/blk-merge.c, the same for several queues.
"""

import cython

from simnet.kernel.compiled import Public
from simnet.kernel.simulator import Simulator
from simnet.storage.block.diskstats import DiskStats
from simnet.storage.block.elevator import Elevator, ScheduledQueue
from simnet.storage.block.request import Bio, Request


@cython.cclass
class MergingQueue(ScheduledQueue):
    """The part of a queue that merges.

    Args:
        hz: of the kernel.
    """

    stats: Public[DiskStats] = None  # counters of the device
    elevator: Public[Elevator] = None  # the scheduler
    last_merge: Public[Request] = None  # the request that grew last
    # of a request
    max_sectors: Public[cython.longlong] = 0
    max_segments: Public[cython.longlong] = 0
    # as in sysfs: 1 asks no more than the request that grew last, 2 not even that
    nomerges: Public[cython.int] = 0

    def __init__(self, sim: Simulator, path: str, hz: int) -> None:
        super().__init__(sim, path, hz)
        self.stats = DiskStats()

    def free(self, request: Request) -> cython.int:
        """Give a request back."""
        raise NotImplementedError

    def merge(self, bio: Bio) -> cython.bint:
        """Let a request grow by the bio, if there is one that can."""
        neighbour: Request
        swallowed: cython.bint
        request: Request = self.last_merge
        if request is not None and not (
            self.elevator.may_merge(request, bio)
            and (request.end() == bio.sector or bio.sector + bio.sectors == request.sector)
        ):
            request = None
        if request is None and not self.nomerges:
            request = self.elevator.merge(bio)
        if request is None or not self._fits(request, bio):
            return False
        behind: cython.bint = request.end() == bio.sector
        request.sectors += bio.sectors
        request.segments += bio.segments
        self.stats.merges[request.rw] += 1
        if behind:
            request.bios.append(bio)
            neighbour = self.elevator.latter(request)
            swallowed = neighbour is not None and self._join(request, neighbour)
        else:
            request.bios.insert(0, bio)
            request.sector = bio.sector
            neighbour = self.elevator.former(request)
            swallowed = neighbour is not None and self._join(neighbour, request)
        if not swallowed:
            self.elevator.merged(request)
            self.last_merge = request
        return True

    def _fits(self, request: Request, bio: Bio) -> cython.bint:
        """`ll_back_merge_fn`: a request that is too large for this bio takes no other either."""
        if (
            request.sectors + bio.sectors <= self.max_sectors
            and request.segments + bio.segments <= self.max_segments
        ):
            return True
        request.no_merge = True
        if self.last_merge is request:
            self.last_merge = None
        return False

    def _join(self, request: Request, following: Request) -> cython.bint:
        """`attempt_merge`: let a request swallow the next one if that follows without a gap."""
        if (
            not (request.mergeable() and following.mergeable())
            or request.end() != following.sector
            or request.rw != following.rw
            or request.sectors + following.sectors > self.max_sectors
            or request.segments + following.segments > self.max_segments
        ):
            return False
        start_ps = min(request.start_ps, following.start_ps)
        earlier_ps = request.start_ps - start_ps
        request.start_ps = start_ps
        request.start_jiffy = min(request.start_jiffy, following.start_jiffy)
        request.bios += following.bios
        request.segments += following.segments
        request.sectors += following.sectors
        self.elevator.merged_requests(request, following)
        self.last_merge = request
        self.stats.merged(self.sim.now, following.start_ps, earlier_ps)
        self.free(following)
        return True
