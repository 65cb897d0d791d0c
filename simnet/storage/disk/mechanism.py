"""The arm and the platters of a disk at work: which access goes next, and how long it takes.

One for all mechanical disks, whatever stands before them: a driver's commands
(`simnet.storage.disk.disk`) or an array's strips (`simnet.storage.raid.pdisk`). Structure after
Ruemmler and Wilkes (IEEE Computer 27(3), 1994); scheduling after Worthington, Ganger and Patt,
"Scheduling algorithms for modern disk drives" (SIGMETRICS 1994):

- fcfs: in the order of arrival;
- sstf: the least distance in cylinders; of two at the same, the earlier one;
- c-look: the next cylinder inwards, at the innermost one back to the outermost that is wanted;
- sptf: the least time until the first sector passes, seek and rotation together.
"""

from typing import Any

import cython

from simnet.kernel.compiled import Public
from simnet.storage.disk.surface import Place, ReadAhead, Surface

POLICIES = ("fcfs", "sstf", "c-look", "sptf")
_FCFS: cython.int = 0
_SSTF: cython.int = 1
_C_LOOK: cython.int = 2


@cython.cclass
class Access(Place):
    """A read or a write of sectors of 512 bytes, as the mechanism sees it.

    As a place it is where it begins, from `Mechanism.locate` on; once it has been executed, where
    it ends.
    """

    # where, how many
    sector: Public[cython.longlong] = 0
    sectors: Public[cython.longlong] = 0
    write: Public[cython.bint] = False  # False for a read
    submitted_ps: Public[cython.longlong] = 0  # when the disk took it
    ready_ps: Public[cython.longlong] = 0  # when the disk can act on it


