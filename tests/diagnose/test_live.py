"""Faults made on purpose in a network namespace of this machine are found, in time."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from typing import Final

import pytest

_MISSING: Final = [name for name in ("unshare", "ip", "tc", "ss") if shutil.which(name) is None]
_ALLOWED: Final = (
    not _MISSING
    and subprocess.run(
        ["unshare", "-mn", "sh", "-c", "mount -t sysfs sysfs /sys && ip link set lo up"],
        check=False,
        capture_output=True,
    ).returncode
    == 0
)
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not _ALLOWED, reason="no network namespaces, or no ip, tc and ss"),
]

START: Final = "mount -t sysfs sysfs /sys; ip link set lo up\n"
PORTS: Final = (
    "for p in p0 p1; do ip tuntap add $p mode tap && ip link set $p up || exit 42; done\n"
    "ip addr add 10.9.0.1/24 dev p0\n"
)
# what a kernel may lack
_LACKING: Final = 42
FLOOD: Final = """
import socket
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
server.bind(("127.0.0.1", 0))
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(2000):
    client.sendto(b"x" * 500, server.getsockname())
"""
LISTEN: Final = """
import socket
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen(1)
clients = [socket.socket() for _ in range(60)]
for client in clients:
    client.setblocking(False)
    client.connect_ex(server.getsockname())
"""
SEND: Final = """
import socket
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(3000):
    client.sendto(b"x" * 1000, ("127.0.0.1", 9))
"""
SHAPED: Final = "tc qdisc add dev lo root tbf rate 100kbit burst 2000 limit 3000 || exit 42"
BRIDGE: Final = (
    "ip link add br0 type bridge || exit 42\n"
    "ip link set p0 master br0; ip link set p1 mtu 9000 master br0"
)
# what stays while the machine is looked at
STAYS: Final = "import time\nprint(flush=True)\ntime.sleep(60)\n"


def found(shell: str, script: str = "", *, stays: bool = False) -> set[str]:
    """Return the rules that fire in a namespace in which something was done."""
    typed = START + shell + "\n"
    python = sys.executable
    if stays:
        typed += f'{python} -c "$SCRIPT" > /dev/null & child=$!; sleep 0.7\n'
    elif script:
        typed += f'{python} -c "$SCRIPT"\n'
    typed += f"{python} -m simnet diagnose --live --json; status=$?\n"
    typed += ("kill $child\n" if stays else "") + "exit $status"
    environment = {
        "SCRIPT": script + (STAYS if stays else ""),
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
    }
    done = subprocess.run(
        ["unshare", "-mn", "sh", "-c", typed],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
    )
    if done.returncode == _LACKING:
        pytest.skip("this kernel has no such device or queue")
    assert done.returncode in {0, 1, 3}, done.stderr
    return {one["rule"] for one in json.loads(done.stdout)["findings"]}


def test_a_quiet_namespace_has_none_of_them() -> None:
    loss = {"udp-buffer", "netem", "listen-overflow", "qdisc-drops", "same-network", "rps-one-cpu"}
    assert found(PORTS) & loss == set()


@pytest.mark.parametrize(
    ("rule", "shell", "script", "stays"),
    [
        ("udp-buffer", "", FLOOD, False),
        ("socket-queue", "", FLOOD, True),
        ("listen-overflow", "", LISTEN, False),
        ("accept-queue", "", LISTEN, True),
        ("netem", "tc qdisc add dev lo root netem loss 10% || exit 42", "", False),
        ("qdisc-drops", SHAPED, SEND, False),
        ("same-network", f"{PORTS}ip addr add 10.9.0.2/24 dev p1", "", False),
        ("rps-one-cpu", f"{PORTS}echo 1 > /sys/class/net/p0/queues/rx-0/rps_cpus", "", False),
        ("mtu-differs", f"{PORTS}{BRIDGE}", "", False),
        ("tcp-switched-off", "echo 0 > /proc/sys/net/ipv4/tcp_sack", "", False),
        ("tcp-buffer-small", "echo '4096 8192 65536' > /proc/sys/net/ipv4/tcp_rmem", "", False),
    ],
)  # fmt: skip
def test_a_fault_is_found(rule: str, shell: str, script: str, *, stays: bool) -> None:
    assert rule in found(shell, script, stays=stays)


def test_it_takes_at_most_five_seconds() -> None:
    start = time.monotonic()
    subprocess.run(
        [sys.executable, "-m", "simnet", "diagnose", "--live"], check=False, capture_output=True
    )
    # on a machine that does other work, too
    assert time.monotonic() - start < 10
