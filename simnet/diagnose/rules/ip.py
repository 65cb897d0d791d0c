"""IP: routes, neighbours, fragments, filters, connection tracking."""

import ipaddress
import itertools
import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.actions import sysctl
from simnet.diagnose.evidence import Evidence
from simnet.diagnose.fact import Fact
from simnet.diagnose.families import counted, logged, ratio
from simnet.diagnose.rule import Action, Clear, Found, Hit, Rule
from simnet.printable import typed

_SYSCTL: Final = "Linux Documentation/networking/ip-sysctl.rst"
_SNMP: Final = "Linux Documentation/networking/snmp_counter.rst"
_TRACK: Final = "Linux Documentation/networking/nf_conntrack-sysctl.rst"
_NEARLY: Final = 0.95
# names that the kernel and tools give to devices without a card
_VIRTUAL: Final = re.compile(
    r"(?:br|virbr|docker|bond|team|vlan|veth|tun|tap|macvlan|ipvlan|wg|vxlan|vnet|vmbr|cali|cni|flannel"
    r"|cilium|ovs|dummy|ifb|ppp|gre|sit)[\w.-]*(?:@.*)?|[\w-]+\.\d{1,4}(?:@.*)?"
)
# beyond are tunnels, which cut packets themselves
_JUMBO: Final = 16_000
_RACED: Final = 1.05


def _larger_table(evidence: Evidence, _subject: str = "") -> tuple[Action, ...]:
    most = evidence.value("sysctl", "net.netfilter.nf_conntrack_max") or 131_072
    return (sysctl(evidence, "net.netfilter.nf_conntrack_max", f"{4 * most:.0f}", modelled=True),)


def _neighbours(evidence: Evidence, _subject: str) -> tuple[Action, ...]:
    return tuple(
        sysctl(evidence, f"net.ipv4.neigh.default.gc_thresh{n}", str(value))
        for n, value in ((1, 4096), (2, 8192), (3, 16384))
    )


def _nearly_full(evidence: Evidence) -> Iterator[Found]:
    count = evidence.last("sysctl", "net.netfilter.nf_conntrack_count")
    most = evidence.last("sysctl", "net.(netfilter.nf_conntrack_max|nf_conntrack_max)")
    if count and most and most.value:
        said = f"nf_conntrack_count {count.text} of nf_conntrack_max {most.text}"
        if count.value >= _NEARLY * most.value:
            yield Hit("", (count, most), said, 70, "certain", _larger_table(evidence))
        else:
            yield Clear(count, said)
    yield from logged(
        r"(?:nf|ip)_conntrack: (?:nf_conntrack: )?(?:\S+ )?table full", weight=82, act=_larger_table
    )(evidence)


def _tracked(evidence: Evidence) -> Iterator[Found]:
    found = [one.last for one in evidence.series("conntrack", "drop|early_drop|insert_failed")]
    worst = max(found, key=lambda fact: fact.value, default=None)
    if worst is None:
        return
    total = sum(fact.value for fact in found)
    if total >= 1000:  # noqa: PLR2004 - races of a resolver's two queries fail now and then
        names = {fact.name for fact in found if fact.value}
        sure = "likely" if names & {"drop", "early_drop"} else "possible"
        said = f"{', '.join(sorted(names))}: {total:,.0f} in all, {worst.shown} on {worst.subject}"
        sums = {name: sum(fact.value for fact in found if fact.name == name) for name in names}
        # a packet that lost the race counts in both
        raced = sums.get("drop", 0.0) <= _RACED * sums.get("insert_failed", 0.0)
        if raced and not sums.get("early_drop"):
            said += ": each drop is of a failed insertion, the table was not full"
        actions = () if raced and not sums.get("early_drop") else _larger_table(evidence)
        yield Hit("", (worst,), said, 45, sure, actions)
    else:
        yield Clear(worst, f"{worst.name} {worst.shown}")


def _network(text: str) -> ipaddress.IPv4Network | None:
    try:
        return ipaddress.IPv4Interface(text).network
    except ValueError:
        return None


def _flux(evidence: Evidence) -> Iterator[Found]:
    """Two ports with addresses of one network, or with the same address."""
    facts = {(fact.subject, fact.text): fact for fact in evidence.of("addr", "inet")}
    usable = [
        (fact, network)
        for fact in facts.values()
        if (network := _network(fact.text)) and network.prefixlen < 32 and not network.is_loopback  # noqa: PLR2004 - a host's own
    ]
    for (one, net), (other, same) in itertools.combinations(usable[:64], 2):
        if net == same and one.subject != other.subject and one.file == other.file:
            said = f"{one.subject} {one.text} and {other.subject} {other.text} are in one network"
            address = one.text.partition("/")[0] == other.text.partition("/")[0]
            yield Hit(
                one.subject,
                (one, other),
                said,
                72 if address else 45,
                "certain" if address else "likely",
                (
                    sysctl(evidence, "net.ipv4.conf.all.arp_ignore", "1"),
                    sysctl(evidence, "net.ipv4.conf.all.arp_announce", "2"),
                ),
            )
            return


