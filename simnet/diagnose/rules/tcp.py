"""TCP: what it repeats, and where it throws away."""

from collections.abc import Iterator
from typing import Final

from simnet.diagnose.actions import sysctl
from simnet.diagnose.evidence import Evidence
from simnet.diagnose.fact import Fact
from simnet.diagnose.families import logged, percent, ratio, weight_of
from simnet.diagnose.page import number
from simnet.diagnose.rule import Action, Clear, Found, Hit, Rule

_SYSCTL: Final = "Linux Documentation/networking/ip-sysctl.rst"
_SNMP: Final = "Linux Documentation/networking/snmp_counter.rst"
_WINDOW: Final = 1 << 20
# busy for less tells nothing
_LONG_MS: Final = 1000
_MOSTLY: Final = 0.8
# of ip_local_port_range, as it comes
_LOCAL_PORTS: Final = "32768 60999"


def _somaxconn(evidence: Evidence, _subject: str) -> tuple[Action, ...]:
    return (sysctl(evidence, "net.core.somaxconn", "4096"),)


def _syn(evidence: Evidence, _subject: str) -> tuple[Action, ...]:
    return (
        sysctl(evidence, "net.ipv4.tcp_max_syn_backlog", "8192"),
        sysctl(evidence, "net.core.somaxconn", "4096"),
    )


def _rmem(evidence: Evidence, _subject: str) -> tuple[Action, ...]:
    return (sysctl(evidence, "net.ipv4.tcp_rmem", "4096 131072 33554432", modelled=True),)


def _retransmits(evidence: Evidence) -> Iterator[Found]:
    sent = evidence.series("snmp", "TcpOutSegs")
    again = evidence.series("snmp", "TcpRetransSegs")
    for one in again[:1]:
        whole = sent[0].value if sent else 0.0
        share = one.value / whole if whole else 0.0
        said = f"TcpRetransSegs {one.last.shown}"
        said += f" of {whole:,.0f} segments, {percent(share)}" if whole else ""
        many = share >= 5e-3 or (not whole and one.value >= 10_000)  # noqa: PLR2004 - half a percent halves a window often
        if many and one.value >= 50 and one.growing:  # noqa: PLR2004 - fewer are chance
            sure = "likely" if share >= 1e-2 else "possible"  # noqa: PLR2004 - a hundredth
            yield Hit("", (one.last,), said, 0.75 * weight_of(share or 1e-2), sure)
        else:
            yield Clear(one.last, said)
    yield from _connections(evidence)
    for fact in evidence.of("test", "retries"):
        rate = evidence.value("test", "rate", fact.subject) or 0.0
        if fact.value >= 1000 and rate:  # noqa: PLR2004 - more than a burst at the start
            said = f"{fact.shown} segments were sent again in a test of {rate:,.0f} Mbit/s"
            yield Hit("", (fact,), said, 32, "possible")


def _connections(evidence: Evidence) -> Iterator[Found]:
    """Look at what `ss -i` says of each connection: the worst one is named."""
    worst: tuple[float, Fact, float] | None = None
    for again, whole in (("bytes_retrans", "bytes_sent"), ("retrans", "data_segs_out")):
        out = {(fact.file, fact.line): fact.value for fact in evidence.of("tcp", whole)}
        for fact in evidence.of("tcp", again):
            sent = out.get((fact.file, fact.line), 0.0)
            share = fact.value / sent if sent else 0.0
            if fact.value >= 50 and share <= 1 and (worst is None or share > worst[0]):  # noqa: PLR2004 - as of all
                worst = share, fact, sent
        if worst:
            break
    if worst and worst[0] >= 5e-3:  # noqa: PLR2004 - half a percent halves a window often
        share, fact, sent = worst
        said = f"{fact.name} {fact.shown} of {sent:,.0f}, {percent(share)}, of a connection"
        sure = "likely" if share >= 1e-2 else "possible"  # noqa: PLR2004 - a hundredth
        yield Hit(fact.subject, (fact,), said, 0.75 * weight_of(share), sure)


