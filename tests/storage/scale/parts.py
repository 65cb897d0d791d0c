"""A client whose servers answer when they are told to."""

from typing import Any

from simnet.host.lpar import LparCores, LparCpu
from simnet.kernel.simulator import Simulator
from simnet.storage.nsd.nsd import NsdRequest
from simnet.storage.scale.client import ScaleClient
from simnet.storage.scale.files import BlockUser, Handle, Tuning

PIECE = 20_000
BLOCK = 32 * PIECE
MS = 10**9
S = 10**12
CLEAN = 1

Ask = tuple[str, int, int, int, int]


class Servers:
    """Keeps requests until they are answered one by one."""

    def __init__(self) -> None:
        self.requests: list[NsdRequest] = []
        self.seen = 0

    def submit(self, request: NsdRequest) -> None:
        self.requests.append(request)

    def asked(self) -> list[Ask]:
        """What was asked for since the last look: kind, file, block, offset and size."""
        new, self.seen = self.requests[self.seen :], len(self.requests)
        return [
            (
                "write" if each.write else "read",
                each.file,
                each.block,
                each.offset_bytes,
                each.size_bytes,
            )
            for each in new
        ]


class User(BlockUser):
    """Notes when a block may be there."""

    def __init__(self, sim: Simulator, path: str = "user") -> None:
        super().__init__(sim, path)
        self.told: list[Handle] = []

    def block_ready(self, handle: Handle) -> None:
        self.told.append(handle)

    def request_done(self, request: NsdRequest) -> int:  # noqa: ARG002 - any is as good
        return 0


class Rig:
    """A client with memory for so many blocks; its servers answer when they are told to."""

    def __init__(self, blocks: int = 8, **more: int) -> None:
        self.sim = Simulator()
        self.servers = Servers()
        self.cpu = LparCpu(self.sim, "cpu", LparCores(16, 2, (1000, 1400), (600, 1000)))
        tuning = {
            "pagepool_bytes": blocks * BLOCK,
            "block_bytes": BLOCK,
            "prefetch_percent": 50,
            "prefetch_threads": 100,
            "worker_threads": 100,
            "max_mb_per_s": 10**6,
            "max_files_to_cache": 1000,
            "seq_discard_threshold_bytes": 1 << 40,
        }
        fs = more.pop("daemon_fs_per_byte", 0)
        self.client = ScaleClient(
            self.sim,
            "client",
            number=3,
            cluster=self.servers,
            cpu=self.cpu,
            tuning=Tuning(**(tuning | more)),
            daemon_fs_per_byte=fs,
        )
        self.user = User(self.sim)

    def open(self, file: int = 1, blocks: int = 20, user: Any = None) -> Handle:
        return self.client.open(file, blocks * BLOCK, user or self.user)

    def asked(self) -> list[Ask]:
        return self.servers.asked()

    def blocks(self) -> list[int]:
        """The blocks that were asked for since the last look."""
        return [block for _, _, block, _, _ in self.asked()]

    def answer(self, block: int, *, write: bool = False, file: int = 1) -> None:
        """The servers are done with the oldest request for a block."""
        for request in self.servers.requests:
            if (request.file, request.block, bool(request.write)) == (file, block, write):
                self.servers.requests.remove(request)
                self.servers.seen -= 1
                self.client.request_done(request)
                return
        raise AssertionError(f"nobody asked for {block}")

    def read(self, handle: Handle, *blocks: int) -> None:
        """Read and let go blocks, which the servers have at once."""
        for block in blocks:
            buffer: Any = self.client.read(handle, block)
            while buffer is None:
                self.answer(block, file=handle.file.number)
                buffer = self.client.read(handle, block)
            self.client.release(handle, buffer)

    def counts(self, *names: str) -> list[int]:
        counters = self.client.counters()
        return [counters[name] for name in names]
