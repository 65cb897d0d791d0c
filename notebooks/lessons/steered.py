"""A connection that moves to another CPU while packets of it still wait: RPS and RFS.

Sixty packets of one connection come, with another connection between them, so that a backlog fills.
When twenty have come all is to move from CPU 2 to CPU 6: an administrator rewrites `rps_cpus`, or,
with RFS, the process reads there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from lessons.drawing import BLUE, ORANGE
from simnet.net.link.skb import Endpoint, Header, Station, new_skb
from simnet.net.steering.steering import PacketSteering, SocketFlowTable
from simnet.scenario.parts.steering.build import HostSteering
from simnet.scenario.system.build import build

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes

    from simnet.host.cpu import Cpu
    from simnet.kernel.simulator import Simulator
    from simnet.net.link.skb import Skb
    from simnet.scenario.core.effective import Effective

_MS, _US = 10**9, 10**6
_ENTRIES: Final = 4096
_PACKETS: Final = 60
_PACKET_BYTES: Final = 280
_TCP_PS: Final = 3 * _US
_OLD, _NEW = 2, 6
_MOVES_US: Final = 40
_COLOURS: Final = {_OLD: ORANGE, _NEW: BLUE}


class _Arrival(Endpoint):
    """Where packets of a connection go up to TCP: notes when, which, and on which CPU."""

    def __init__(self, sim: Simulator, name: str, source_port: int) -> None:
        super().__init__(sim, name)
        self.header = Header(Station(2), Station(1), 0x0B000001, 0x0A000001, source_port, 80)
        self.log: list[tuple[float, int, int]] = []

    def receive(self, skb: Skb, cpu: Cpu) -> int:
        """A packet has come; TCP has 3 us of work with it."""
        self.log.append((self.sim.now / _US, skb.seq, cpu.cpu_id))
        return _TCP_PS


class _Path:
    """Two connections behind one receive queue of a system, steered to a CPU."""

    def __init__(self, effective: Effective, *, rfs: bool) -> None:
        self.rfs = rfs
        self.system = build(effective, seed=1)
        self.sim: Simulator = self.system.env.sim
        nics: Sequence[Any] = self.system.nics
        self.port = nics[0]
        self.host = HostSteering(self.sim, effective.host, self.system.machine, seed=1)
        self.table = SocketFlowTable(_ENTRIES, 8, self.host.rules)
        self.flow = _Arrival(self.sim, "flow", 4711)
        self.other = _Arrival(self.sim, "other", 4712)
        self.queue = self.port.queues[self.port.rss.queue(self.flow.header)]

    def steer(self, cpu: int) -> None:
        """Write `rps_cpus`."""
        entries: dict[str, Any] = (
            {"flow_entries": _ENTRIES, "sockets": self.table} if self.rfs else {}
        )
        costs = self.system.machine.costs
        self.queue.steering = PacketSteering(
            self.host.rules, self.host.backlogs, costs, cpus=[cpu], **entries
        )

    def read_on(self, cpu: int) -> None:
        """The process reads what has come."""
        self.table.record(self.flow.header.rxhash, cpu)

    def send(self, numbers: Iterable[int], start_ps: int) -> None:
        """Packets of both come: fast at first, then slowly enough for backlogs to drain."""
        for number in numbers:
            for end in (self.flow, self.other):
                skb = new_skb(end, number, number + 1, 0, 0, _PACKET_BYTES, False)  # noqa: FBT003 (compiled)
                skb.arrival_ps = start_ps + (2 * number + 10 * max(number - 25, 0)) * _US
                skb.header = end.header
                self.port.incoming.append(skb)
        self.port.frames_added()


def moved(effective: Effective, *, rfs: bool) -> pd.DataFrame:
    """Sixty packets of a connection that moves: `us`, `number` and `CPU` of each as TCP gets it."""
    path = _Path(effective, rfs=rfs)
    path.steer(_OLD)
    start = 10 * _MS
    path.send([0], start - _MS)
    path.sim.run_until(start)
    path.read_on(_OLD)
    path.send(range(1, _PACKETS), start)
    path.sim.run_until(start + _MOVES_US * _US)
    if rfs:
        path.read_on(_NEW)
    else:
        path.steer(_NEW)
    path.sim.run_until(start + _MS)
    found = pd.DataFrame(path.flow.log[1:], columns=["us", "number", "CPU"])
    return found.assign(us=found["us"] - start / _US)


def draw(axes: Axes, effective: Effective, *, rfs: bool) -> None:
    """Draw when TCP gets which packet, and on which CPU."""
    found = moved(effective, rfs=rfs)
    late = int((found["number"] < found["number"].cummax()).sum())
    for cpu, colour in _COLOURS.items():
        on = found[found["CPU"] == cpu]
        axes.plot(on["us"], on["number"], "o", color=colour, markersize=4, label=f"CPU {cpu}")
    axes.set_xlabel("when TCP gets it (us)")
    axes.set_ylabel("packet of the connection (number)")
    how = "RFS: the process has moved" if rfs else "RPS: rps_cpus has been rewritten"
    axes.set_title(f"{how}; {late} packets behind a later one", loc="left", fontsize="medium")
    axes.legend()
