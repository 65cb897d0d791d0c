"""A router as an administrator sees it: what it takes, and where the rest is lost."""

from functools import cache

import pytest

import simnet
from simnet.errors import InputError
from simnet.net.link.skb import Serializer
from simnet.net.nic.multiqueue import queues_of
from simnet.scenario.commands.commands import commands
from simnet.scenario.core.load import load
from simnet.scenario.parts.forward.columns import ForwardUse
from simnet.scenario.system.build import build
from simnet.study.run.result import Result

MS = 10**9
# packets that wait for an interrupt, in six queues
BATCHES = 6 * 128
RPS = "/sys/class/net/eth0/queues/rx-*/rps_cpus"


@cache
def ran(*settings: tuple[str, str], tunings: tuple[str, ...] = ()) -> Result:
    return simnet.run(
        "router-connectx5",
        settings=dict(settings),
        tunings=list(tunings),
        warm_up="2 ms",
        duration="3 ms",
    )


def used(*settings: tuple[str, str], tunings: tuple[str, ...] = ()) -> ForwardUse:
    found: ForwardUse | None = ran(*settings, tunings=tunings).forward
    assert found is not None
    return found


def on(cpus: int, *tunings: str) -> float:
    queues = tuple((f"ethtool -L {port} combined", str(cpus)) for port in ("eth0", "eth1"))
    return used(*queues, tunings=tunings).packets_per_s


def test_what_comes_too_fast_is_lost_in_the_ring() -> None:
    use = used()
    assert use.ring_counter == "rx_out_of_buffer"
    assert use.ring == sum(port.drops for port in ran().ports) > use.sent > 0
    assert use.sentence.endswith("in ring (rx_out_of_buffer)")
    assert use.idle_percent == 0.0
    assert ran().loss == pytest.approx(1 - use.delivered_percent / 100, abs=0.01)
    # the link's 148.8 million frames of 64 bytes a second
    assert use.offered == pytest.approx(3e-3 * 1e11 / 84 / 8, rel=0.001)


def test_packets_both_ways_take_cpus_from_each_other() -> None:
    queues = (("ethtool -L eth0 combined", "1"), ("ethtool -L eth1 combined", "1"))
    rate = ("forward.rate", "300000")
    alone, both = ran(*queues, rate), ran(*queues, rate, ("forward.answers", "200000"))
    assert [(flow.name, flow.port) for flow in both.flows] == [
        ("routed", "eth1"),
        ("answers", "eth0"),
    ]
    assert both.forward.packets_per_s == pytest.approx(500_000, rel=0.02)
    # each packet costs as much, whichever way it goes; that of sending interrupts, too
    of_driver, interrupts = (
        [next(row.percent for row in one.work if row.mechanism == name) for one in (alone, both)]
        for name in ("driver and IP, receive", "hard interrupt")
    )
    assert of_driver[1] / of_driver[0] == pytest.approx(5 / 3, rel=0.05)
    assert interrupts[1] / interrupts[0] > 2
    most = (*queues, ("forward.rate", "2500000"))
    share = used(*most, ("forward.answers", "2500000")).delivered_percent
    assert share < 0.6 * used(*most).delivered_percent


NAT = "router-nat"


@cache
def through(*tunings: str, **settings: str) -> Result:
    given = {name.replace("__", "."): value for name, value in settings.items()}
    return simnet.run(NAT, settings=given, tunings=list(tunings), duration="10 ms")


def test_a_flow_table_takes_over_what_has_an_answer_and_spares_rules_and_nat() -> None:
    plain, table = through(), through("software-offload")
    assert plain.forward.offloaded == 0
    assert plain.forward.delivered_percent < 85
    assert table.forward.delivered_percent == pytest.approx(100, abs=0.1)
    # in 40 ms of warm-up 98 % of the connections have had an answer
    assert table.forward.offloaded / table.forward.sent > 0.97
    one_way = through("software-offload", forward__answers="0")
    assert one_way.forward.offloaded == 0
    remarks = load(NAT, tunings=["software-offload"], settings={"forward.answers": "0"}).remarks
    assert any("no connection enters the flow table" in text for text in remarks)


