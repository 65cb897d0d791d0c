"""Rebuilding a failed disk of a declustered array, a few tracks at a time, beside other work.

Every track of the array's vdisks that has a strip on the disk is read from as many other strips as
a track has data, and the lost strip is written to another disk; all disks of the array take part.
The tracks go on in order, so one number for each vdisk says what has been rebuilt. How many
are under way at once is the aggressiveness that users trade for their jobs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.storage.raid.track import TrackOp, TrackOwner

if TYPE_CHECKING:
    from simnet.kernel.simulator import Simulator
    from simnet.storage.raid.declustered import DeclusteredRaid


class Rebuild(TrackOwner):
    """Rebuilds one disk of an array.

    Args:
        raid: whose disk has failed.
        array: which array.
        disk: which disk of it.
        nsds: vdisks of the server.
        streams: tracks at once.

    Attributes:
        done_ps: when the last track was rebuilt; None before.

    Raises:
        ValueError: the array's disk is not rebuilt, as another one is already.
    """

    def __init__(
        self,
        sim: Simulator,
        path: str,
        raid: DeclusteredRaid,
        array: int,
        disk: int,
        nsds: int,
        streams: int,
    ) -> None:
        super().__init__(sim, path)
        if raid.lost_disk[array] >= 0:
            raise ValueError(f"{path}: another disk of array {array} is being rebuilt")
        raid.lost_disk[array] = disk
        self.raid = raid
        self.nsds = [nsd for nsd in range(nsds) if nsd % raid.model.arrays == array]
        for nsd in self.nsds:
            raid.rebuilt_to[nsd] = 0
        self.next_track = 0
        self.under_way: set[int] = set()
        self.done_ps: int | None = None
        self.streams = streams
        self._more()

    def counters(self) -> dict[str, int]:
        """Tracks that are under way."""
        return {"under_way": len(self.under_way)}

    def _more(self) -> None:
        """Go on with tracks that have lost a strip."""
        while self.nsds and len(self.under_way) < self.streams:
            if self.next_track == self.raid.layout.tracks:
                if self.under_way:
                    return
                self._advance()
                self.nsds.pop(0)
                self.next_track = 0
                continue
            track = self.next_track
            self.next_track += 1
            self.under_way.add(track)
            if not self.raid.rebuild(self.nsds[0], track, self):
                self.under_way.remove(track)
        if not self.nsds and self.done_ps is None:
            self.done_ps = self.sim.now

    def track_done(self, op: TrackOp) -> int:
        """A track is whole again."""
        self.under_way.discard(op.track)
        self._advance()
        self._more()
        return 0

    def _advance(self) -> None:
        """All tracks before the earliest that is under way are rebuilt."""
        self.raid.rebuilt_to[self.nsds[0]] = min(self.under_way, default=self.next_track)
