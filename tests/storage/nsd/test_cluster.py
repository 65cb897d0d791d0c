"""A file system's servers from request to answer: what always holds, and what ought to follow."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.kernel.random import stream
from simnet.kernel.simulator import Simulator
from simnet.scenario.parts.nsd.resources import nsd_resources
from simnet.storage.nsd.cluster import NsdCluster
from simnet.storage.nsd.nsd import new_request
from tests.storage.nsd.parts import MIB, MS, Caller, S, run_streams, small, whole

BLOCK = 8 * MIB
# events, reads, writes, latencies of two clients in ps; a change has to be explained
GOLDEN = (1241, 42, 25, [4852495165697, 5041588527127])
REQUESTS = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.integers(0, 3),
        st.integers(0, 5),
        st.sampled_from([0, 4096, MIB, 3 * MIB + 512]),
        st.sampled_from([512, 32768, 65536, MIB, 2 * MIB, BLOCK]),
        st.booleans(),
    ),
    min_size=1,
    max_size=30,
)


@settings(max_examples=12)
@given(REQUESTS, st.sampled_from([4 * MIB, 64 * MIB, 10**10]))
def test_each_request_is_answered_once_and_no_byte_is_lost(
    requests: list[tuple[int, int, int, int, int, bool]], memory: int
) -> None:
    sim = Simulator()
    cluster = NsdCluster(sim, "fs", small(server_buffer_bytes=memory))
    callers = [Caller(cluster, 0), Caller(cluster, 1)]
    asked = [0, 0]
    for client, file, block, offset, size, write in requests:
        fits = min(size, BLOCK - offset)
        asked[write] += fits
        callers[client].ask(file, block, offset, fits, write=write)
    for caller in callers:
        caller.go()
    sim.run_until(1000 * S)
    assert sum(len(caller.done) for caller in callers) == len(requests)
    counts = cluster.counters()
    assert [counts["read_bytes"], counts["written_bytes"]] == asked
    assert counts["under_way"] == 0
    moved = sum(flow.bytes for flow in cluster.fabric.flows.flows)
    control = sum(flow.messages for flow in cluster.fabric.flows.flows) - len(requests)
    data = sum(asked)
    assert data <= moved <= data + 512 * (control + len(requests))
    for server in cluster.servers:
        state = server.counters()
        assert state["active"] == state["waiting"] == state["used_bytes"] == 0
        log = server.log.counters()
        assert log["written_bytes"] == (
            log["flushed_bytes"] + log["dropped_bytes"] + log["used_bytes"]
        )
        assert server.raid.busy == 0


def test_what_is_no_request_is_refused() -> None:
    cluster = NsdCluster(Simulator(), "fs", small())
    caller = Caller(cluster, 0)
    for client, file, block, offset, size in (
        (2, 0, 0, 0, 1),
        (-1, 0, 0, 0, 1),
        (0, -1, 0, 0, 1),
        (0, 0, -1, 0, 1),
        (0, 0, 0, 0, 0),
        (0, 0, 0, MIB, BLOCK),
        (0, 0, 0, -1, 1),
        (0, 0, 0, 1, BLOCK),
        (0, 1 << 38, 0, 0, 1),
        (0, 0, 1 << 24, 0, 1),
    ):
        with pytest.raises(ValueError, match="no such client, file, block or range"):
            cluster.submit(
                new_request(client, file, block, offset, size, write=False, owner=caller, tag=None)
            )


@pytest.mark.parametrize("allocation", ["scatter", "cluster"])
def test_blocks_of_a_file_are_dealt_out_to_vdisks_and_spread_over_their_tracks(
    allocation: str,
) -> None:
    cluster = NsdCluster(Simulator(), "fs", small(allocation=allocation))
    blocks = 200 * cluster.nsds
    caller = Caller(cluster, 0)
    for block in range(blocks):
        caller.ask(3, block, 0, 512, write=False)
    requests = list(caller.todo)
    for request in requests:
        cluster.submit(request)
    places = Counter((request.server, request.nsd) for request in requests)
    assert set(places.values()) == {200}
    tracks = [request.track for request in requests if not request.server + request.nsd]
    steps = {(one - other) % cluster.tracks for one, other in zip(tracks[1:], tracks, strict=False)}
    if allocation == "cluster":
        assert steps == {1}
    else:
        assert len(steps) > 150
        assert sorted(tracks)[100] == pytest.approx(cluster.tracks / 2, rel=0.3)
    assert 0 <= min(tracks) <= max(tracks) < cluster.tracks


def test_large_blocks_are_faster_than_small_ones() -> None:
    rates = []
    for block in (1, 4, 8, 16):
        # a fourth of the document's disks and of what its clients have under way
        model = small(block_bytes=block * MIB, raid_array_disks=29)
        cluster, _ = run_streams(model, 512 // block, 65, S // 4)
        counts = cluster.counters()
        rates.append(counts["read_bytes"] + counts["written_bytes"])
    assert rates[0] < rates[1] / 1.5
    assert rates[1] < rates[2]
    assert rates[3] > rates[1] * 1.1


def test_one_read_takes_the_sum_of_its_parts() -> None:
    model = small(server_request_ps=10**9, server_checksum_ps_kib=0)
    sim = Simulator()
    cluster = NsdCluster(sim, "fs", model)
    caller = Caller(cluster, 0)
    caller.ask(1, 0, 0, BLOCK, write=False)
    caller.go()
    sim.run_until(S)
    request = caller.done[0]
    raid = cluster.servers[request.server].raid
    flow = cluster.fabric.pairs[0][0][request.server]
    rate = min(flow.limit * 10**6 >> 16, model.fabric.client_port.goodput_bytes_s)
    # there and back, the request's CPU time, the slowest strip, the block at a connection's rate
    expected = 2 * flow.latency_ps + 10**9 + raid.read_ps + BLOCK * S // rate
    assert request.done_ps - request.submitted_ps == pytest.approx(expected, abs=10**6)
    assert raid.reads == 1


def test_a_read_of_what_was_read_or_written_comes_from_memory() -> None:
    for write in (False, True):
        sim = Simulator()
        cluster = NsdCluster(sim, "fs", small())
        callers = [Caller(cluster, 0), Caller(cluster, 1)]
        for caller, first in zip(callers, (write, False), strict=True):
            caller.ask(1, 0, 0, BLOCK, write=first)
            caller.go()
            sim.run_until(sim.now + S)
        server = cluster.servers[callers[0].done[0].server]
        assert (server.hits, server.misses) == (1, 0 if write else 1)
        assert server.raid.reads == server.misses


def test_two_that_want_the_same_block_at_once_read_it_once() -> None:
    sim = Simulator()
    cluster = NsdCluster(sim, "fs", small())
    for client in (0, 1):
        caller = Caller(cluster, client)
        caller.ask(1, 0, 0, BLOCK, write=False)
        caller.go()
    sim.run_until(S)
    assert sum(server.joined for server in cluster.servers) == 1
    assert sum(server.raid.reads for server in cluster.servers) == 1
    assert cluster.reads == 2


def test_memory_that_is_full_forgets_what_was_used_longest_ago() -> None:
    sim = Simulator()
    cluster = NsdCluster(sim, "fs", small(server_buffer_bytes=3 * BLOCK, nsds=1))
    caller = Caller(cluster, 0, depth=1)
    # every second block of a file is on the same one of two servers
    for block in (0, 2, 0, 4, 2, 0):
        caller.ask(1, block, 0, BLOCK, write=False)
    caller.go()
    sim.run_until(10 * S)
    # one of the three is for the request under way: 2 goes when 4 comes, 0 when 2 does
    server = cluster.servers[caller.done[0].server]
    assert (server.hits, server.misses) == (1, 5)
    assert server.cached_bytes == 2 * BLOCK
    # and what is done with has left its place in the table
    assert {request.slot for request in caller.done} == {0}


def test_small_writes_are_logged_and_go_to_the_disks_as_a_whole_track() -> None:
    sim = Simulator()
    cluster = NsdCluster(sim, "fs", small())
    caller = Caller(cluster, 0)
    for piece in range(BLOCK // 65536):
        caller.ask(1, 0, piece * 65536, 65536, write=True)
    caller.go()
    sim.run_until(S)
    server = cluster.servers[caller.done[0].server]
    latest = max(request.done_ps - request.submitted_ps for request in caller.done)
    assert latest < 5 * MS
    assert server.logged == len(caller.done)
    assert (server.raid.full_writes, server.raid.part_writes) == (1, 0)
    assert server.log.counters()["used_bytes"] == 0


@pytest.mark.parametrize(("writes", "left"), [(2, 2), (3, 2), (6, 2)])
def test_a_log_that_holds_too_much_is_emptied_though_nothing_more_comes(
    writes: int, left: int
) -> None:
    size = 65536
    sim = Simulator()
    cluster = NsdCluster(
        sim, "fs", small(server_log_limit_bytes=8 * size, server_log_high_bytes=2 * size, nsds=1)
    )
    caller = Caller(cluster, 0, depth=1)
    # every second block of a file is on the same one of two servers
    for block in range(0, 2 * writes, 2):
        caller.ask(1, block, 4096, size, write=True)
    caller.go()
    sim.run_until(10 * S)
    server = cluster.servers[caller.done[0].server]
    assert server.log.counters()["used_bytes"] == left * size
    assert server.raid.part_writes == writes - left


def test_a_log_that_is_full_makes_writes_wait_for_the_disks() -> None:
    limit = 4 * 65536
    sim = Simulator()
    cluster = NsdCluster(
        sim, "fs", small(server_log_limit_bytes=limit, server_log_high_bytes=limit // 2, nsds=1)
    )
    caller = Caller(cluster, 0, depth=64)
    for block in range(0, 80, 2):
        caller.ask(1, block, 4096, 65536, write=True)
    caller.go()
    sim.run_until(10 * S)
    server = cluster.servers[caller.done[0].server]
    assert len(caller.done) == 40
    assert server.raid.part_writes >= 38
    assert max(request.done_ps - request.submitted_ps for request in caller.done) > 20 * MS


def test_threads_bound_what_is_at_work_and_large_requests_leave_some_for_small_ones() -> None:
    model = small(server_worker_threads=6, nsds=1)
    sim = Simulator()
    cluster = NsdCluster(sim, "fs", model)
    caller = Caller(cluster, 0, depth=20)
    for block in range(0, 30, 2):
        caller.ask(1, block, 0, BLOCK, write=False)
    caller.ask(1, 30, 0, 4096, write=False, tag="small")
    caller.go()
    sim.run_until(5 * MS)
    server = cluster.servers[cluster.servers[1].active > 0]
    # two threads for small requests to one for large ones
    assert server.active == 3
    assert server.waiting == 13
    sim.run_until(10 * S)
    assert [request.tag for request in caller.done].index("small") < 8
    assert len(caller.done) == 16


@pytest.mark.parametrize("read_percent", [100, 65, 0])
def test_throughput_stays_below_every_roof(read_percent: int) -> None:
    # disks that are many for two clients' ports
    cluster, _ = run_streams(whole(16 * MIB, 2), 24, read_percent, S // 4)
    for resource in nsd_resources(cluster):
        used = resource.used / (resource.capacity_per_s * cluster.sim.now / S)
        # a message counts when its last byte has gone
        slack = 1.001 if resource.unit == "ps" else 1.02
        assert 0 <= used <= slack, resource.name
    counts = cluster.counters()
    per_client = cluster.model.fabric.client_port.goodput_bytes_s
    for way in ("read_bytes", "written_bytes"):
        assert counts[way] <= 2 * per_client * cluster.sim.now / S


def test_resources_are_of_the_whole_path_and_have_names_of_their_own() -> None:
    cluster = NsdCluster(Simulator(), "fs", whole())
    found = nsd_resources(cluster, {0: ("job",)})
    kinds = {resource.kind for resource in found}
    assert kinds == {
        *("client port", "PCIe", "switch", "server port"),
        *("server cpu", "NSD threads", "SAS", "disks"),
    }
    assert len({resource.name for resource in found}) == len(found)
    assert found[0].flows == ("job",)


def test_a_run_is_the_same_to_the_last_bit_wherever_it_runs() -> None:
    cluster, streams = run_streams(small(), 12, 65, S // 3)
    cluster.fail_disk(1, 0, 4, rebuild=2)
    cluster.sim.run_until(S // 2)
    found = [client.latency_ps for client in streams]
    assert (cluster.sim.events, cluster.reads, cluster.writes, found) == GOLDEN


class TestFailures:
    @settings(max_examples=6)
    @given(
        st.integers(0, 400),
        st.sampled_from(["802.3ad", "balance-alb"]),
        st.integers(0, 2),
    )
    def test_nothing_is_lost_when_a_disk_fails(self, fails_ms: int, mode: str, which: int) -> None:
        sim = Simulator()
        cluster = NsdCluster(sim, "fs", small(fabric_lag_mode=mode))
        luck = stream(fails_ms, "what")
        callers = [Caller(cluster, 0), Caller(cluster, 1)]
        for caller in callers:
            for _ in range(20):
                caller.ask(luck.below(3), luck.below(40), 0, BLOCK, write=luck.below(2) == 1)
            caller.go()
        sim.run_until(fails_ms * MS)
        cluster.fail_disk(which % 2, 0, which, rebuild=1)
        sim.run_until(20 * S)
        assert [len(caller.done) for caller in callers] == [20, 20]
        counts = cluster.counters()
        assert counts["read_bytes"] + counts["written_bytes"] == 40 * BLOCK

    def test_what_cannot_fail_is_refused(self) -> None:
        cluster = NsdCluster(Simulator(), "fs", small())
        with pytest.raises(ValueError, match="no server 2"):
            cluster.fail_disk(2, 0, 0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"block_bytes": 128 * MIB}, "134217728 bytes is not from 1 B to 64 MiB"),
        ({"allocation": "random"}, "'random' is not cluster or scatter"),
        ({"raid_scheduler": "cfq"}, "'cfq' is not deadline or noop"),
        ({"server_log_high_bytes": 10**12}, "emptied from 1000000000000 bytes on"),
        ({"server_worker_threads": 2}, "of 2 threads none is left"),
    ],
)
def test_a_cluster_that_cannot_be_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        small(**changes)
