"""fio's own output, and its JSON.

Layout of fio 3.36 (`show_thread_status_normal`, `show_ddir_status`, `show_group_stats` in stat.c,
`num2str` in lib/num2str.c), with group_reporting. What a simulation has no value for is left out:
the samples of `bw` and `iops` every 500 ms, page faults, and the date.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Final

from simnet.scenario.parts.storage.columns import row_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simnet.scenario.parts.fio.columns import DirectionUse, FioGroupUse, LatencyUse
    from simnet.study.run.result import Result

_VERSION: Final = "in the layout of fio 3.36"
_PREFIXES: Final = {1000: ("", "k", "M", "G", "T", "P"), 1024: ("", "Ki", "Mi", "Gi", "Ti", "Pi")}
_WIDTH: Final = 73


def fio(result: Result) -> str:
    """Every job as a group, the sums of each group, and the drives."""
    if not result.fio:
        return "# no jobs of fio\n"
    given = {job["name"]: job for job in result.configuration["fio"]}
    text = ""
    for number, group in enumerate(result.fio):
        text += _header(given[group.jobname], number)
    processes = sum(job["numjobs"] for job in given.values())
    text += f"simnet, {_VERSION}\nStarting {processes} process{'es' if processes > 1 else ''}\n"
    for number, group in enumerate(result.fio):
        text += _group(group, given[group.jobname], number)
    for number, group in enumerate(result.fio):
        text += _sums(group, number)
    return text + _drives(result)


def fio_json(result: Result) -> str:
    """`fio --output-format=json`, as far as it is simulated."""
    given = {job["name"]: job for job in result.configuration["fio"]}
    jobs = []
    for number, group in enumerate(result.fio):
        options = {name: str(value) for name, value in given[group.jobname].items()}
        found = {"groupid": number, "error": 0, "job options": options}
        jobs.append(found | group.model_dump(mode="json"))
    version = {"fio version": f"simnet {result.version}, {_VERSION}"}
    return json.dumps(version | {"jobs": jobs}, indent=2) + "\n"


def _header(job: Mapping[str, Any], number: int) -> str:
    size = job["bs_bytes"]
    sizes = ", ".join(f"({kind}) {size}B-{size}B" for kind in "RWT")
    line = (
        f"{job['name']}: (g={number}): rw={job['rw']}, bs={sizes},"
        f" ioengine={job['ioengine']}, iodepth={job['iodepth']}\n"
    )
    return line + ("...\n" if job["numjobs"] > 1 else "")


def _group(group: FioGroupUse, job: Mapping[str, Any], number: int) -> str:
    text = f"\n{group.jobname}: (groupid={number}, jobs={job['numjobs']}): err= 0\n"
    text += _direction("read", group.read) + _direction("write", group.write)
    for unit, found in (("usec", group.latency_us), ("msec", group.latency_ms)):
        text += _distribution(unit, found)
    processes = job["numjobs"]
    text += (
        f"  cpu          : usr={group.usr_cpu / processes:3.2f}%,"
        f" sys={group.sys_cpu / processes:3.2f}%, ctx={group.ctx}\n"
    )
    text += f"  IO depths    : {_shares(group.iodepth_level)}\n"
    text += f"     submit    : {_shares(group.iodepth_submit)}\n"
    text += f"     complete  : {_shares(group.iodepth_complete)}\n"
    text += (
        f"     issued rwts: total={group.read.total_ios},{group.write.total_ios},0,0"
        " short=0,0,0,0 dropped=0,0,0,0\n"
    )
    return (
        text + f"     latency   : target=0, window=0, percentile=100.00%, depth={job['iodepth']}\n"
    )


def _direction(name: str, found: DirectionUse) -> str:
    if not found.total_ios:
        return ""
    rate = int(found.bw_bytes)
    text = (
        f"  {name}: IOPS={_number(int(found.iops), 1000)}, BW={_number(rate, 1024)}B/s"
        f" ({_number(rate, 1000)}B/s)({_number(found.io_bytes, 1024)}B/{found.runtime:.0f}msec)\n"
    )
    for kind, latency in (("slat", found.slat_ns), ("clat", found.clat_ns), (" lat", found.lat_ns)):
        text += _latency(kind, latency) if latency else ""
    return text + (_percentiles(found.clat_ns) if found.clat_ns else "")


def _latency(name: str, found: LatencyUse) -> str:
    """`display_lat`: in the largest unit that keeps digits."""
    values = (found.min, found.max, found.mean, found.stddev)
    unit, scale = "nsec", 1
    if values[0] > 2 * 10**6 and values[1] > 10**8 - 1 and values[3] > 10**6:
        unit, scale = "msec", 10**6
    elif values[0] > 2 * 10**3 and values[1] > 10**5 - 1 and values[3] > 10**3:
        unit, scale = "usec", 10**3
    least, most = (_number(int(value) // scale, 1000, 6) for value in values[:2])
    mean, deviation = (value / scale for value in values[2:])
    return (
        f"    {name} ({unit}): min={least}, max={most}, avg={mean:5.02f}, stdev={deviation:5.02f}\n"
    )


def _percentiles(found: LatencyUse) -> str:
    """`show_clat_percentiles`."""
    values = list(found.percentile.values())
    unit, scale = "nsec", 1
    if values[0] > 2 * 10**6 and values[-1] > 10**8 - 1:
        unit, scale = "msec", 10**6
    elif values[0] > 2 * 10**3 and values[-1] > 10**5 - 1:
        unit, scale = "usec", 10**3
    width = max(5, int(math.log10(max(values[-1] // scale, 1)) + 1))
    cells = [
        f" {float(percent):5.2f}th=[{-(-value // scale):{width}}]"
        for percent, value in found.percentile.items()
    ]
    per_line = _WIDTH // (12 + width)
    rows = [cells[at : at + per_line] for at in range(0, len(cells), per_line)]
    return f"    clat percentiles ({unit}):\n     |" + ",\n     |".join(map(",".join, rows)) + "\n"


def _distribution(unit: str, found: Mapping[str, float]) -> str:
    """`show_lat`: five to a line."""
    cells = [f"{name}={max(value, 0.01):3.2f}%" for name, value in found.items()]
    rows = [cells[at : at + 5] for at in range(0, len(cells), 5)]
    return "".join(f"  lat ({unit})   : {', '.join(row)}\n" for row in rows)


def _shares(found: Mapping[str, float]) -> str:
    return ", ".join(f"{name}={max(v, 0.1) if v else v:3.1f}%" for name, v in found.items())


def _sums(group: FioGroupUse, number: int) -> str:
    """`show_group_stats`: with group_reporting, least and largest are those of the group."""
    text = f"\nRun status group {number} (all jobs):\n"
    for name, found in (("   READ", group.read), ("  WRITE", group.write)):
        if not found.total_ios:
            continue
        rate, run = int(found.bw_bytes), f"{found.runtime:.0f}"
        binary, decimal = f"{_number(rate, 1024)}B/s", f"{_number(rate, 1000)}B/s"
        size = f"{_number(found.io_bytes, 1024)}B ({_number(found.io_bytes, 1000)}B)"
        text += (
            f"{name}: bw={binary} ({decimal}), {binary}-{binary} ({decimal}-{decimal}),"
            f" io={size}, run={run}-{run}msec\n"
        )
    return text


def _drives(result: Result) -> str:
    """`show_disk_util`."""
    seconds = result.simulated_s
    text = "\nDisk stats (read/write):\n"
    for row in map(row_of, result.disks):
        ios = f"{row.r_s * seconds:.0f}/{row.w_s * seconds:.0f}"
        sectors = f"{row.rsec_s * seconds:.0f}/{row.wsec_s * seconds:.0f}"
        merges = f"{row.rrqm_s * seconds:.0f}/{row.wrqm_s * seconds:.0f}"
        queue = f"{row.avgqu_sz * seconds * 1000:.0f}"
        text += (
            f"  {row.device}: ios={ios}, sectors={sectors}, merge={merges},"
            f" in_queue={queue}, util={row.util:3.2f}%\n"
        )
    return text


def _number(value: int, thousand: int, digits: int = 4) -> str:
    """`num2str`: at most so many digits, and a prefix of 1000 or 1024."""
    prefixes: Sequence[str] = _PREFIXES[thousand]
    power, rest = 0, -1
    while len(str(value)) > digits and power < len(prefixes) - 1:
        value, rest = divmod(value, thousand)
        power += 1
    room = digits - len(str(value)) - 1
    if rest < 0:
        return f"{value}{prefixes[power]}"
    if room < 1:
        return f"{value + (2 * rest >= thousand)}{prefixes[power]}"
    fraction = f"{rest / thousand:.{room}f}"[2:]
    return f"{value}.{fraction}{prefixes[power]}"
