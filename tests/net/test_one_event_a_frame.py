"""Frames that are moved in batches, by arithmetic, against one event for each of them.

A path that delivers each frame by an event of its own is the plain way to say what a link does.
"""

from dataclasses import replace

import pytest

from tests.laws.books import US, built
from tests.laws.machines import MS, HostPlan, Lab, NicPlan, Plan, StreamPlan
from tests.laws.test_same_result import NARROW_POLL, SHORT_RING

THROTTLED = NicPlan(throttle=True, rx_buffers=20, tx_ring=31, weight=16)
PLANS = {
    "frames in polls": NARROW_POLL,
    "buffers run out": SHORT_RING,
    "throttled and jumbo": Plan(
        host=HostPlan(nodes=2, cost_permille=1500, spread_permille=300),
        streams=(
            StreamPlan(node=1, irq_cpu=3, both=True, nic=THROTTLED, peer_nic=THROTTLED),
            StreamPlan(sends=True, nic=NicPlan(mtu=9000, tso=True), peer_nic=NicPlan(mtu=9000)),
        ),
        moves=((700, 0, 1), (1900, 1, 2)),
    ),
    "short queues": Plan(
        host=HostPlan(txqueuelen=10, budget=10, max_restart=1, congestion="reno", sndbuf=131_072),
        streams=(StreamPlan(sends=True, nic=NicPlan(tx_ring=4, shared_update=True)),),
        rate_mbps=100,
        whole_peer=False,
    ),
}


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_small_machines_do_the_same(plan: Plan) -> None:
    here, there = (replace(host, limited=False) for host in (plan.host, plan.peer))
    plan = replace(plan, host=here, peer=there)
    batched, reference = Lab(plan), Lab(plan, per_frame=True)
    for _ in range(2):
        one, other = (
            replace(lab.run(3 * MS).system.snapshot(), observed={}) for lab in (batched, reference)
        )
        assert one == other


@pytest.mark.parametrize(
    ("scenario", "tunings", "duration_us"),
    [
        ("x460-out-of-box", (), 3000),
        ("x460-bonding", (), 3000),
        ("ipoib-sunway", ("window-32",), 5000),
        ("sw1621-t520", (), 2000),
        ("web-25g", ("arfs",), 400),
        ("tcp-rr-one-queue", (), 1000),
        ("vm-outside", (), 1000),
    ],
)
def test_scenarios_do_the_same(scenario: str, tunings: tuple[str, ...], duration_us: int) -> None:
    shots = []
    for per_frame in (False, True):
        system = built(scenario, tunings, per_frame=per_frame)
        system.env.run(until=duration_us * US)
        # what is only observed may be counted ahead of a frame that is on its way
        shots.append(replace(system.snapshot(), observed={}))
    assert shots[0] == shots[1]
