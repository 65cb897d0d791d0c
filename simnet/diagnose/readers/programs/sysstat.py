"""JSON of sysstat's tools: `sadf -j` of ports and protocols, `mpstat -o JSON` of CPUs."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page
from simnet.importing.measured.sysstat_json import reports

_BEGIN: Final = re.compile(r'\{\s*"sysstat":')
_CPUS: Final = ("cpu-load-all", "cpu-load")
_ALIAS: Final = {"user": "usr", "system": "sys"}
_TABLES: Final = ("net-dev", "net-edev", "net-udp", "net-tcp", "net-etcp")
_SHARE: Final = "ifutil-percent"
_MOST: Final = 100_000

SIGN: Final = _BEGIN


def read(page: Page) -> Iterator[Fact]:
    """Yield rates per second and shares in percent, named as the texts of these tools name them."""
    begin = _BEGIN.search(page.text)
    if begin is None:
        return
    try:
        _, end = json.JSONDecoder().raw_decode(page.text, begin.start())
        found = reports(page.text[begin.start() : end])
    except (ValueError, RecursionError):
        return
    at = last = begin.start()
    for report in found:
        network = report.get("network")
        of_ports = network if isinstance(network, dict) else {}
        tables = [(name, of_ports.get(name)) for name in _TABLES]
        tables += [(name, report.get(name)) for name in _CPUS]
        for name, table in tables:
            place = page.text.find(f'"{name}"', at, end)
            if place < 0 or not isinstance(table, (dict, list)):
                continue
            line, last = page.line_of(place), max(last, place)
            for row in [table] if isinstance(table, dict) else table[:_MOST]:
                if isinstance(row, dict):
                    yield from _cpu(page, line, row) if name in _CPUS else _port(page, line, row)
        at = last + 1


def _cpu(page: Page, line: int, row: Mapping[str, Any]) -> Iterator[Fact]:
    name = str(row.get("cpu", ""))
    if name == "all" or (name.isdecimal() and len(name) <= len("99999")):
        subject = "all" if name == "all" else f"CPU {int(name)}"
        for share, value in _numbers(row):
            called = _ALIAS.get(share, share)
            yield Fact("cpu", subject, called, value, page.name, line, f"{value:.2f} %")


def _port(page: Page, line: int, row: Mapping[str, Any]) -> Iterator[Fact]:
    subject = str(row.get("iface", ""))
    for name, value in _numbers(row):
        share = name == _SHARE
        called = "%ifutil" if share else f"{name}/s"
        text = f"{value:.2f} {'%' if share else '1/s'}"
        yield Fact("sar", subject, called, value, page.name, line, text)


def _numbers(row: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for name, value in row.items():
        if type(value) in {int, float} and abs(value) < _MOST**3 and name != "cpu":
            yield name, float(value)
