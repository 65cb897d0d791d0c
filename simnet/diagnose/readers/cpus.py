"""Shares of CPU time: mpstat, sar -u, top, vmstat, iostat."""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page, number
from simnet.importing.parsers.shares import shares_of_top

_NUMBER: Final = r"\d{1,3}(?:[.,]\d+)?"
_TABLE: Final = re.compile(r".*%(?:usr|user|idle|soft)\b.*%\w+")
_TOP: Final = re.compile(
    rf"%?Cpu(?P<cpu>\(s\)|\s*\d+)\s*:\s*(?P<rest>{_NUMBER}\s*%?\s*(?:us|[^\W\d]{{1,2}},).*)",
    re.IGNORECASE,
)
_TOP_NAMES: Final = {
    "us": "usr", "sy": "sys", "ni": "nice", "id": "idle", "wa": "iowait", "hi": "irq",
    "si": "soft", "st": "steal", "nic": "nice", "io": "iowait", "sirq": "soft",
}  # fmt: skip
_ALIAS: Final = {"user": "usr", "system": "sys"}
_VMSTAT: Final = re.compile(r"\s*r\s+b\s+swpd\s+.*\bus\s+sy\s+id\s+wa\b.*")
# its si is what comes from swap
_VMSTAT_SHARES: Final = frozenset({"us", "sy", "id", "wa", "st"})
_PROCESS: Final = re.compile(
    r"\s*\d+\s+\S+\s+\S+\s+-?\d+\s+\S+\s+\S+\s+\S+\s+[RSDIZ]\s+(?P<cpu>\d+(?:[.,]\d+)?)"
    r"\s+\d+[.,]\d+\s+\S+\s+(?P<name>ksoftirqd/\d+|\S+)"
)

# of mpstat from sysstat 10.1.7 on, whose head `tail` or `grep` has cut off: ten shares of a whole
_MPSTAT: Final = [
    "CPU",
    *("%usr", "%nice", "%sys", "%iowait", "%irq", "%soft", "%steal", "%guest", "%gnice", "%idle"),
]
_LAST_ROWS: Final = re.compile(
    r"(?:Average:|\d\d:\d\d:\d\d(?: [AP]M)?)\s+(?:all|\d{1,5})(?:\s+\d{1,3}[.,]\d\d){10}\s*"
)
_WHOLE: Final = 1.0
_IOSTAT: Final = "avg-cpu:"
_BUSYBOX: Final = re.compile(rf"CPU(?P<cpu>\d*):\s+(?P<rest>{_NUMBER}% usr .*)")
_SHARE: Final = re.compile(rf"({_NUMBER})% (usr|sys|nic|idle|io|irq|sirq)\b")

OUTPUTS: Final = {"cpu": "shares of CPU time"}
SIGN: Final = re.compile(
    r"(?m)^Average: +(?:all|\d+) |^\d\d:\d\d:\d\d .*\d[.,]\d\d$|"
    r"% sirq|%(?:usr|user|soft|steal|idle)\b|\d[ %]*us,|^(?:%CPU|%?Cpu)\(s\): |swpd"
    r"|ksoftirqd/\d|PID USER"
)


def read(page: Page) -> Iterator[Fact]:  # noqa: C901, PLR0912 - a case a form of line
    """Yield shares in percent, by CPU; of all CPUs where the subject is `all`."""
    columns: list[str] = []
    vmstat: list[str] = []
    for at, line in enumerate(page.lines, 1):
        cells = line.split()
        if summary := (_BUSYBOX.match(line) or _TOP.match(line)):
            yield from _summary(page, at, summary)
        elif _TABLE.match(line):
            columns, vmstat = cells, []
        elif _VMSTAT.fullmatch(line):
            vmstat, columns = cells, []
        elif process := _PROCESS.match(line):
            name, text = process["name"], f"{process['cpu']} %"
            yield Fact("process", name, "cpu", number(process["cpu"]), page.name, at, text)
        elif columns and len(cells) > 1:
            row = list(_row(page, at, columns, cells))
            yield from row
            # iostat has one row below its head, and a table of drives behind it
            if not row or columns[0] == _IOSTAT:
                columns = []
        elif not columns and _LAST_ROWS.fullmatch(line) and _whole(cells[-10:]):
            yield from _row(page, at, _MPSTAT, cells)
        elif vmstat and len(cells) == len(vmstat) and cells[0].isdecimal():
            for name, value in zip(vmstat, cells, strict=True):
                if name in _VMSTAT_SHARES:
                    text = f"{value} %"
                    called = _TOP_NAMES[name]
                    yield Fact("cpu", "all", called, number(value), page.name, at, text)
        elif not cells:
            continue
        else:
            columns, vmstat = [], []


def _summary(page: Page, at: int, line: re.Match[str]) -> Iterator[Fact]:
    """Yield the shares of a line of top; BusyBox has other words for them."""
    number_of = re.search(r"\d+", line["cpu"])
    cpu = f"CPU {int(number_of[0])}" if number_of else "all"
    shares = shares_of_top(line["rest"]) if line.re is _TOP else _SHARE.findall(line["rest"])
    for value, name in shares:
        yield Fact(
            "cpu", cpu, _TOP_NAMES.get(name, name), number(value), page.name, at, f"{value} %"
        )


def _row(page: Page, at: int, columns: list[str], cells: list[str]) -> Iterator[Fact]:
    """Yield a row of mpstat or sar; its cells are counted from the end: times differ in length."""
    names = [name for name in columns if name.startswith("%")]
    values = cells[-len(names) :]
    if len(values) < len(names) or not all(re.fullmatch(_NUMBER, value) for value in values):
        return
    before = cells[: -len(names)]
    cpu = next((word for word in reversed(before) if word == "all" or word.isdecimal()), "all")
    subject = "all" if cpu == "all" or "CPU" not in columns else f"CPU {int(cpu[:6])}"
    for name, value in zip(names, values, strict=True):
        called = _ALIAS.get(name[1:], name[1:])
        yield Fact("cpu", subject, called, number(value), page.name, at, f"{value} %")


def _whole(values: list[str]) -> bool:
    """Return whether shares are all of a CPU's time."""
    return abs(sum(number(value) for value in values) - 100) <= _WHOLE