def test_a_flow_table_spares_rules() -> None:
    def hooks(rules: str, *tunings: str) -> float:
        rates = {"forward__rate": "400000", "forward__answers": "400000", "forward__flows": "600"}
        given = {"forward__filter_rules": rules, "forward__cold_lines": "0"} | rates
        result = through(*tunings, **given)
        name = "netfilter, routing and send"
        return next(row.percent for row in result.work if row.mechanism == name)

    plain, table = (hooks("300", *one) - hooks("10", *one) for one in ((), ("software-offload",)))
    assert table == pytest.approx(0, abs=0.05 * plain)


def test_what_to_type_names_both_ports_and_goes_back() -> None:
    base, tuned = load(NAT), load(NAT, tunings=["software-offload"])
    (typed,) = commands(base, tuned)
    assert typed.apply[0].startswith("nft 'add table inet simnet; add flowtable")
    assert "devices = { eth0, eth1 };" in typed.apply[0]
    assert typed.undo == ("nft delete table inet simnet",)
    (back,) = commands(tuned, base_off := load(NAT, settings={"nft flowtable": "off"}))
    assert back.undo == (typed.apply[0],), base_off


def test_a_flow_table_needs_connections_that_are_tracked() -> None:
    settings = {"nft flowtable": "on"}
    with pytest.raises(InputError, match="a flow table takes tracked connections"):
        load("router-connectx5", settings=settings)


def median_us(*settings: tuple[str, str]) -> float:
    messages = ran(*settings).messages
    assert messages is not None
    assert messages.latency_us.p50 is not None
    return messages.latency_us.p50


def test_a_packet_waits_as_long_as_the_ring_is() -> None:
    latency_us = median_us()
    assert latency_us == pytest.approx(1023 * 6 / used().packets_per_s * 1e6, rel=0.05)
    assert median_us(("ethtool -G eth0 rx", "128")) < latency_us / 5


def test_nothing_is_lost_below_capacity() -> None:
    use = used(("forward.rate", "3000000"))
    assert use.sentence == "no packet is lost"
    assert use.delivered_percent == 100.0
    assert use.packets_per_s == pytest.approx(3e6, rel=0.05)
    assert use.idle_percent > 40


def test_queues_without_a_shared_line_scale_and_a_counter_of_all_cpus_does_not() -> None:
    for tunings in ((), ("drop-raw",), ("drop-filter",), ("full-table",)):
        assert 5.7 < on(6, *tunings) / on(1, *tunings) < 6.05
    assert 4.0 < on(6, "drop-conntrack") / on(1, "drop-conntrack") < 5.4


def test_a_rule_costs_what_it_costs_wherever_it_stands() -> None:
    def each_ns(rules: int) -> float:
        use = used(("forward.filter_rules", str(rules)))
        return 6e9 / use.packets_per_s

    ten, hundred, thousand = (each_ns(rules) for rules in (10, 100, 1000))
    assert (hundred - ten) / 90 == pytest.approx(64 / 3.6, rel=0.03)
    assert (thousand - hundred) / 900 == pytest.approx(64 / 3.6, rel=0.03)


TRACKED = ("forward.conntrack", "on")
DROPPED = (("forward.drop", "filter"), ("forward.filter_rules", "1"))


@pytest.mark.parametrize(
    ("settings", "table", "hooks"),
    [
        ((), "raw", 1),
        ((), "mangle", 3),
        ((), "filter", 1),
        ((), "security", 1),
        # a connection's first packet alone is compared with nat
        ((TRACKED,), "nat", 0),
        (DROPPED, "raw", 1),
        (DROPPED, "mangle", 2),
        (DROPPED, "security", 0),
        # none of them is confirmed
        ((TRACKED, *DROPPED), "nat", 1),
    ],
)
def test_a_packet_passes_each_table_at_its_hooks(
    settings: tuple[tuple[str, str], ...], table: str, hooks: int
) -> None:
    one_cpu = (("ethtool -L eth0 combined", "1"), ("ethtool -L eth1 combined", "1"))
    without, passing = (
        1e9 / used(*one_cpu, *settings, *more).packets_per_s
        for more in ((), ((f"forward.{table}_rules", "50"),))
    )
    assert passing - without == pytest.approx(hooks * (60 + 50 * 64) / 3.6, rel=0.03, abs=4)


