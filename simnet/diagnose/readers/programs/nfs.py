"""How long requests of NFS take, of nfsiostat and mountstats: at the server, and in all.

Source: tools/nfs-iostat and tools/mountstats of nfs-utils; `struct rpc_iostats` of Linux.
"""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page, number

_MOUNT: Final = re.compile(r"\s*(?:Stats for )?\S{1,120} mounted on (?P<at>[^\s:]{1,120}):?")
_HEAD: Final = re.compile(r"\s*(?P<way>read|write):\s+ops/s\s+.*avg RTT \(ms\)\s+avg exe \(ms\).*")
_ROW: Final = re.compile(r"\s*(?P<ops>[\d.]{1,15})(?:\s+[\d.()%-]{1,20}){2,9}\s*")
_WAY: Final = re.compile(r"\s*(?P<way>READ|WRITE):\s*")
_OPS: Final = re.compile(r"\s*(?P<ops>[\d,]{1,18}) ops \(.*")
_TIMES: Final = re.compile(
    r"\s*(?:backlog wait: (?P<queue>[\d.]{1,15})\s+)?RTT: (?P<rtt>[\d.]{1,15})"
    r"\s+total execute time: (?P<exe>[\d.]{1,15})\s.*"
)
_COLUMNS: Final = {
    "ops/s": "ops",
    "avg RTT (ms)": "rtt",
    "avg exe (ms)": "exe",
    "avg queue (ms)": "queue",
}

OUTPUTS: Final = {"nfs time": "nfsiostat"}
SIGN: Final = re.compile(r"avg RTT \(ms\)|total execute time:")


def read(page: Page) -> Iterator[Fact]:
    """Yield requests a second (or in all), and mean times in ms, by folder and way."""
    where, way, columns = "", "", []
    for at, line in enumerate(page.lines, 1):
        if mount := _MOUNT.match(line):
            where = mount["at"]
        elif head := _HEAD.match(line):
            way = head["way"]
            columns = [one.strip() for one in re.split(r"\s{2,}", line.strip())][1:]
        elif columns and _ROW.fullmatch(line):
            # a share in brackets follows the number of what was sent again
            cells = [cell for cell in line.split() if not cell.startswith("(")]
            for name, cell in zip(columns, cells, strict=False):
                if called := _COLUMNS.get(name):
                    yield _fact(page, at, f"{where} {way}", called, cell)
            columns = []
        elif begins := _WAY.fullmatch(line):
            way = begins["way"].lower()
        elif way and (ops := _OPS.match(line)):
            yield _fact(page, at, f"{where} {way}", "ops", ops["ops"].replace(",", ""))
        elif way and (times := _TIMES.match(line)):
            for name, value in times.groupdict().items():
                if value is not None:
                    yield _fact(page, at, f"{where} {way}", name, value)


def _fact(page: Page, at: int, subject: str, name: str, value: str) -> Fact:
    text = value if name == "ops" else f"{value} ms"
    return Fact("nfs time", subject.strip(), name, number(value), page.name, at, text)
