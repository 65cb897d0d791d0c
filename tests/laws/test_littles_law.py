"""Little's law: what is outstanding over what is answered a second is the time that each takes.

A closed loop has as many requests outstanding, or clients thinking, as it has connections.
"""

import pytest

from simnet.scenario.core.load import load
from simnet.scenario.system.build import build

US, MS = 10**6, 10**9
# scenario, settings, connections, mean time to think, ms to warm up
LOOPS = {
    "one connection": ("tcp-rr-one-queue", {"connections": "1"}, 1, 0, 10),
    "several": ("tcp-rr-one-queue", {"connections": "16"}, 16, 0, 10),
    "those that think": ("web-25g", {"connections": "128"}, 128, 200 * US, 20),
    "a key-value server": (
        "memcached-100g", {"memcached.qps": "0", "memcached.connections": "2"}, None, 0, 5,
    ),
}  # fmt: skip


@pytest.mark.parametrize("loop", LOOPS)
def test_requests_outstanding_are_their_rate_times_their_round_trip(loop: str) -> None:
    scenario, settings, connections, think_ps, warm_up_ms = LOOPS[loop]
    effective = load(scenario, settings=settings)
    if connections is None:
        connections = (
            effective.memcached.hosts
            * effective.memcached.threads
            * effective.memcached.connections
        )
    system = build(effective, seed=1)
    system.run(warm_up_ms * MS)
    start = system.snapshot()
    system.run(20 * MS)
    end = system.snapshot()
    assert set(system.latency_kinds().values()) == {"round trip"}
    answered, together_ps = 0, 0
    for first, last in zip(start.flows, end.flows, strict=True):
        before = dict(first.latency)
        for upper_ps, count in last.latency:
            answered += count - before.get(upper_ps, 0)
            together_ps += upper_ps * (count - before.get(upper_ps, 0))
    each_ps = connections * (end.time_ps - start.time_ps) / answered
    assert each_ps == pytest.approx(together_ps / answered + think_ps, rel=0.04)