def _limited(evidence: Evidence, name: str) -> Iterator[Found]:
    times = {(fact.file, fact.line): fact.value for fact in evidence.of("tcp", "busy")}
    for fact in evidence.of("tcp", name):
        if fact.value >= 30 and times.get((fact.file, fact.line), _LONG_MS) >= _LONG_MS:  # noqa: PLR2004 - a third of its time
            said = f"{name} {fact.text} of the time that a connection had something to send"
            act = _wmem if name == "sndbuf_limited" else _nobody
            sure = "certain" if fact.value >= 60 else "likely"  # noqa: PLR2004 - most of it
            yield Hit(fact.subject, (fact,), said, 40 + 0.3 * fact.value, sure, act(evidence, ""))
        else:
            yield Clear(fact, f"{name} {fact.text}")


def _wmem(evidence: Evidence, _subject: str) -> tuple[Action, ...]:
    return (sysctl(evidence, "net.ipv4.tcp_wmem", "4096 65536 33554432", modelled=True),)


def _nobody(_evidence: Evidence, _subject: str) -> tuple[Action, ...]:
    return ()


def _closed(evidence: Evidence) -> Iterator[Found]:
    for fact in evidence.of("segments", "win 0"):
        sent = evidence.value("segments", "sent", fact.subject) or fact.value
        said = f"{fact.shown} of {sent:,.0f} segments from there say win 0"
        yield Hit(fact.subject, (fact,), said, 58, "likely")


def _used_up(evidence: Evidence) -> Iterator[Found]:
    """Ports for connections that this host opens, against those that wait for their time to end."""
    waiting = evidence.last("sockets", "timewait")
    may = evidence.last("sysctl", r"net\.ipv4\.ip_local_port_range")
    ends = [number(word) for word in (may.text if may else _LOCAL_PORTS).split()]
    if waiting is None or len(ends) != 2:  # noqa: PLR2004 - first and last
        return
    ports = ends[1] - ends[0] + 1
    said = f"timewait {waiting.shown}; {ports:,.0f} ports to open connections from"
    if waiting.value < _MOSTLY * ports:
        yield Clear(waiting, said)
        return
    hot = evidence.of("hot", r"__inet6?_check_established|(__)?inet6?_hash_connect")
    facts = tuple(one for one in (waiting, may, *hot) if one is not None)
    said += f"; {hot[0].name} {hot[0].text}" if hot else ""
    weight, sure = (72, "likely") if hot else (40, "possible")
    widen = sysctl(evidence, "net.ipv4.ip_local_port_range", "1024 65535")
    yield Hit(
        "", facts, said, weight, sure, (widen, sysctl(evidence, "net.ipv4.tcp_tw_reuse", "1"))
    )


def _switched_off(evidence: Evidence) -> Iterator[Found]:
    for name in ("tcp_window_scaling", "tcp_sack", "tcp_timestamps"):
        fact = evidence.last("sysctl", f"net.ipv4.{name}")
        if fact and fact.text == "0":
            weight = 45 if name == "tcp_window_scaling" else 25
            action = sysctl(evidence, fact.name, "1", modelled=True)
            yield Hit("", (fact,), f"{fact.name} = 0", weight, "possible", (action,))


def _memory(evidence: Evidence) -> Iterator[Found]:
    """Pages that sockets hold, against those from which TCP saves, and those that it may have."""
    held = evidence.last("sockets", "tcp mem")
    may = evidence.last("sysctl", r"net\.ipv4\.tcp_mem")
    if held is None or may is None:
        return
    limits = [number(word) for word in may.text.split()]
    if len(limits) != 3:  # noqa: PLR2004 - least, pressure, most
        return
    said = f"TCP holds {held.shown} pages; tcp_mem {may.text}"
    if held.value < limits[1]:
        yield Clear(held, said)
        return
    sure = "certain" if held.value >= limits[2] else "likely"
    yield Hit("", (held, may), said, 70, sure)


