"""Measure what a datagram's way to a container costs this machine's kernel, and where it is lost.

Four network namespaces are joined by veth pairs, so nothing leaves the machine: a sender, a host
that routes or bridges, a container, and a second host for a way with one hop more. `costs`: what a
send takes with all that its softirq does, on one CPU, until the datagram is in the socket; nobody
reads meanwhile. `lost`: floods against a short backlog, a small socket, and the ring of a pair with
receive offload, with the kernel's counters by their names. Everything is written as JSON. Needs
root, Linux and `ip`; standard library only.

    python3 -m validation.live.container --out container.json
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import fcntl
import json
import os
import platform
import socket
import statistics
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final, Self

from validation.live.udp import counters, drained, inside, softnet_dropped

_PORT: Final = 4003
_BYTES: Final = 300
_BATCH: Final = 400
_BATCHES: Final = 60
_ROUNDS: Final = 9
_FLOOD: Final = 3000
_RCVBUF: Final = 4 << 20
_MAX_BACKLOG: Final = Path("/proc/sys/net/core/netdev_max_backlog")
_SIOCETHTOOL: Final = 0x8946
# commands of ethtool
_STRINGS: Final = 0x1B
_STATISTICS: Final = 0x1D
_SET_TSO: Final = 0x1F
_SET_GRO: Final = 0x2C
_STRING_BYTES: Final = 32
_SET_OF_STATISTICS: Final = 1
_MOST_STATISTICS: Final = 200
_SO_RCVBUFFORCE: Final = 33
_NOT_POSSIBLE: Final = 2
# where the socket is, and where the sender sends to
_ENDS: Final = {
    "host": ("host", "10.95.1.1"),
    "route": ("box", "10.95.2.2"),
    "route-bridge": ("box", "10.95.2.2"),
    "bridge": ("box", "10.95.1.3"),
    "two-hops": ("box", "10.95.3.2"),
}


class Network:
    """The namespaces, wired for one way; gone when it is closed."""

    made = 0

    def __init__(self, way: str) -> None:
        Network.made += 1
        own = f"simnet-{os.getpid()}-{Network.made}"
        self.names = {one: f"{own}-{one}" for one in ("peer", "host", "mid", "box")}
        self.closing = contextlib.ExitStack()
        for name in self.names.values():
            self._ip("netns", "add", name)
            self.closing.callback(self._ip, "netns", "delete", name)
        try:
            self._build(way)
        except BaseException:
            self.closing.close()
            raise

    def _build(self, way: str) -> None:
        self._pair("peer", "up0", "host", "down0")
        # nobody has opened it, so what is sent there is dropped at once
        self._on("peer", "tuntap", "add", "mode", "tun", "nowhere")
        self._address("peer", "nowhere", "10.95.9.1/24")
        self._on("peer", "link", "set", "nowhere", "up")
        self._address("peer", "up0", "10.95.1.2/24")
        self._wire(way)
        if way != "bridge":
            self._on("peer", "route", "add", "default", "via", "10.95.1.1")

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Delete the namespaces, and what is in them."""
        self.closing.close()

    def _wire(self, way: str) -> None:
        if way == "bridge":
            self._pair("host", "veth", "box", "eth0")
            self._bridge("down0", "veth")
            self._address("box", "eth0", "10.95.1.3/24")
            return
        self._address("host", "down0", "10.95.1.1/24")
        self._forward("host")
        if way == "two-hops":
            self._pair("host", "veth", "mid", "eth0")
            self._address("host", "veth", "10.95.2.1/24")
            self._address("mid", "eth0", "10.95.2.2/24")
            self._forward("mid")
            self._pair("mid", "veth", "box", "eth0")
            self._address("mid", "veth", "10.95.3.1/24")
            self._address("box", "eth0", "10.95.3.2/24")
            self._on("host", "route", "add", "10.95.3.0/24", "via", "10.95.2.2")
            self._on("mid", "route", "add", "default", "via", "10.95.2.1")
            self._on("box", "route", "add", "default", "via", "10.95.3.1")
            return
        self._pair("host", "veth", "box", "eth0")
        if way == "route-bridge":
            self._bridge("veth")
            self._address("host", "docker0", "10.95.2.1/24")
        else:
            self._address("host", "veth", "10.95.2.1/24")
        self._address("box", "eth0", "10.95.2.2/24")
        self._on("box", "route", "add", "default", "via", "10.95.2.1")

    def _bridge(self, *ports: str) -> None:
        self._on("host", "link", "add", "docker0", "type", "bridge")
        self._on("host", "link", "set", "docker0", "up")
        for port in ports:
            self._on("host", "link", "set", port, "master", "docker0")

    def _pair(self, first: str, device: str, second: str, other: str) -> None:
        names = self.names
        self._ip(
            "link", "add", device, "netns", names[first], "type", "veth",
            "peer", "name", other, "netns", names[second],
        )  # fmt: skip
        self._on(first, "link", "set", device, "up")
        self._on(second, "link", "set", other, "up")

    def _address(self, end: str, device: str, address: str) -> None:
        self._on(end, "address", "add", address, "dev", device)

    def _forward(self, end: str) -> None:
        with inside(self.names[end]):
            Path("/proc/sys/net/ipv4/ip_forward").write_text("1", "ascii")

    def _on(self, end: str, *words: str) -> None:
        self._ip("-n", self.names[end], *words)

    @staticmethod
    def _ip(*words: str) -> None:
        subprocess.run(["ip", *words], check=True, capture_output=True, text=True)

    def _ethtool(self, end: str, device: str, wanted: ctypes.Array[ctypes.c_char]) -> None:
        with inside(self.names[end]), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
            request = struct.pack("16sQ16x", device.encode(), ctypes.addressof(wanted))
            fcntl.ioctl(made, _SIOCETHTOOL, request)

    def offload(self, end: str, device: str, command: int, value: int) -> None:
        """What `ethtool -K` does."""
        self._ethtool(end, device, ctypes.create_string_buffer(struct.pack("II", command, value)))

    def statistic(self, end: str, device: str, name: str) -> int:
        """Of `ethtool -S`; the sum of those whose names end so."""
        head = struct.pack("III", _STRINGS, _SET_OF_STATISTICS, 0)
        room = ctypes.create_string_buffer(head, len(head) + _STRING_BYTES * _MOST_STATISTICS)
        self._ethtool(end, device, room)
        count = struct.unpack_from("III", room)[2]
        names = [
            room.raw[len(head) + number * _STRING_BYTES :][:_STRING_BYTES].rstrip(b"\0").decode()
            for number in range(count)
        ]
        head = struct.pack("II", _STATISTICS, count)
        room = ctypes.create_string_buffer(head, len(head) + 8 * _MOST_STATISTICS)
        self._ethtool(end, device, room)
        values = struct.unpack_from(f"{count}Q", room, len(head))
        return sum(n for one, n in zip(names, values, strict=True) if one.endswith(name))

    def steer(self, end: str, device: str, cpu: int) -> None:
        """RPS of a device, to one CPU; none if it is negative."""
        mask = 1 << cpu if cpu >= 0 else 0
        file = f"/sys/class/net/{device}/queues/rx-0/rps_cpus"
        command = ["ip", "netns", "exec", self.names[end], "sh", "-c", f"echo {mask:x} > {file}"]
        subprocess.run(command, check=True)

    def dropped(self, end: str, device: str) -> int:
        """`tx_dropped` of a device."""
        file = f"/sys/class/net/{device}/statistics/tx_dropped"
        command = ["ip", "netns", "exec", self.names[end], "cat", file]
        return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    def udp(self, end: str) -> dict[str, int]:
        """`Udp:` of an end's /proc/net/snmp."""
        with inside(self.names[end]):
            return counters()

    def receiver(self, end: str, rcvbuf: int) -> socket.socket:
        """A socket in a namespace, bound to all its addresses."""
        with inside(self.names[end]):
            made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, rcvbuf)
        made.bind(("", _PORT))
        return made

    def sender(self, address: str) -> socket.socket:
        """A socket of the sender."""
        with inside(self.names["peer"]):
            made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.connect((address, _PORT))
        return made


