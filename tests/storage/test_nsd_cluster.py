"""A file system's servers from request to answer: what always holds, and what ought to follow."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.kernel.simulator import Simulator
from simnet.storage.nsd import new_request
from simnet.storage.nsd_cluster import NsdCluster
from tests.storage.nsd_parts import MIB, Caller, S, run_streams, small

BLOCK = 8 * MIB
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


@settings(max_examples=20)
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
    for client, offset, size in ((2, 0, 1), (0, 0, 0), (0, MIB, BLOCK), (0, -1, 1)):
        with pytest.raises(ValueError, match="no such client, file, block or range"):
            cluster.submit(
                new_request(client, 0, 0, offset, size, write=False, owner=caller, tag=None)
            )


def test_large_blocks_are_faster_than_small_ones() -> None:
    rates = []
    for block in (1, 4, 8, 16):
        # a fourth of the document's disks and of what its clients have under way
        model = small(block_bytes=block * MIB, raid_array_disks=29)
        cluster, _ = run_streams(model, 512 // block, 65, S // 2)
        counts = cluster.counters()
        rates.append(counts["read_bytes"] + counts["written_bytes"])
    assert rates[0] < rates[1] / 1.5 < rates[2] / 2
    assert rates[3] > rates[1] * 1.2
