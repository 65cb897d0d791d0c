"""Each rule fires where it should, and not nearby."""

import re
from collections.abc import Sequence

import pytest

from simnet.diagnose.evidence import gathered
from simnet.diagnose.page import Page
from simnet.diagnose.rule import PLACES, Hit, Rule, rules
from tests.diagnose.table import RULES, nstat

EVERY = {rule.name: rule for rule in rules()}


def hits(rule: Rule, *texts: str) -> Sequence[Hit]:
    evidence = gathered([Page(f"paste-{n}.txt", text) for n, text in enumerate(texts)])
    return [one for one in rule.find(evidence) if isinstance(one, Hit)]


def test_each_rule_is_tried_and_has_a_name_of_its_own() -> None:
    assert set(RULES) == set(EVERY)
    assert len(rules()) == len(EVERY) >= 60


@pytest.mark.parametrize("name", RULES)
def test_fires(name: str) -> None:
    found = hits(EVERY[name], RULES[name].fires)
    assert found
    for one in found:
        assert one.facts
        assert one.said
        assert 0 < one.weight <= 100
        assert one.sure in {"certain", "likely", "possible"}


@pytest.mark.parametrize("name", RULES)
def test_is_quiet_nearby(name: str) -> None:
    assert hits(EVERY[name], RULES[name].quiet) == []


@pytest.mark.parametrize("name", RULES)
def test_a_rule_says_all_that_it_should(name: str) -> None:
    rule = EVERY[name]
    assert rule.place in PLACES
    for text in (rule.title, rule.needs, rule.threshold, rule.means, rule.cure, rule.source):
        assert text.strip() == text != ""
    assert rule.means.endswith((".", ")"))
    assert all(other in EVERY for other in rule.hides)
    assert re.search(r"Linux|RFC|IEEE|PCI Express|VMware|man ", rule.source)


def test_a_counter_that_does_not_grow_is_not_the_cause() -> None:
    first, second = RULES["ring-full"].fires, RULES["ring-full"].fires
    assert hits(EVERY["ring-full"], first)
    assert hits(EVERY["ring-full"], first, second) == []
    assert hits(EVERY["ring-full"], first, second.replace("20000", "29000"))


def test_a_share_makes_it_sure() -> None:
    def sure(count: int) -> str:
        return hits(EVERY["ring-full"], RULES["ring-full"].fires.replace("20000", str(count)))[
            0
        ].sure

    assert [sure(count) for count in (200, 2000, 20_000)] == ["possible", "likely", "certain"]


def test_latencies_are_read_below_their_command() -> None:
    text = "$ cat /sys/devices/system/cpu/cpu0/cpuidle/state*/latency\n0\n2\n133\n$ uptime\n9\n"
    assert [one.facts[0].value for one in hits(EVERY["deep-idle"], text)] == [133]


def test_one_counter_of_several_queues_is_no_two_samples() -> None:
    text = RULES["ring-full"].quiet + "\n     [0]: rx_discards: 900\n     [1]: rx_discards: 800\n"
    found = hits(EVERY["ring-full"], text.replace("1000000000", "100000"))
    assert [one.facts[0].name for one in found] == ["rx_discards[0]", "rx_discards[1]"]


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (
            "tx-timeout",
            "igc 0000:01:00.0 eth0: NETDEV WATCHDOG: CPU: 2: transmit queue 0 timed out",
        ),
        ("io-page-fault", "DMAR: [DMA Write NO_PASID] Request device [01:00.0] fault addr 0xff"),
        ("neighbours-full", "Neighbour table overflow."),
        ("conntrack-full", "ip_conntrack: table full, dropping packet."),
        ("ring-full", "NIC statistics:\n     rx_dropped_pkt[0]: 90000\n"),
        ("udp-buffer", "Udp:\n    900 packets received\n    90 receive buffer errors\n"),
        ("softirq-full", "CPU0:  0% usr  1% sys  0% nic  1% idle  0% io  0% irq  98% sirq"),
        ("steal", "%Cpu(s): 12.3 us, 4.5 sy, 0.0 ni, 40.2 id, 0.0 wa, 0.0 hi, 2.0 si, 41.0 st"),
    ],
)
def test_other_kernels_and_tools_say_it_in_other_words(rule: str, text: str) -> None:
    assert hits(EVERY[rule], text)


SADF = """{"sysstat": {"hosts": [{"nodename": "db7", "release": "6.1.0", "number-of-cpus": 2,
"statistics": [{"timestamp": {"date": "2025-02-11", "time": "10:00:01", "interval": 10},
"cpu-load-all": [
{"cpu": "all", "usr": 1.0, "nice": 0.0, "sys": 2.0, "soft": 49.0, "steal": 0.0, "idle": 48.0},
{"cpu": "0", "usr": 1.0, "nice": 0.0, "sys": 2.0, "soft": 97.0, "steal": 0.0, "idle": 0.0}],
"network": {
"net-dev": [{"iface": "eth0", "rxpck": 81234.0, "rxkB": 12.0, "ifutil-percent": 96.5}],
"net-edev": [{"iface": "eth0", "rxerr": 0.0, "rxdrop": 1234.0}]}}]}]}}
"""


