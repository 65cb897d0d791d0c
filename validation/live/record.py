"""Record what this machine's TCP receiver does with crafted segments.

A TUN device in a network namespace of its own stands for the other host: this program writes IP
packets into it and reads what the kernel sends, so nothing leaves the machine. Each scenario is a
line of JSON in the format of `simnet conform`. Needs root, Linux and `ip`; standard library only.

    python3 -m validation.live.record --seed 1 --count 84 --out traces.jsonl
"""

from __future__ import annotations

import argparse
import ctypes
import fcntl
import json
import os
import platform
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

from validation.live.random_scenarios import Scenario, random_scenario

_CLONE_NEWNET = 0x40000000
# CLOCK_MONOTONIC_COARSE changes at ticks only
_TICKING_CLOCK = 6
_TICKS_WATCHED = 12
_TUNSETIFF = 0x400454CA
_IFF_TUN_NO_PI = 0x1001
_TCP_DELACK_MAX_US = 46
_HOST, _PEER = "10.94.0.1", "10.94.0.2"
_PORT = 4000
_FIN, _SYN, _RST, _PSH, _ACK = 1, 2, 4, 8, 16
_BASE = 1_000_000
_SCALE = 7
_REST_MS = 350.0
_LATE_MS = 0.5
# so long before a tick and after it nothing is put in: of what comes then the jiffy is not certain,
# nor whether the timers have run
_BEFORE_TICK_MS = 0.3
_AFTER_TICK_MS = 0.7
_TICK_MARGIN_MS = 0.15
_BUSY_MS = 0.15
_ATTEMPTS = 8


class DisturbedError(Exception):
    """Something came later than it should."""


def now_ms() -> float:
    """Milliseconds since the machine started."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC) / 1e6


def jiffy_ms() -> float:
    """Length of a jiffy, by the resolution of the clock that ticks."""
    return time.clock_getres(_TICKING_CLOCK) * 1e3


def tick_phase_ms() -> float:
    """When within a jiffy the kernel's ticks fall: a clock that only ticks is seen to change."""
    jiffy = jiffy_ms()
    phases: list[float] = []
    last = time.clock_gettime_ns(_TICKING_CLOCK)
    while len(phases) < _TICKS_WATCHED:
        if (seen := time.clock_gettime_ns(_TICKING_CLOCK)) != last:
            phases.append(now_ms() % jiffy)
            last = seen
    # a tick may be seen late, but not early; around the end of a jiffy it wraps
    first = phases[0]
    return min((phase - first + jiffy / 2) % jiffy for phase in phases) + first - jiffy / 2


def keep_awake() -> int:
    """Stay on one CPU, and have a process of the lowest class keep it from idling.

    An idle CPU stops its tick, and has another one look after its timers, a jiffy late at times.
    """
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        while os.getppid() == parent:
            sum(range(1000))
        os._exit(0)
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
    return child


def run(*words: str) -> None:
    """Run a command that must succeed."""
    subprocess.run(words, check=True)


def open_tun(mtu: int) -> int:
    """A TUN device in a fresh network namespace, which this process joins."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "unshare of the network namespace")
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, _TUNSETIFF, struct.pack("16sH22x", b"tun0", _IFF_TUN_NO_PI))
    run("ip", "link", "set", "lo", "up")
    run("ip", "address", "add", f"{_HOST}/24", "dev", "tun0")
    run("ip", "link", "set", "tun0", "mtu", str(mtu), "up")
    return tun


def checksum(data: bytes) -> int:
    """RFC 1071."""
    if len(data) % 2:
        data += b"\0"
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


class Peer:
    """The other host: what it has sent and seen of a connection.

    Args:
        tun: descriptor of the device.
        port: its port.
        scenario: options of the connection.
    """

    def __init__(self, tun: int, port: int, scenario: Scenario) -> None:
        self.tun = tun
        self.port = port
        self.scenario = scenario
        self.address = socket.inet_aton(_PEER), socket.inet_aton(_HOST)
        self.ack = 0
        self.first = 0

    def packet(self, seq: int, end_seq: int, flags: int, options: bytes = b"") -> bytes:
        """A segment; sequence numbers count from the first byte as 1."""
        payload = bytes(end_seq - seq)
        offset = (20 + len(options)) << 10
        number = _BASE + seq & 0xFFFFFFFF
        words = (self.port, _PORT, number, self.ack, offset | flags, 65535)
        segment = bytearray(struct.pack("!HHIIHHHH", *words, 0, 0) + options + payload)
        pseudo = self.address[0] + self.address[1] + struct.pack("!HH", 6, len(segment))
        segment[16:18] = struct.pack("!H", checksum(pseudo + bytes(segment)))
        length = 20 + len(segment)
        head = struct.pack("!BBHHHBBH", 0x45, 0, length, 1, 0x4000, 64, 6, 0)
        head += self.address[0] + self.address[1]
        return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + bytes(segment)

    def seen(self) -> tuple[int, int, int, int, bytes, int] | None:
        """The next segment of the kernel: flags, SEQ, ACK, window, options, length of payload."""
        while True:
            try:
                data = os.read(self.tun, 65536)
            except BlockingIOError:
                return None
            if data[0] >> 4 != 4 or data[9] != 6:
                continue
            head = (data[0] & 15) * 4
            fields = struct.unpack("!HHIIHH", data[head : head + 16])
            if fields[1] != self.port:
                continue
            size = (fields[4] >> 12) * 4
            options = data[head + 20 : head + size]
            rest = len(data) - head - size
            return fields[4] & 63, fields[2], fields[3], fields[5], options, rest


def sack_of(options: bytes) -> list[list[int]]:
    """Blocks of the SACK option, by the scenario's numbers."""
    for kind, value in parts(options):
        if kind == 5:
            numbers = struct.unpack(f"!{len(value) // 4}I", value)
            relative = [number - _BASE & 0xFFFFFFFF for number in numbers]
            return [list(pair) for pair in zip(relative[::2], relative[1::2], strict=True)]
    return []


