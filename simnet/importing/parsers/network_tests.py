"""Tests of the network that were run on the host: what `iperf3 -J` and `netperf` printed.

The host's scenario repeats such a test, unless its ports are seen to carry something else. iperf3
says on which side it ran; netperf's output is that of the client.

Source: iperf3(1), `iperf_json_start` of src/iperf_api.c; netperf, src/nettest_bsd.c.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from simnet.importing.evidence import Evidence
from simnet.importing.kind import Kind
from simnet.importing.measured.iperf3 import READER
from simnet.importing.outputs import Output
from simnet.importing.parser import Parser
from simnet.importing.rates import NetworkTest

_IPERF3: Final = "iperf3 -J"
_NETPERF: Final = "netperf"
_IPERF3_TEXT: Final = "iperf3"
_COLUMNS: Final = r"\[ *ID\] +Interval +Transfer +(?:Bitrate|Bandwidth)"
_ROW_OF_IPERF3: Final = r"\[ {0,3}\d{1,3}\] +[\d.]+-[\d.]+ +sec +"
_ANY_OF_IPERF3: Final = (
    rf"Connecting to host \S|Accepted connection from \S|{_COLUMNS}|{_ROW_OF_IPERF3}"
)
_STREAM: Final = re.compile(r"^\[ {0,3}(\d{1,3})\] ", re.MULTILINE)
# only who sends knows these
_SENDS: Final = re.compile(r"\bCwnd\b|\bRetr\b|Bytes/sec +\d+ +[\d.]+ [KM]?Bytes")
_UDP: Final = re.compile(r"\bJitter\b|Lost/Total")
_USUAL_BYTES: Final = 128 << 10
_TITLE: Final = r"(?:MIGRATED )?TCP (STREAM|MAERTS|SENDFILE|REQUEST/RESPONSE) TEST"
_TEST: Final = re.compile(_TITLE, re.MULTILINE)
# buffer of the receiver, of the sender, and size of a message or request
_ROW: Final = re.compile(r"^ *\d{1,12} +\d{1,12} +(\d{1,8}) +[\d.]", re.MULTILINE)
_OF_NETPERF: Final = {"STREAM": "netperf", "SENDFILE": "netperf", "MAERTS": "netserver"}
_BITS: Final = re.compile(r" ([\d.]{1,9}) ([KMG]?)bits/sec")
_UNITS: Final = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9}
_RATE_OF_NETPERF: Final = 4
_MOST_STREAMS: Final = 128
_MOST_MESSAGE: Final = 16 << 20


def _tests(evidence: Evidence) -> Iterator[NetworkTest]:
    for kind, read in ((_IPERF3, _iperf3), (_NETPERF, _netperf), (_IPERF3_TEXT, _iperf3_text)):
        told = evidence.outputs.one(kind)
        found = None if told is None else read(told)
        if found is not None and 0 < found.message_bytes <= _MOST_MESSAGE:
            yield found


def _iperf3(told: Output) -> NetworkTest | None:
    start = _start(told)
    asked = start.get("test_start")
    if not isinstance(asked, dict) or asked.get("protocol") != "TCP":
        return None
    streams, message = asked.get("num_streams"), asked.get("blksize")
    if type(streams) is not int or type(message) is not int or not 0 < streams <= _MOST_STREAMS:
        return None
    test = "bidirectional"
    if not asked.get("bidir"):
        # the client sends, unless it asked for the reverse
        client = "connecting_to" in start
        test = "netperf" if client != bool(asked.get("reverse")) else "netserver"
    try:
        rate = READER.read(told.text).get("throughput_bps", 0.0)
    except (ValueError, RecursionError):
        rate = 0.0
    return NetworkTest(_IPERF3, test, streams, message, told.name, rate)


def _iperf3_text(told: Output) -> NetworkTest | None:
    """Return the test of a text: whether the host sent, and by how many connections."""
    if _UDP.search(told.text):
        return None
    streams = min(max(len(set(_STREAM.findall(told.text))), 1), _MOST_STREAMS)
    test = "netperf" if _SENDS.search(told.text) else "netserver"
    rate = max((float(n) * _UNITS[unit] for n, unit in _BITS.findall(told.text)), default=0.0)
    return NetworkTest(_IPERF3_TEXT, test, streams, _USUAL_BYTES, told.name, rate)


def _start(told: Output) -> dict[str, Any]:
    """Return how a test began; empty if the output is none of iperf3."""
    try:
        start = json.loads(told.text)["start"]
    except (ValueError, RecursionError, KeyError, TypeError):
        return {}
    return start if isinstance(start, dict) else {}


def _netperf(told: Output) -> NetworkTest | None:
    """Return the test of the first report; further ones are further streams."""
    found = _TEST.search(told.text)
    row = None if found is None else _ROW.search(told.text, found.end())
    if found is None or row is None:
        return None
    streams = min(len(_TEST.findall(told.text)), _MOST_STREAMS)
    test = _OF_NETPERF.get(found[1], "tcp_rr")
    words = told.text[row.start() :].partition("\n")[0].split()
    known = test != "tcp_rr" and len(words) > _RATE_OF_NETPERF
    rate = float(words[_RATE_OF_NETPERF]) * 1e6 if known else 0.0
    return NetworkTest(_NETPERF, test, streams, int(row[1]), told.name, rate)


PARSER: Final = Parser(
    kinds=(
        Kind(_IPERF3, r'\s*\{\s*"start"\s*:'),
        Kind(_NETPERF, _TITLE, line=_TITLE),
        Kind(_IPERF3_TEXT, _ANY_OF_IPERF3, line=_ANY_OF_IPERF3),
    ),
    tests=_tests,
)