def test_json_of_sysstat_says_what_its_text_says() -> None:
    found = gathered([Page("sadf", f"root@db7:~# sadf -j\n{SADF}")])
    assert found.value("cpu", "soft", "CPU 0") == 97
    assert found.value("sar", "%ifutil", "eth0") == 96.5
    assert found.value("sar", "rxdrop/s", "eth0") == 1234
    assert [fact.line for fact in found.of("sar", "rxdrop/s")] == [9]
    assert hits(EVERY["softirq-full"], SADF)
    assert gathered([Page("cut", SADF[:-4])]).of("cpu") == []


def test_what_vmstat_swaps_in_is_no_softirq() -> None:
    head = " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st"
    row = " 1  0      0 123412  12341 123412   96    0     0    12  123  234  1  2 97  0  0"
    assert hits(EVERY["softirq-full"], f"{head}\n{row}\n") == []
    assert gathered([Page("vmstat", f"{head}\n{row}\n")]).value("cpu", "idle", "all") == 97


def test_pages_of_tcp_are_compared_with_what_it_may_have() -> None:
    held = "TCP: inuse 7 orphan 0 tw 1 alloc 8 mem {}\nnet.ipv4.tcp_mem = 46035\t61380\t92070\n"
    sure = [
        [one.sure for one in hits(EVERY["tcp-memory"], held.format(pages))]
        for pages in (61_379, 61_380, 92_070)
    ]
    assert sure == [[], ["likely"], ["certain"]]


def test_the_kernels_own_table_of_ports_is_read() -> None:
    row = "  eth0:1234567 1000000    0 20000    0     0          0         0  999 5 0 0 0 0 0 0"
    page = Page("dev", f"Inter-|   Receive\n{row}\n    lo: 12345678\n")
    assert gathered([page]).value("link", "rx_dropped", "eth0") == 20_000
    assert [one.facts[0].value for one in hits(EVERY["link-dropped"], page.text)] == [20_000]


@pytest.mark.parametrize(
    ("text", "system"),
    [
        ("dev.igb.0.mac_stats.missed_packets: 1512341\n", "FreeBSD"),
        ("PS C:\\Users\\me> netsh int tcp show global\n", "Windows"),
        (
            "[root@esx1:~] esxcli network nic stats get -n vmnic0\nReceive packets dropped: 9\n",
            "ESXi",
        ),
    ],
)
def test_of_another_system_only_its_name_is_read(text: str, system: str) -> None:
    found = gathered([Page("paste.txt", text)])
    assert [(fact.kind, fact.text) for fact in found.facts] == [("system", system)]
    linux = gathered([Page("paste.txt", f"{text}NIC statistics:\n rx_missed: 5\n")])
    assert linux.value("stat", "rx_missed") == 5


def test_a_word_about_another_system_does_not_hide_what_linux_prints() -> None:
    text = (
        "the other end runs FreeBSD 14, with netsh int tcp on a third\nUdpRcvbufErrors 912341 0.0\n"
    )
    assert gathered([Page("mail.txt", text)]).value("snmp", "UdpRcvbufErrors") == 912341


def test_a_shaper_tells_senders_by_drops() -> None:
    text = (
        "qdisc cake 800b: dev eth0 root bandwidth 85Mbit\n Sent 81234 bytes 1000000 pkt"
        " (dropped {}, overlimits {} requeues 0)\n"
    )
    drops = EVERY["qdisc-drops"]
    assert hits(drops, text.format(9000, 300_000)) == []
    assert hits(EVERY["shaped"], text.format(9000, 300_000))
    assert hits(drops, text.format(9000, 0))
    assert hits(drops, text.format(90_000, 300_000))


@pytest.mark.parametrize(
    ("bits", "sure"), [("0x0", []), ("0x50000", []), ("0x50005", ["certain"]), ("0x4", ["certain"])]
)
def test_a_board_says_whether_its_voltage_is_low_now(bits: str, sure: list[str]) -> None:
    text = f"$ vcgencmd get_throttled\nthrottled={bits}\n"
    assert [one.sure for one in hits(EVERY["low-voltage"], text)] == sure


@pytest.mark.parametrize(("waited", "found"), [(300_000, 1), (1000, 0), (1_000_000, 0)])
def test_threads_of_nfsd_are_short_where_some_packets_waited(waited: int, found: int) -> None:
    text = "# pool packets-arrived sockets-enqueued threads-woken threads-timedout\n"
    assert len(hits(EVERY["nfsd-threads"], f"{text}0 1000000 {waited} 700000 0\n")) == found


def test_a_socket_with_few_of_the_drops_is_not_the_one() -> None:
    text = (
        "UdpInDatagrams 9000000 0.0\nUdpRcvbufErrors {} 0.0\nState Recv-Q Send-Q Local Peer\n"
        "UNCONN 0 0 0.0.0.0:5060 0.0.0.0:*\n\t skmem:(r0,rb212992,t0,tb2,f0,w0,o0,bl0,d412)\n"
    )
    weights = [hits(EVERY["socket-queue"], text.format(count))[0].weight for count in (500, 90_000)]
    assert weights == [62, 30]
    assert hits(EVERY["udp-buffer"], text.format(90_000))[0].weight > weights[1]


