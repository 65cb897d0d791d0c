"""Faults made on purpose in a network namespace of this machine are found, in time."""

import json
import resource
import shutil
import subprocess
import sys
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
# on a busy machine it takes a while until the other end has a namespace of its own
VETH: Final = (
    "unshare -n sleep 600 > /dev/null 2>&1 & far=$!; export far\n"
    'until test "$(readlink /proc/$far/ns/net)" != "$(readlink /proc/self/ns/net)"\n'
    "do sleep 0.05; done\n"
    "ip link add v0 type veth peer name v1 netns $far || exit 42\n"
    "ip addr add 10.8.0.1/24 dev v0; ip link set v0 up\n"
    "nsenter -n -t $far ip addr add 10.8.0.2/24 dev v1; nsenter -n -t $far ip link set v1 up\n"
)
# the far end sends what nobody here reads, until the kernel has counted that
FAR: Final = """
import os, socket, subprocess, sys
def lost():
    names, counts = [line.split() for line in open("/proc/net/snmp") if line.startswith("Udp:")]
    return int(counts[names.index("RcvbufErrors")])
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
server.bind(("10.8.0.1", 5000))
send = (
    "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\\n"
    "for _ in range(3000): s.sendto(b'x' * 500, ('10.8.0.1', 5000))"
)
for _ in range(20):
    if lost() < 1000:
        subprocess.run(["nsenter", "-n", "-t", os.environ["far"], sys.executable, "-c", send])
"""
RAW: Final = """
import socket, struct, time
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
address = socket.inet_aton("127.0.0.1")
def packet(protocol, payload, flags, number):
    return struct.pack(
        "!BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), number, flags, 64, protocol, 0,
        address, address,
    ) + payload
def send(data):
    raw.sendto(data, ("127.0.0.1", 0))
"""
BAD_UDP: Final = (
    RAW
    + """
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", 5001))
for n in range(500):
    send(packet(17, struct.pack("!HHHH", 9, 5001, 28, 0x1234) + b"x" * 20, 0, n + 1))
"""
)
BAD_TCP: Final = (
    RAW
    + """
for n in range(500):
    send(packet(6, struct.pack("!HHIIBBHHH", 9, 5001, n, 0, 80, 2, 100, 0x1234, 0), 0, n + 1))
"""
)
HALVES: Final = (
    RAW
    + """
open("/proc/sys/net/ipv4/ipfrag_time", "w").write("1")
for n in range(300):
    send(packet(17, struct.pack("!HHHH", 9, 5001, 48, 0) + b"x" * 24, 0x2000, n + 1))
time.sleep(2.5)
"""
)
FULL: Final = """
import socket, time
server = socket.socket()
server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
server.bind(("127.0.0.1", 0))
server.listen(80)
ends = []
for _ in range(150):
    client = socket.create_connection(server.getsockname())
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    client.setblocking(False)
    ends += [client, server.accept()[0]]
    try:
        for _ in range(4000):
            client.send(b"x" * 4000)
    except BlockingIOError:
        pass
time.sleep(0.5)
"""
SPOOFED: Final = """
import fcntl, os, struct, time
tun = os.open("/dev/net/tun", os.O_RDWR)
fcntl.ioctl(tun, 0x400454CA, struct.pack("16sH22x", b"p0", 0x1002))
os.system("echo 1 > /proc/sys/net/ipv4/conf/p0/rp_filter; ip link set p0 up")
mac = bytes(int(x, 16) for x in open("/sys/class/net/p0/address").read().split(":"))
time.sleep(0.3)
for n in range(500):
    body = struct.pack(
        "!BBHHHBBH4s4s", 0x45, 0, 28, n, 0, 64, 17, 0, bytes([192, 0, 2, 1]), bytes([10, 9, 0, 1])
    )
    total = sum(struct.unpack("!10H", body))
    total = (total & 0xFFFF) + (total >> 16)
    body = body[:10] + struct.pack("!H", ~(total + (total >> 16)) & 0xFFFF) + body[12:]
    os.write(tun, mac + mac[:5] + b"y\\x08\\x00" + body + struct.pack("!HHHH", 9, 9, 8, 0))
"""
POLICED: Final = (
    "tc qdisc add dev lo ingress || exit 42\n"
    "tc filter add dev lo ingress matchall action police rate 100kbit burst 2000 drop || exit 42"
)
STREAM: Final = """
import socket, threading, time
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
end = server.accept()[0]
def read():
    while end.recv(65536):
        pass
threading.Thread(target=read, daemon=True).start()
client.settimeout(4)
try:
    until = time.monotonic() + 4
    while time.monotonic() < until:
        client.send(b"x" * 65536)
except TimeoutError:
    pass
"""
# the largest number of connections is the whole machine's: it is reached, not lowered
TRACKED: Final = (
    "test $(cat /proc/sys/net/netfilter/nf_conntrack_max) -le 300000 || exit 42\n"
    "{ nft add table ip t && nft 'add chain ip t c { type filter hook output priority 0; }' &&"
    " nft add rule ip t c ct state new counter; } || exit 42"
)
CONNECT: Final = """
import socket
most = int(open("/proc/sys/net/netfilter/nf_conntrack_max").read())
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("0.0.0.0", 9))
for n in range(most + 100):
    try:
        client.sendto(b"x", (f"127.{n >> 16}.{n >> 8 & 255}.{n & 255}", 9))
    except OSError:
        pass
"""
SMALL: Final = (
    "ip link set lo mtu 1500\n"
    "tc qdisc add dev lo root tbf rate 20mbit burst 4000 limit 8000 || exit 42"
)
BRIDGE: Final = (
    "ip link add br0 type bridge || exit 42\n"
    "ip link set p0 master br0; ip link set p1 mtu 9000 master br0"
)
# what stays while the machine is looked at; the line says that the fault is made
STAYS: Final = "import time\nprint(flush=True)\ntime.sleep(600)\n"


def found(shell: str, script: str = "", *, stays: bool = False) -> set[str]:
    """Return the rules that fire in a namespace in which something was done."""
    typed = START + shell + "\n"
    python = sys.executable
    if stays:
        typed += (
            f'done=$(mktemp); {python} -c "$SCRIPT" > $done & child=$!\n'
            "until test -s $done || ! kill -0 $child; do sleep 0.05; done; rm $done\n"
        )
    elif script:
        typed += f'{python} -c "$SCRIPT"\n'
    typed += f"{python} -m simnet diagnose --live --json; status=$?\n"
    typed += "kill $child $far 2> /dev/null; exit $status"
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
        ("udp-buffer", VETH, FAR, False),
        ("udp-checksum", "", BAD_UDP, False),
        ("tcp-checksum", "", BAD_TCP, False),
        ("reassembly", "", HALVES, False),
        ("zero-window", "", FULL, False),
        ("reverse-path", PORTS, SPOOFED, False),
        ("retransmits", SMALL, STREAM, False),
        ("policed", POLICED, SEND, False),
        ("conntrack-full", TRACKED, CONNECT, False),
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


def test_it_takes_at_most_five_seconds_of_a_cpu() -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "simnet", "diagnose", "--live"], check=False, capture_output=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 5
