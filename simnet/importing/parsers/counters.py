"""Counters of the kernel and of drivers, taken twice: what was carried in between.

Source: net/core/net-procfs.c of Linux: `dev_seq_printf_stats`, `softnet_seq_show`;
fs/proc/uptime.c; fs/proc/stat.c; fs/proc/softirqs.c; ethtool(8).
"""

import re
from collections.abc import Iterator
from typing import Final

from simnet.importing.evidence import Evidence
from simnet.importing.kind import Kind
from simnet.importing.parser import Parser
from simnet.importing.parsers.ethtool import pairs
from simnet.importing.rates import Rates

_DEVICE: Final = re.compile(r"^ *([^\s:]{1,15}):((?: *\d{1,20}){16})\s*$", re.MULTILINE)
# bytes and packets received, bytes and packets sent, among the columns
_COLUMNS: Final = (0, 1, 8, 9)
_UPTIME: Final = re.compile(r"(\d{1,12}\.\d\d) ")
_SOFTNET: Final = re.compile(r"^[0-9a-f]{8}(?: [0-9a-f]{8}){8,}$", re.MULTILINE)
_OF_SOFTNET: Final = ("backlog_packets_per_s", "backlog_drops_per_s", "softirq_squeezed_per_s")
_WRAP: Final = 1 << 32
_CPU: Final = re.compile(r"^cpu(\d{1,5})((?: \d{1,20}){7,})\s*$", re.MULTILINE)
_IDLE: Final = (3, 4)
_SOFTIRQ: Final = 6
_CPUS: Final = re.compile(r"\s*CPU\d{1,5}(?: +CPU\d{1,5})*")
_NET_RX: Final = re.compile(r"^ *NET_RX:((?: +\d{1,20})+) *$", re.MULTILINE)
_ONE_SAMPLE: Final = (
    "counters of one moment: what was carried and lost a second takes two, the second in a folder"
    " later"
)
_A_SECOND: Final = r"Ethtool\((?P<interface>[^\s)]{1,15}) *\) stat:"
_ALLOWANCE: Final = re.compile(r"(bw_in|bw_out|pps|conntrack|linklocal)_allowance_exceeded")
_LOST: Final = re.compile(r"rx_(missed|no_buffer|discard|out_of_buffer|dropped|fifo)\w*")


def _seconds(evidence: Evidence) -> float:
    """Return the time between the two; 0 if it is not known."""
    taken = evidence.outputs.pair("uptime")
    ups = [_UPTIME.match(one.text) for one in taken or ()]
    return max(float(ups[1][1]) - float(ups[0][1]), 0) if len(ups) > 1 and ups[0] and ups[1] else 0


def _rates(evidence: Evidence) -> Iterator[Rates]:
    seconds = _seconds(evidence)
    taken = evidence.outputs.pair("net/dev")
    if not seconds or taken is None:
        return
    first, second = ({name: row.split() for name, row in _DEVICE.findall(t.text)} for t in taken)
    for nic in evidence.nics:
        if nic.name in first and nic.name in second:
            before, after = ([int(row[nic.name][n]) for n in _COLUMNS] for row in (first, second))
            rx_bytes, rx, tx_bytes, tx = (
                max(later - earlier, 0) / seconds
                for earlier, later in zip(before, after, strict=True)
            )
            yield Rates(nic.name, rx, tx, rx_bytes, tx_bytes, seconds, taken[1].name)


def _uses(evidence: Evidence) -> Iterator[tuple[str, float, str]]:
    """Yield packets of softirqs, what was dropped there and in NICs, and the CPUs' shares."""
    seconds = _seconds(evidence)
    if not seconds:
        return
    taken = evidence.outputs.pair("softnet_stat")
    if taken is not None:
        rows = [[line.split() for line in _SOFTNET.findall(one.text)] for one in taken]
        for column, name in enumerate(_OF_SOFTNET):
            before, after = (sum(int(row[column], 16) for row in one) for one in rows)
            yield name, (after - before) % _WRAP / seconds, taken[1].name
    taken = evidence.outputs.pair("stat")
    if taken is not None:
        yield from _shares(taken[0].text, taken[1].text, taken[1].name)
    taken = evidence.outputs.pair("softirqs")
    if taken is not None:
        first, second = (_received(one.text) for one in taken)
        for cpu in sorted(first.keys() & second.keys()):
            raised = (second[cpu] - first[cpu]) % _WRAP
            yield f"cpu.{cpu}.net_rx_softirqs_per_s", raised / seconds, taken[1].name
    for nic in evidence.nics:
        taken = evidence.outputs.pair("ethtool -S", nic.name)
        if taken is not None:
            lost = [_lost(one.text) for one in taken]
            yield f"port.{nic.name}.lost_per_s", max(lost[1] - lost[0], 0) / seconds, taken[1].name