def main() -> int:
    """Measure all of it; 2 where namespaces cannot be had."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("container.json"))
    given = parser.parse_args()
    try:
        found = {
            "costs": _costs(),
            "lost": [
                *(_backlog(most) for most in (1000, 1)),
                *(_socket(rcvbuf) for rcvbuf in (_RCVBUF, 20_000)),
                *(_ring(gro, tso) for gro, tso in ((0, 1), (1, 1), (0, 0), (1, 0))),
            ],
        }
    except (OSError, subprocess.CalledProcessError) as error:
        reason = getattr(error, "stderr", None) or str(error)
        sys.stderr.write(f"container: namespaces cannot be had: {reason.strip()}\n")
        return _NOT_POSSIBLE
    parts = [f'"kernel": {json.dumps(platform.release())}']
    for name, rows in found.items():
        lines = ",\n".join(f"  {json.dumps(row)}" for row in rows)
        parts.append(f'"{name}": [\n{lines}\n]')
    given.out.write_text("{\n" + ",\n".join(parts) + "\n}\n", "utf-8")
    return 0


class _Run:
    """One way, and what its sends have taken."""

    def __init__(self, network: Network, end: str, address: str) -> None:
        self.receiver = network.receiver(end, _RCVBUF)
        self.sender = network.sender(address)
        self.sent = self.arrived = 0
        self.rounds: list[float] = []

    def once(self) -> None:
        """Send a round, each batch before all that others do; its time is their median."""
        found = []
        send, data = self.sender.send, bytes(_BYTES)
        for _ in range(_BATCHES):
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
            start = time.perf_counter_ns()
            for _ in range(_BATCH):
                send(data)
            found.append((time.perf_counter_ns() - start) / _BATCH)
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
            self.sent += _BATCH
            self.arrived += drained(self.receiver)
        self.rounds.append(statistics.median(found))


def _costs() -> list[dict[str, Any]]:
    """The ways in turn, round after round, so that a change of the machine's pace meets all."""
    allowed = os.sched_getaffinity(0)
    with contextlib.ExitStack() as closing:
        runs = {}
        for way in ("host", "route", "route-bridge", "bridge", "two-hops", "route, ring"):
            network = closing.enter_context(Network(way.partition(",")[0]))
            if way == "route, ring":
                network.offload("box", "eth0", _SET_GRO, 1)
                network.offload("host", "veth", _SET_TSO, 0)
            end, address = _ENDS[way.partition(",")[0]]
            runs[way] = _Run(network, end, address)
            if way == "host":
                runs["nowhere"] = _Run(network, "box", "10.95.9.9")
        try:
            os.sched_setaffinity(0, {min(allowed)})
            for _ in range(_ROUNDS):
                for run in runs.values():
                    run.once()
        finally:
            os.sched_setaffinity(0, allowed)
    return [
        {
            "way": name,
            "sent": run.sent,
            "arrived": run.arrived,
            "ns": round(statistics.median(run.rounds)),
            "least_ns": round(min(run.rounds)),
            "most_ns": round(max(run.rounds)),
        }
        for name, run in runs.items()
    ]


