"""Blocks through a parallel file system's servers: four clients, 232 disks, reads and writes."""

from bench.measuring import TIMEOUTS, heading, medians, resident_mib, timeouts, verdict
from simnet.documents.ess.cluster import ess
from simnet.kernel.random import stream
from simnet.kernel.simulator import Simulator
from simnet.storage.nsd.cluster import NsdCluster
from simnet.storage.nsd.nsd import NsdClient, NsdRequest, new_request

BLOCK_BYTES = 16 << 20
CLIENTS = 4
BLOCKS = 20_000
DEPTH = 48
READ_PERCENT = 65
# a test of the document, hours with three million blocks, in a minute for servers and clients
SIMPY_TIMEOUTS_A_BLOCK = 20


class Streams(NsdClient):
    """Keeps blocks of some files under way."""

    def __init__(self, cluster: NsdCluster, client: int) -> None:
        super().__init__(cluster.sim, f"client{client}")
        self.cluster, self.client = cluster, client
        self.random = stream(1, self.path)
        self.files = [[self.random.below(1 << 30), 0] for _ in range(20)]
        for _ in range(DEPTH):
            self.more()

    def more(self) -> None:
        """Ask for the next block of one of the files."""
        file = self.files[self.random.below(20)]
        write = self.random.below(100) >= READ_PERCENT
        number = 2 * file[0] + write
        request = new_request(self.client, number, file[1], 0, BLOCK_BYTES, write, self, None)
        file[1] += 1
        self.cluster.submit(request)

    def request_done(self, _request: NsdRequest) -> int:
        """Keep as many under way."""
        self.more()
        return 0


def blocks(count: int = BLOCKS) -> NsdCluster:
    """Move so many blocks."""
    sim = Simulator()
    cluster = NsdCluster(sim, "fs", ess(BLOCK_BYTES, CLIENTS))
    for client in range(CLIENTS):
        Streams(cluster, client)
    while cluster.reads + cluster.writes < count:
        sim.dispatch(1 << 60, 1000)
    return cluster


def main() -> None:
    """Print microseconds a block, events a block, and whether memory grows."""
    heading("us a block of 16 MiB, interpreted clients included")
    wall_s, simpy_s = medians(blocks, timeouts)
    cluster = blocks()
    before = resident_mib()
    blocks(3 * BLOCKS)
    grown = resident_mib() - before
    moved = cluster.read_bytes + cluster.written_bytes
    simulated_s = cluster.sim.now / 10**12
    print(f"{cluster.sim.events / BLOCKS:.1f} events a block, {moved / simulated_s / 1e9:.1f} GB/s")
    print(f"{simulated_s / wall_s:.0f} times real time")
    print(f"{wall_s / BLOCKS * 1e6:.1f} us a block")
    ratio = wall_s / BLOCKS / (simpy_s / TIMEOUTS)
    verdict("  a block over a SimPy timeout", ratio, SIMPY_TIMEOUTS_A_BLOCK, at_most=True)
    verdict("  MiB more for three times as many blocks", grown, 20, at_most=True)


if __name__ == "__main__":
    main()