def _lost(text: str) -> int:
    found = pairs(text).items()
    return sum(int(n) for name, n in found if _LOST.fullmatch(name) and n.isdecimal())


def _allowances(evidence: Evidence) -> Iterator[str]:
    """Yield a line for each port whose instance has held it back (`ena_stats_eni_strings`)."""
    for nic, taken in evidence.of_ports("ethtool -S"):
        found = [
            f"{matched[1]} {int(count):,}"
            for name, count in pairs(taken.text).items()
            if (matched := _ALLOWANCE.fullmatch(name)) and count.isdecimal() and int(count)
        ]
        if found:
            yield (
                f"{nic.name}: {taken.name} counts packets beyond the instance's allowances"
                f" ({', '.join(found)}): how large they are no file says, so none is simulated;"
                " netem.rate sets one of bandwidth"
            )


def _received(text: str) -> dict[int, int]:
    """Return how often NET_RX ran, by CPU."""
    heading, row = _CPUS.match(text), _NET_RX.search(text)
    if heading is None or row is None:
        return {}
    cpus = [int(name.removeprefix("CPU")) for name in heading[0].split()]
    counts = [int(count) for count in row[1].split()]
    return dict(zip(cpus, counts, strict=False))


def _shares(before: str, after: str, source: str) -> Iterator[tuple[str, float, str]]:
    first, second = (
        {int(cpu): row.split() for cpu, row in _CPU.findall(t)} for t in (before, after)
    )
    for cpu in sorted(first.keys() & second.keys()):
        spent = [int(b) - int(a) for a, b in zip(first[cpu], second[cpu], strict=False)]
        total = sum(spent)
        if total > 0 and len(spent) > _SOFTIRQ:
            idle = sum(spent[n] for n in _IDLE)
            yield f"cpu.{cpu}.busy", 100 * (total - idle) / total, source
            yield f"cpu.{cpu}.softirq", 100 * spent[_SOFTIRQ] / total, source


PARSER: Final = Parser(
    kinds=(
        Kind("uptime", r"\d+\.\d\d \d+\.\d\d$", files=("proc/uptime",), twice=True),
        Kind(
            "net/dev",
            r"Inter-\|",
            line=r"Inter-\|",
            files=("proc/net/dev",),
            twice=True,
            idle=_ONE_SAMPLE,
        ),
        Kind(
            "softnet_stat",
            r"([0-9a-f]{8} ){8}",
            line=r"(?:[0-9a-f]{8} ){8}[0-9a-f]{8}",
            files=("proc/net/softnet_stat",),
            twice=True,
            idle=_ONE_SAMPLE,
        ),
        Kind("stat", r"cpu +\d+ \d+ ", files=("proc/stat",), twice=True, idle=_ONE_SAMPLE),
        Kind(
            "softirqs",
            r"\s*CPU\d+\s[^\n]*\n\s*HI:",
            line=r"[ \t]*CPU\d+\s[^\n]*\n\s*HI:",
            files=("proc/softirqs",),
            twice=True,
            idle=_ONE_SAMPLE,
        ),
        Kind(
            "ethtool -S",
            r"NIC statistics:",
            line=r"NIC statistics:",
            command="ethtool -S {port}",
            folder="networking",
            twice=True,
            idle=_ONE_SAMPLE,
        ),
        Kind(
            "ethtool_stats.pl",
            rf"\s*{_A_SECOND}",
            line=rf" ?{_A_SECOND}",
            idle="counters of a driver a second: no simulation depends on them",
        ),
    ),
    notes=_allowances,
    rates=_rates,
    uses=_uses,
)
