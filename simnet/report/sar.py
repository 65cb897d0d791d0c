"""Tables of CPUs: sar's and vmstat's as the era printed them, mpstat's of today."""

import json
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from simnet.study.calibrate.capture import InterruptColumn, SarRow
from simnet.study.run.result import Result
from simnet.study.run.rows import CpuTicks, CpuUse, PortInterrupts

_HEADING = "CPU   %user   %nice  %system  %iowait  %steal   %idle"
_NEARLY_IDLE_PERCENT = 1.0
_VMSTAT = "procs  -system--- -----cpu----\n r  b     in    cs us sy  id wa\n"


Shares: TypeAlias = SarRow | CpuTicks
"""One CPU in sar's columns: a row of a capture, or the ticks of a result."""
Column: TypeAlias = InterruptColumn | PortInterrupts
"""Interrupts a second of one port by CPU: of a capture, or of a result."""


def sar(result: Result) -> str:
    """CPU shares as sar would have sampled them in the measured time.

    Only nodes with a busy CPU are listed.
    """
    busy_nodes = {cpu.node for cpu in result.cpus if cpu.busy >= _NEARLY_IDLE_PERCENT}
    listed = [row for row in result.ticks if row.node in busy_nodes]
    text = cpu_table(listed)
    if len(listed) < len(result.ticks):
        text += _remark("CPUs not listed are idle or nearly idle", len(result.ticks))
    return text


def interrupts(result: Result) -> str:
    """Interrupts a second of every port, on the CPUs from the first to the last that serve any."""
    serving = {cpu for column in result.interrupts for cpu, rate in column.by_cpu.items() if rate}
    nodes = {cpu.node for cpu in result.cpus if cpu.id in serving}
    last = max(serving, default=-1)
    listed = [cpu.id for cpu in result.cpus if cpu.node in nodes and cpu.id <= last]
    return interrupts_table(result.interrupts, listed) + "# other CPUs: 0\n"


def mpstat(result: Result) -> str:
    """Exact CPU shares as `mpstat -P ALL -o JSON` of sysstat 12 prints them: one report."""
    shares = {str(cpu.id): _mpstat_row(cpu) for cpu in result.cpus}
    columns = next(iter(shares.values()), {})
    mean = {name: sum(row[name] for row in shares.values()) / len(shares) for name in columns}
    rows = [
        {"cpu": cpu, **{name: round(value, 2) for name, value in row.items()}}
        for cpu, row in {"all": mean, **shares}.items()
    ]
    report = {"timestamp": "00:00:00", "cpu-load": rows}
    host = {"sysname": "Linux", "number-of-cpus": len(shares), "statistics": [report]}
    return json.dumps({"sysstat": {"hosts": [host]}}, indent=1) + "\n"


def vmstat(result: Result) -> str:
    """One row a second of the measured time; the columns of memory, swap and io are left out.

    A tick sees what runs when it comes, or ran when it should have come: in a partition that has no
    processor for a while, busy is busy until the next tick.
    """
    return _VMSTAT + "".join(
        f"{row.runnable:2d} {row.blocked:2d} "
        f"{row.interrupts_per_s:6.0f} {row.context_switches_per_s:5.0f} "
        f"{row.user:2.0f} {row.system:2.0f} {row.idle:3.0f} {row.iowait:2.0f}\n"
        for row in result.vmstat
    )


def _mpstat_row(cpu: CpuUse) -> dict[str, float]:
    times = {"usr": cpu.user, "nice": 0.0, "sys": cpu.system, "iowait": cpu.iowait}
    times |= {"irq": cpu.irq, "soft": cpu.softirq, "steal": cpu.steal}
    return times | {"guest": 0.0, "gnice": 0.0, "idle": cpu.idle}


def cpu_table(rows: Iterable[Shares]) -> str:
    """The listing's first table; numbers stand in fixed columns."""
    lines = [_HEADING]
    lines += [
        f"{row.id:<2}{row.user:10.2f}{row.nice:8.2f}{row.system:9.2f}"
        f"{row.iowait:9.2f}{row.steal:8.2f}{row.idle:8.2f}"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def interrupts_table(columns: Sequence[Column], cpus: Iterable[int]) -> str:
    """The listing's second table; a CPU that is not in a column had no interrupt there."""
    titles = [f"{column.port}/{column.irq}" for column in columns]
    widths = [max(len(title), len("00000.00")) + 2 for title in titles]
    lines = ["CPU " + "".join(f"{title:>{w}}" for title, w in zip(titles, widths, strict=True))]
    for cpu in cpus:
        rates = [column.by_cpu.get(cpu, 0.0) for column in columns]
        row = "".join(f"{rate:{w}.2f}" for rate, w in zip(rates, widths, strict=True))
        lines.append(f"{cpu:<4}{row}")
    return "\n".join(lines) + "\n"


def _remark(what: str, cpus: int) -> str:
    return f"# {what} ({cpus} logical CPUs in all)\n"
