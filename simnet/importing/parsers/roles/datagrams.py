"""Whether what a host receives is UDP: counters of protocols, sockets, `sar -n UDP`, `iperf3 -u`.

A port that several sockets share, a socket in which datagrams wait, and one that serves names
show a receiver as much as counters do.

Source: RFC 4113 (counters), netstat(8), nstat(8), ss(8), sar(1), iperf3(1); net/ipv4/proc.c.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from simnet.importing.evidence import Evidence
from simnet.importing.kind import HAPPENED, Kind
from simnet.importing.outputs import Output
from simnet.importing.parser import Parser
from simnet.importing.parsers.sockets import lists
from simnet.importing.roles import DATAGRAMS, Role

_MOSTLY: Final = 0.8
_LEAST: Final = 100_000
# datagrams a second
_LEAST_RATE: Final = 100
_WHEN: Final = r"(?:[\d:]{5,8}(?: [AP]M)?|[^\W\d_]{3,15}\.?:)"
_SAR: Final = re.compile(
    rf"^({_WHEN}) +([\d.,]+) +([\d.,]+) +([\d.,]+) +([\d.,]+) *$", re.MULTILINE
)
# in the words of each tool: UDP received, lost and sent, TCP received
_SECTION: Final = re.compile(r"^(Udp|Tcp):[ \t]*\n((?:[ \t]+\S.*\n?)+)", re.MULTILINE)
_NETSTAT: Final = {
    "in": (re.compile(r"(\d{1,19}) packets received"), "Udp"),
    "errors": (re.compile(r"(\d{1,19}) packet receive errors"), "Udp"),
    "out": (re.compile(r"(\d{1,19}) packets sent"), "Udp"),
    "tcp": (re.compile(r"(\d{1,19}) segments received"), "Tcp"),
}
_NSTAT: Final = {
    "in": re.compile(r"^UdpInDatagrams\s+(\d{1,19})", re.MULTILINE),
    "errors": re.compile(r"^UdpInErrors\s+(\d{1,19})", re.MULTILINE),
    "out": re.compile(r"^UdpOutDatagrams\s+(\d{1,19})", re.MULTILINE),
    "tcp": re.compile(r"^TcpInSegs\s+(\d{1,19})", re.MULTILINE),
}
_SNMP: Final = re.compile(r"^(Udp|Tcp): ([A-Z][^\n]*)\n\1: ([-\d ]+)$", re.MULTILINE)
_FIELDS: Final = {"in": "InDatagrams", "errors": "InErrors", "out": "OutDatagrams", "tcp": "InSegs"}
# state or protocol, bytes that wait, local address and port
_SOCKET: Final = re.compile(
    r"^(?:udp +)?(?:UNCONN +|udp6? +)(\d{1,10}) +\d{1,10} +(\S*?)(?:%\S+)?:(\d{1,5})\s([^\n]*)"
    r"(?:\n\s+skmem:\(r\d+,rb(\d{1,10}))?",
    re.MULTILINE,
)
_HERE: Final = re.compile(r"127\.|\[?::1\]?$|\[?::ffff:127\.")
_NAMES: Final = 53
# what every host has: names, leases, time, discovery, and clients' own ports
_USUAL: Final = frozenset({67, 68, 111, 123, 323, 546, 5353, 5355})
_FIRST_OF_CLIENTS: Final = 32768
_RECEIVED: Final = re.compile(
    r"^\[[ \dSUM]{1,4}\] +([\d.]+)-([\d.]+) +sec +\S+ \w+ +([\d.]+) ([KMG]?)bits/sec +[\d.]+ ms"
    r" +(\d{1,12})/(\d{1,12})",
    re.MULTILINE,
)
_STREAM: Final = re.compile(r"^\[ {0,3}(\d{1,3})\] ", re.MULTILINE)
_ASKS: Final = re.compile(r"^Connecting to host|^Client connecting to", re.MULTILINE)
_REVERSE: Final = re.compile(r"Reverse mode")
_UNITS: Final = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9}
_MOST: Final = 10**9
_SENDS: Final = (
    "datagrams that are sent at a rate are not simulated (test = udp_send sends as fast as it can)"
)


def _roles(evidence: Evidence) -> Iterator[Role]:
    counted = _counted(evidence)
    ports = _sockets(evidence)
    numbers = dict(ports[1]) if ports is not None else {}
    yield from _tests(evidence)
    rates = _rates(evidence)
    if rates is not None:
        received, sent, source = rates
        if received >= _LEAST_RATE:
            said = f"{received:,} datagrams/s received and {sent:,} sent by UDP"
            both = {**numbers, "received_per_s": received, "sent_per_s": sent}
            yield Role(DATAGRAMS, said, source, both, **_server(ports))
        return
    if counted is not None:
        found, source = counted
        received = found["in"] + found["errors"]
        others = found.get("tcp")
        if received < _LEAST or (others is not None and received < _MOSTLY * (received + others)):
            if others is not None:
                return
        elif others is not None or ports is not None:
            said = f"{received:,} datagrams received by UDP"
            said += f", {others:,} segments by TCP" if others is not None else ""
            both = {**numbers, "received": received, "sent": found["out"]}
            yield Role(DATAGRAMS, said, source, both, **_server(ports))
            return
    if ports is not None:
        said, _, source = ports
        yield Role(DATAGRAMS, said, source, numbers, **_server(ports))


def _server(ports: tuple[str, dict[str, int], str] | None) -> dict[str, Any]:
    """What a host is called that serves names."""
    if ports is None or ports[1]["port"] != _NAMES:
        return {}
    return {"called": "a DNS server"}


def _counted(evidence: Evidence) -> tuple[dict[str, int], str] | None:
    """Return datagrams and segments since the host started, and the file; None if none says it."""
    told = evidence.outputs.one("netstat -s")
    if told is not None:
        sections = dict(_SECTION.findall(told.text))
        found = {
            name: int(matched[1])
            for name, (pattern, section) in _NETSTAT.items()
            if (matched := pattern.search(sections.get(section, "")))
        }
        return _whole(found, told)
    told = evidence.outputs.one("nstat")
    if told is not None:
        every = ((name, pattern.search(told.text)) for name, pattern in _NSTAT.items())
        return _whole({name: int(matched[1]) for name, matched in every if matched}, told)
    told = evidence.outputs.one("net/snmp")
    if told is None:
        return None
    rows = {
        name: dict(zip(heads.split(), values.split(), strict=False))
        for name, heads, values in _SNMP.findall(told.text)
    }
    found = {
        name: int(number)
        for name, field in _FIELDS.items()
        if (number := rows.get("Tcp" if name == "tcp" else "Udp", {}).get(field, "")).isdecimal()
    }
    return _whole(found, told)


def _whole(found: dict[str, int], told: Output) -> tuple[dict[str, int], str] | None:
    return ({"errors": 0, "out": 0, **found}, told.name) if "in" in found else None


def _sockets(evidence: Evidence) -> tuple[str, dict[str, int], str] | None:
    """Return words, port and number of the sockets that show a receiver, and the file."""
    best: tuple[int, int, str, dict[str, int], str] | None = None
    netstat = evidence.outputs.one("netstat -an")
    for told in (*lists(evidence), *([netstat] if netstat is not None else [])):
        rows = [
            (int(waiting), int(port), int(buffer or 0))
            for waiting, address, port, _, buffer in _SOCKET.findall(told.text)
            if not _HERE.match(address)
            if int(port) not in _USUAL and int(port) < _FIRST_OF_CLIENTS
        ]
        counts = Counter(port for _, port, _ in rows)
        for port, count in counts.items():
            waits = max(waiting for waiting, one, _ in rows if one == port)
            if count == 1 and not waits and port != _NAMES:
                continue
            buffers = max(buffer for _, one, buffer in rows if one == port)
            said = f"{count} socket{'s' * (count > 1)} of UDP at port {port}"
            said += f", in which {waits:,} bytes wait" if waits else ""
            numbers = {"port": port, "sockets": count, "buffer_bytes": buffers}
            best = max(
                best or (0, 0, "", {}, ""), (waits, count, said, numbers, told.name), key=_by
            )
    return None if best is None else best[2:]


def _by(one: tuple[int, int, str, dict[str, int], str]) -> tuple[int, int]:
    return one[:2]


def _rates(evidence: Evidence) -> tuple[int, int, str] | None:
    """Return datagrams a second, received (lost ones, too) and sent, and the file, by sar."""
    told = evidence.outputs.one("sar -n UDP")
    if told is None:
        return None
    rows = [
        (when, [float(one.replace(",", ".")) for one in values])
        for when, *values in _SAR.findall(told.text)
    ]
    chosen = [values for when, values in rows if not when[0].isdigit()] or [
        values for _, values in rows
    ]
    if not chosen:
        return None
    received, sent, unknown, errors = (
        sum(column) / len(chosen) for column in zip(*chosen, strict=True)
    )
    return round(received + unknown + errors), round(sent), told.name


def _tests(evidence: Evidence) -> Iterator[Role]:
    """Yield the tests of UDP that were run on the host."""
    told = evidence.outputs.one("iperf3 -J")
    if told is not None and (found := _of_json(told)) is not None:
        yield found
    told = evidence.outputs.one("iperf3")
    if told is None:
        return
    rows = _RECEIVED.findall(told.text)
    if rows:
        sends = bool(_ASKS.search(told.text)) and not _REVERSE.search(told.text)
        first, last, bits, unit, lost, total = max(
            rows, key=lambda row: float(row[1]) - float(row[0])
        )
        seconds = float(last) - float(first)
        arrived = int(total) - int(lost)
        if seconds > 0 and arrived > 0:
            size = round(float(bits) * _UNITS[unit] * seconds / 8 / arrived)
            streams = len(set(_STREAM.findall(told.text)))
            numbers = {
                "flows": max(streams, 1),
                "size_bytes": size,
                "received_per_s": round(int(total) / seconds),
            }
            yield _test(told, numbers, sends=sends)


def _of_json(told: Output) -> Role | None:
    """Return the test of UDP that a document of iperf3 is about; None if it is about none."""
    try:
        document = json.loads(told.text)
        start = document["start"]
        asked = start["test_start"]
        if asked["protocol"] != "UDP":
            return None
        sends = ("connecting_to" in start) != bool(asked.get("reverse"))
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return None
    numbers = {}
    try:
        total = document["end"]["sum"]
        numbers = {
            "flows": int(asked["num_streams"]),
            "size_bytes": int(asked["blksize"]),
            "received_per_s": round(total["packets"] / total["seconds"]),
        }
    except (ValueError, KeyError, TypeError, ArithmeticError):
        pass
    legal = all(0 < number < _MOST for number in numbers.values())
    return _test(told, numbers if legal else {}, sends=sends)


def _test(told: Output, numbers: dict[str, int], *, sends: bool) -> Role:
    if sends:
        return Role(DATAGRAMS, "a test of UDP by iperf3", told.name, {}, "a sender of UDP", _SENDS)
    return Role(
        DATAGRAMS, "a test of UDP by iperf3", told.name, {**numbers, "sockets": numbers["flows"]}
    )


PARSER: Final = Parser(
    kinds=(
        Kind(
            "netstat -s",
            line=r"(?:Ip|Tcp|Udp|IcmpMsg|TcpExt):$",
            command="netstat -s",
            folder="networking",
            idle=HAPPENED,
        ),
        Kind(
            "nstat",
            line=r"#kernel$|(?:Ip|Tcp|TcpExt|Udp)[A-Z]\w+ +\d+ +[\d.]+$",
            command="nstat -az",
            folder="networking",
            idle=HAPPENED,
        ),
        Kind(
            "net/snmp",
            line=r"(?:Ip|Tcp|Udp|TcpExt): [A-Z]\w+ ",
            files=("proc/net/snmp",),
            idle=HAPPENED,
        ),
        Kind("netstat -an", line=r"Proto +Recv-Q +Send-Q +Local"),
        Kind("sar -n UDP", line=rf"{_WHEN} +idgm/s +odgm/s"),
    ),
    roles=_roles,
)
