"""Datagrams to a container: each step of their way has its price, and each loss its counter."""

from functools import cache

import pytest

import simnet
from simnet.scenario.core.load import load
from simnet.scenario.parts.container.checks import idle
from simnet.study.run.result import Result

NETWORK = "container network"
GRO = "ip netns exec container ethtool -K eth0 gro"
TSO = "ethtool --features veth tso"
RPS = "ip netns exec container /sys/class/net/eth0/queues/rx-0/rps_cpus"
OF_5_4 = {"ethtool -C eth0 adaptive-rx": "off", "ethtool -C eth0 adaptive-tx": "off"}
BACKLOG = "net.core.netdev_max_backlog"


@cache
def ran(*settings: tuple[str, str], tuning: str = "", rate: int = 8000) -> Result:
    return simnet.run(
        "container-udp",
        settings={"udp.rate": str(rate)} | dict(settings),
        tunings=(tuning,) if tuning else (),
        warm_up="2 ms",
        duration="8 ms",
    )


def softirq(result: Result) -> float:
    return sum(cpu.softirq for cpu in result.cpus)


def test_each_step_before_the_container_has_its_price() -> None:
    ways = {way: ran((NETWORK, way)) for way in ("host", "bridge", "route", "route-bridge")}
    assert all(result.udp.delivered_percent == 100 for result in ways.values())
    spent = {way: softirq(result) for way, result in ways.items()}
    assert 1.3 * spent["host"] < min(spent["bridge"], spent["route"])
    assert max(spent["bridge"], spent["route"]) < spent["route-bridge"]


def test_rules_and_connections_cost() -> None:
    none = softirq(ran(("container.filter_rules", "0"), ("container.conntrack", "off")))
    rules = softirq(ran(("container.filter_rules", "8"), ("container.conntrack", "off")))
    more = softirq(ran(("container.filter_rules", "40"), ("container.conntrack", "off")))
    tracked = softirq(ran(("container.filter_rules", "0")))
    # a table of 150 cycles and rules of 20
    assert (more - none) / (rules - none) == pytest.approx(950 / 310, rel=0.1)
    assert tracked > none
    assert ran().veth.conntrack == 64
    assert ran(("container.conntrack", "off")).veth.conntrack == 0


def first_packets_ns(services: int, proxy: str = "iptables", datagrams: int = 1) -> float:
    """What a datagram costs at softirq level on the node, if each port sends so many of them."""
    settings = {
        "container.services": str(services),
        "kube-proxy --proxy-mode": proxy,
        "container.per_connection": str(datagrams),
        "udp.rate": "50",
        "cpu.work_spread": "0",
    }
    result = simnet.run("k8s-node", settings=settings, warm_up="20 ms", duration="40 ms")
    name = "netfilter, routing and send"
    percent = next(row.percent for row in result.work if row.mechanism == name)
    return float(percent * 1e7 * result.simulated_s / result.udp.received)


def test_a_first_packet_is_compared_with_a_rule_of_each_service() -> None:
    none, some, many = (first_packets_ns(count) for count in (0, 1000, 3000))
    # 20 cycles of 2.9 GHz a rule
    clock = load("k8s-node").host.cpu.clock_hz / 1e9
    assert (many - some) / 2000 == pytest.approx(20 / clock, rel=0.02)
    assert first_packets_ns(3000, "nftables") - none == pytest.approx(600 / clock, rel=0.05)
    # of two datagrams by one port the second is of a known connection
    known, half = first_packets_ns(0, datagrams=0), first_packets_ns(3000, datagrams=2)
    assert half - known == pytest.approx((many - known) / 2, rel=0.15)


def test_the_hosts_network_has_no_veth() -> None:
    assert ran(tuning="host-network").veth is None
    assert ran().veth.tx_packets == pytest.approx(ran().udp.received, rel=0.05)


def test_a_short_backlog_loses_and_both_counters_see_it() -> None:
    result = ran((BACKLOG, "5"))
    assert result.udp.backlog == result.veth.tx_dropped > 0
    assert result.veth.ring_drops == result.udp.veth == 0
    host = ran((BACKLOG, "5"), (NETWORK, "host"))
    assert host.udp.backlog == 0


def test_a_ring_that_two_cpus_fill_loses_under_tx_dropped_alone() -> None:
    result = ran(tuning="veth-napi", rate=17500)
    assert result.udp.veth == result.veth.ring_drops == result.veth.tx_dropped > 0
    assert result.udp.backlog == 0
    assert {drop.place for drop in result.drops} >= {"veth"}
    assert "tx_dropped of the host's end" in result.udp.sentence
    one = ran(("ethtool -L eth0 combined", "1"), tuning="veth-napi", rate=4000)
    assert one.udp.veth == 0


def test_receive_offload_alone_changes_nothing() -> None:
    for settings in (((GRO, "on"),), ((TSO, "off"),)):
        assert ran(*settings).cpus == ran().cpus
    assert ran((GRO, "on"), (TSO, "off")).cpus != ran().cpus


def test_rps_of_the_pair_takes_the_containers_part_to_other_cpus() -> None:
    result = ran((RPS, "f0"))
    plain = ran()
    for cpu in range(4, 8):
        assert result.cpus[cpu].softirq > 5 > plain.cpus[cpu].softirq
    assert result.cpus[0].softirq < plain.cpus[0].softirq


def unread(**settings: str) -> dict[str, str]:
    found = idle(load("container-udp", settings=settings))
    return {place.partition(".")[2]: why for place, why in found}


def test_what_nothing_reads_is_said() -> None:
    of_ring, of_proxy = (
        {"veth_receive_cycles", "ring_lines", "tso"},
        {"kube_proxy", "service_cycles"},
    )
    assert of_ring | of_proxy == set(unread())
    assert "tso of the host's end is off" in unread(**{GRO: "on"})["gro"]
    assert "which is off" in unread(**{TSO: "off"})["gro"]
    assert set(unread(**{GRO: "on", TSO: "off"})) == of_proxy
    assert set(unread(**{"container.services": "1"})) == of_ring
    assert "services" in unread(**{"container.services": "1", "container.conntrack": "off"})
    assert "5.13" in unread(**{GRO: "on", "system.kernel": "linux-5.4"}, **OF_5_4)["gro"]
    assert unread(**{NETWORK: "bridge"})["route_cycles"]
    assert unread(**{NETWORK: "route"})["bridge_cycles"]
    assert "rule_cycles" in unread(**{"container.filter_rules": "0"})
    assert "conntrack_find_cycles" in unread(**{"container.conntrack": "off"})
    assert {"rps_cpus", "gro", "filter_rules"} < set(unread(**{NETWORK: "host"}))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({RPS: "100000000"}, "the machine has 0 to 31"),
        ({"container.network": "macvlan"}, "route-bridge"),
    ],
)
def test_what_does_not_fit_is_refused(settings: dict[str, str], message: str) -> None:
    with pytest.raises(simnet.InputError, match=message):
        load("container-udp", settings=settings)
