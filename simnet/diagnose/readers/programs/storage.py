"""What fio prints, and the counters of NFS."""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page, number

_JOB: Final = re.compile(r"\s*(?P<job>[\w.-]{1,60}): \(g=\d+\): rw=(?P<rest>.*)")
_SETTING: Final = re.compile(r"\b(?P<name>ioengine|iodepth)=(?P<value>\w{1,20})")
_HEAD: Final = re.compile(r"\s*(?P<job>[\w.-]{1,60}): \(groupid=\d+, jobs=(?P<jobs>\d{1,6})\)")
_RATE: Final = re.compile(
    r"\s*(?P<way>read|write"
    r"|trim)\s*: ?IOPS=(?P<n>[\d.]{1,12})(?P<unit>[kM]?), BW=(?P<bw>[\d.]+\w+/s)"
)
_CLAT: Final = re.compile(
    r"\s*clat \((?P<unit>nsec|usec|msec)\): min=.*avg=\s*(?P<avg>[\d.]{1,20})"
)
_SPENT: Final = re.compile(r"\s*cpu\s*: usr=(?P<usr>[\d.]{1,9})%, sys=(?P<sys>[\d.]{1,9})%")
_NFS: Final = re.compile(r"\s*(?P<calls>\d{1,18})\s+(?P<again>\d{1,18})\s+\d{1,18}\s*")
_UNIT: Final = {"": 1.0, "k": 1e3, "M": 1e6}
_US: Final = {"nsec": 1e-3, "usec": 1.0, "msec": 1e3}

OUTPUTS: Final = {"job": "fio", "nfs": "nfsstat"}
SIGN: Final = re.compile(r"\(groupid=\d|\(g=\d+\): rw=|calls\s+retrans")


def read(page: Page) -> Iterator[Fact]:
    """Yield depth, jobs, requests a second and latency in us of jobs; calls of NFS."""
    job, nfs = "", False
    for at, line in enumerate(page.lines, 1):
        if (head := _JOB.match(line)) or (head := _HEAD.match(line)):
            job = head["job"]
            if head.re is _HEAD:
                yield Fact("fio", job, "numjobs", number(head["jobs"]), page.name, at, head["jobs"])
            for found in _SETTING.finditer(line) if head.re is _JOB else ():
                text = found["value"]
                yield Fact("fio", job, found["name"], number(text), page.name, at, text)
        elif rate := _RATE.match(line):
            value = number(rate["n"]) * _UNIT[rate["unit"]]
            yield Fact("job", job, "iops", value, page.name, at, f"{value:,.6g} requests/s")
        elif clat := _CLAT.match(line):
            value = number(clat["avg"]) * _US[clat["unit"]]
            yield Fact("job", job, "clat", value, page.name, at, f"{value:,.4g} us")
        elif spent := _SPENT.match(line):
            for name in ("usr", "sys"):
                text = f"{spent[name]} %"
                yield Fact("job", job, name, number(spent[name]), page.name, at, text)
        elif re.match(r"\s*calls\s+retrans", line):
            nfs = True
        elif nfs and (calls := _NFS.fullmatch(line)):
            nfs = False
            for name in ("calls", "again"):
                yield Fact("nfs", "", name, number(calls[name]), page.name, at)
