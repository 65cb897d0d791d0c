"""What sysstat observed, as JSON: `sadf -j` of ports, `mpstat -P ALL -o JSON` of CPUs.

Of the intervals that sadf prints, the one in which a port carried most counts.

Source: sadf(1), mpstat(1).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from simnet.importing.kind import Kind
from simnet.importing.parser import Parser
from simnet.importing.rates import Rates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simnet.importing.evidence import Evidence

__all__ = ["PARSER"]

_LARGEST: Final = 1e15
_KIB: Final = 1024
_RATES: Final = ("rxpck", "txpck", "rxkB", "txkB")


def _statistics(text: str) -> Iterator[dict[str, Any]]:
    """Yield the samples of all hosts."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return
    hosts = _inside(_inside(document, "sysstat"), "hosts")
    for host in hosts if isinstance(hosts, list) else ():
        samples = _inside(host, "statistics")
        for one in samples if isinstance(samples, list) else ():
            if isinstance(one, dict):
                yield one


def _inside(table: Any, key: str) -> Any:
    return table.get(key) if isinstance(table, dict) else None


def _rows(sample: Any, *keys: str) -> list[dict[str, Any]]:
    for key in keys:
        sample = _inside(sample, key)
    return [one for one in sample if isinstance(one, dict)] if isinstance(sample, list) else []


def _number(row: dict[str, Any], key: str) -> float:
    value = row.get(key)
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return 0.0
    return float(value) if 0 <= value < _LARGEST else 0.0


def _rates(evidence: Evidence) -> Iterator[Rates]:
    told = evidence.outputs.one("sadf -j")
    if told is None:
        return
    names = {nic.name for nic in evidence.nics}
    best: dict[str, Rates] = {}
    for sample in _statistics(told.text):
        stamp = _inside(sample, "timestamp")
        seconds = _number(stamp, "interval") if isinstance(stamp, dict) else 0.0
        for row in _rows(sample, "network", "net-dev"):
            port = row.get("iface")
            if port not in names:
                continue
            rx, tx, rx_kib, tx_kib = (_number(row, key) for key in _RATES)
            found = Rates(port, rx, tx, rx_kib * _KIB, tx_kib * _KIB, seconds, told.name)
            if port not in best or found.wire_bps > best[port].wire_bps:
                best[port] = found
    yield from best.values()


def _uses(evidence: Evidence) -> Iterator[tuple[str, float, str]]:
    told = evidence.outputs.one("mpstat -P ALL -o JSON")
    samples = [] if told is None else list(_statistics(told.text))
    if told is None or not samples:
        return
    # the last is the one after the longest time
    for row in _rows(samples[-1], "cpu-load"):
        cpu = str(row.get("cpu"))
        if cpu.isdecimal() and "idle" in row:
            idle = _number(row, "idle") + _number(row, "iowait")
            yield f"cpu{int(cpu)}_busy_percent", max(100 - idle, 0), told.name
            yield f"cpu{int(cpu)}_softirq_percent", _number(row, "soft"), told.name


PARSER: Final = Parser(
    kinds=(
        Kind(
            "sadf -j",
            r'\s*\{\s*"sysstat":[\s\S]*"sysdata-version"',
            command="sadf -j -- -n DEV",
            folder="sar",
        ),
        Kind(
            "mpstat -P ALL -o JSON",
            r'\s*\{\s*"sysstat":[\s\S]*"cpu-load"',
            command="mpstat -P ALL -o JSON 1 1",
            folder="sar",
        ),
    ),
    rates=_rates,
    uses=_uses,
)
