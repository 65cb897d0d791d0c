"""Sockets, mostly those of UDP."""

from collections.abc import Iterator
from typing import Final

from simnet.diagnose.actions import sysctl
from simnet.diagnose.evidence import Evidence
from simnet.diagnose.families import ratio
from simnet.diagnose.page import number
from simnet.diagnose.rule import Action, Clear, Found, Hit, Rule

_SNMP: Final = "Linux Documentation/networking/snmp_counter.rst"
_SYSCTL: Final = "Linux Documentation/admin-guide/sysctl/net.rst"
# SKB_TRUESIZE of 1,500 bytes in a buffer of 2,048
_TRUESIZE: Final = 2304
_SMALL: Final = 262_144


def _larger(evidence: Evidence, _subject: str = "") -> tuple[Action, ...]:
    return (
        sysctl(evidence, "net.core.rmem_max", "16777216"),
        sysctl(evidence, "net.core.rmem_default", "4194304", modelled=True),
    )


def _default(evidence: Evidence) -> Iterator[Found]:
    most = evidence.last("sysctl", "net.core.rmem_max")
    usual = evidence.last("sysctl", "net.core.rmem_default")
    for fact in (most, usual):
        if fact is None:
            continue
        if 0 < fact.value <= _SMALL and evidence.meant(fact):
            said = f"{fact.name} = {fact.text}: room for {fact.value / _TRUESIZE:.0f} full packets"
            yield Hit("", (fact,), said, 34, "possible", _larger(evidence))
            return


def _memory(evidence: Evidence) -> Iterator[Found]:
    """Pages that sockets of UDP hold, against those that they may have."""
    yield from ratio("Udp6?MemErrors", "Udp6?InDatagrams", at_least=1e-4, act=_pages)(evidence)
    held = evidence.last("sockets", "udp mem")
    may = evidence.last("sysctl", r"net\.ipv4\.udp_mem")
    limits = [number(word) for word in may.text.split()] if may is not None else []
    if held is None or may is None or len(limits) != 3:  # noqa: PLR2004 - least, pressure, most
        return
    said = f"UDP holds {held.shown} pages; udp_mem {may.text}"
    if held.value >= limits[2]:
        yield Hit("", (held, may), said, 70, "certain", _pages(evidence))
    else:
        yield Clear(held, said)


def _pages(evidence: Evidence, _subject: str = "") -> tuple[Action, ...]:
    before = evidence.said("sysctl", r"net\.ipv4\.udp_mem").split()
    if len(before) != 3 or not all(word.isdecimal() for word in before):  # noqa: PLR2004 - as above
        return ()
    return (
        sysctl(evidence, "net.ipv4.udp_mem", " ".join(str(4 * int(word[:15])) for word in before)),
    )


# of what all sockets dropped
_FEW: Final = 0.1


def _queues(evidence: Evidence) -> Iterator[Found]:
    for fact in evidence.of("socket", "drops"):
        if fact.value >= 10:  # noqa: PLR2004 - more than once
            said = f"{fact.subject} dropped {fact.shown} packets"
            every = evidence.value("snmp", "UdpRcvbufErrors") or 0.0
            few = fact.subject.startswith("udp") and fact.value < _FEW * every
            said += f", few of the {every:,.0f} that all sockets did" if few else ""
            weight, sure = (30, "possible") if few else (62, "certain")
            yield Hit(fact.subject, (fact,), said, weight, sure, _larger(evidence))
        else:
            yield Clear(fact, f"{fact.subject} dropped {fact.shown}")
    for fact in evidence.of("socket", "recv-q"):
        if fact.value >= 100_000 and not fact.subject.startswith("u_str"):  # noqa: PLR2004 - far more than a burst
            said = f"{fact.shown} B wait to be read at {fact.subject}"
            yield Hit(fact.subject, (fact,), said, 48, "likely")


def _listen(evidence: Evidence) -> Iterator[Found]:
    for waiting in evidence.of("socket", "listen recv-q"):
        most = evidence.last("socket", "listen send-q", waiting.subject)
        if most and most.value and waiting.value >= most.value:
            said = f"{waiting.shown} connections wait to be accepted, {most.shown} may"
            actions: tuple[Action, ...] = (sysctl(evidence, "net.core.somaxconn", "4096"),)
            limit = evidence.last("sysctl", r"net\.core\.somaxconn")
            facts = (waiting, most) if limit is None else (waiting, most, limit)
            if limit is not None and most.value < limit.value:
                said += f": the program's own backlog, as somaxconn is {limit.shown}"
                actions = ()
            yield Hit(waiting.subject, facts, said, 64, "certain", actions)


def _idle_polling(evidence: Evidence) -> Iterator[Found]:
    """Busy polling is asked for, and no packet has come by it."""
    polled = evidence.last("snmp", "TcpExtBusyPollRxPackets")
    for name in ("busy_poll", "busy_read"):
        asked = evidence.last("sysctl", rf"net\.core\.{name}")
        if asked is None or not asked.value or polled is None:
            continue
        said = f"{asked.name} = {asked.text}, {polled.name} {polled.shown}"
        if polled.value:
            yield Clear(polled, said)
        else:
            yield Hit("", (asked, polled), said, 44, "likely")
            return


