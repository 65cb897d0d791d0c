"""Random plans. Each draws the usual first, so that a failure is shown with little that is not."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from simnet.host.costs import COST_NAMES
from tests.laws.machines import HostPlan, NicPlan, Plan, StreamPlan

_frames = st.sampled_from([5, 53, 1, 2, 20])
_usecs = st.sampled_from([20, 72, 1, 7, 300])

nic_plans = st.builds(
    NicPlan,
    throttle=st.booleans(),
    rx_frames=_frames,
    rx_usecs=_usecs,
    rx_frames_irq=_frames,
    rx_usecs_irq=_usecs,
    tx_frames=_frames,
    tx_usecs=_usecs,
    tx_frames_irq=_frames,
    tx_usecs_irq=_usecs,
    throttle_rate=st.sampled_from([8000, 0, 1000, 50_000]),
    shared_update=st.booleans(),
    rx_buffers=st.sampled_from([200, 64, 20, 7, 2, 1]),
    tx_ring=st.sampled_from([511, 31, 4, 1]),
    weight=st.sampled_from([64, 300, 16, 5, 1]),
    mtu=st.sampled_from([1500, 1500, 9000, 576]),
    tso=st.booleans(),
)

host_plans = st.builds(
    HostPlan,
    nodes=st.integers(1, 2),
    sockets=st.integers(1, 2),
    cores=st.integers(1, 2),
    threads=st.integers(1, 2),
    smt_permille=st.integers(1000, 2500),
    stall_permille=st.sampled_from([0, 300, 900]),
    spread_permille=st.sampled_from([0, 300, 1000]),
    cost_permille=st.sampled_from([1000, 100, 300, 1500, 3000, 6000]),
    dear_cost=st.sampled_from(COST_NAMES),
    dear_permille=st.sampled_from([1000, 0, 4000, 20_000]),
    hz=st.sampled_from([250, 100, 1000, 1000]),
    budget=st.sampled_from([300, 64, 10, 1]),
    max_restart=st.sampled_from([10, 2, 1]),
    time_limit=st.integers(1, 2),
    txqueuelen=st.sampled_from([1000, 10, 1]),
    timeslice_ms=st.sampled_from([100, 5, 1]),
    rcvbuf=st.sampled_from([87_380, 30_000, 12_000, 6000]),
    rcvbuf_max=st.sampled_from([174_760, 4 << 20, 87_380, 12_000]),
    sndbuf=st.sampled_from([16_384, 131_072, 4096]),
    sndbuf_max=st.sampled_from([131_072, 4 << 20, 16_384]),
    low_latency=st.booleans(),
    timestamps=st.sampled_from([True, False]),
    moderate_rcvbuf=st.sampled_from([True, False]),
    window_scaling=st.sampled_from([True, False]),
    congestion=st.sampled_from(["bic", "reno"]),
    initial_cwnd=st.sampled_from(["rfc3390", "iw10"]),
    ato_min_ms=st.sampled_from([40, 4, 1]),
    delack_max_ms=st.sampled_from([200, 10]),
    rto_min_ms=st.sampled_from([200, 20, 4]),
    rto_init_ms=st.sampled_from([3000, 100, 10]),
    tso_win_divisor=st.sampled_from([3, 1, 0]),
    reordering=st.sampled_from([3, 1, 5]),
)

stream_plans = st.builds(
    StreamPlan,
    node=st.integers(0, 1),
    irq_cpu=st.integers(0, 15),
    peer_irq_cpu=st.integers(0, 15),
    nic=nic_plans,
    peer_nic=nic_plans,
    message=st.sampled_from([8192, 64, 700, 1448, 65_536, 262_144]),
    recv=st.sampled_from([87_380, 4096, 1000, 100, 262_144]),
    bound=st.booleans(),
    sends=st.booleans(),
    both=st.sampled_from([False, False, True]),
)


def _same_mtu(stream: StreamPlan) -> StreamPlan:
    return replace(stream, peer_nic=replace(stream.peer_nic, mtu=stream.nic.mtu))


plans = st.builds(
    Plan,
    host=host_plans,
    peer=host_plans,
    streams=st.lists(stream_plans.map(_same_mtu), min_size=1, max_size=3).map(tuple),
    rate_mbps=st.sampled_from([1000, 1000, 100, 10_000]),
    switch_us=st.sampled_from([4, 0, 100]),
    cable_ns=st.sampled_from([50, 0, 5000]),
    seed=st.integers(0, 1000),
    whole_peer=st.booleans(),
    moves=st.lists(
        st.tuples(st.integers(1, 20_000), st.integers(0, 2), st.integers(0, 15)), max_size=3
    ).map(tuple),
)
