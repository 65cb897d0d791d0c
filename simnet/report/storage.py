"""`iostat -x` of a result: the client's two tables, then those of the server of its disks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.report.iostat import avg_cpu, devices
from simnet.scenario.parts.storage.columns import row_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simnet.scenario.parts.storage.columns import PeerCpuUse
    from simnet.study.run.result import CpuUse, Result

__all__ = ["iostat"]


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
