"""Measure what this machine's kernel does with connections that find a socket's queues full.

Two network namespaces are joined by a veth pair, so nothing leaves the machine. `held`: nobody
accepts, and more connect than fit. `half_open`: SYNs whose SYN-ACKs nobody answers, with and
without cookies. `acked`: requests that complete when the accept queue has become full. `loads`: a
worker that sleeps for a while on each connection, at several rates of connections that begin at
random. Everything is written as JSON, with the kernel's counters by their names. Needs root, Linux
and `ip`; standard library only.

    python3 -m validation.live.listen --out listen.json
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import random
import selectors
import signal
import socket
import statistics
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

from validation.live.udp import alone, inside
from validation.live.veth import namespaces

_HOST, _PEER, _PORT = "10.94.1.1", "10.94.1.2", 4005
# a network whose hosts answer nothing, behind the peer
_NOWHERE: Final = "10.97.0."
_NOT_POSSIBLE: Final = 2
# listen's backlog, net.core.somaxconn
HELD: Final = ((0, 4096), (1, 4096), (7, 4096), (50, 4096), (300, 128))
_MORE: Final = 40
# backlog, tcp_syncookies, tcp_max_syn_backlog
HALF_OPEN: Final = (
    (16, 1, 4096),
    (16, 0, 4096),
    (16, 2, 4096),
    (100, 0, 16),
    (100, 0, 48),
    (5, 1, 8),
)
SYNS: Final = 60
# backlog, connections that wait already, requests that complete, tcp_abort_on_overflow
ACKED: Final = ((20, 10, 20, 0), (20, 10, 20, 1), (20, 16, 20, 0), (20, 16, 20, 1))
# connections a second, backlog
LOADS: Final = ((150, 8), (220, 8), (260, 8), (320, 8), (400, 8), (260, 64), (320, 64), (400, 64))
# likewise, predicted when the first were known
MORE_LOADS: Final = ((190, 16), (240, 16), (280, 32), (360, 16), (300, 4), (500, 32))
SERVICE_S: Final = 0.005
SECONDS: Final = 4.0
REQUEST, ANSWER = 400, 8192
_SETTLED_S: Final = 0.3
_RAW_PORT: Final = 6000
# flags of TCP
_SYN: Final = 0x02
_ACK: Final = 0x10
_SYN_ACK: Final = 0x12
_COUNTED: Final = (
    "ListenOverflows",
    "ListenDrops",
    "TCPReqQFullDoCookies",
    "TCPReqQFullDrop",
    "SyncookiesSent",
    "EmbryonicRsts",
)


def main() -> int:
    """Measure, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    try:
        with namespaces() as (host, peer):
            found = _all(host, peer)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.stderr.write(f"no network namespaces here: {error}\n")
        return _NOT_POSSIBLE
    rows = [f'"{name}": {_lines(value)}' for name, value in found.items()]
    given.out.write_text("{\n" + ",\n".join(rows) + "\n}\n", "utf-8")
    return 0


def _lines(value: Any) -> str:
    if not isinstance(value, list):
        return json.dumps(value)
    return "[\n" + ",\n".join(f"  {json.dumps(row)}" for row in value) + "\n]"


def _all(host: str, peer: str) -> dict[str, Any]:
    subprocess.run(["ip", "-n", host, "route", "add", "default", "via", _PEER], check=True)
    return {
        "kernel": platform.release(),
        "held": [_held(host, peer, *case) for case in HELD],
        "half_open": [_half_open(host, peer, *case) for case in HALF_OPEN],
        "acked": [_acked(host, peer, *case) for case in ACKED],
        "loads": [_load(host, peer, *case) for case in LOADS],
        "more_loads": [_load(host, peer, *case) for case in MORE_LOADS],
    }


def _set(**values: int) -> None:
    """Sysctls of the namespace that this process is in."""
    for name, value in values.items():
        folder = "core" if name == "somaxconn" else "ipv4"
        Path(f"/proc/sys/net/{folder}/{name}").write_text(str(value), "ascii")


