"""Pagepool, prefetch and write-behind of a node."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.host.lpar import LparCores, LparCpu
from simnet.kernel.simulator import Simulator
from simnet.storage.scale.client import ScaleClient
from simnet.storage.scale.files import Tuning
from simnet.workload.block_stream import BlockStream, CallCosts, Pass
from tests.workload.stand_in import StandIn

MIB = 1 << 20
MS = 10**9
S = 10**12
COSTS = CallCosts(256 << 10, 5 * 10**6, 150)


class Rig:
    """A node, its file system and the stand-in for servers; streams one after the other."""

    def __init__(self, pool_blocks: int = 64, block: int = MIB, **more: int) -> None:
        self.sim = Simulator()
        self.servers = StandIn(
            self.sim, latency_ps=more.pop("latency_ps", 20 * MS), rate_bytes_s=5 * 10**9
        )
        self.cpu = LparCpu(self.sim, "cpu", LparCores(16, 2, (1000, 1400), (600, 1000)))
        self.client = ScaleClient(
            self.sim,
            "client",
            number=0,
            cluster=self.servers,
            cpu=self.cpu,
            tuning=Tuning(
                pagepool_bytes=pool_blocks * block,
                block_bytes=block,
                prefetch_percent=more.get("prefetch_percent", 40),
                prefetch_threads=more.get("prefetch_threads", 100),
                worker_threads=more.get("worker_threads", 100),
                max_mb_per_s=more.get("max_mb_per_s", 24000),
                max_files_to_cache=more.get("max_files_to_cache", 1000),
                seq_discard_threshold_bytes=more.get("discard_bytes", 1 << 40),
            ),
            daemon_fs_per_byte=440,
        )
        self.block = block
        self.streams = 0
        self.ends: list[int] = []

    def begin(self, what: Pass) -> BlockStream:
        """Begin a pass now, and close its files at the end."""
        work = BlockStream(self.sim, f"stream{self.streams}", self.client, self.cpu, COSTS)
        self.streams += 1
        reading = writing = None
        if what.read_file >= 0:
            reading = self.client.open(what.read_file, what.read_size_bytes, work)
        if what.write_file >= 0:
            size = what.write_at_bytes + what.write_bytes
            writing = self.client.open(what.write_file, size, work)

        def done() -> None:
            self.ends.append(self.sim.now)
            for handle in (reading, writing):
                if handle is not None:
                    self.client.close(handle)

        work.begin(what, reading, writing, done)
        return work

    def run(self, *passes: Pass) -> None:
        """Do passes one after the other."""
        for what in passes:
            self.begin(what)
            self.sim.run_until(self.sim.now + 10**15)


def read(file: int, size: int, ways: int = 1) -> Pass:
    return Pass(read_file=file, read_size_bytes=size, read_bytes=size, ways=ways)


def test_a_file_is_read_once_and_then_from_memory() -> None:
    rig = Rig()
    rig.run(read(1, 10 * MIB), read(1, 10 * MIB))
    assert rig.servers.read_bytes == 10 * MIB
    assert rig.client.hits >= 10
    assert rig.client.requests == 10


def test_the_daemon_works_for_what_passes() -> None:
    rig = Rig()
    rig.run(read(1, 10 * MIB))
    # of 10 blocks and 40 calls, each rounded
    calls_ps = 40 * COSTS.call_ps + 10 * MIB * COSTS.copy_fs_per_byte // 1000
    daemon_ps = rig.cpu.done_ps - calls_ps
    assert daemon_ps == pytest.approx(10 * MIB * 440 // 1000, abs=50)


def test_a_file_larger_than_the_threshold_is_not_kept() -> None:
    rig = Rig(discard_bytes=8 * MIB)
    rig.run(read(1, 10 * MIB), read(1, 10 * MIB))
    assert rig.servers.read_bytes == 20 * MIB
    assert rig.client.pool.used_bytes == 0


def test_the_block_used_longest_ago_is_stolen() -> None:
    rig = Rig(pool_blocks=16)
    rig.run(read(1, 8 * MIB), read(2, 8 * MIB), read(1, 8 * MIB))
    assert rig.servers.read_bytes == 16 * MIB
    rig.run(read(3, 8 * MIB), read(1, 8 * MIB))
    assert rig.servers.read_bytes == 24 * MIB
    rig.run(read(2, 8 * MIB))
    assert rig.servers.read_bytes == 32 * MIB


def test_reading_ahead_hides_the_latency() -> None:
    """40 blocks one at a time take 40 latencies, ahead of the reader only a few."""
    ahead, merged = Rig(), Rig()
    ahead.run(read(1, 40 * MIB))
    merged.run(read(1, 40 * MIB, ways=8))
    assert merged.ends[0] > 38 * 20 * MS
    assert ahead.ends[0] < 10 * 20 * MS
    assert merged.client.prefetched == 0


def test_a_merge_needs_a_block_of_each_run_in_memory() -> None:
    """With memory for 8 blocks a merge of 8 runs reads each once; of 12 runs, each again and again.

    In the second case it asks for the block that it has used longest ago, which is the one that
    has just been stolen, so every touch is a read: 11 others a block once all runs have begun.
    """
    fits, thrashes = Rig(pool_blocks=8), Rig(pool_blocks=8)
    fits.run(read(1, 48 * MIB, ways=8))
    thrashes.run(read(1, 48 * MIB, ways=12))
    assert fits.servers.read_bytes == 48 * MIB
    begun = sum(min(tile, 11) for tile in range(48))
    assert 40 * MIB < thrashes.servers.read_bytes - 48 * MIB <= begun * MIB
    assert thrashes.ends[0] > 4 * fits.ends[0]


def test_merges_share_memory_with_each_other() -> None:
    """Two merges of 8 runs need 16 blocks: with 12 both read blocks again, with 20 none does."""
    roomy, tight = Rig(pool_blocks=20), Rig(pool_blocks=12)
    for rig in (roomy, tight):
        for file in (1, 2):
            rig.begin(read(file, 48 * MIB, ways=8))
        rig.sim.run_until(10**15)
    assert len(roomy.ends) == len(tight.ends) == 2
    assert roomy.servers.read_bytes == 96 * MIB
    assert tight.servers.read_bytes > 120 * MIB


def test_max_mbps_bounds_what_is_ahead() -> None:
    """At 100 MB/s and a latency of 20 ms there are two blocks of 1 MiB on their way."""
    slow, fast = Rig(max_mb_per_s=100), Rig()
    for rig in (slow, fast):
        rig.run(read(1, 200 * MIB))
    rate = 200 * MIB / (slow.ends[0] / 10**12)
    assert rate < 120e6
    assert fast.ends[0] < slow.ends[0] / 3


def test_prefetch_threads_bound_what_is_ahead() -> None:
    rig = Rig(prefetch_threads=2)
    rig.run(read(1, 100 * MIB))
    assert rig.ends[0] > 100 * 20 * MS / 3


def test_a_small_file_takes_sub_blocks() -> None:
    rig = Rig()
    rig.run(read(1, 100_000))
    assert rig.servers.read_bytes == 4 * MIB // 32
    assert rig.client.pool.used_bytes == 4 * MIB // 32


def test_full_blocks_are_written_behind_and_the_last_at_close() -> None:
    rig = Rig()
    rig.run(Pass(write_file=1, write_bytes=5 * MIB + 1))
    assert rig.servers.written_bytes == 5 * MIB + MIB // 32
    assert rig.servers.read_bytes == 0
    assert rig.client.pool.dirty_bytes == 0


def test_a_writer_waits_when_its_share_is_full_of_dirty_blocks() -> None:
    rig = Rig(pool_blocks=20, latency_ps=500 * MS)
    work = rig.begin(Pass(write_file=1, write_bytes=64 * MIB))
    rig.sim.run_until(10**15)
    assert work.io_wait_ps > 500 * MS
    assert rig.client.pool.most_share_bytes <= rig.client.pool.share_bytes


def test_what_was_written_to_a_deleted_file_need_not_go_to_disk() -> None:
    rig = Rig(prefetch_threads=1)
    rig.begin(Pass(write_file=1, write_bytes=20 * MIB))
    rig.sim.run_until(25 * MS)
    rig.client.delete(1)
    rig.sim.run_until(10**15)
    assert rig.client.dropped_bytes > 0
    assert rig.client.pool.used_bytes == 0
    assert rig.servers.written_bytes + rig.client.dropped_bytes == 20 * MIB


def test_write_behind_and_prefetch_take_turns_where_both_want_the_only_thread() -> None:
    rig = Rig(prefetch_threads=1)
    rig.begin(read(1, 100 * MIB))
    rig.sim.run_until(300 * MS)
    before = len(rig.servers.asked)
    rig.begin(Pass(write_file=2, write_bytes=20 * MIB))
    rig.sim.run_until(S)
    writes = [number for number, ask in enumerate(rig.servers.asked[before:], 1) if ask[3]]
    # of two blocks to be read the reader itself asks for one, as it has to wait for it
    assert writes[:10] == list(range(2, 32, 3))


def test_what_has_been_written_is_no_block_that_was_asked_for() -> None:
    rig = Rig()
    work = BlockStream(rig.sim, "stream", rig.client, rig.cpu, COSTS)
    handle = rig.client.open(1, 4 * MIB, work)
    buffer = rig.client.write(handle, 3)
    rig.client.written(handle, buffer, 0, MIB, behind=True)
    assert rig.client.read(handle, 0) is None
    assert (rig.client.hits, rig.client.late, rig.client.misses) == (0, 0, 1)


def test_a_file_that_is_forgotten_loses_its_blocks() -> None:
    rig = Rig(max_files_to_cache=2)
    rig.run(read(1, 4 * MIB), read(2, 4 * MIB), read(3, 4 * MIB), read(1, 4 * MIB))
    assert rig.servers.read_bytes == 16 * MIB
    assert not rig.client.knows(2)


def test_a_prefetch_that_nobody_wants_any_more_gives_its_share_back() -> None:
    rig = Rig()
    rig.run(Pass(read_file=1, read_size_bytes=100 * MIB, read_bytes=10 * MIB))
    assert rig.client.prefetched > 10
    assert rig.client.pool.ahead_bytes == 0


passes = st.lists(
    st.builds(
        lambda file, size, ways, out: Pass(
            read_file=file,
            read_size_bytes=size,
            read_bytes=size,
            ways=ways,
            write_file=10 + file if out else -1,
            write_bytes=out,
        ),
        st.integers(1, 4),
        st.integers(1, 24 * MIB),
        st.integers(1, 4),
        st.sampled_from([0, MIB // 2, 7 * MIB + 5]),
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=30)
@given(passes, st.sampled_from([8, 16, 64]), st.sampled_from([1, 4 * MIB, 1 << 40]))
def test_laws(given_passes: list[Pass], pool_blocks: int, discard_bytes: int) -> None:
    """At once: bytes read are bytes asked for, every block is a hit, late or a miss, and so on."""
    rig = Rig(pool_blocks=pool_blocks, discard_bytes=discard_bytes)
    sizes: dict[int, int] = {}
    for what in given_passes:
        # a file has one size
        sizes.setdefault(what.read_file, what.read_size_bytes)
    fixed = [
        Pass(
            read_file=what.read_file,
            read_size_bytes=sizes[what.read_file],
            read_bytes=sizes[what.read_file],
            ways=what.ways,
            write_file=what.write_file,
            write_bytes=what.write_bytes,
        )
        for what in given_passes
    ]
    streams = [rig.begin(what) for what in fixed]
    rig.sim.run_until(10**16)
    client, pool = rig.client, rig.client.pool
    assert len(rig.ends) == len(fixed)
    assert [s.read_bytes for s in streams] == [what.read_bytes for what in fixed]
    assert [s.written_bytes for s in streams] == [
        what.write_bytes if what.write_file >= 0 else 0 for what in fixed
    ]
    blocks = [-(-what.read_bytes // rig.block) for what in fixed]
    # a merge may have to read the blocks of its other runs again, for each of its own
    again = sum(
        min(tile, what.ways - 1)
        for what, count in zip(fixed, blocks, strict=True)
        for tile in range(count // min(what.ways, count) * min(what.ways, count))
    )
    assert 0 <= client.hits + client.late + client.misses - sum(blocks) <= again
    assert client.requests == len(rig.servers.asked)
    assert client.read_bytes == rig.servers.read_bytes
    assert client.written_bytes == rig.servers.written_bytes
    assert client.written_bytes + client.dropped_bytes >= max(
        (what.write_bytes for what in fixed if what.write_file >= 0), default=0
    )
    assert pool.most_share_bytes <= pool.share_bytes
    assert pool.used_bytes <= pool.capacity_bytes
    assert pool.dirty_bytes == pool.ahead_bytes == 0
    held = [b for file in client.files.values() for b in file.buffers.values()]
    assert sum(buffer.memory_bytes for buffer in held) == pool.used_bytes
    assert all(buffer.pins == 0 for buffer in held)
    assert sum(client.bins) == client.read_bytes + client.written_bytes
