"""Losses on the way, as tests from one end see them."""

from collections.abc import Iterator
from typing import Final

from simnet.diagnose.actions import sysctl
from simnet.diagnose.evidence import Evidence
from simnet.diagnose.families import ratio, weight_of
from simnet.diagnose.rule import Clear, Found, Hit, Rule


def _route(evidence: Evidence) -> Iterator[Found]:
    """Hops that lose until the end do lose; one in the middle alone only answers rarely."""
    for trace in evidence.subjects("hop"):
        hops = evidence.of("hop", ".*", trace)
        last = hops[-1]
        silent = "???" in last.name
        if silent or last.value < 0.5:  # noqa: PLR2004 - one of 200
            yield Clear(last, f"loss to {last.name} {last.text}")
            continue
        first = last
        for hop in reversed(hops):
            if hop.value < 0.5 * last.value:
                break
            first = hop
        said = f"loss to the last hop {last.text}, from hop {first.name} on"
        sure = "likely" if last.value >= 1 else "possible"
        bears = sysctl(evidence, "net.ipv4.tcp_congestion_control", "bbr", modelled=True)
        yield Hit("", (first, last), said, 0.7 * weight_of(last.value / 100), sure, (bears,))


def _lossy(evidence: Evidence) -> Iterator[Found]:
    for kind, name in (("ping", "lost"), ("test", "lost")):
        for fact in evidence.of(kind, name):
            share = fact.value / 100
            if share >= 1e-3:  # noqa: PLR2004 - one in a thousand
                what = "ping lost" if kind == "ping" else "the test lost"
                said = f"{what} {fact.value:.3g} % of its packets"
                yield Hit("", (fact,), said, 0.6 * weight_of(share), "possible")
            else:
                yield Clear(fact, f"lost {fact.value:g} %")


RULES: Final = (
    Rule(
        "marked-path",
        "protocol",
        "The network marks packets as congested {subject}",
        "Linux Documentation/networking/snmp_counter.rst, TcpExtTCPDeliveredCE",
        "1 segment in 1,000",
        "A queue on the way is long, and says so before it drops. Senders that take marks for"
        " losses slow down.",
        "Look at the queue of the bottleneck. Where it marks all that waits for longer than a"
        " threshold, DCTCP at both ends loses less of the rate.",
        "RFC 3168; RFC 8257",
        ratio("TcpExtTCPDeliveredCE", "TcpOutSegs", at_least=1e-3, fewest=100, sure="possible"),
        outside=True,
    ),
    Rule(
        "lossy-path",
        "protocol",
        "Packets are lost on the way {subject}",
        "ping, iperf -u",
        "1 packet in 1,000",
        "A test saw loss; it does not say where.",
        "Look at the counters of ports and rings on both ends, then at the network between.",
        "RFC 2681; man ping",
        _lossy,
    ),
    Rule(
        "lossy-route",
        "protocol",
        "Packets are lost on the way through the network {subject}",
        "mtr",
        "1 packet in 200 at the last hop: a hop in the middle that answers rarely loses nothing",
        "A router or a line between loses packets; the first hop from which on the loss stays is at"
        " or behind it, on the way there or back.",
        "Ask who runs that hop, with the report and one of the way back. No setting of this host"
        " helps, but one of its congestion control may bear it better (BBR).",
        "man mtr; RFC 1812, 4.3.2.8 (routers limit their answers)",
        _route,
        outside=True,
        hides=("lossy-path",),
    ),
)