def parts(options: bytes) -> list[tuple[int, bytes]]:
    """Options: kind and value."""
    found = []
    at = 0
    while at < len(options) and options[at] != 0:
        if options[at] == 1:
            at += 1
            continue
        found.append((options[at], options[at + 2 : at + options[at + 1]]))
        at += options[at + 1]
    return found


def wait_segment(peer: Peer, limit_ms: float) -> tuple[int, int, int, int, bytes, int]:
    """The next segment, which must come."""
    until = now_ms() + limit_ms
    while now_ms() < until:
        found = peer.seen()
        if found is not None:
            return found
        select.select([peer.tun], [], [], 0.001)
    raise DisturbedError("no answer to the handshake")


def connect(peer: Peer, listener: socket.socket) -> tuple[socket.socket, float]:
    """The handshake; return the kernel's end, and how long its round trip was in ms."""
    scenario = peer.scenario
    options = struct.pack("!BBH", 2, 4, scenario.mss)
    options += b"\x01\x01\x04\x02" if scenario.sack else b""
    options += struct.pack("!BBBB", 1, 3, 3, _SCALE)
    os.write(peer.tun, peer.packet(0, 0, _SYN, options))
    sent = now_ms()
    seq = wait_segment(peer, 100)[1]
    peer.ack = peer.first = seq + 1 & 0xFFFFFFFF
    os.write(peer.tun, peer.packet(1, 1, _ACK))
    took = now_ms() - sent
    end, _ = listener.accept()
    end.settimeout(0)
    return end, took


