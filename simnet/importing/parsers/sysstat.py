"""What sysstat observed: `sadf` and `sar` of ports, `mpstat -P ALL` of CPUs, `iostat -x` of disks.

Of the intervals that sadf prints, the one in which a port carried most counts; of sar's text the
averages, or the mean of its rows. Rows whose head was left out, as grep does, have sar's columns.

Source: sadf(1), mpstat(1), iostat(1).
"""

import re
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any, Final

from simnet.host.cpulist import MOST_CPUS
from simnet.importing.evidence import Evidence
from simnet.importing.kind import Kind
from simnet.importing.measured.reader import Numbers
from simnet.importing.measured.sysstat_json import described, report_metrics, reports
from simnet.importing.measured.sysstat_text import text_metrics
from simnet.importing.outputs import Output, Outputs
from simnet.importing.parser import Parser
from simnet.importing.rates import Rates

# of these the last report counts: iostat's first is of all time since the host started
_BUSY: Final = (".busy", ".softirq")
_LAST: Final = {
    "mpstat -P ALL -o JSON": _BUSY,
    "iostat -x -o JSON": (".await_ms", ".queue", ".reads_per_s", ".util_percent", ".writes_per_s"),
}
_WHEN: Final = r"(?:[\d:]{5,8}(?: [AP]M)?|[^\W\d_]{3,15}\.?:)"
_ROW: Final = r"[a-z][^\s:]{0,14}(?: +\d{1,12}[.,]\d\d){7,8}\s*$"
_HEAD: Final = "IFACE rxpck/s txpck/s rxkB/s txkB/s rxcmp/s txcmp/s rxmcst/s %ifutil"
_CELL: Final = re.compile(r"\d{1,12}[.,]\d\d")
# percent of a line, below which two digits tell no speed
_ENOUGH: Final = 2.0
_NEAR: Final = 0.01
_SPEEDS: Final = tuple(
    mbps * 10**6
    for mbps in (10, 100, 1000, 2500, 5000, 10_000, 25_000, 40_000, 50_000, 100_000, 200_000)
)
_METRICS: Final = ("rx_packets_per_s", "tx_packets_per_s", "rx_bps", "tx_bps")


def _reports(told: Output) -> list[tuple[Mapping[str, Any], Numbers]]:
    """Return the reports of an output with their metrics; empty if it is broken."""
    try:
        found = [(one, report_metrics(one)) for one in reports(told.text)]
    except (ValueError, RecursionError):
        return []
    return found if all(isfinite(value) for _, some in found for value in some.values()) else []


def _rates(evidence: Evidence) -> Iterator[Rates]:
    told = evidence.outputs.one("sadf -j")
    if told is None:
        yield from _typed_rates(evidence)
        return
    found = _reports(told)
    for nic in evidence.nics:
        names = [f"port.{nic.name}.{metric}" for metric in _METRICS]
        best: Rates | None = None
        for report, metrics in found:
            rx, tx, rx_bps, tx_bps = (max(metrics.get(name, 0.0), 0.0) for name in names)
            seconds = _seconds(report)
            here = Rates(nic.name, rx, tx, rx_bps / 8, tx_bps / 8, seconds, told.name)
            if names[0] in metrics and (best is None or here.wire_bps > best.wire_bps):
                best = here
        if best is not None:
            yield best


def _typed_rates(evidence: Evidence) -> Iterator[Rates]:
    """Yield rates of ports from sar's text."""
    for told in evidence.outputs.every("sar -n DEV"):
        metrics = _of_text(told)
        for nic in evidence.nics:
            names = [f"port.{nic.name}.{metric}" for metric in _METRICS]
            if names[0] in metrics:
                rx, tx, rx_bps, tx_bps = (max(metrics.get(name, 0.0), 0.0) for name in names)
                yield Rates(nic.name, rx, tx, rx_bps / 8, tx_bps / 8, 0.0, told.name)


def banner(outputs: Outputs) -> Output | None:
    """Return the line that sysstat's tools begin with; of sadf as they would print it."""
    told = outputs.one("banner")
    if told is not None:
        return told
    for one in outputs.every("sadf -j"):
        host = described(one.text)
        release, name = host.get("release"), host.get("nodename")
        if isinstance(release, str) and isinstance(name, str) and release.split():
            count = host.get("number-of-cpus")
            cpus = f" ({count} CPU)" if type(count) is int and 0 < count < MOST_CPUS else ""
            return Output(one.name, f"Linux {release.split()[0]} ({name}) {cpus}")
    return None


