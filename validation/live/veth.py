"""Measure loads between two network namespaces of this machine, as captures for `simnet calibrate`.

A veth pair joins the namespaces, so nothing leaves the machine. Each load gets a folder with
`case.toml`, which says how simnet simulates it, and `measured.toml`, with metrics of `simnet
compare`: what arrived, and how all CPUs spent the time (`/proc/stat`). Needs root, Linux and `ip`;
standard library only.

    python3 -m validation.live.veth --seconds 10 --out measured
"""

from __future__ import annotations

import argparse
import contextlib
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_HOST, _PEER, _PORT = "10.94.1.1", "10.94.1.2", 4001
_CHUNK: Final = 65536
_LOADS: Final = {"receive": "netserver", "requests": "tcp_rr"}
# columns of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal
_SHARES: Final = {
    "user": (0, 1),
    "system": (2,),
    "softirq": (6,),
    "irq": (5,),
    "kernel": (2, 5, 6),
    "idle": (3,),
}
_COLUMNS: Final = 8
_NOT_POSSIBLE: Final = 2


def main() -> int:
    """Measure every load; 2 where namespaces cannot be had."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--out", type=Path, default=Path("measured"))
    parser.add_argument("--end", choices=["serve", "take", "ask", "answer"], help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.end:
        _END[given.end](given.seconds)
        return 0
    try:
        with namespaces() as (host, peer):
            for load, test in _LOADS.items():
                _measure(given.out / load, test, host, peer, given.seconds)
    except (OSError, subprocess.CalledProcessError) as error:
        reason = getattr(error, "stderr", None) or str(error)
        sys.stderr.write(f"veth: namespaces cannot be had: {reason.strip()}\n")
        return _NOT_POSSIBLE
    return 0


@contextlib.contextmanager
def namespaces() -> Iterator[tuple[str, str]]:
    """Two namespaces with a veth pair between them; they are gone afterwards."""
    names = [f"simnet-{os.getpid()}-{end}" for end in ("host", "peer")]
    devices = [f"sn{os.getpid()}{end}"[-15:] for end in ("a", "b")]
    made = []
    try:
        for name in names:
            _ip("netns", "add", name)
            made.append(name)
        _ip("link", "add", devices[0], "type", "veth", "peer", "name", devices[1])
        for name, device, address in zip(names, devices, (_HOST, _PEER), strict=True):
            _ip("link", "set", device, "netns", name)
            _ip("-n", name, "address", "add", f"{address}/30", "dev", device)
            _ip("-n", name, "link", "set", device, "up")
        yield names[0], names[1]
    finally:
        for name in made:
            _ip("netns", "delete", name)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)


def _measure(folder: Path, test: str, host: str, peer: str, seconds: float) -> None:
    """The host receives a stream, or asks; the peer sends, or answers."""
    there, here = ("serve", "take") if test == "netserver" else ("answer", "ask")
    command = [sys.executable, str(Path(__file__).resolve()), "--seconds", f"{seconds:g}", "--end"]
    with subprocess.Popen(["ip", "netns", "exec", peer, *command, there]) as other:
        before = _stat()
        done = subprocess.run(
            ["ip", "netns", "exec", host, *command, here],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        after = _stat()
        other.wait(timeout=seconds + 30)
    spent = [last - first for first, last in zip(before, after, strict=True)]
    lines = [done.stdout.strip(), "[cpu.all]"]
    lines += [
        f"{name} = {100 * sum(spent[place] for place in places) / sum(spent):.3f}"
        for name, places in _SHARES.items()
    ]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "case.toml").write_text(f'[settings]\ntest = "{test}"\n', "utf-8")
    (folder / "measured.toml").write_text("\n".join([*lines, ""]), "utf-8")


def _stat() -> list[int]:
    first = Path("/proc/stat").read_text("utf-8").partition("\n")[0]
    return [int(word) for word in first.split()[1 : _COLUMNS + 1]]


def _accepted() -> socket.socket:
    with socket.create_server((_PEER, _PORT)) as server:
        server.settimeout(10)
        return server.accept()[0]


def _connected() -> socket.socket:
    for _ in range(100):
        with contextlib.suppress(ConnectionRefusedError):
            return socket.create_connection((_PEER, _PORT), timeout=10)
        time.sleep(0.05)
    raise ConnectionError("nothing answers at the other end")


def _serve(seconds: float) -> None:
    data = bytes(_CHUNK)
    end = time.monotonic() + seconds
    with _accepted() as peer:
        while time.monotonic() < end:
            peer.sendall(data)


def _take(seconds: float) -> None:
    del seconds
    taken, start = 0, time.monotonic()
    with _connected() as peer:
        while data := peer.recv(_CHUNK):
            taken += len(data)
    sys.stdout.write(f"throughput_bps = {8 * taken / (time.monotonic() - start):.1f}\n")


def _answer(seconds: float) -> None:
    del seconds
    with _accepted() as peer:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while data := peer.recv(1):
            peer.sendall(data)


def _ask(seconds: float) -> None:
    asked, start = 0, time.monotonic()
    with _connected() as peer:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while time.monotonic() < start + seconds:
            peer.sendall(b"?")
            peer.recv(1)
            asked += 1
    sys.stdout.write(f"transactions_per_s = {asked / (time.monotonic() - start):.1f}\n")


_END: Final = {"serve": _serve, "take": _take, "answer": _answer, "ask": _ask}

if __name__ == "__main__":
    sys.exit(main())