def listen(scenario: Scenario) -> socket.socket:
    """The kernel's listening socket."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if scenario.rcvbuf:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, scenario.rcvbuf)
    listener.bind((_HOST, _PORT))
    listener.listen(1)
    return listener


def drain(peer: Peer, start: float, acks: list[object]) -> None:
    """Take what the kernel has sent."""
    while (found := peer.seen()) is not None:
        flags, seq, ack, window, options, length = found
        if flags & (_RST | _FIN | _SYN):
            raise DisturbedError(f"flags {flags}")
        peer.ack = max(peer.ack, seq + length)
        acks.append(
            [round(now_ms() - start, 3), ack - _BASE & 0xFFFFFFFF, window, sack_of(options)]
        )


def wait_until(peer: Peer, start: float, at_ms: float, acks: list[object]) -> None:
    """Take what comes until a time; the last part is spent busily."""
    while (left := start + at_ms - now_ms()) > 0:
        select.select([peer.tun], [], [], max(left - _BUSY_MS, 0) / 1e3)
        drain(peer, start, acks)


def away_from_tick(at_ms: float, tick_ms: float, jiffy: float) -> float:
    """A time whose jiffy is certain."""
    phase = (at_ms - tick_ms) % jiffy
    if phase < _AFTER_TICK_MS:
        return at_ms + _AFTER_TICK_MS - phase
    if phase > jiffy - _BEFORE_TICK_MS:
        return at_ms + jiffy - phase + _AFTER_TICK_MS
    return at_ms


def play(peer: Peer, end: socket.socket, phase_ms: float) -> dict[str, object]:
    """Put the scenario in, and take down what came of it."""
    inject: list[object] = []
    reads: list[object] = []
    writes: list[object] = []
    acks: list[object] = []
    jiffy = jiffy_ms()
    start = now_ms()
    tick_ms = (phase_ms - start) % jiffy
    shift = 0.5
    for step in peer.scenario.steps:
        wanted = step.at_ms + shift
        while (certain := away_from_tick(wanted, tick_ms, jiffy)) > now_ms() - start:
            wanted = certain
            wait_until(peer, start, wanted, acks)
            wanted = max(wanted, now_ms() - start)
        shift = wanted - step.at_ms
        data = b""
        if step.action == "inject":
            data = peer.packet(step.first, step.last, _ACK | (_PSH if step.push else 0))
        before = now_ms() - start
        if step.action == "inject":
            os.write(peer.tun, data)
            inject.append([round(before, 3), step.first, step.last, int(step.push)])
        elif step.action == "read":
            try:
                count = len(end.recv(step.last))
            except BlockingIOError:
                count = 0
            if count:
                reads.append([round(before, 3), count])
        else:
            end.send(bytes(step.last))
            writes.append([round(before, 3), step.last])
        after = now_ms() - start
        drain(peer, start, acks)
        crossed = (before - tick_ms) // jiffy != (after + _TICK_MARGIN_MS / 2 - tick_ms) // jiffy
        if after - before > _LATE_MS or crossed:
            raise DisturbedError(
                f"{step.action} at {wanted:.3f} took from {before:.3f} to {after:.3f}"
            )
    wait_until(peer, start, peer.scenario.steps[-1].at_ms + shift + _REST_MS, acks)
    found: dict[str, object] = {"tick_ms": round(tick_ms, 3), "inject": inject, "app_reads": reads}
    return found | ({"app_writes": writes} if writes else {}) | {"acks": acks}


def record(tun: int, scenario: Scenario, port: int) -> dict[str, object]:
    """One scenario on the kernel.

    Raises:
        DisturbedError: the machine was busy.
    """
    run("ip", "route", "replace", f"{_PEER}/32", "dev", "tun0", "advmss", str(scenario.advmss),
        "quickack", str(int(scenario.quickack)))  # fmt: skip
    listener = listen(scenario)
    peer = Peer(tun, port, scenario)
    phase = tick_phase_ms()
    try:
        end, rtt_ms = connect(peer, listener)
        if scenario.delack_max_us:
            end.setsockopt(socket.IPPROTO_TCP, _TCP_DELACK_MAX_US, scenario.delack_max_us)
        kept = end.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)
        found = play(peer, end, phase)
        os.write(tun, peer.packet(0, 0, _RST))
        end.close()
    finally:
        listener.close()
    moved = (tick_phase_ms() - phase + jiffy_ms() / 2) % jiffy_ms() - jiffy_ms() / 2
    if abs(moved) > _TICK_MARGIN_MS:
        raise DisturbedError(f"the ticks moved by {moved:.3f} ms")
    return {
        "kernel": re.sub(r"[^0-9.].*", "", platform.release()),
        "HZ": round(1000 / jiffy_ms()),
        "mss": scenario.mss,
        "advmss": scenario.advmss,
        "route": "quickack 1" if scenario.quickack else "default",
        "rcv": f"{'sack' if scenario.sack else 'no sack'}, no timestamps",
        "name": scenario.name,
        "handshake_ms": round(rtt_ms, 3),
        **({"delack_max_us": scenario.delack_max_us} if scenario.delack_max_us else {}),
        **({"rcvbuf": kept} if scenario.rcvbuf else {}),
        **found,
    }


def patiently(tun: int, scenario: Scenario, port: int) -> dict[str, object] | None:
    """Record again what was disturbed; None if the machine is too busy."""
    for attempt in range(_ATTEMPTS):
        try:
            return record(tun, scenario, port + attempt)
        except DisturbedError as why:
            sys.stderr.write(f"{scenario.name}: {why}\n")
    return None


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="record this kernel's TCP receiver")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=84)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    try:
        tun = open_tun(1500)
    except OSError as error:
        sys.stderr.write(f"no TUN device in a network namespace here: {error}\n")
        return 2
    child = keep_awake()
    lines = []
    for number in range(arguments.count):
        scenario = random_scenario(arguments.seed, number)
        port = 20_000 + number * _ATTEMPTS % 40_000
        found = patiently(tun, scenario, port)
        if found is not None:
            lines.append(json.dumps(found, separators=(",", ":")))
    os.kill(child, signal.SIGKILL)
    arguments.out.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    sys.stderr.write(f"{len(lines)} of {arguments.count} recorded\n")
    return 0 if len(lines) == arguments.count else 3


if __name__ == "__main__":
    sys.exit(main())
