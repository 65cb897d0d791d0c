"""`sadf -j`, `mpstat -o JSON` and `iostat -o JSON`: means over the reports of a file.

iostat's first report is about all time since the host started, so it counts only where there is
no other.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from simnet.importing.measured.reader import Numbers, Reader, means
from simnet.importing.measured.shares import cpu_metrics, disk_metrics, port_metrics

_HEAD: Final = re.compile(r'\s*\{\s*"sysstat"')
_CPUS: Final = ("cpu-load", "cpu-load-all")


def _knows(text: str) -> bool:
    return _HEAD.match(text) is not None


def _read(text: str) -> Numbers:
    found = reports(text)
    if len(found) > 1 and "avg-cpu" in found[0]:
        del found[0]
    return means(pair for report in found for pair in report_metrics(report).items())


def reports(text: str) -> list[Mapping[str, Any]]:
    """Return the reports of a file.

    Raises:
        ValueError: it is no such JSON.
    """
    try:
        return [
            report
            for host in json.loads(text)["sysstat"]["hosts"]
            for report in host["statistics"]
            if isinstance(report, dict)
        ]
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"expected hosts with statistics, got {error!r}") from error


def described(text: str) -> Mapping[str, Any]:
    """Return what the file says of its host: `nodename`, `release`, `number-of-cpus`.

    Nothing if it is no such JSON.
    """
    try:
        (host, *_) = json.loads(text)["sysstat"]["hosts"]
    except (KeyError, TypeError, ValueError, RecursionError):
        return {}
    return host if isinstance(host, dict) else {}


def report_metrics(report: Mapping[str, Any]) -> Numbers:
    """Return the metrics of one report.

    Raises:
        ValueError: it has another form.
    """
    try:
        return dict(_metrics(report))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"expected tables of rows, got {error!r}") from error


def _metrics(report: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for key in _CPUS:
        yield from _rows(report.get(key, ()), "cpu", cpu_metrics)
    if "avg-cpu" in report:
        yield from cpu_metrics("all", _numbers(report["avg-cpu"]))
    network = report.get("network", {})
    yield from _rows(network.get("net-dev", ()), "iface", port_metrics)
    disks = report.get("disk", ())
    for name in ("disk-device", "disk_device"):
        yield from _rows([row for row in disks if name in row], name, disk_metrics)


def _rows(
    rows: Any, name: str, metrics: Callable[[str, Mapping[str, float]], Iterator[tuple[str, float]]]
) -> Iterator[tuple[str, float]]:
    for row in rows:
        yield from metrics(str(row[name]), _numbers(row))


def _numbers(row: Mapping[str, Any]) -> dict[str, float]:
    return {key: float(value) for key, value in row.items() if isinstance(value, (int, float))}


READER: Final = Reader("sadf -j, mpstat -o JSON, iostat -o JSON", _knows, _read)
