"""Formats that are known and of which no simulation uses anything, so that a file of them is named.

Some show a load that no scenario of the network has.

Source: the manuals of the tools that each line names.
"""

from collections.abc import Iterator
from typing import Final

from simnet.importing.evidence import Evidence
from simnet.importing.kind import CAPTURED, HAPPENED, NOT_MODELLED, Kind
from simnet.importing.parser import Parser
from simnet.importing.roles import CAPTURE, DISKS, Role

_DISK: Final = "a load of disks, and the scenario is of the network; nvme-local is one of a disk"
_NO_OUTPUT: Final = "commands are not executed"
_POLLED: Final = "a program polls the card in place of the kernel"
_NO_GROUP: Final = "no group of processes is limited here"
# name, pattern of a line, why it is not used
_KNOWN: Final = (
    ("fio job", r"(?:ioengine|filename|overwrite|direct)=\S", _DISK),
    ("fio", r"\S{1,60}: \(g=\d+\): rw=\w+, ", _DISK),
    ("iozone", r"[ \t]*Children see throughput for +\d+ ", "a load of a file system"),
    ("commands", r"ethtool -[A-Z] \S+ \S|(?:ip link|sysctl -w|echo|taskset|tc) \S", _NO_OUTPUT),
    ("cpu.stat", r"(?:nr_periods|nr_throttled|throttled_usec) \d+$", _NO_GROUP),
    ("sar of errors", r"[\d:]{8}(?: [AP]M)? +(?:IFACE +rxerr/s|atmptf/s)", HAPPENED),
    ("tc -s filter", r"filter protocol \S+ pref \d", NOT_MODELLED),
    ("dstat", r"-{2,}total-cpu-usage-{2,}|usr sys idl wai", HAPPENED),
    ("turbostat", r"(?:Package\t|Core\tCPU\t|usec\t)", NOT_MODELLED),
    ("cpupower", r"analyzing CPU \d+:|CPUidle driver: ", NOT_MODELLED),
    ("perf", r" *[\d.]+% +(?:\d+ +)?\S+ +\[[k.]\] |# Overhead ", HAPPENED),
    ("tc -s qdisc", r"qdisc \w+ [0-9a-f]+: ", NOT_MODELLED),
    ("bridge link", r"\d{1,6}: \S+ [^\n]{0,90}\bmaster \S+ state [bdfl]", NOT_MODELLED),
    ("ping", r"\d+ bytes from \S+ icmp_seq=|rtt min/avg/max", HAPPENED),
    ("tcpdump", r"\d+ packets (?:captured|received by filter)$", CAPTURED),
    ("suricata", r"capture\.kernel_(?:packets|drops) ", CAPTURED),
    ("testpmd", r" *#+ NIC statistics for port \d+ ", _POLLED),
    ("iperf", r"\[ *\d+\] local \S+ port \d+ connected with ", "it does not say who sent"),
)  # fmt: skip
# what prints those that say how a host is, and the folder of sos_commands
_PRINTED: Final = {
    "tc -s qdisc": ("tc -s qdisc", "networking"),
    "bridge link": ("bridge link", "networking"),
    "cpupower": ("cpupower idle-info", "processor"),
}
# of these, what a host with such a file does
_LOADS: Final = (
    ("tcpdump", CAPTURE, "a capture of packets by tcpdump"),
    ("suricata", CAPTURE, "a capture of packets by Suricata"),
    ("testpmd", CAPTURE, "a program that polls the card by DPDK"),
    ("fio job", DISKS, "fio, which reads and writes disks"),
    ("fio", DISKS, "fio, which reads and writes disks"),
    ("iozone", DISKS, "iozone, which reads and writes a file system"),
)


def _roles(evidence: Evidence) -> Iterator[Role]:
    for kind, name, load in _LOADS:
        told = evidence.outputs.one(kind)
        if told is not None:
            yield Role(name, load, told.name)


PARSER: Final = Parser(
    kinds=tuple(
        Kind(name, line, line=line, command=command, folder=folder, idle=why)
        for name, line, why in _KNOWN
        for command, folder in (_PRINTED.get(name, ("", "")),)
    ),
    roles=_roles,
)