def _no_carrier(evidence: Evidence) -> Iterator[Found]:
    flags = {fact.subject: fact for fact in evidence.of("addr", "flags")}
    quiet = [
        fact
        for fact in flags.values()
        if "NO-CARRIER" in fact.text
        and "UP" in fact.text
        and evidence.meant(fact)
        and (
            evidence.of("addr", "inet", fact.subject)
            or evidence.value("link", "rx_packets", fact.subject) == 0
        )
    ]
    busy = [
        fact
        for fact in flags.values()
        if "NO-CARRIER" not in fact.text
        and (evidence.packets(fact.subject, "rx") > 0)
        and "LOOPBACK" not in fact.text
    ]
    if quiet and busy:
        said = f"{quiet[0].subject} is up and has no link; {busy[0].subject} carries the traffic"
        action = _down(quiet[0])
        yield Hit(quiet[0].subject, (quiet[0], busy[0]), said, 24, "possible", action)


def _down(fact: Fact) -> tuple[Action, ...]:
    port = fact.subject
    return (
        Action(
            typed("ip", "link", "set", "dev", port, "down"),
            typed("ip", "link", "set", "dev", port, "up"),
        ),
    )


def _filter(evidence: Evidence, _subject: str) -> tuple[Action, ...]:
    return (sysctl(evidence, "net.ipv4.conf.all.rp_filter", "2"),)


def _mtu(evidence: Evidence) -> Iterator[Found]:
    slaves: dict[str, list[Fact]] = {}
    for fact in evidence.of("addr", "mtu"):
        master = evidence.said("addr", "master", fact.subject)
        if master and not master.isdecimal():
            slaves.setdefault(master, []).append(fact)
    for master, facts in slaves.items():
        sizes = {fact.value for fact in facts}
        if len(sizes) > 1 and max(sizes) <= _JUMBO and not master.startswith("ovs"):
            small = min(facts, key=lambda fact: fact.value)
            large = max(facts, key=lambda fact: fact.value)
            said = f"{large.subject} has mtu {large.shown}, {small.subject} {small.shown},"
            said += f" both are ports of {master}"
            yield Hit(small.subject, (small, large), said, 40, "possible")


def _unwanted(evidence: Evidence) -> Iterator[Found]:
    """Look at drops of devices without a card below: they have no ring that could be full."""
    for one in counted(r"rx_dropped", kinds=("link",))(evidence):
        if isinstance(one, Hit) and _VIRTUAL.fullmatch(one.subject):
            yield one
    yield from counted(r"rx_steer_missed_packets")(evidence)