@pytest.mark.parametrize(
    ("waiting", "ping", "found"), [(612, 899.5, 1), (12, 899.5, 0), (612, 12.5, 0)]
)
def test_packets_that_wait_here_make_a_ping_long(waiting: int, ping: float, found: int) -> None:
    text = (
        "qdisc pfifo_fast 0: dev ppp0 root refcnt 2 bands 3\n Sent 81 bytes 8123 pkt (dropped 0,"
        f" overlimits 0 requeues 0)\n backlog 812341b {waiting}p requeues 0\n"
        "--- 192.0.2.1 ping statistics ---\n"
        f"round-trip min/avg/max = 10.1/{ping}/913.0 ms\n"
    )
    assert len(hits(EVERY["standing-queue"], text)) == found


@pytest.mark.parametrize("summary", ["", "round-trip min/avg/max = 812.3/875.5/913.0 ms\n"])
def test_replies_whose_summary_is_left_out_are_a_ping(summary: str) -> None:
    replies = "".join(
        f"64 bytes from 192.0.2.1: seq={n} ttl=57 time={ms} ms\n"
        for n, ms in enumerate((812, 901, 913))
    )
    text = f"{replies}--- 192.0.2.1 ping statistics ---\n{summary}"
    found = gathered([Page("ping", text)]).of("echo", "mean 56", "192.0.2.1")
    assert [round(fact.value, 1) for fact in found] == [875.5 if summary else 875.3]


def test_one_queue_outweighs_the_cpu_that_it_fills() -> None:
    text = "NIC statistics:\n" + "".join(
        f"     rx-{queue}.packets: {8_123_412 if queue == 2 else 812}\n" for queue in range(8)
    )
    full = (
        "Average:       2    0.00    0.00    0.00    0.00    0.00  100.00    0.00    0.00    0.00"
    )
    alone, beside = text, f"{text}{full}    0.00\n"
    rule = EVERY["rss-one-queue"]
    assert hits(rule, beside)[0].weight > hits(EVERY["softirq-full"], beside)[0].weight
    assert hits(rule, alone)[0].weight < hits(rule, beside)[0].weight


def test_packets_that_may_not_be_cut_are_why_they_are_sent_again() -> None:
    text = nstat("IpFragFails 81234", "TcpOutSegs 912341", "TcpRetransSegs 41234")
    assert hits(EVERY["fragmenting"], text)[0].weight > hits(EVERY["retransmits"], text)[0].weight


ROUTER = (
    "root@OpenWrt:~# top -n1\nCPU0:   0% usr   1% sys   0% nic   0% idle   0% io   0% irq  98% "
    "sirq\n"
    "CPU1:   1% usr   1% sys   0% nic  97% idle   0% io   0% irq   0% sirq\n"
    "root@OpenWrt:~# cat /proc/interrupts\n           CPU0       CPU1\n"
    " 31:   81234123          0     GIC-0 179 Level     eth0\n"
)
UCI = "root@OpenWrt:~# uci show firewall\nfirewall.cfg01.flow_offloading='1'\n"


@pytest.mark.parametrize(
    ("text", "typed", "asked"),
    [
        (ROUTER, ["flow_offloading=1", "br-lan/queues/rx-0/rps_cpus"], False),
        (f"{ROUTER}Hardware\t: BCM5301X\n", ["flow_offloading=1", "br-lan"], True),
        (ROUTER + UCI, ["br-lan/queues/rx-0/rps_cpus"], False),
        (ROUTER.replace("root@OpenWrt:~", "root@box:~"), ["eth0/queues/rx-0/rps_cpus"], True),
    ],
)
def test_a_router_is_relieved_by_its_flow_table_and_its_bridge(
    text: str, typed: list[str], asked: object
) -> None:
    (full,) = [rule for rule in rules() if rule.name == "softirq-full"]
    (hit,) = [one for one in full.find(gathered([Page("p.txt", text)])) if isinstance(one, Hit)]
    assert len(hit.actions) == len(typed)
    assert all(part in one.do for part, one in zip(typed, hit.actions, strict=True))
    assert all(bool(one.whatif) == asked for one in hit.actions)


@pytest.mark.parametrize(
    ("somaxconn", "more"),
    [("", ""), ("128", ""), ("4096", ": the program's own backlog, as somaxconn is 4096")],
)
def test_somaxconn_is_raised_only_where_it_is_the_limit(somaxconn: str, more: str) -> None:
    limit = f"net.core.somaxconn = {somaxconn}\n" if somaxconn else ""
    (hit,) = hits(EVERY["accept-queue"], RULES["accept-queue"].fires, limit)
    assert hit.said == f"129 connections wait to be accepted, 128 may{more}"
    raised = [] if more else ["sysctl -w net.core.somaxconn=4096"]
    assert [action.do for action in hit.actions] == raised
