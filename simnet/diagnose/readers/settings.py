"""Settings: sysctl, files of /sys and /proc with their names, and what pf_ring tells."""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page, number
from simnet.importing.pasted import sysctls_of

_SYSCTL: Final = re.compile(r"\s*((?:net|kernel|vm|fs|dev)\.[\w./-]+)\s*[=:]\s*(\S.*?)\s*")
_PROC_SYS: Final = re.compile(r"/?proc/sys/((?:net|kernel|vm|fs|dev)/[\w./-]+):\s*(\S.*?)\s*")
_GREP: Final = re.compile(r"\s*(/?(?:sys|proc)/[\w./:@-]+):\s*(\S.*?)\s*")
_OWN: Final = re.compile(
    r"(?:^|/)((?:sys|proc)/(?:class/net|devices|block|irq|module|sys)/[\w./:@-]+|proc/sys/[\w./-]+)$"
)
_PORT: Final = re.compile(r"sys/class/net/([^/]+)/(.+)")
_CAT: Final = re.compile(
    r"(?:(?:cat|head|tail)(?: -\S+)* )?"
    r"((?:/?(?:proc/(?:sys|irq)|sys/(?:class|devices|module|block))"
    r"/[\w./:*@-]{1,200} ?){1,16})(?: *[|;].*)?"
)
_VALUE: Final = re.compile(r"[\w.,:\[\]/+-]{1,80}(?:\s+[\w.,:\[\]/+-]{1,80}){0,7}")
_SENTENCE: Final = re.compile(r"(?:cat|head|tail|ls|bash|sh|grep):|[A-Z][a-z]+ [a-z]+ [a-z]+")
_PF_RING: Final = re.compile(r"([RT]X Queues|Num [RT]X Slots|Name|Family):\s+(\S.*)")
_CAPTURE: Final = re.compile(
    r"Absolute Stats: \[([\d',]+) pkts total\]\[([\d',]+) pkts dropped\]\[([\d.]+)% dropped\]"
)

SIGN: Final = re.compile(
    r"(?m)^\s*(?:net|kernel|vm|fs|dev)\.\w|^\s*/?(?:sys|proc)/\S+:"
    r"|pkts dropped|X Queues:|\A.{0,200}$|\bsysctl -n |\bconntrack -C|/(?:proc|sys)/"
)


def read(page: Page) -> Iterator[Fact]:
    """Yield settings by name; of files of /sys/class/net the port is the subject."""
    own = _OWN.search(page.name)
    if own and page.text and len(page.lines) == 1:
        yield from _file(page, 1, own[1], page.text.strip())
        return
    yield from _shown(page)
    name = ""
    for at, line in enumerate(page.lines, 1):
        if found := _SYSCTL.fullmatch(line):
            yield _sysctl(page, at, found[1].replace("/", "."), found[2])
        elif inside := _PROC_SYS.fullmatch(line):
            yield _sysctl(page, at, inside[1].replace("/", "."), inside[2])
        elif grepped := _GREP.fullmatch(line):
            yield from _file(page, at, grepped[1].lstrip("/"), grepped[2])
        elif ring := _PF_RING.fullmatch(line):
            name = ring[2] if ring[1] == "Name" else name
            called = ring[1].lower()
            yield Fact("pf_ring", name, called, number(ring[2]), page.name, at, ring[2])
        elif capture := _CAPTURE.search(line):
            for called, value in zip(("total", "dropped"), capture.groups(), strict=False):
                yield Fact("capture", page.name, called, number(value), page.name, at)


def _shown(page: Page) -> Iterator[Fact]:
    """Yield the files of /sys and /proc that a command has shown without their names."""
    for part in page.parts:
        lines = [(at, line.strip()) for at, line in enumerate(part.lines, part.first)]
        lines = [(at, line) for at, line in lines if line]
        if only := sysctls_of(part.command):
            for name, (at, text) in zip(only, lines, strict=False):
                yield _sysctl(page, at, name, text)
            continue
        typed = _CAT.fullmatch(part.command or part.name)
        if typed is None:
            continue
        names = [name.lstrip("/") for name in typed[1].split()]
        if len(names) == 1 and "*" in names[0]:
            # a shell sorts what a star stands for: rx-10 comes before rx-2
            numbers = sorted(str(number) for number in range(len(lines)))
            names = [names[0].replace("*", number, 1) for number in numbers]
            names = [name.replace("rx-rx-", "rx-") for name in names]
        if len(names) > len(lines) or any("*" in name for name in names):
            continue
        for name, (at, text) in zip(names, lines, strict=False):
            # more lines than files, or words: no value
            if _VALUE.fullmatch(text) and not (len(names) == 1 and _SENTENCE.match(text)):
                yield from _file(page, at, name, text)


def _sysctl(page: Page, at: int, name: str, value: str) -> Fact:
    return Fact("sysctl", "", name, number(value), page.name, at, " ".join(value.split()))


def _file(page: Page, at: int, name: str, value: str) -> Iterator[Fact]:
    if name.startswith("proc/sys/"):
        yield _sysctl(page, at, name.removeprefix("proc/sys/").replace("/", "."), value)
        return
    found = _PORT.fullmatch(name)
    subject, called = (found[1], found[2]) if found else ("", name)
    yield Fact("sysfs", subject, called, number(value), page.name, at, value)