RULES: Final = (
    Rule(
        "unwanted",
        "protocol",
        "{subject} drops packets that nobody wants",
        "RX dropped of ip -s link of bridges, bonds, VLANs, veths, tunnels;"
        " rx_steer_missed_packets of ethtool -S",
        "1 packet in 10,000",
        "No ring was full: dropped are packets of protocols that nobody handles, of VLANs without a"
        " device, for other addresses or groups; on a bridge or a tunnel also for a full backlog.",
        "See what they are with tcpdump -e on the device; no setting of a ring helps. Look at the"
        " second column of /proc/net/softnet_stat.",
        "Linux Documentation/networking/statistics.rst, rx_dropped; net/core/dev.c;"
        " networking/device_drivers/ethernet/mellanox/mlx5/counters.rst",
        _unwanted,
        hides=("link-dropped",),
    ),
    Rule(
        "conntrack-full",
        "protocol",
        "The table of connections is full: packets are dropped {subject}",
        "the kernel's log; nf_conntrack_count and nf_conntrack_max",
        "a line of the log, or 95 % full",
        "No new connection can be tracked, so its packets are dropped.",
        "Raise nf_conntrack_max (and hashsize), shorten timeouts, do not track what needs no NAT.",
        f"{_TRACK}, nf_conntrack_max",
        _nearly_full,
    ),
    Rule(
        "conntrack-drops",
        "protocol",
        "Connection tracking drops packets {subject}",
        "drop, early_drop, insert_failed of conntrack -S",
        "1,000",
        "early_drop, and drop beyond insert_failed: the table was full. insert_failed: two packets"
        " of one new connection at once, as of a resolver's two queries.",
        "Raise nf_conntrack_max where the table is full; use single-request-reopen or TCP for DNS"
        " (a cache on each node) where insertions fail.",
        "Linux net/netfilter/nf_conntrack_core.c; man conntrack",
        _tracked,
    ),
    Rule(
        "neighbours-full",
        "protocol",
        "The table of neighbours overflows {subject}",
        "the kernel's log",
        "always: packets to new neighbours are dropped",
        "More hosts of the network are spoken to than gc_thresh3.",
        "Raise gc_thresh1 to 3.",
        f"{_SYSCTL}, neigh/default/gc_thresh3",
        logged(
            r"(?:[Nn]eighbou?r|arp_cache|ndisc_cache"
            r"|neighbour: \S+):? (?:neighbor )?table overflow",
            weight=80,
            act=_neighbours,
        ),
    ),
    Rule(
        "reverse-path",
        "protocol",
        "Packets are refused by where they come from (rp_filter) {subject}",
        "IPReversePathFilter; martian source in the kernel's log",
        "1 packet in 1,000, or 3 lines",
        "The answer would leave by another port, so strict filtering drops the packet.",
        "Loose mode (2), or routes by source address.",
        f"{_SYSCTL}, rp_filter; RFC 3704",
        lambda evidence: (
            *ratio("(IpExt|TcpExt)IPReversePathFilter", "IpInReceives", fewest=50, act=_filter)(
                evidence
            ),
            *logged(
                r"martian source .* on dev (?P<subject>\S+)",
                at_least=3,
                weight=40,
                sure="likely",
                act=_filter,
            )(evidence),
        ),
    ),
    Rule(
        "same-network",
        "protocol",
        "{subject} and another port are in one network",
        "addresses of ip addr or ifconfig",
        "certain where the address is the same; likely where the network is",
        "Each port answers ARP for the other's address: packets come in where nobody waits, or at"
        " a port without a link.",
        "Take one down, bond them, or set arp_ignore=1 and arp_announce=2 with routes by source.",
        f"{_SYSCTL}, arp_ignore, arp_announce",
        _flux,
    ),
    Rule(
        "no-carrier",
        "protocol",
        "{subject} is up without a link, beside a port that works",
        "flags of netstat -i, ifconfig, ip link",
        "possible: it matters where it has an address or a route of the other's network",
        "A port that is up keeps its address and its routes though nothing can leave by it.",
        "Take it down if it is not wanted; see whether both have one address (ip addr).",
        "Linux Documentation/networking/operstates.rst",
        _no_carrier,
    ),
    Rule(
        "reassembly",
        "protocol",
        "Fragments are lost and packets with them {subject}",
        "ReasmFails against ReasmReqds",
        "1 in 100",
        "A datagram in several frames is lost if one is; a fast sender wraps its 16-bit numbers.",
        "Send less than an MTU; raise ipfrag_high_thresh.",
        f"{_SYSCTL}, ipfrag_high_thresh; RFC 4963",
        ratio("IpReasmFails", "IpReasmReqds", at_least=1e-2, fewest=100),
    ),
    Rule(
        "fragmenting",
        "protocol",
        "Packets do not fit and may not be cut {subject}",
        "FragFails",
        "1 packet in 1,000",
        "A packet is larger than the MTU and must not be fragmented: MTUs differ on the way.",
        "Same MTU everywhere; let ICMP through; clamp the MSS on tunnels.",
        "RFC 1191, RFC 4821",
        ratio("IpFragFails", "IpOutRequests|TcpOutSegs", fewest=100, sure="possible"),
    ),
    Rule(
        "no-route",
        "protocol",
        "Packets find no route {subject}",
        "InNoRoutes, OutNoRoutes",
        "1 packet in 1,000",
        "There is no way to where they should go.",
        "Look at ip route and at policy rules.",
        f"{_SNMP}; RFC 1213",
        ratio("Ip(Ext)?(In|Out)NoRoutes", "IpInReceives", fewest=100, sure="possible"),
    ),
    Rule(
        "ip-discards",
        "protocol",
        "IP throws away good packets {subject}",
        "InDiscards, OutDiscards",
        "1 packet in 1,000",
        "No memory, a full queue, or a filter.",
        "Look at queues (tc -s qdisc), memory and filters.",
        f"{_SNMP}, IpInDiscards; RFC 1213",
        ratio("Ip(In|Out)Discards", "IpInReceives", fewest=100, sure="possible"),
    ),
    Rule(
        "mtu-differs",
        "protocol",
        "Ports of one bridge or bond have different MTUs: {subject}",
        "ip link",
        "always",
        "What fits one port does not fit the other: large packets vanish.",
        "Set one MTU.",
        "RFC 1191; man ip-link",
        _mtu,
    ),
)
