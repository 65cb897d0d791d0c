"""Formats that are known and of which no simulation uses anything, so that a file of them is named.

Some show a load that an imported scenario does not have: it is said, as streams of TCP stand in its
place.

Source: the manuals of the tools that each line names.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from simnet.importing.kind import Kind
from simnet.importing.parser import Parser

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simnet.importing.evidence import Evidence

__all__ = ["PARSER"]

_DISK: Final = "a load of disks, and the scenario is of the network; nvme-local is one of a disk"
_NO_LOAD: Final = "no simulation depends on it"
_NO_OUTPUT: Final = "commands are not executed"
_SYMPTOMS: Final = "what happened, and no setting"
# name, pattern of a line, why it is not used
_KNOWN: Final = (
    ("fio job", r"(?:ioengine|filename|overwrite|direct)=\S", _DISK),
    ("fio", r"\S{1,60}: \(g=\d+\): rw=\w+, ", _DISK),
    ("iozone", r"[ \t]*Children see throughput for +\d+ ", "a load of a file system"),
    ("dmesg", r"(?:\[ *\d+\.\d{6}\] |kernel: |\w{3} +\d+ [\d:]{8} \S+ kernel: )", _SYMPTOMS),
    ("cmdline", r"(?:BOOT_IMAGE=|root=|(?:intel|amd)_iommu=|iommu=|quiet |ro )", _NO_LOAD),
    ("pf_ring info", r"Polling Mode: +NAPI", "packets are captured, and no protocol receives them"),
    ("pfcount", r"Absolute Stats: \[", "packets are captured, and no protocol receives them"),
    ("commands", r"ethtool -[A-Z] \S+ \S|(?:ip link|sysctl -w|echo|taskset|tc) \S", _NO_OUTPUT),
    ("top", r"top - [\d:]{8} up |%?Cpu\(s\): ", _SYMPTOMS),
    ("vmstat", r"procs -{3,}", _SYMPTOMS),
    ("dstat", r"-{2,}total-cpu-usage-{2,}|usr sys idl wai", _SYMPTOMS),
    ("netstat -s", r"(?:Ip|Tcp|Udp|IcmpMsg|TcpExt):$", _SYMPTOMS),
    ("nstat", r"#kernel$|(?:Ip|Tcp|TcpExt|Udp)[A-Z]\w+ +\d+ +[\d.]+$", _SYMPTOMS),
    ("net/snmp", r"(?:Ip|Tcp|Udp|TcpExt): [A-Z]\w+ ", _SYMPTOMS),
    ("ss -s", r"Total: \d+(?: \(|$)", _SYMPTOMS),
    ("turbostat", r"(?:Package\t|Core\tCPU\t|usec\t)", _NO_LOAD),
    ("cpupower", r"analyzing CPU \d+:|CPUidle driver: ", _NO_LOAD),
    ("perf", r" *[\d.]+% +\S+ +\[[k.]\] |# Overhead ", _SYMPTOMS),
    ("conntrack -S", r"cpu=\d+ +(?:searched|found)=", _SYMPTOMS),
    ("tc -s qdisc", r"qdisc \w+ [0-9a-f]+: ", _NO_LOAD),
    ("nft list ruleset", r"table (?:inet|ip6?|bridge|netdev) \S+ \{", _NO_LOAD),
    ("iptables", r"Chain (?:INPUT|FORWARD|OUTPUT|PREROUTING|POSTROUTING) \(", _NO_LOAD),
    ("bridge link", r"\d{1,6}: \S+ (?:state \w+ )?(?:@\S+ )?.{0,80}\bmaster \S+ state ", _NO_LOAD),
    ("ifconfig", r"\S{1,15}:? +(?:Link encap:|flags=\d+<)", _NO_LOAD),
    ("ping", r"\d+ bytes from \S+ icmp_seq=|rtt min/avg/max", _SYMPTOMS),
    ("iperf", r"\[ *\d+\] local \S+ port \d+ connected with ", "it does not say who sent"),
)  # fmt: skip
_LOADS: Final = (
    ("fio job", "fio, which reads and writes disks"),
    ("fio", "fio, which reads and writes disks"),
    ("iozone", "a file system"),
    ("pf_ring info", "a capture of packets by PF_RING"),
    ("pfcount", "a capture of packets by PF_RING"),
)
_VIRTUAL: Final = re.compile(
    r"^\d{1,6}: (veth\S{1,11}|wg\d{1,3}|flannel\S*|cali\S*|cilium\S*)[@:]", re.MULTILINE
)
_FORWARD: Final = re.compile(
    r"^net\.ipv4\.(?:ip_forward|conf\.all\.forwarding) ?= ?1$", re.MULTILINE
)


def _notes(evidence: Evidence) -> Iterator[str]:
    said = set()
    for kind, load in _LOADS:
        told = evidence.outputs.one(kind)
        if told is not None and load not in said:
            said.add(load)
            yield f"{told.name} shows {load}: that load is not simulated"
    told = evidence.outputs.one("ip link")
    if told is not None:
        tunnels = sum(name.startswith("wg") for name in _VIRTUAL.findall(told.text))
        inner = len(_VIRTUAL.findall(told.text)) - tunnels
        if inner:
            yield f"{told.name} lists {inner} ports of containers: their load is not simulated"
        if tunnels:
            yield f"{told.name} lists {tunnels} tunnels of WireGuard: they are not simulated"
    told = evidence.outputs.one("sysctl -a")
    if told is not None and _FORWARD.search(told.text):
        yield f"{told.name}: the host forwards packets: forwarding and NAT are not simulated"


PARSER: Final = Parser(
    kinds=tuple(Kind(name, line, line=line, idle=why) for name, line, why in _KNOWN),
    notes=_notes,
)
