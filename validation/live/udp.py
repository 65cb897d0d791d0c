"""Measure where this machine's kernel loses datagrams, and how many a socket holds.

Two network namespaces are joined by a veth pair, so nothing leaves the machine. `held`: nobody
reads, and a flood fills sockets of several SO_RCVBUF with datagrams of several sizes. `loads`: a
worker that spins for a while on each datagram receives at several rates. `backlog`: packets are
steered to another CPU (RPS) whose backlog is long or short. Everything is written as JSON, with the
kernel's counters by their names. Needs root, Linux and `ip`; standard library only.

    python3 -m validation.live.udp --out udp.json
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import platform
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from validation.live.veth import namespaces

if TYPE_CHECKING:
    from collections.abc import Iterator

_HOST, _PORT = "10.94.1.1", 4002
_CLONE_NEWNET: Final = 0x40000000
_SO_MEMINFO: Final = 55
_SIZES: Final = (1, 100, 200, 500, 700, 1000, 1316, 1472)
_BUFFERS: Final = (0, 1, 4096, 30_000, 65_536, 150_000, 200_000, 1_000_000)
_FLOOD: Final = 3000
# rate per second, spinning us for each datagram, SO_RCVBUF
_LOADS: Final = (
    (2000, 100, 0),
    (4000, 300, 0),
    (4000, 500, 0),
    (8000, 200, 0),
    (8000, 300, 0),
    (10_000, 150, 0),
    (10_000, 400, 0),
    (4000, 300, 1_500_000),
    (8000, 200, 1_500_000),
    (6000, 250, 20_000),
    (10_000, 400, 20_000),
    (5000, 600, 20_000),
)
_LOAD_BYTES: Final = 1316
# real-time processes are stopped after 0.95 s of each second
_SECONDS: Final = 0.5
_LATE_US: Final = 2000
_ATTEMPTS: Final = 6
_BACKLOGS: Final = (1000, 1)
_MAX_BACKLOG: Final = Path("/proc/sys/net/core/netdev_max_backlog")
_NOT_POSSIBLE: Final = 2


def main() -> int:
    """Measure all of it; 2 where namespaces cannot be had."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("udp.json"))
    given = parser.parse_args()
    try:
        with namespaces() as (host, peer):
            found = {
                "kernel": platform.release(),
                "held": [_held(host, peer, size, asked) for size in _SIZES for asked in _BUFFERS],
                "loads": [loaded(host, peer, *load) for load in _LOADS],
                "backlog": [_backlog(host, peer, most) for most in _BACKLOGS],
            }
    except OSError as error:
        sys.stderr.write(f"udp: namespaces cannot be had: {error}\n")
        return _NOT_POSSIBLE
    given.out.write_text(_lines(found), "utf-8")
    return 0


def _lines(found: dict[str, Any]) -> str:
    """One row a line."""
    parts = [f'"kernel": {json.dumps(found["kernel"])}']
    for name in ("held", "loads", "backlog"):
        rows = ",\n".join(f"  {json.dumps(row)}" for row in found[name])
        parts.append(f'"{name}": [\n{rows}\n]')
    return "{\n" + ",\n".join(parts) + "\n}\n"


@contextlib.contextmanager
def inside(name: str) -> Iterator[None]:
    """Be in a namespace: sockets that are made belong to it."""
    libc = ctypes.CDLL(None, use_errno=True)
    here, named = Path("/proc/self/ns/net"), Path("/run/netns") / name
    with here.open("rb") as before, named.open("rb") as there:
        if libc.setns(there.fileno(), _CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"setns to {name}")
        try:
            yield
        finally:
            libc.setns(before.fileno(), _CLONE_NEWNET)


def _receiver(asked: int) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    if asked:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, asked)
    made.bind((_HOST, _PORT))
    return made


def _sender() -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.connect((_HOST, _PORT))
    return made


def counters() -> dict[str, int]:
    """`Udp:` of /proc/net/snmp of the namespace that this process is in."""
    lines = Path("/proc/thread-self/net/snmp").read_text("utf-8").splitlines()
    names, values = (line.split()[1:] for line in lines if line.startswith("Udp:"))
    return dict(zip(names, map(int, values), strict=True))


def softnet_dropped() -> int:
    """Second column of /proc/net/softnet_stat, all CPUs."""
    lines = Path("/proc/net/softnet_stat").read_text("utf-8").splitlines()
    return sum(int(line.split()[1], 16) for line in lines)


def _meminfo(made: socket.socket) -> tuple[int, int, int]:
    """`sk_rmem_alloc`, `sk_rcvbuf` and `sk_drops`."""
    words = struct.unpack("9I", made.getsockopt(socket.SOL_SOCKET, _SO_MEMINFO, 36))
    return words[0], words[1], words[8]


def drained(made: socket.socket) -> int:
    made.settimeout(0)
    count = 0
    with contextlib.suppress(BlockingIOError):
        while True:
            made.recv(2048)
            count += 1
    return count


