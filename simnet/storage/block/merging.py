"""How bios become parts of requests that wait, and requests parts of others.

Source: `elv_merge`, `ll_back_merge_fn`, `ll_front_merge_fn` and `attempt_merge` in block/elevator.c
and block/ll_rw_blk.c of Linux 2.6.18; later in block/blk-merge.c, the same for several queues.
"""

from __future__ import annotations

from simnet.kernel.component import Component
from simnet.kernel.simulator import Simulator
from simnet.storage.block.diskstats import DiskStats
from simnet.storage.block.elevator import BACK_MERGE, FRONT_MERGE, NO_MERGE, Elevator
from simnet.storage.block.request import Bio, Request

__all__ = ["MergingQueue"]


class MergingQueue(Component):
    """The part of a queue that merges.

    Args:
        sim: the simulation.
        path: component path.
        hz: of the kernel.

    Attributes:
        elevator: the scheduler.
        stats: counters of the device.
        last_merge: the request that grew last.
        max_sectors, max_segments: of a request.
        nomerges: as in sysfs: 1 asks no more than the request that grew last, 2 not even that.
    """

    def __init__(self, sim: Simulator, path: str, hz: int) -> None:
        super().__init__(sim, path)
        self.hz = hz
        self.jiffy_ps = 10**12 // hz
        self.stats = DiskStats(self.jiffy_ps)
        self.elevator: Elevator = None
        self.last_merge: Request | None = None
        self.max_sectors = self.max_segments = 0
        self.nomerges = 0

    def free(self, request: Request) -> None:
        """Give a request back."""
        raise NotImplementedError

    def merge(self, bio: Bio) -> bool:
        """Let a request grow by the bio, if there is one that can."""
        kind, request = NO_MERGE, self.last_merge
        if request is not None and Elevator.may_merge(request, bio):
            if request.end == bio.sector:
                kind = BACK_MERGE
            elif bio.sector + bio.sectors == request.sector:
                kind = FRONT_MERGE
        if kind == NO_MERGE and not self.nomerges:
            kind, request = self.elevator.merge(bio)
        if kind == NO_MERGE or request is None or not self._fits(request, bio):
            return False
        request.sectors += bio.sectors
        request.segments += bio.segments
        self.stats.merges[request.rw] += 1
        if kind == BACK_MERGE:
            request.bios.append(bio)
            following = self.elevator.latter(request)
            swallowed = following is not None and self._join(request, following)
        else:
            request.bios.insert(0, bio)
            request.sector = bio.sector
            former = self.elevator.former(request)
            swallowed = former is not None and self._join(former, request)
        if not swallowed:
            self.elevator.merged(request)
            self.last_merge = request
        return True

    def _fits(self, request: Request, bio: Bio) -> bool:
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

    def _join(self, request: Request, following: Request) -> bool:
        """`attempt_merge`: let a request swallow the next one if that follows without a gap."""
        if (
            not (request.mergeable and following.mergeable)
            or request.end != following.sector
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
