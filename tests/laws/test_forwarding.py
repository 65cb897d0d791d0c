"""Every packet is sent, dropped under a name, or still in the host, whatever the host does."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.net.nic.multiqueue import queues_of
from simnet.scenario.core.effective import Effective
from simnet.scenario.core.library import find_model
from simnet.scenario.core.load import load
from simnet.scenario.scenarios import find_scenario
from simnet.scenario.system.build import build

MS = 10**9
RPS = "/sys/class/net/eth0/queues/rx-*/rps_cpus"

loads = st.fixed_dictionaries(
    {
        "forward.rate": st.sampled_from([0, 300_000, 4_000_000]),
        "forward.size": st.sampled_from(["18 B", "600 B", "1472 B"]),
        "forward.flows": st.sampled_from([6, 40, 500]),
        "forward.spread": st.sampled_from(["even", "rss"]),
        "forward.arrivals": st.sampled_from(["periodic", "poisson"]),
        "forward.drop": st.sampled_from(["none", "none", "raw", "filter"]),
        "forward.raw_rules": st.sampled_from([1, 100]),
        "forward.filter_rules": st.sampled_from([1, 100]),
        "forward.conntrack": st.sampled_from(["on", "off"]),
        "nft flowtable": st.sampled_from(["on", "off"]),
        "forward.answers": st.sampled_from([0, 100_000, 3_000_000]),
        "forward.answer_size": st.sampled_from(["1 B", "1472 B"]),
    },
    optional={
        RPS: st.sampled_from(["2", "3f"]),
        "net.core.netdev_max_backlog": st.sampled_from(["1", "50"]),
        "net.netfilter.nf_conntrack_max": st.sampled_from(["1", "20"]),
        "net.netfilter.nf_conntrack_buckets": st.sampled_from(["1", "16", "4096"]),
        "net.ipv4.ip_forward": st.just("off"),
        "forward.ttl": st.just("1"),
        "ethtool -G eth0 rx": st.sampled_from(["64", "512"]),
        "ethtool -L eth0 combined": st.sampled_from(["1", "6"]),
        "ethtool -L eth1 combined": st.sampled_from(["1", "6"]),
        "ethtool -C eth0 adaptive-rx": st.just("off"),
        "nic.link_rate": st.just("1 Gbit/s"),
    },
)


@settings(max_examples=25)
@given(loads)
def test_packets_are_sent_or_dropped_under_a_name(chosen: dict[str, Any]) -> None:
    settings_of = {name: str(value) for name, value in chosen.items()}
    if chosen["forward.conntrack"] == "off":
        del settings_of["nft flowtable"]
    follow_packets(load("router-connectx5", settings=settings_of))


@pytest.mark.parametrize("nic", ["intel-i211", "intel-i226", "intel-x550", "realtek-rtl8125"])
@settings(max_examples=4)
@given(rate=st.sampled_from([0, 40_000, 400_000]), size=st.sampled_from(["18 B", "1472 B"]))
def test_whatever_the_ports_are(
    tmp_path_factory: pytest.TempPathFactory, nic: str, rate: int, size: str
) -> None:
    scenario = router_with(tmp_path_factory.mktemp("router"), nic)
    flows = {"forward.rate": str(rate), "forward.size": size, "forward.flows": "40"}
    flows |= {"net.core.default_qdisc": "fq_codel", "forward.spread": "rss"}
    follow_packets(load(scenario, settings=flows))


def router_with(folder: Path, nic: str) -> str:
    """The router with other ports and a kernel that drives them."""
    server = find_model("server", "xeon-e5-1650v4-connectx5").read_text("utf-8")
    (folder / "server.toml").write_text(server.replace("mellanox-connectx-5", nic), "utf-8")
    text = find_scenario("router-connectx5").read_text("utf-8")
    run = text[text.index("[run]") :]
    text = text[: text.index("[tuning]")].replace("linux-4.18", "linux-6.1") + run
    text = text.replace("xeon-e5-1650v4-connectx5", "server.toml")
    (folder / "router.toml").write_text(text, "utf-8")
    return str(folder / "router.toml")


def follow_packets(effective: Effective) -> None:
    """Simulate, and ask where each packet is, while some come and when no more come."""
    system = build(effective, seed=1)
    built = system.parts["forward"]
    queues = [queue for port, _, _ in built.ways for queue in queues_of(port)]
    for _ in range(3):
        system.run(MS)
        # what the rings have got shows when they are looked at
        system.snapshot()
        counts = built.counts()
        ahead = sum(queue.incoming.count for queue in queues)
        assert sum(flood.begun for flood in built.floods) - ahead == counts.offered
        assert 0 <= counts.waiting <= counts.offered - counts.ring - counts.sent
        table = built.hooks.conntrack
        if table is not None and not counts.raw:
            # beside those that are confirmed only what is being dropped has an entry
            assert 0 <= table.count - sum(map(len, table.chains.values())) <= 6
    for queue in queues:
        queue.flood = None
    system.run(40 * MS)
    counts = built.counts()
    lost = counts.ring + counts.backlog + counts.conntrack + counts.qdisc
    lost += counts.addr_errors + counts.hdr_errors
    assert counts.offered == counts.sent + counts.raw + counts.filter + lost
    assert counts.waiting == 0
    ends = [far for _, _, far in built.ways]
    assert sum(far.frames for far in ends) == counts.sent == sum(far.latency.count for far in ends)
    if built.hooks.conntrack is not None:
        chains = built.hooks.conntrack.chains
        assert built.hooks.conntrack.count == sum(map(len, chains.values()))
    system.close()
