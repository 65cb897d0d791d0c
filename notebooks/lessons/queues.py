"""Requests in the queues of virtual SCSI disks: who has them, and what Little's law says of them.

A request that is in the queue when an interval begins brings the time it has waited into `await`,
and not into `avgqu-sz`; one that is there at the end takes its time away. What both sides of
Little's law differ by is that, and nothing else, as long as every request is completed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from lessons.drawing import BLUE, GREEN, VERMILION
from simnet.scenario.core.load import load
from simnet.scenario.system.build import build

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# of the client, and how they are drawn
DISKS: Final = {"sdb": BLUE, "sdc": GREEN, "sdd": VERMILION}
_SECOND: Final = 10**12
_WARM_UP_S: Final = 3
_LOOK_MS: Final = 20
_MS: Final = 10**9


@dataclass(frozen=True)
class _Counted:
    """What a queue has counted so far: completed requests, their seconds, and seconds in it."""

    completed: int
    waited_s: float
    queue_s: float

    @property
    def ages_s(self) -> float:
        """How long the requests that are in the queue have been there, all together."""
        return self.queue_s - self.waited_s


def littles_law(scenario: str, tuning: str = "", *, seconds: int = 60) -> pd.DataFrame:
    """Simulate the disks for some seconds after 3 s, a row for each that completes requests.

    Columns: completed requests a second times their mean time in the queue; requests in the queue,
    mean; and how much older, in seconds over the interval, those in it became meanwhile.
    """
    system = build(load(scenario, tunings=(tuning,) if tuning else ()), seed=1)
    storage = system.parts["storage"]
    server = {f"peer0:{disk}": queue for disk, queue in storage.server_queues.items()}
    queues = storage.queues | server
    system.run(_WARM_UP_S * _SECOND)
    before = {disk: _counted(queue, system.env.sim.now) for disk, queue in queues.items()}
    system.run(seconds * _SECOND)
    rows = {}
    for disk, queue in queues.items():
        old, new = before[disk], _counted(queue, system.env.sim.now)
        if new.completed > old.completed:
            rows[disk] = {
                "throughput x await": (new.waited_s - old.waited_s) / seconds,
                "avgqu-sz": (new.queue_s - old.queue_s) / seconds,
                "grown older": (new.ages_s - old.ages_s) / seconds,
            }
    return pd.DataFrame(rows).T


def _counted(queue: Any, now_ps: int) -> _Counted:
    stats = queue.stats
    found = stats.snapshot(now_ps)
    # requests that became part of others wait as long as those, and are never completed
    waited_ps = sum(found.ticks_ps) + stats.merged_ps
    return _Counted(sum(found.ios), waited_ps / _SECOND, found.queue_ps / _SECOND)


def requests_over_time(scenario: str, *, looks: int = 200) -> pd.DataFrame:
    """Look every 20 ms at who has requests, from 3 s on; the index is in seconds.

    For each disk a column for those that wait at the client, and one for those that were sent.
    """
    system = build(load(scenario), seed=1)
    queues = system.parts["storage"].queues
    system.run(_WARM_UP_S * _SECOND)
    rows = []
    for _ in range(looks):
        system.run(_LOOK_MS * _MS)
        waiting = {f"{disk}, client": sum(q.count) - q.busy for disk, q in queues.items()}
        rows.append(waiting | {f"{disk}, sent": q.busy for disk, q in queues.items()})
    return pd.DataFrame(rows, index=pd.Index([look * _LOOK_MS / 1e3 for look in range(looks)]))


def draw_requests(found: pd.DataFrame, client: Axes, server: Axes) -> None:
    """Draw what `requests_over_time` found, the server below the client."""
    for disk, colour in DISKS.items():
        client.plot(found[f"{disk}, client"], color=colour, label=disk)
    sent = [found[f"{disk}, sent"] for disk in DISKS]
    server.stackplot(found.index, *sent, colors=list(DISKS.values()))
    client.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    client.set_ylabel("client, waiting\n(requests)")
    server.set_ylabel("server\n(requests)")
    server.set_xlabel("time (s)")