@cython.final
@cython.cclass
class Mechanism:
    """Arm and platters of one disk."""

    surface: Surface = None  # shared by all disks of its kind
    ahead: ReadAhead = None  # what it goes on reading after a read
    policy: cython.int = 0
    # the track at which the heads are
    cylinder: Public[cython.longlong] = 0
    head: cython.longlong = 0
    # moves of the arm to other cylinders, and their distances
    seeks: cython.longlong = 0
    seek_cylinders: cython.longlong = 0
    # time that it moved, waited, passed sectors
    seek_ps: cython.longlong = 0
    rotation_ps: cython.longlong = 0
    transfer_ps: cython.longlong = 0

    def __init__(self, surface: Surface) -> None:
        self.surface = surface
        self.ahead = ReadAhead(surface)
        self.policy = POLICIES.index(surface.model.queue_policy)

    def locate(self, access: Access) -> cython.int:
        """Note where an access begins."""
        return self.surface.find(access.sector, access)

    def follow(self, now: cython.longlong) -> cython.int:
        """Bring the heads to where reading ahead has taken them."""
        ahead: ReadAhead = self.ahead
        if ahead.going:
            ahead.advance(now)
            self.cylinder = ahead.cylinder
            self.head = ahead.head
        return 0

    def freeze(self, now: cython.longlong) -> cython.int:
        """Something else needs the arm: what has been read ahead stays in the buffer."""
        ahead: ReadAhead = self.ahead
        if ahead.going:
            ahead.stop(now)
            self.cylinder = ahead.cylinder
            self.head = ahead.head
        return 0

    def holds(
        self, sector: cython.longlong, end: cython.longlong, now: cython.longlong, idle: cython.bint
    ) -> cython.bint:
        """Whether a read is in the buffer. One that is just being read keeps the heads going."""
        ahead: ReadAhead = self.ahead
        if ahead.going and idle:
            ahead.advance(now)
            if ahead.start <= sector and end <= ahead.sector:
                ahead.extend(end + self.surface.segment_sectors, now)
                return True
        return ahead.hold(sector, end)

    def overwrite(
        self, sector: cython.longlong, end: cython.longlong, now: cython.longlong
    ) -> cython.int:
        """Forget what has been read of sectors that are being written."""
        ahead: ReadAhead = self.ahead
        ahead.drop(sector, end)
        if ahead.going and sector < ahead.limit and ahead.start < end:
            self.freeze(now)
            ahead.drop(sector, end)
        return 0

    def choose(self, accesses: list[Any], now: cython.longlong) -> cython.int:
        """The position of the access that goes next; of several as good, the first."""
        surface: Surface = self.surface
        count: cython.int = len(accesses)
        access: Access = accesses[0]
        cost: cython.longlong
        best_cost: cython.longlong = -1
        best: cython.int = 0
        position: cython.int
        if count == 1 or self.policy == _FCFS:
            return 0
        if surface.age_limit_ps > 0 and now - access.submitted_ps > surface.age_limit_ps:
            return 0
        for position in range(count):
            access = accesses[position]
            cost = self._cost(access, now)
            if best_cost < 0 or cost < best_cost:
                best_cost = cost
                best = position
        return best

    def _cost(self, access: Access, now: cython.longlong) -> cython.longlong:
        """What the policy compares: time until the first sector passes, or cylinders."""
        surface: Surface = self.surface
        ahead: ReadAhead = self.ahead
        distance: cython.longlong = access.cylinder - self.cylinder
        settle_ps: cython.longlong = surface.settle_ps if access.write else 0
        start_ps: cython.longlong
        if self.policy == _SSTF:
            return distance if distance >= 0 else -distance
        if self.policy == _C_LOOK:
            return distance if distance >= 0 else distance + surface.cylinders
        start_ps = max(now, access.ready_ps)
        if ahead.going and not access.write and ahead.start <= access.sector <= ahead.sector:
            return start_ps - now
        return surface.reach_ps(start_ps, self.cylinder, self.head, settle_ps, access) - now

    def execute(self, access: Access, now: cython.longlong) -> cython.longlong:
        """Move for an access that is located; return when it is done."""
        surface: Surface = self.surface
        ahead: ReadAhead = self.ahead
        start_ps: cython.longlong = max(now, access.ready_ps)
        end: cython.longlong = access.sector + access.sectors
        before_ps: cython.longlong
        end_ps: cython.longlong
        if ahead.going:
            ahead.advance(start_ps)
            if not access.write and ahead.start <= access.sector <= ahead.sector:
                # it begins in what is being read ahead: no seek, no rotation
                ahead.extend(access.sector, start_ps)
                before_ps = ahead.time_ps
                end_ps = ahead.read_until(end)
                self.transfer_ps += end_ps - before_ps
                ahead.extend(end + surface.segment_sectors, end_ps)
                return max(end_ps, start_ps + surface.bus_ps(access.sectors))
        self.freeze(now)
        end_ps = self._transfer(start_ps, access)
        if access.write:
            return end_ps
        ahead.begin(access.sector, end, end_ps, self.cylinder, self.head)
        return max(end_ps, start_ps + surface.bus_ps(access.sectors))

    def _transfer(self, now: cython.longlong, access: Access) -> cython.longlong:
        """Seek, wait and pass sectors, track by track; return the end."""
        surface: Surface = self.surface
        settle_ps: cython.longlong = surface.settle_ps if access.write else 0
        left: cython.longlong = access.sectors
        count: cython.longlong
        distance: cython.longlong
        move_ps: cython.longlong
        pass_ps: cython.longlong
        there_ps: cython.longlong
        while True:
            count = min(left, access.left)
            distance = access.cylinder - self.cylinder
            if distance != 0:
                self.seeks += 1
                self.seek_cylinders += distance if distance > 0 else -distance
            move_ps = surface.move_ps(distance, access.head != self.head, settle_ps)
            there_ps = surface.pass_at(now + move_ps, access.angle_ps)
            pass_ps = surface.pass_ps(count, access)
            self.seek_ps += move_ps
            self.rotation_ps += there_ps - now - move_ps
            self.transfer_ps += pass_ps
            now = there_ps + pass_ps
            self.cylinder = access.cylinder
            self.head = access.head
            left -= count
            if left == 0:
                return now
            surface.find_next_track(access)
