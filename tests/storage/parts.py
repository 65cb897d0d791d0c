"""Disks with round numbers, and somebody who sends commands."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from simnet.kernel.component import Component
from simnet.kernel.simulator import Simulator
from simnet.storage.command import Command, Target
from simnet.storage.disk import Disk
from simnet.storage.model import DiskModel

US = 10**6
MS = 10**9
SECTOR = 512

# 10 ms a revolution of 10 sectors: a sector passes in 1 ms. Seeks take no time unless named.
ROUND = DiskModel(
    medium="magnetic",
    capacity_bytes=200 * 10 * SECTOR,
    bus_rate_bps=8 * 10**15,
    command_overhead_ps=0,
    queue_depth=1000,
    rpm=6000,
    heads=1,
    outer_rate_bps=10 * SECTOR * 8 * 100,
    inner_rate_bps=10 * SECTOR * 8 * 100,
)


def round_disk(sim: Simulator, **changes: Any) -> Disk:
    """200 cylinders of 10 sectors a track, unless changed."""
    model = replace(ROUND, **changes)
    skew_ps = (model.heads - 1) * (model.head_switch_ps + model.write_settle_ps)
    skew_ps += model.seek_track_ps + model.write_settle_ps
    rate = -(-10 * SECTOR * 8 * 10**12 // (10 * MS + skew_ps // model.heads))
    model = replace(model, outer_rate_bps=rate, inner_rate_bps=rate)
    return Disk(sim, "disk", model)


class Driver(Component):
    """Sends commands at times; logs (time in us, tag) of each completion."""

    def __init__(self, sim: Simulator, target: Target, path: str = "driver") -> None:
        super().__init__(sim, path)
        self.target = target
        self.todo: list[Command] = []
        self.log: list[tuple[int, Any]] = []
        self.refused: list[Any] = []

    def send(
        self, sector: int, sectors: int = 1, *, at: int = 0, write: bool = False, tag: Any = None
    ) -> None:
        tag = sector if tag is None else tag
        self.todo.append(Command(sector, sectors, write=write, owner=self, tag=tag))
        self.sim.at(at, self, 0, len(self.todo) - 1, 0)

    def on_event(self, kind: int, arg: int) -> None:  # noqa: ARG002 - as every component
        if not self.target.submit(self.todo[arg]):
            self.refused.append(self.todo[arg].tag)

    def command_done(self, command: Command) -> None:
        self.log.append((self.sim.now // US, command.tag))

    @property
    def order(self) -> list[Any]:
        return [tag for _, tag in self.log]
