"""Disk counters in the look of `iostat -x` of sysstat 9: one row a device.

Of a result: the client's two tables, then those of the server of its disks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.scenario.parts.storage.columns import row_of
from simnet.storage.block.diskstats import IostatRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from simnet.scenario.parts.storage.columns import PeerCpuUse
    from simnet.study.run.result import Result
    from simnet.study.run.rows import CpuUse

AVG_CPU_COLUMNS = ("user", "nice", "system", "iowait", "steal", "idle")
_AVG_CPU = "avg-cpu:  %user   %nice %system %iowait  %steal   %idle"
_DEVICE = (
    "Device:  rrqm/s  wrqm/s     r/s     w/s    rsec/s   wsec/s     rkB/s    wkB/s"
    " avgrq-sz avgqu-sz    await  svctm  %util"
)


def avg_cpu(shares: Mapping[str, float]) -> str:
    """The first table: shares of all CPUs in percent, by the names of `AVG_CPU_COLUMNS`."""
    values = [shares.get(name, 0.0) for name in AVG_CPU_COLUMNS]
    return f"{_AVG_CPU}\n{' ' * 7}" + "".join(f"{value:8.2f}" for value in values) + "\n"


def devices(rows: Iterable[IostatRow]) -> str:
    """The second table; numbers stand in columns, below `Device:`."""
    return "\n".join([_DEVICE, *(_row(row) for row in rows)]) + "\n"


def _row(row: IostatRow) -> str:
    # a number that is longer than its column moves those after it
    return (
        f"{row.device:<7} {row.rrqm_s:7.2f} {row.wrqm_s:7.2f} {row.r_s:7.2f} {row.w_s:7.2f}"
        f" {row.rsec_s:9.2f} {row.wsec_s:8.2f} {row.rkb_s:9.2f} {row.wkb_s:8.2f}"
        f" {row.avgrq_sz:8.2f} {row.avgqu_sz:8.2f} {row.await_ms:8.2f} {row.svctm_ms:6.2f}"
        f" {row.util:6.2f}"
    )


def iostat(result: Result) -> str:
    """Both tables of every host with disks; %system holds interrupts, as in sysstat 9."""
    if not result.disks:
        return "# no disks\n"
    hosts = list(dict.fromkeys(str(disk["host"]) for disk in result.disks))
    texts = []
    for host in hosts:
        rows = [row_of(disk) for disk in result.disks if disk["host"] == host]
        cpus: Sequence[CpuUse | PeerCpuUse] = (
            result.cpus
            if host == "client"
            else [cpu for cpu in result.peer_cpus if cpu.host == host]
        )
        texts.append(f"# {host}\n{avg_cpu(_shares(cpus))}\n{devices(rows)}")
    return "\n".join(texts)


def _shares(cpus: Sequence[CpuUse | PeerCpuUse]) -> dict[str, float]:
    def mean(*names: str) -> float:
        return sum(getattr(cpu, name, 0.0) for cpu in cpus for name in names) / len(cpus)

    return {
        "user": mean("user"),
        "system": mean("system", "softirq", "irq"),
        "iowait": mean("iowait"),
        "steal": mean("steal"),
        "idle": mean("idle"),
    }
