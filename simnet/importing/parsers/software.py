"""Kernel, distribution, tuned's profile, and whether irqbalance runs.

Source: uname(1), os-release(5), tuned-adm(8), irqbalance(1).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from simnet.importing.parser import Kind, Parser

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simnet.importing.evidence import Evidence

__all__ = ["PARSER"]

_VERSION: Final = re.compile(r"(?:Linux version|Linux \S+) (\d+\.\d+(?:\.\d+)?)([\w.+~-]*)")
_RELEASE: Final = "proc/sys/kernel/osrelease"
_OS: Final = re.compile(r"^(ID|VERSION_ID|PRETTY_NAME)=[\"']?([^\"'\n]*)", re.MULTILINE)
_PROFILE: Final = re.compile(r"Current active profile: (\S{1,80})")
_DAEMON: Final = re.compile(r"(^|[\s/])irqbalance(\s|$)", re.MULTILINE)
_MOST_PROCESSES: Final = 100_000


def _facts(evidence: Evidence) -> Iterator[tuple[str, str, str]]:
    yield from _kernel(evidence)
    told = evidence.outputs.one("os-release")
    if told is not None:
        fields = dict(_OS.findall(told.text))
        named = (fields[key] for key in ("ID", "VERSION_ID") if key in fields)
        yield "distribution", fields.get("PRETTY_NAME") or " ".join(named), told.name
    told = evidence.outputs.one("tuned-adm active")
    if told is not None and (matched := _PROFILE.search(told.text)):
        yield "tuned_profile", matched[1], told.name
    yield from _irqbalance(evidence)


def _kernel(evidence: Evidence) -> Iterator[tuple[str, str, str]]:
    places = [
        (told.name, told.text)
        for kind in ("uname -a", "version")
        if (told := evidence.outputs.one(kind)) is not None
    ]
    if release := evidence.files.text(_RELEASE):
        places.append((_RELEASE, f"Linux version {release}"))
    for name, text in places:
        if matched := _VERSION.search(text):
            yield "kernel", f"{matched[1]}{matched[2]}", name


def _irqbalance(evidence: Evidence) -> Iterator[tuple[str, str, str]]:
    """Yield `on` or `off`, as a list of processes says, that of `/proc` included."""
    told = evidence.outputs.one("ps")
    if told is not None:
        yield "irqbalance", "on" if _DAEMON.search(told.text) else "off", told.name
        return
    files = evidence.files
    names = [name for name in files.names("proc")[:_MOST_PROCESSES] if name.isdecimal()]
    called = {(files.text(f"proc/{name}/comm") or "").strip() for name in names}
    if called - {""}:
        yield "irqbalance", "on" if "irqbalance" in called else "off", "proc/*/comm"


def _notes(evidence: Evidence) -> Iterator[str]:
    told = evidence.outputs.one("tuned-adm active")
    if told is not None and (matched := _PROFILE.search(told.text)):
        yield f"tuned's profile {matched[1]} is not read as such: what it has set is"


PARSER: Final = Parser(
    kinds=(
        Kind(
            "uname -a",
            r"Linux \S+ \d+\.\d+\S* ",
            files=("uname",),
            command="uname -a",
            folder="kernel",
            also=("host/uname_-a",),
        ),
        Kind("version", r"Linux version \d", files=("proc/version",)),
        Kind(
            "os-release",
            r"(?=[\s\S]*^(ID|VERSION_ID)=)[A-Z_]+=",
            files=("etc/os-release", "usr/lib/os-release"),
        ),
        Kind(
            "tuned-adm active",
            r"Current active profile:",
            command="tuned-adm active",
            folder="tuned",
            live=True,
        ),
        Kind(
            "ps",
            r"(USER +PID|F +S? *UID|COMMAND$)",
            files=("ps",),
            command="ps -eo comm",
            folder="process",
            also=("process/ps_auxwww", "process/ps_auxwwwm", "process/ps_-elfL"),
        ),
    ),
    facts=_facts,
    notes=_notes,
)