def _counters() -> dict[str, int]:
    """Of the namespace that this process is in, by name."""
    found: dict[str, str] = {}
    for file in ("netstat", "snmp"):
        lines = Path(f"/proc/thread-self/net/{file}").read_text("utf-8").splitlines()
        for names, values in zip(lines[::2], lines[1::2], strict=True):
            if names.split()[0] in {"TcpExt:", "Tcp:"}:
                found.update(zip(names.split()[1:], values.split()[1:], strict=True))
    return {name: int(value) for name, value in found.items()}


def _grown(before: dict[str, int]) -> dict[str, int]:
    after = _counters()
    return {name: after[name] - before[name] for name in (*_COUNTED, "PassiveOpens")}


def _listening(backlog: int) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind((_HOST, _PORT))
    made.listen(backlog)
    return made


def _connecting() -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.settimeout(0)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    made.connect_ex((_HOST, _PORT))
    return made


def _connected(sockets: list[socket.socket]) -> int:
    count = 0
    for one in sockets:
        with contextlib.suppress(OSError):
            one.getpeername()
            count += 1
    return count


def _held(host: str, peer: str, backlog: int, somaxconn: int) -> dict[str, int]:
    """Connect more often than fits, one after the other, to who never accepts."""
    with inside(host):
        _set(somaxconn=somaxconn, tcp_syncookies=1, tcp_abort_on_overflow=0)
        listener, before = _listening(backlog), _counters()
    tried = min(backlog, somaxconn) + 1 + _MORE
    with inside(peer):
        sockets = []
        for _ in range(tried):
            sockets.append(_connecting())
            time.sleep(0.001)
        time.sleep(_SETTLED_S)
        connected = _connected(sockets)
    with inside(host):
        grown = _grown(before)
    for one in (*sockets, listener):
        one.close()
    case = {"backlog": backlog, "somaxconn": somaxconn, "tried": tried}
    return case | {"connected": connected} | grown


def _checksum(data: bytes) -> int:
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def _segment(source: str, port: int, seq: int, ack: int, flags: int) -> bytes:
    """An IP packet with a TCP segment to the listening socket."""
    ends = socket.inet_aton(source) + socket.inet_aton(_HOST)
    tcp = struct.pack("!HHIIBBHHH", port, _PORT, seq, ack, 5 << 4, flags, 65535, 0, 0)
    total = _checksum(ends + struct.pack("!BBH", 0, 6, len(tcp)) + tcp)
    tcp = tcp[:16] + struct.pack("!H", total) + tcp[18:]
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0)
    return head + ends + tcp


def _syn(number: int) -> bytes:
    """The first segment of a connection from nowhere."""
    return _segment(f"{_NOWHERE}{number + 1}", _RAW_PORT + number, 7, 0, _SYN)


def _half_open(host: str, peer: str, backlog: int, cookies: int, most: int) -> dict[str, int]:
    """Send SYNs whose SYN-ACKs go nowhere."""
    with inside(host):
        _set(somaxconn=4096, tcp_syncookies=cookies, tcp_max_syn_backlog=most)
        listener, before = _listening(backlog), _counters()
    with inside(peer), socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as raw:
        for number in range(SYNS):
            raw.sendto(_syn(number), (_HOST, 0))
            time.sleep(0.001)
    time.sleep(_SETTLED_S)
    with inside(host):
        grown = _grown(before)
        listener.close()
        _set(tcp_syncookies=1, tcp_max_syn_backlog=4096)
    case = {"backlog": backlog, "syncookies": cookies, "max_syn_backlog": most, "syns": SYNS}
    return case | grown