def test_rules_that_drop_are_no_loss() -> None:
    raw = used(("forward.rate", "1000000"), tunings=("drop-raw",))
    assert raw.raw == pytest.approx(raw.offered, abs=BATCHES)
    assert (raw.filter, raw.sent, raw.delivered_percent) == (0, 0, 100.0)
    both = used(("forward.rate", "1000000"), tunings=("drop-firewalld",))
    assert both.filter == pytest.approx(both.offered, abs=BATCHES)
    assert both.raw == 0


@pytest.mark.parametrize(
    ("settings", "counter"),
    [
        ((("net.ipv4.ip_forward", "off"),), "addr_errors"),
        ((("forward.ttl", "1"),), "hdr_errors"),
        (((RPS, "1"), ("net.core.netdev_max_backlog", "5")), "backlog"),
    ],
)
def test_each_place_has_its_counter(settings: tuple[tuple[str, str], ...], counter: str) -> None:
    use = used(("forward.rate", "1500000"), *settings)
    assert getattr(use, counter) > 0
    assert use.ring == 0
    lost = use.addr_errors + use.hdr_errors + use.backlog
    assert lost == getattr(use, counter)
    assert counter in {"addr_errors", "hdr_errors"} or use.sent > 0


def test_a_slow_port_fills_its_queue() -> None:
    effective = load("router-connectx5", settings={"forward.rate": "1000000"})
    system = build(effective, seed=1)
    # 0.5 Gbit/s carry 0.74 million frames a second
    slow = Serializer(5 * 10**8)
    for queue in queues_of(system.nics[1]):
        queue.tx.serializer = slow
    system.run(60 * MS)
    counts = system.parts["forward"].counts()
    assert counts.qdisc > 0
    assert counts.qdisc == system.nics[1].qdisc_drops
    assert counts.ring == 0
    assert counts.sent == pytest.approx(60e-3 * 1e12 / 16_000 / 84, rel=0.02)
    system.close()


def test_one_queue_to_send_by_is_a_lock_of_all_cpus() -> None:
    own = used()
    shared = used(("ethtool -L eth1 combined", "1"))
    assert shared.packets_per_s < 0.8 * own.packets_per_s


def test_a_full_table_of_connections() -> None:
    load_ = (
        ("forward.rate", "2000000"),
        ("forward.flows", "5000"),
        ("forward.spread", "rss"),
        ("forward.conntrack", "on"),
    )
    assert used(*load_).conntrack == used(*load_).early_drop == 0
    most = ("net.netfilter.nf_conntrack_max", "100")
    wide = used(*load_, most)
    assert wide.conntrack > wide.early_drop > 0
    narrow = used(*load_, most, ("net.netfilter.nf_conntrack_buckets", "64"))
    assert narrow.early_drop > narrow.conntrack


def test_an_idle_cpu_pays_for_each_interrupt() -> None:
    def busy_us(rate: int) -> float:
        load_ = (("forward.rate", str(rate)), ("forward.arrivals", "poisson"))
        use = used(*load_, tunings=("drop-raw", "usecs-1"))
        return (100 - use.idle_percent) / 100 * 6 / (rate / 1e6)

    costs = [busy_us(rate) for rate in (250_000, 1_000_000, 5_000_000, 20_000_000)]
    assert costs == sorted(costs, reverse=True)
    assert costs[0] > 10 * costs[-1]


def test_a_reference_with_one_event_a_frame_agrees() -> None:
    effective = load("router-connectx5", settings={"forward.rate": "4000000"})
    usual, each = (build(effective, seed=1, per_frame=one) for one in (False, True))
    usual.run(3 * MS)
    each.run(3 * MS)
    assert usual.fingerprint() == each.fingerprint()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"forward.size": "1473 B"}, "a packet has room for 1472 B"),
        ({"forward.drop": "raw"}, "a rule of raw drops: expected raw_rules of 1 or more"),
        ({"forward.nat_rules": "3"}, "nat tracks connections"),
        ({"forward.destinations": "2"}, "at most the 1 prefixes"),
        ({"forward.flows": "2"}, "each of 6 receive queues has a flow"),
        ({"system.kernel": "linux-3.8-sunway"}, "expected Linux 4.12 on"),
    ],
)
def test_what_does_not_fit_is_refused(settings: dict[str, str], message: str) -> None:
    with pytest.raises(simnet.InputError, match=message):
        simnet.run("router-connectx5", settings=settings)