def interfaces(outputs: Outputs) -> dict[str, tuple[float, str]]:
    """Return frames a second, both ways together, of each interface that sar saw, and the file."""
    found: dict[str, tuple[float, str]] = {}
    seen = [(told, _of_text(told)) for told in outputs.every("sar -n DEV")]
    for told in outputs.every("sadf -j"):
        seen += [(told, metrics) for _, metrics in _reports(told)]
    for told, metrics in seen:
        for metric, value in metrics.items():
            port, _, what = metric.removeprefix("port.").rpartition(".")
            if what == _METRICS[0]:
                sent = metrics.get(f"port.{port}.{_METRICS[1]}", 0.0)
                found.setdefault(port, (value + sent, told.name))
    return found


def line_speeds(outputs: Outputs) -> dict[str, tuple[int, str]]:
    """Return what the kernel says of the speed of ports, by sar's %ifutil, in bit/s, and the file.

    It is the share of the busier way of a port in full duplex. A row tells the speed to its digits,
    so it is only taken where all rows are near one speed of Ethernet.
    """
    found: dict[str, set[int]] = {}
    sources: dict[str, str] = {}
    for told in outputs.every("sar -n DEV"):
        columns: list[str] = []
        for line in told.text.splitlines():
            words = line.split()
            if "IFACE" in words and "%ifutil" in words:
                columns = words[words.index("IFACE") :]
            elif columns and len(words) > len(columns) and _CELL.fullmatch(words[-1]):
                row = dict(zip(columns, words[-len(columns) :], strict=True))
                speed = _speed(row)
                if speed is not None:
                    found.setdefault(row["IFACE"], set()).add(speed)
                    sources[row["IFACE"]] = told.name
    return {
        port: (next(iter(speeds)), sources[port])
        for port, speeds in found.items()
        if len(speeds) == 1 and 0 not in speeds
    }


def _speed(row: Mapping[str, str]) -> int | None:
    """Return the speed of Ethernet that a row fits to; 0: to none, None: it tells too little."""
    cells = [row.get(name, "") for name in ("rxkB/s", "txkB/s", "%ifutil")]
    if not all(_CELL.fullmatch(cell) for cell in cells):
        return None
    rx, tx, share = (float(cell.replace(",", ".")) for cell in cells)
    if share < _ENOUGH:
        return None
    bps = max(rx, tx) * 1024 * 8 * 100 / share
    return next((one for one in _SPEEDS if abs(bps / one - 1) <= _NEAR), 0)


def _of_text(told: Output) -> Numbers:
    """Return the metrics of a text of sar or mpstat; empty if it is broken."""
    headed = "IFACE" in told.text or "CPU" in told.text
    try:
        found = text_metrics(told.text if headed else f"{_HEAD}\n{told.text}")
    except ValueError:
        return {}
    return found if all(isfinite(value) for value in found.values()) else {}


def _seconds(report: Mapping[str, Any]) -> float:
    """Return how long a report is about; 0 if it does not say it."""
    stamp = report.get("timestamp")
    interval = stamp.get("interval") if isinstance(stamp, dict) else None
    return float(interval) if isinstance(interval, int) and interval > 0 else 0.0


def _uses(evidence: Evidence) -> Iterator[tuple[str, float, str]]:
    for kind, ends in _LAST.items():
        told = evidence.outputs.one(kind)
        if told is not None:
            for _, metrics in _reports(told)[-1:]:
                found = (one for one in metrics.items() if one[0].endswith(ends))
                yield from ((name, value, told.name) for name, value in found)
    for told in evidence.outputs.every("sar -u"):
        found = (one for one in _of_text(told).items() if one[0].endswith(_BUSY))
        yield from ((name, value, told.name) for name, value in found)


PARSER: Final = Parser(
    kinds=(
        Kind(
            "sadf -j",
            r'\s*\{\s*"sysstat":[\s\S]*(?:"sysdata-version"|"timestamp": ?\{)',
            command="sadf -j -- -n DEV",
            folder="sar",
        ),
        Kind(
            "mpstat -P ALL -o JSON",
            r'\s*\{\s*"sysstat":[\s\S]*"cpu-load"',
            command="mpstat -P ALL -o JSON 1 1",
            folder="sar",
        ),
        Kind(
            "iostat -x -o JSON",
            r'\s*\{\s*"sysstat":[\s\S]*"(?:avg-cpu|disk)"',
            command="iostat -x -o JSON 1 2",
            folder="sar",
        ),
        Kind("sar -n DEV", line=rf"{_WHEN} +(?:IFACE +rxpck/s|{_ROW})", many=True),
        Kind("sar -u", line=rf"{_WHEN} +(?:CPU +%us|all +[\d.,]+ +[\d.,]+ )", many=True),
    ),
    rates=_rates,
    uses=_uses,
)
