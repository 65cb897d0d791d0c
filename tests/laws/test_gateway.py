"""In a home router every packet is sent, dropped under a name, or still there, on any CPU."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.scenario.core.load import load
from simnet.scenario.system.build import build

MS = 10**9
MASKS = st.sampled_from(["0", "1", "2", "3"])

routers = st.fixed_dictionaries(
    {
        "/sys/class/net/eth0/queues/rx-0/rps_cpus": MASKS,
        "/sys/class/net/br-lan/queues/rx-0/rps_cpus": MASKS,
        "gateway.streams": st.sampled_from([1, 3]),
        "gateway.switch_ports": st.sampled_from(["vlan", "dsa"]),
        "uci firewall.@defaults[0].flow_offloading": st.sampled_from(["on", "off"]),
    },
    optional={
        "net.core.netdev_max_backlog": st.sampled_from(["1", "20"]),
        "nic.rx_buffers_posted": st.sampled_from([16, 40]),
        "nic.tx_ring": st.sampled_from([16]),
    },
)


@settings(max_examples=15)
@given(routers)
def test_packets_are_sent_or_dropped_under_a_name(chosen: dict[str, Any]) -> None:
    given_ = {name: str(value) for name, value in chosen.items()}
    system = build(load("home-router", settings=given_), seed=1)
    built = system.parts["gateway"]
    for _ in range(4):
        system.run(3 * MS)
        system.snapshot()
        counts = built.counts()
        assert 0 <= counts.waiting <= counts.offered - counts.ring
        handed = built.gateway.sent - counts.qdisc
        assert counts.sent <= handed <= counts.received
        assert counts.bridged <= counts.received
        backlogs = built.steering.backlogs if built.steering else []
        queued = built.nic.ring.count + sum(backlog.waiting for backlog in backlogs)
        at_work = counts.waiting - queued - (handed - counts.sent)
        assert 0 <= at_work <= 2 * len(system.machine.cpus)
    system.close()