def _backlog(most: int) -> dict[str, Any]:
    """A flood that RPS of the container's end steers to another CPU's backlog of this length."""
    usual = _MAX_BACKLOG.read_text("ascii")
    with Network("route") as network:
        cpus = sorted(os.sched_getaffinity(0))
        network.steer("box", "eth0", cpus[-1])
        try:
            os.sched_setaffinity(0, {cpus[0]})
            _MAX_BACKLOG.write_text(str(most), "ascii")
            found = _flooded(network, _RCVBUF)
        finally:
            _MAX_BACKLOG.write_text(usual, "ascii")
            os.sched_setaffinity(0, set(cpus))
    return {"what": "backlog", "netdev_max_backlog": most, **found}


def _socket(rcvbuf: int) -> dict[str, Any]:
    """A flood that nobody reads."""
    with Network("route") as network:
        return {"what": "socket", "SO_RCVBUF": rcvbuf, **_flooded(network, rcvbuf)}


def _ring(gro: int, tso: int) -> dict[str, Any]:
    """Whether packets go by the ring of the container's end."""
    with Network("route") as network:
        network.offload("box", "eth0", _SET_GRO, gro)
        network.offload("host", "veth", _SET_TSO, tso)
        found = _flooded(network, _RCVBUF)
        packets = network.statistic("box", "eth0", "rx_queue_0_xdp_packets")
    return {"what": "ring", "gro": gro, "tso": tso, **found, "xdp_packets": packets}


def _flooded(network: Network, rcvbuf: int) -> dict[str, int]:
    end, address = _ENDS["route"]
    receiver, sender = network.receiver(end, rcvbuf), network.sender(address)
    before, dropped = softnet_dropped(), network.dropped("host", "veth")
    data = bytes(_BYTES)
    for _ in range(_FLOOD):
        sender.send(data)
    time.sleep(0.1)
    held = drained(receiver)
    box, host = network.udp("box"), network.udp("host")
    return {
        "sent": _FLOOD,
        "held": held,
        "softnet_dropped": softnet_dropped() - before,
        "tx_dropped": network.dropped("host", "veth") - dropped,
        "RcvbufErrors": box["RcvbufErrors"],
        "RcvbufErrors of the host": host["RcvbufErrors"],
    }


if __name__ == "__main__":
    sys.exit(main())
