"""A file system's servers, small or as in the document, and clients that send requests."""

from dataclasses import replace
from functools import cache
from typing import Any

from simnet.documents.ess.cluster import ess
from simnet.kernel.random import stream
from simnet.kernel.simulator import Simulator
from simnet.storage.nsd.cluster import NsdCluster
from simnet.storage.nsd.model import ClusterModel
from simnet.storage.nsd.nsd import NsdClient, NsdRequest, new_request

S = 10**12
MS = 10**9
MIB = 1 << 20


@cache
def whole(
    block_bytes: int = 16 * MIB, clients: int = 4, rate_bps: int = 40 * 10**9
) -> ClusterModel:
    """The document's cluster."""
    return ess(block_bytes, clients, rate_bps=rate_bps)


@cache
def small(**changes: Any) -> ClusterModel:
    """Two clients, twelve disks a server; changes by part: `raid_arrays`, `block_bytes`."""
    model = whole(8 * MIB, 2)
    parts: dict[str, dict[str, Any]] = {"fabric": {}, "raid": {"array_disks": 12}, "server": {}}
    own: dict[str, Any] = {}
    for name, value in changes.items():
        part, _, rest = name.partition("_")
        if part in parts:
            parts[part][rest] = value
        else:
            own[name] = value
    changed = {part: replace(getattr(model, part), **values) for part, values in parts.items()}
    return replace(model, **changed, **own)


class Caller(NsdClient):
    """Sends given requests, `depth` at a time; notes when they are done."""

    def __init__(self, cluster: NsdCluster, client: int, depth: int = 8) -> None:
        super().__init__(cluster.sim, f"caller{client}")
        self.cluster, self.client, self.depth = cluster, client, depth
        self.todo: list[NsdRequest] = []
        self.done: list[NsdRequest] = []
        self.under_way = 0

    def ask(
        self, file: int, block: int, offset: int, size: int, *, write: bool, tag: Any = None
    ) -> None:
        """Add a request."""
        self.todo.append(new_request(self.client, file, block, offset, size, write, self, tag))

    def go(self) -> None:
        """Send what may be under way."""
        while self.todo and self.under_way < self.depth:
            self.under_way += 1
            self.cluster.submit(self.todo.pop(0))

    def request_done(self, request: NsdRequest) -> int:
        self.under_way -= 1
        self.done.append(request)
        self.go()
        return 0


class Stream(Caller):
    """Reads or writes whole blocks of some files in sequence, without end."""

    def __init__(self, cluster: NsdCluster, client: int, depth: int, read_percent: int) -> None:
        super().__init__(cluster, client, depth)
        self.read_percent = read_percent
        self.random = stream(1, f"stream{client}")
        self.places = [[self.random.below(1 << 30), 0] for _ in range(10)]
        self.latency_ps = 0
        self.count = 0
        for _ in range(depth):
            self.more()

    def more(self) -> None:
        """One more block of one of the files."""
        place = self.places[self.random.below(len(self.places))]
        write = self.random.below(100) >= self.read_percent
        self.ask(place[0] * 2 + write, place[1], 0, self.cluster.model.block_bytes, write=write)
        place[1] += 1
        self.go()

    def request_done(self, request: NsdRequest) -> int:
        self.under_way -= 1
        self.count += 1
        self.latency_ps += request.done_ps - request.submitted_ps
        self.more()
        return 0


def run_streams(
    model: ClusterModel, depth: int, read_percent: int, duration_ps: int
) -> tuple[NsdCluster, list[Stream]]:
    """All clients stream; return the cluster and the clients."""
    sim = Simulator()
    cluster = NsdCluster(sim, "fs", model)
    streams = [Stream(cluster, n, depth, read_percent) for n in range(model.fabric.clients)]
    sim.run_until(duration_ps)
    return cluster, streams