def _acked(host: str, peer: str, *case: int) -> dict[str, int]:
    """Begin requests while there is room, and complete them all when there is little."""
    backlog, waiting, requests, abort = case
    with inside(host):
        _set(somaxconn=4096, tcp_syncookies=1, tcp_abort_on_overflow=abort)
        listener, before = _listening(backlog), _counters()
    with inside(peer), contextlib.ExitStack() as closing:
        raw = closing.enter_context(
            socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
        )
        seen = closing.enter_context(
            socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800))
        )
        seen.settimeout(0.2)
        others = [closing.enter_context(_connecting()) for _ in range(waiting)]
        time.sleep(_SETTLED_S)
        connected = _connected(others)
        for number in range(requests):
            raw.sendto(_syn(number), (_HOST, 0))
        answers = {}
        with contextlib.suppress(TimeoutError):
            while True:
                data = seen.recv(2048)
                source, port = struct.unpack("!HH", data[20:24])
                asked = source == _PORT and 0 <= port - _RAW_PORT < requests
                if asked and data[33] == _SYN_ACK:
                    answers[port] = struct.unpack("!I", data[24:28])[0]
        for port, seq in sorted(answers.items()):
            ack = _segment(f"{_NOWHERE}{port - _RAW_PORT + 1}", port, 8, seq + 1, _ACK)
            raw.sendto(ack, (_HOST, 0))
        time.sleep(0.1)
    with inside(host):
        grown = _grown(before)
        listener.close()
        _set(tcp_abort_on_overflow=0)
    names = ("backlog", "waiting", "requests", "abort")
    seen_too = {"connected": connected, "answered": len(answers)}
    return dict(zip(names, case, strict=True)) | seen_too | grown


def _serve(host: str, backlog: int, out: int, cpu: int) -> None:
    """Accept, read, sleep, answer, close; in a process of its own until it is told to end."""
    took: list[float] = []
    with inside(host):
        listener = _listening(backlog)
    alone(cpu)
    signal.signal(signal.SIGTERM, lambda *_: _tell(out, took))
    os.write(out, b"1")
    answer = bytes(ANSWER)
    while True:
        made, _ = listener.accept()
        start = time.perf_counter()
        with made, contextlib.suppress(OSError):
            made.recv(REQUEST)
            time.sleep(max(start + SERVICE_S - time.perf_counter(), 0))
            made.sendall(answer)
        took.append(time.perf_counter() - start)


def _tell(out: int, took: list[float]) -> None:
    """Say how long a connection took, in the mean, and end."""
    os.write(out, struct.pack("d", statistics.fmean(took)))
    os._exit(0)


def _load(host: str, peer: str, rate: int, backlog: int) -> dict[str, Any]:
    """Connections that begin at a rate, whatever becomes of the others."""
    with inside(host):
        _set(somaxconn=4096, tcp_syncookies=1, tcp_abort_on_overflow=0)
    cpus = sorted(os.sched_getaffinity(0))
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            _serve(host, backlog, writable, cpus[-1])
        finally:
            os._exit(1)
    os.read(readable, 1)
    try:
        alone(cpus[0])
        with inside(host):
            before = _counters()
        with inside(peer):
            again = _counters()["TCPSynRetrans"]
            begun, times = _visit(rate)
            again = _counters()["TCPSynRetrans"] - again
        with inside(host):
            grown = _grown(before)
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        os.sched_setaffinity(0, set(cpus))
        os.kill(child, signal.SIGTERM)
        os.waitpid(child, 0)
    took = struct.unpack("d", os.read(readable, 8))[0]
    os.close(readable)
    os.close(writable)
    times.sort()
    within = sum(1 for one in times if one < SERVICE_S * (backlog + 4))
    return {
        "rate": rate,
        "backlog": backlog,
        "service_us": round(took * 1e6),
        "begun": begun,
        "answered": len(times),
        "answered_at_once": within,
        "TCPSynRetrans": again,
    } | grown


def _visit(rate: int) -> tuple[int, list[float]]:
    """Begin connections for a while; return how many, and how long the answered ones took."""
    waiting = selectors.DefaultSelector()
    luck = random.Random(rate)  # noqa: S311 - for no secret
    begun, times = 0, []
    start = due = time.perf_counter()
    while (now := time.perf_counter()) < start + SECONDS:
        if now >= due:
            waiting.register(_connecting(), selectors.EVENT_WRITE, now)
            begun += 1
            due += luck.expovariate(rate)
            continue
        for key, event in waiting.select(due - now):
            one: Any = key.fileobj
            if event & selectors.EVENT_WRITE:
                one.send(bytes(REQUEST))
                waiting.modify(one, selectors.EVENT_READ, key.data)
            elif not one.recv(65536):
                times.append(time.perf_counter() - key.data)
                waiting.unregister(one)
                one.close()
    for key in list(waiting.get_map().values()):
        one = key.fileobj
        one.close()
    waiting.close()
    return begun, times


if __name__ == "__main__":
    sys.exit(main())