def _held(host: str, peer: str, size: int, asked: int) -> dict[str, int]:
    """Nobody reads: how many datagrams are in the socket after a flood."""
    with inside(host):
        receiver, before = _receiver(asked), counters()
    with inside(peer):
        sender = _sender()
    data = bytes(size)
    for _ in range(_FLOOD):
        sender.send(data)
    time.sleep(0.02)
    with inside(host):
        after = counters()
    memory, rcvbuf, drops = _meminfo(receiver)
    held = drained(receiver)
    receiver.close()
    sender.close()
    return {
        "size": size,
        "asked": asked,
        "rcvbuf": rcvbuf,
        "sent": _FLOOD,
        "held": held,
        "truesize": memory // held,
        "RcvbufErrors": after["RcvbufErrors"] - before["RcvbufErrors"],
        "InErrors": after["InErrors"] - before["InErrors"],
        "sk_drops": drops,
    }


def loaded(
    host: str, peer: str, rate: int, service_us: int, asked: int, *, burst: int = 1
) -> dict[str, int]:
    """A worker on one CPU, a sender on the other; again if something disturbed either."""
    found: dict[str, int] = {}
    for _ in range(_ATTEMPTS):
        found = _once(host, peer, rate, service_us, asked, burst=burst)
        if found["late_us"] < _LATE_US:
            break
    return found


def _once(
    host: str, peer: str, rate: int, service_us: int, asked: int, *, burst: int
) -> dict[str, int]:
    with inside(host):
        receiver, before = _receiver(asked), counters()
    dropped = softnet_dropped()
    with inside(peer):
        sender = _sender()
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        alone(min(os.sched_getaffinity(0)))
        os.write(into, str(_send(sender, rate, int(rate * _SECONDS), burst)).encode())
        os._exit(0)
    allowed = os.sched_getaffinity(0)
    alone(max(allowed))
    received, late_us = _work(receiver, service_us)
    os.waitpid(child, 0)
    late_us = max(late_us, int(os.read(out, 64)))
    os.close(out)
    os.close(into)
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    os.sched_setaffinity(0, allowed)
    with inside(host):
        after = counters()
    receiver.close()
    sender.close()
    return {
        "rate": rate,
        "service_us": service_us,
        "asked": asked,
        "sent": int(rate * _SECONDS),
        "received": received,
        "InDatagrams": after["InDatagrams"] - before["InDatagrams"],
        "RcvbufErrors": after["RcvbufErrors"] - before["RcvbufErrors"],
        "InErrors": after["InErrors"] - before["InErrors"],
        "softnet_dropped": softnet_dropped() - dropped,
        "late_us": late_us,
    }


def alone(cpu: int) -> None:
    """On one CPU, and before all that others do there."""
    os.sched_setaffinity(0, {cpu})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))


def _send(sender: socket.socket, rate: int, count: int, burst: int) -> int:
    """Send bursts at a rate; return by how much one was late at most, in us."""
    data, start, late = bytes(_LOAD_BYTES), time.perf_counter(), 0.0
    for number in range(count):
        if number % burst == 0:
            due = start + number / rate
            while (now := time.perf_counter()) < due:
                pass
            late = max(late, now - due)
        sender.send(data)
    return round(late * 1e6)


def _work(receiver: socket.socket, service_us: int) -> tuple[int, int]:
    """Read until nothing has come for a while: how many, and how late at most, in us."""
    receiver.settimeout(0.5)
    count, late = 0, 0.0
    while True:
        try:
            receiver.recv(2048)
        except TimeoutError:
            return count, round(late * 1e6)
        count += 1
        until = time.perf_counter() + service_us / 1e6
        while (now := time.perf_counter()) < until:
            pass
        late = max(late, now - until)


def _backlog(host: str, peer: str, most: int) -> dict[str, int]:
    """A flood that is steered to another CPU, by way of a backlog of this length."""
    usual = _MAX_BACKLOG.read_text("ascii")
    cpus = sorted(os.sched_getaffinity(0))
    with inside(host):
        receiver, before = _receiver(3_000_000), counters()
    with inside(peer):
        sender = _sender()
    _steer(host, cpus[-1])
    dropped = softnet_dropped()
    try:
        _MAX_BACKLOG.write_text(str(most), "ascii")
        os.sched_setaffinity(0, {cpus[0]})
        data = bytes(1)
        for _ in range(_FLOOD):
            sender.send(data)
        time.sleep(0.1)
    finally:
        _MAX_BACKLOG.write_text(usual, "ascii")
        os.sched_setaffinity(0, set(cpus))
    with inside(host):
        after = counters()
    held = drained(receiver)
    receiver.close()
    sender.close()
    return {
        "netdev_max_backlog": most,
        "sent": _FLOOD,
        "held": held,
        "RcvbufErrors": after["RcvbufErrors"] - before["RcvbufErrors"],
        "softnet_dropped": softnet_dropped() - dropped,
    }


def _steer(host: str, cpu: int) -> None:
    """RPS of the host's end of the pair, to one CPU."""
    each = (
        f"for file in /sys/class/net/sn*/queues/rx-*/rps_cpus; do echo {1 << cpu:x} > $file; done"
    )
    subprocess.run(["ip", "netns", "exec", host, "sh", "-c", each], check=True)


if __name__ == "__main__":
    sys.exit(main())
