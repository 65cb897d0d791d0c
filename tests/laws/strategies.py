"""Random plans. Each draws the usual first, so that a failure is shown with little that is not.

To draw a number takes Hypothesis longer than to simulate with it: a number stands for many choices,
each a digit of it in a base of its own. Zero is the usual in all of them.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from simnet.host.costs import COST_NAMES
from tests.laws.machines import HostPlan, NicPlan, Plan, StreamPlan

_MOST = 1 << 24
"""Of larger numbers Hypothesis draws mostly small ones, which would leave digits at zero."""

_BOTH = (False, True)


def _chosen(number: int, choices: dict[str, Sequence[Any]]) -> dict[str, Any]:
    """Return what the digits of a number stand for."""
    found = {}
    for name, values in choices.items():
        number, digit = divmod(number, len(values))
        found[name] = values[digit]
    return found


def _choices(**values: Sequence[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy for one of the values of each name, drawn with as few numbers as can be."""
    groups: list[dict[str, Sequence[Any]]] = [{}]
    for name, each in values.items():
        if math.prod(map(len, groups[-1].values())) * len(each) > _MOST:
            groups.append({})
        groups[-1][name] = each
    numbers = (st.integers(0, math.prod(map(len, group.values())) - 1) for group in groups)

    def joined(drawn: tuple[int, ...]) -> dict[str, Any]:
        pairs = zip(drawn, groups, strict=True)
        return {name: value for pair in pairs for name, value in _chosen(*pair).items()}

    return st.tuples(*numbers).map(joined)


_frames = (5, 53, 1, 2, 20)
_usecs = (20, 72, 1, 7, 300)

nic_plans = _choices(
    throttle=_BOTH,
    rx_frames=_frames,
    rx_usecs=_usecs,
    rx_frames_irq=_frames,
    rx_usecs_irq=_usecs,
    tx_frames=_frames,
    tx_usecs=_usecs,
    tx_frames_irq=_frames,
    tx_usecs_irq=_usecs,
    throttle_rate=(8000, 0, 1000, 50_000),
    shared_update=_BOTH,
    rx_buffers=(200, 64, 20, 7, 2, 1),
    tx_ring=(511, 31, 4, 1),
    weight=(64, 300, 16, 5, 1),
    mtu=(1500, 1500, 9000, 576),
    tso=_BOTH,
).map(lambda drawn: NicPlan(**drawn))

host_plans = _choices(
    nodes=range(1, 3),
    sockets=range(1, 3),
    cores=range(1, 3),
    threads=range(1, 3),
    smt_permille=range(1000, 2501),
    stall_permille=(0, 300, 900),
    spread_permille=(0, 300, 1000),
    cost_permille=(1000, 100, 300, 1500, 3000, 6000),
    dear_cost=COST_NAMES,
    dear_permille=(1000, 0, 4000, 20_000),
    hz=(250, 100, 1000, 1000),
    budget=(300, 64, 10, 1),
    max_restart=(10, 2, 1),
    time_limit=range(1, 3),
    txqueuelen=(1000, 10, 1),
    timeslice_ms=(100, 5, 1),
    rcvbuf=(87_380, 30_000, 12_000, 6000),
    rcvbuf_max=(174_760, 4 << 20, 87_380, 12_000),
    sndbuf=(16_384, 131_072, 4096),
    sndbuf_max=(131_072, 4 << 20, 16_384),
    low_latency=_BOTH,
    timestamps=(True, False),
    moderate_rcvbuf=(True, False),
    window_scaling=(True, False),
    congestion=("bic", "reno"),
    initial_cwnd=("rfc3390", "iw10"),
    ato_min_ms=(40, 4, 1),
    delack_max_ms=(200, 10),
    rto_min_ms=(200, 20, 4),
    rto_init_ms=(3000, 100, 10),
    tso_win_divisor=(3, 1, 0),
    reordering=(3, 1, 5),
).map(lambda drawn: HostPlan(**drawn))

_streams = _choices(
    node=range(2),
    irq_cpu=range(16),
    peer_irq_cpu=range(16),
    message=(8192, 64, 700, 1448, 65_536, 262_144),
    recv=(87_380, 4096, 1000, 100, 262_144),
    bound=_BOTH,
    sends=_BOTH,
    both=(False, False, True),
)


def _stream(drawn: dict[str, Any], nic: NicPlan, peer_nic: NicPlan) -> StreamPlan:
    return StreamPlan(**drawn, nic=nic, peer_nic=replace(peer_nic, mtu=nic.mtu))


stream_plans = st.builds(_stream, _streams, nic_plans, nic_plans)


plans = st.builds(
    Plan,
    host=host_plans,
    peer=host_plans,
    streams=st.lists(stream_plans, min_size=1, max_size=3).map(tuple),
    rate_mbps=st.sampled_from([1000, 1000, 100, 10_000]),
    switch_us=st.sampled_from([4, 0, 100]),
    cable_ns=st.sampled_from([50, 0, 5000]),
    seed=st.integers(0, 1000),
    whole_peer=st.booleans(),
    moves=st.lists(
        st.tuples(st.integers(1, 20_000), st.integers(0, 2), st.integers(0, 15)), max_size=3
    ).map(tuple),
)