RULES: Final = (
    Rule(
        "busy-polling-idle",
        "socket",
        "Busy polling is set, and no packet has come by it {subject}",
        "net.core.busy_poll, net.core.busy_read; BusyPollRxPackets",
        "none at all",
        "busy_poll is for poll and select, and for epoll from Linux 4.12 on; busy_read is for reads"
        " that wait. What comes through a device without queues of its own (tunnels, bridges) is"
        " not polled for.",
        "Set busy_read for programs that wait in recv, a kernel of 4.12 or later for epoll; keep a"
        " program's sockets on one queue each thread.",
        f"{_SYSCTL}, busy_poll, busy_read; Linux fs/eventpoll.c, ep_busy_loop",
        _idle_polling,
    ),
    Rule(
        "udp-buffer",
        "socket",
        "UDP drops what it has received: a socket's buffer is full {subject}",
        "UdpRcvbufErrors",
        "1 datagram in 10,000",
        "The program reads too slowly, or in bursts, for the size of its receive buffer.",
        "Raise rmem_max and the program's SO_RCVBUF (rmem_default if it sets none); read on more"
        " threads, each with a socket of its own (SO_REUSEPORT), or several datagrams by a call"
        " (recvmmsg).",
        f"{_SNMP}; {_SYSCTL}, rmem_max; man 7 udp",
        ratio("Udp6?RcvbufErrors", "Udp6?InDatagrams", at_least=1e-4, act=_larger, beside=True),
        hides=("udp-errors", "udp-default"),
    ),
    Rule(
        "udp-errors",
        "socket",
        "UDP counts receive errors {subject}",
        "UdpInErrors",
        "1 datagram in 1,000",
        "Full buffers or wrong checksums; RcvbufErrors and InCsumErrors say which.",
        "Look at nstat -az 'Udp*'; most often the buffer is full.",
        f"{_SNMP}; RFC 1213",
        ratio("Udp6?InErrors", "Udp6?InDatagrams", act=_larger, beside=True),
    ),
    Rule(
        "udp-memory",
        "socket",
        "UDP has no memory left for what it has received {subject}",
        "UdpMemErrors; mem of UDP of sockstat and udp_mem",
        "1 datagram in 10,000; as many pages as the third of udp_mem",
        "All sockets of UDP together hold what udp_mem allows: datagrams are dropped, however large"
        " a socket's own buffer may be.",
        "Raise udp_mem; find who does not read (ss -uam).",
        "Linux Documentation/networking/ip-sysctl.rst, udp_mem; net/ipv4/udp.c,"
        " __udp_enqueue_schedule_skb",
        _memory,
        hides=("udp-errors",),
    ),
    Rule(
        "udp-send-buffer",
        "socket",
        "UDP cannot send: a socket's buffer is full {subject}",
        "UdpSndbufErrors",
        "1 datagram in 1,000",
        "The program sends faster than the queue of the port takes.",
        "Raise wmem_default; send at a steady rate (fq, SO_MAX_PACING_RATE).",
        f"{_SNMP}; {_SYSCTL}, wmem_default",
        ratio("Udp6?SndbufErrors", "Udp6?OutDatagrams", fewest=100),
    ),
    Rule(
        "udp-checksum",
        "socket",
        "UDP datagrams arrive with wrong checksums {subject}",
        "InCsumErrors of Udp",
        "1 datagram in 1,000",
        "Damaged in a device on the way, or by a card or tunnel that computes them wrongly.",
        "Find the device; try without the card's checksums (ethtool -K tx off, rx off).",
        f"{_SNMP}; RFC 768",
        ratio("Udp6?InCsumErrors", "Udp6?InDatagrams"),
        outside=True,
    ),
    Rule(
        "udp-default",
        "socket",
        "The receive buffer of UDP is small {subject}",
        "rmem_max, rmem_default, pasted alone",
        "up to 256 KiB: some hundred packets",
        "A UDP socket, as of QUIC, a resolver or a video, holds that many packets; what arrives"
        " while the program pauses 1 or 2 ms is lost beyond. TCP has its own limits.",
        "Raise rmem_max, and what the program asks for.",
        f"{_SYSCTL}, rmem_default, rmem_max; RFC 9000, 13",
        _default,
    ),
    Rule(
        "socket-queue",
        "application",
        "The program does not read fast enough: {subject}",
        "drops and Recv-Q of ss -m, netstat -an",
        "10 drops, or 100 kB that wait",
        "What has arrived waits in the socket, and is dropped or stops the sender.",
        "See why the program does not read: its CPU, its disk, its locks; enlarge the buffer.",
        "man ss; Linux include/uapi/linux/sock_diag.h, SK_MEMINFO_DROPS",
        _queues,
    ),
    Rule(
        "accept-queue",
        "application",
        "Connections wait to be accepted: {subject}",
        "Recv-Q and Send-Q of listening sockets, of ss",
        "as many as may",
        "The program accepts too slowly, or its backlog is short: new connections are dropped, and"
        " come again after 200 ms or a second.",
        "Raise the program's backlog and somaxconn, the smaller of which is Send-Q of ss -ltn;"
        " accept on more threads.",
        "man ss; man 2 listen; net/ipv4/tcp_input.c, tcp_conn_request",
        _listen,
    ),
)
