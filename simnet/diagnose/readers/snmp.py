"""Counters of protocols, by the names of nstat: netstat -s, nstat, /proc/net/snmp and netstat."""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page

_PROTOCOLS: Final = r"(?:Ip6?|Icmp6?|Tcp|Udp6?|UdpLite6?|TcpExt|IpExt|MPTcpExt)"
_NSTAT: Final = re.compile(rf"\s*({_PROTOCOLS}[A-Z]\w+)\s+(\d{{1,19}})(?:\s+[\d.]+)?\s*")
_PAIRS: Final = re.compile(rf"({_PROTOCOLS}):\s+(.*)")
_SECTION: Final = re.compile(rf"\s*({_PROTOCOLS}):\s*", re.IGNORECASE)
_NAMED: Final = re.compile(r"\s*([A-Z]\w+):\s*(\d{1,19})\s*")
# of nstat -j
_JSON: Final = re.compile(rf"\"({_PROTOCOLS}[A-Z]\w+)\": ?(\d{{1,19}})\b")
# what netstat -s of net-tools prints for a counter
_WORDS: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), name)
    for pattern, name in (
        (r"(\d+) segments retransmitt?ed", "TcpRetransSegs"),
        (r"(\d+) segments sen[dt] ?out", "TcpOutSegs"),
        (r"(\d+) segments received", "TcpInSegs"),
        (r"(\d+) bad segments received", "TcpInErrs"),
        (r"(\d+) resets sent", "TcpOutRsts"),
        (r"(\d+) failed connection attempts", "TcpAttemptFails"),
        (r"(\d+) active connections? openings?", "TcpActiveOpens"),
        (r"(\d+) passive connection openings?", "TcpPassiveOpens"),
        (r"InCsumErrors: (\d+)", "{}InCsumErrors"),
        (r"(\d+) times the listen queue of a socket overflowed", "TcpExtListenOverflows"),
        (r"(\d+) SYNs to LISTEN sockets (?:dropped|ignored)", "TcpExtListenDrops"),
        (r"(\d+) SYN cookies sent", "TcpExtSyncookiesSent"),
        (r"(\d+) packets pruned from receive queue because of socket", "TcpExtPruneCalled"),
        (r"(\d+) packets collapsed in receive queue", "TcpExtTCPRcvCollapsed"),
        (r"(\d+) packets dropped from out-of-order queue because", "TcpExtOfoPruned"),
        (r"(\d+) other TCP timeouts|TCPTimeouts: (\d+)", "TcpExtTCPTimeouts"),
        (r"(\d+) fast retransmits", "TcpExtTCPFastRetrans"),
        (r"Detected reordering (\d+) times using SACK", "TcpExtTCPSACKReorder"),
        (r"Detected reordering (\d+) times using time stamp", "TcpExtTCPTSReorder"),
        (r"(\d+) connections aborted due to timeout", "TcpExtTCPAbortOnTimeout"),
        (
            r"(\d+) packets rejected in established connections because of timestamp",
            "TcpExtPAWSEstab",
        ),
        (r"(\d+) times the listen", "TcpExtListenOverflows"),
        (r"(\d+) packets received$", "UdpInDatagrams"),
        (r"(\d+) packets to unknown port received", "UdpNoPorts"),
        (r"(\d+) packet receive errors", "UdpInErrors"),
        (r"(\d+) receive buffer errors|RcvbufErrors: (\d+)", "UdpRcvbufErrors"),
        (r"(\d+) send buffer errors|SndbufErrors: (\d+)", "UdpSndbufErrors"),
        (r"(\d+) packets sent$", "UdpOutDatagrams"),
        (r"(\d+) total packets received", "IpInReceives"),
        (r"(\d+) incoming packets discarded", "IpInDiscards"),
        (r"(\d+) incoming packets delivered", "IpInDelivers"),
        (r"(\d+) requests sent out", "IpOutRequests"),
        (r"(\d+) outgoing packets dropped", "IpOutDiscards"),
        (r"(\d+) dropped because of missing route", "IpOutNoRoutes"),
        (r"(\d+) reassemblies required", "IpReasmReqds"),
        (r"(\d+) packet reassembl(?:es|ies) failed", "IpReasmFails"),
        (r"(\d+) fragments dropped after timeout", "IpReasmTimeout"),
        (r"(\d+) fragments failed", "IpFragFails"),
        (r"(\d+) fragments created", "IpFragCreates"),
        (r"(\d+) with invalid addresses", "IpInAddrErrors"),
    )
)

OUTPUTS: Final = {"snmp": "nstat, netstat -s"}
SIGN: Final = re.compile(
    rf"(?m)^\s*{_PROTOCOLS}(?:[A-Z]\w+\s+\d|:)|^\s*\d+ (?:packet|segment|SYN|times the|receive buf)"
    r"|\"(?:Ip|Tcp|Udp)[A-Z]\w+\": ?\d"
    r"|^\s*Detected reordering \d"
    r"|^\s*(?:TCP|Listen|Rcvbuf|IPRev|InCsum)\w*: \d|^\s*(?:tcp|udp|ip):\s*$"
)


def read(page: Page) -> Iterator[Fact]:
    """Yield the counters; `of` of the fact is the host."""
    titles: dict[str, list[str]] = {}
    section = ""
    for at, line in enumerate(page.lines, 1):
        if plain := _NSTAT.fullmatch(line):
            yield Fact("snmp", "", plain[1], float(plain[2]), page.name, at)
        elif (pair := _PAIRS.match(line)) and pair[2].strip():
            words = pair[2].split()
            if not re.fullmatch(r"-?\d+", words[0]):
                titles[pair[1]] = words
            elif pair[1] in titles:
                for name, value in zip(titles.pop(pair[1]), words, strict=False):
                    if re.fullmatch(r"\d{1,19}", value):
                        yield Fact("snmp", "", pair[1] + name, float(value), page.name, at)
        elif '":' in line and (pairs := _JSON.findall(line)):
            for name, value in pairs:
                yield Fact("snmp", "", name, float(value), page.name, at)
        elif head := _SECTION.fullmatch(line):
            section = head[1].capitalize().replace("ext", "Ext")
        else:
            yield from _worded(page, at, section, line)


def _worded(page: Page, at: int, section: str, line: str) -> Iterator[Fact]:
    text = line.strip()
    for pattern, name in _WORDS:
        found = pattern.match(text)
        if found is None:
            continue
        if name.startswith("Udp") and section not in {"", "Udp"} and "errors" not in text:
            continue
        value = float(next(group for group in found.groups() if group)[:19])
        yield Fact("snmp", "", name.format(section or "Tcp"), value, page.name, at)
        return
    if (named := _NAMED.fullmatch(line)) and (section.endswith("Ext") or _alone(named[1])):
        prefix = section if section.endswith("Ext") else "TcpExt"
        prefix = "IpExt" if named[1].startswith("In") and prefix == "TcpExt" else prefix
        yield Fact("snmp", "", prefix + named[1], float(named[2]), page.name, at)


def _alone(name: str) -> bool:
    """Return whether a name is TCP's wherever it stands."""
    return name.startswith(("TCP", "Listen", "IPReversePath", "Prune", "Syncookies"))