def _small(evidence: Evidence) -> Iterator[Found]:
    for name in ("tcp_rmem", "tcp_wmem"):
        fact = evidence.last("sysctl", f"net.ipv4.{name}")
        sizes = fact.text.split() if fact else []
        if fact and len(sizes) == 3 and sizes[2].isdecimal() and int(sizes[2][:12]) < _WINDOW:  # noqa: PLR2004 - least, default, most
            said = (
                f"{fact.name} = {fact.text}: a window is at most half of {int(sizes[2][:12]):,} B"
            )
            value = "4096 131072 6291456" if name == "tcp_rmem" else "4096 16384 4194304"
            action = sysctl(evidence, fact.name, value, modelled=True)
            yield Hit("", (fact,), said, 35, "possible", (action,))


RULES: Final = (
    Rule(
        "delayed-acknowledgement",
        "protocol",
        "Something waits for an acknowledgement that is delayed",
        "words of a description: a time of 40 ms",
        "40 ms, said of a latency or a wait: a receiver acknowledges that late at the least",
        "A program writes twice and then reads: Nagle's algorithm holds the second part until the"
        " first is acknowledged, and the other end, which has nothing to answer yet, does that"
        " after 40 ms.",
        "Write once, or set TCP_NODELAY, at the end that writes twice; at the other end quickack"
        " of its route (ip route change ... quickack 1).",
        "RFC 896; RFC 1122, 4.2.3.2 and 4.2.3.4; Linux include/net/tcp.h, TCP_DELACK_MIN",
        logged(
            r"(?i)\b(?:p9\d\w*|latenc\w+|delay\w*|stall\w*|hang\w*|pauses?|takes?|took|waits?|slow\w*)\b"
            r"[^.\n]{0,60}?\b40 ?(?:ms\b|millisec)",
            weight=34,
            sure="possible",
        ),
    ),
    Rule(
        "retransmits",
        "protocol",
        "TCP sends again what was lost on the way {subject}",
        "RetransSegs against OutSegs",
        "1 segment in 200; likely from 1 in 100",
        "Segments or their acknowledgements are lost between this host and its peers: where, this"
        " counter does not say.",
        "Look at the counters of ports, rings and queues on both ends; then at the network.",
        f"{_SNMP}, TcpRetransSegs; RFC 5681",
        _retransmits,
    ),
    Rule(
        "receiver-limited",
        "application",
        "The receiver's window holds back {subject}",
        "rwnd_limited of ss -i",
        "a third of the time that the connection had something to send, of a second and more",
        "The other end offers no more room: its program reads too slowly, or its largest tcp_rmem"
        " is small for rate times round trip.",
        "At the other end: see why its program does not read, raise the largest tcp_rmem.",
        "Linux include/uapi/linux/tcp.h, tcpi_rwnd_limited",
        lambda evidence: _limited(evidence, "rwnd_limited"),
        outside=True,
    ),
    Rule(
        "sender-limited",
        "socket",
        "The send buffer holds back {subject}",
        "sndbuf_limited of ss -i",
        "a third of the time that the connection had something to send, of a second and more",
        "The network would take more, and the socket's send buffer has no room for it.",
        "Raise the largest tcp_wmem; remove an SO_SNDBUF that the program sets.",
        "Linux include/uapi/linux/tcp.h, tcpi_sndbuf_limited",
        lambda evidence: _limited(evidence, "sndbuf_limited"),
    ),
    Rule(
        "listen-overflow",
        "socket",
        "Connections are refused as nobody accepts them {subject}",
        "ListenOverflows, ListenDrops",
        "1 connection in 1,000, and 20",
        "The queue of complete connections of a listening socket is full: the program accepts too"
        " slowly, or its backlog is short. Who is dropped comes again after 200 ms or a second.",
        "Raise the program's backlog and somaxconn, the smaller of which is Send-Q of ss -ltn;"
        " accept on more threads.",
        f"{_SNMP}, TcpExtListenOverflows; {_SYSCTL}, somaxconn",
        ratio("TcpExtListen(Overflows|Drops)", "TcpPassiveOpens", fewest=20, act=_somaxconn),
    ),
    Rule(
        "syn-flood",
        "socket",
        "A listening socket is flooded with SYNs {subject}",
        "SyncookiesSent, TCPReqQFullDrop; the kernel's log",
        "a line of the log, or 1,000 cookies",
        "More connections begin than the queue of half-open ones holds: a burst or an attack.",
        "Raise tcp_max_syn_backlog and the program's backlog.",
        f"{_SYSCTL}, tcp_syncookies",
        lambda evidence: (
            *logged(r"[Pp]ossible SYN flooding on port", weight=55, sure="likely", act=_syn)(
                evidence
            ),
            *ratio(
                "TcpExt(SyncookiesSent|TCPReqQFull(Drop|DoCookies))",
                fewest=1000,
                weight=45,
                act=_syn,
            )(evidence),
        ),
    ),
    Rule(
        "tcp-pruned",
        "socket",
        "TCP throws away what it has received: buffers are full {subject}",
        "PruneCalled, RcvPruned, OfoPruned, TCPRcvQDrop, TCPRcvCollapsed",
        "1 segment in 1,000",
        "The receive buffer of a socket is full: the program reads too slowly, or small packets"
        " fill it with overhead.",
        "Raise the largest tcp_rmem; let the program read faster.",
        f"{_SNMP}, TcpExtPruneCalled",
        ratio(
            "TcpExt(PruneCalled|RcvPruned|OfoPruned|TCPRcvQDrop|TCPRcvCollapsed|TCPOFODrop)",
            "TcpInSegs",
            fewest=100,
            act=_rmem,
        ),
    ),
    Rule(
        "tcp-backlog",
        "socket",
        "TCP drops segments while the program holds the socket {subject}",
        "TCPBacklogDrop",
        "1 segment in 10,000",
        "Segments wait while the program is in a call; more wait than the buffer holds.",
        "Raise the largest tcp_rmem; keep program and softirq on different CPUs.",
        f"{_SNMP}, TcpExtTCPBacklogDrop",
        ratio("TcpExtTCPBacklogDrop", "TcpInSegs", at_least=1e-4, fewest=50, act=_rmem),
    ),
    Rule(
        "tcp-memory",
        "socket",
        "TCP has no memory left {subject}",
        "TCPMemoryPressures, TCPAbortOnMemory; mem of sockstat and tcp_mem; the kernel's log",
        "a line of the log, 10 times, or as many pages as the second of tcp_mem: pressure",
        "All sockets together hold more than tcp_mem: windows are cut and segments dropped.",
        "Raise tcp_mem; find who does not read.",
        f"{_SYSCTL}, tcp_mem",
        lambda evidence: (
            *logged(r"TCP: out of memory -- consider tuning tcp_mem", weight=70)(evidence),
            *ratio("TcpExt(TCPMemoryPressures|TCPAbortOnMemory)", fewest=10, weight=50)(evidence),
            *_memory(evidence),
        ),
    ),
    Rule(
        "orphans",
        "socket",
        "There are too many orphaned sockets {subject}",
        "the kernel's log",
        "always: connections are reset",
        "Programs closed connections whose peers do not answer.",
        "Raise tcp_max_orphans; shorten tcp_orphan_retries.",
        f"{_SYSCTL}, tcp_max_orphans",
        logged(r"TCP: too many (?:of )?orphaned sockets", weight=50),
    ),
    Rule(
        "zero-window",
        "application",
        "A receiver closes its window: the program reads too slowly {subject}",
        "TCPToZeroWindowAdv, TCPWantZeroWindowAdv; segments with win 0 that tcpdump shows",
        "1 segment in 1,000; one of those shown",
        "Data waits in the socket's buffer and the sender must stop: no matter of the network.",
        "See why the program does not read: its CPU, its disk, its locks.",
        f"{_SNMP}, TcpExtTCPToZeroWindowAdv",
        lambda evidence: (
            *ratio("TcpExtTCP(To|Want)ZeroWindowAdv", "TcpInSegs", fewest=100, sure="possible")(
                evidence
            ),
            *_closed(evidence),
        ),
    ),
    Rule(
        "ports-used-up",
        "protocol",
        "Ports to open connections from run out",
        "timewait of ss -s against ip_local_port_range; perf",
        "80 % as many connections wait for their time to end as there are ports; likely where the"
        " search for a port takes CPU time",
        "A connection that this host has closed keeps its port for a minute. To one address and"
        " port there are as many as the range has: the kernel tries them one after the other, and"
        " then refuses (EADDRNOTAVAIL).",
        "Keep connections open (keep-alive, a pool); widen ip_local_port_range, tcp_tw_reuse=1;"
        " more addresses to connect from or to.",
        f"{_SYSCTL}, ip_local_port_range, tcp_tw_reuse; net/ipv4/inet_hashtables.c",
        _used_up,
    ),
    Rule(
        "tcp-checksum",
        "protocol",
        "TCP segments arrive with wrong checksums {subject}",
        "InCsumErrors of Tcp, InErrs",
        "1 segment in 10,000",
        "The frame's checksum was right and the segment's is not: damaged within a device.",
        "Find the device; try without the card's checksums (ethtool -K rx off).",
        f"{_SNMP}; RFC 9293, 3.1",
        ratio("Tcp(InCsumErrors|InErrs)", "TcpInSegs", at_least=1e-4),
    ),
    Rule(
        "tcp-timeouts",
        "protocol",
        "TCP waits for its timer {subject}",
        "TCPTimeouts against OutSegs",
        "1 segment in 500: each costs 200 ms or more",
        "Losses that duplicate acknowledgements did not show: the end of a transfer, a dead path,"
        " or everything in flight at once.",
        "As for retransmissions.",
        f"{_SNMP}, TcpExtTCPTimeouts; RFC 6298",
        ratio("TcpExtTCPTimeouts", "TcpOutSegs", at_least=2e-3, fewest=50, sure="possible"),
    ),
    Rule(
        "paws",
        "protocol",
        "Segments are rejected by their timestamps {subject}",
        "PAWSEstab, PAWSActive",
        "1 segment in 1,000",
        "Old duplicates, or several hosts behind one address.",
        "Look for address translation in front; never use tcp_tw_recycle.",
        "RFC 7323, 5; Linux Documentation/networking/snmp_counter.rst",
        ratio("TcpExtPAWS(Estab|Active)", "TcpInSegs", fewest=100, sure="possible"),
    ),
    Rule(
        "tcp-switched-off",
        "protocol",
        "TCP does without an option that it needs {subject}",
        "tcp_window_scaling, tcp_sack, tcp_timestamps",
        "set to 0",
        "Without scaling a window is 64 KiB: at 10 ms that is 52 Mbit/s. Without SACK several"
        " losses in a window take a round trip each.",
        "Switch it on.",
        f"{_SYSCTL}; RFC 7323, RFC 2018",
        _switched_off,
    ),
    Rule(
        "tcp-buffer-small",
        "socket",
        "The largest window of TCP is small {subject}",
        "tcp_rmem, tcp_wmem",
        "largest below 1 MiB: 10 Gbit/s over 1 ms needs 1.25 MB",
        "A stream has at most a window in flight: rate = window / round trip.",
        "Raise the third value.",
        f"{_SYSCTL}, tcp_rmem",
        _small,
    ),
)
