"""Kernel, distribution, tuned's profile, and whether irqbalance runs.

Source: uname(1), os-release(5), tuned-adm(8), irqbalance(1).
"""

import re
from collections.abc import Iterator
from typing import Final

from simnet.importing.evidence import Evidence
from simnet.importing.kind import Kind
from simnet.importing.parser import Parser
from simnet.importing.parsers.sysstat import banner

_VERSION: Final = re.compile(r"(?:Linux version|Linux \S+) (\d+\.\d+(?:\.\d+)?)([\w.+~-]*)")
_BY_HOSTNAMECTL: Final = re.compile(r"^ *Kernel: Linux (\S{1,80})", re.MULTILINE)
_RELEASE: Final = "proc/sys/kernel/osrelease"
# what the script and some reports write instead of a name
_HOST: Final = re.compile(
    r"^Linux (?!localhost\b|\d|version\b)([A-Za-z0-9][\w.-]{0,63}) \d", re.MULTILINE
)
_NOBODY: Final = "localhost"
_NAMED_IN: Final = ("proc/sys/kernel/hostname", "etc/hostname")
_NAME: Final = re.compile(r"(?!localhost\b)([A-Za-z0-9][\w.-]{0,63})\s*")
_CALLED: Final = {
    "uname -a": _HOST,
    "hostnamectl": re.compile(
        r"^ *Static hostname: (?!localhost\b|n/a)([\w.-]{1,64})", re.MULTILINE
    ),
    "banner": re.compile(
        r"^Linux \S+ \((?!localhost\b)([A-Za-z0-9][\w.-]{0,63})\)\s", re.MULTILINE
    ),
}
_DISTRIBUTIONS: Final = (
    ("redhat-release", re.compile(r"^(\S[^\n]{0,80})")),
    ("debian_version", re.compile(r"^(\d{1,2}(?:\.\d{1,2})?)$", re.MULTILINE)),
    ("lsb_release -a", re.compile(r"^Description:\s+(\S[^\n]{0,80})", re.MULTILINE)),
    ("hostnamectl", re.compile(r"^ *Operating System: (\S[^\n]{0,80})", re.MULTILINE)),
    ("version", re.compile(r"\b(Debian|Ubuntu|Red Hat)\b")),
    ("uname -a", re.compile(r"\b(Debian|Ubuntu)\b")),
)
# how distributions end the name of their kernels
_BUILT: Final = (
    (re.compile(r"-\d+-(?:generic|lowlatency|oracle|azure|gcp|kvm)\b"), "Ubuntu"),
    (re.compile(r"-(?:amd64|arm64|686-pae)\b"), "Debian"),
    (re.compile(r"-pve\b"), "Debian (Proxmox)"),
    (re.compile(r"\.amzn(20\d\d|\d)\b"), r"Amazon Linux \1"),
    (re.compile(r"\.fc(\d{1,2})\b"), r"Fedora \1"),
    (
        re.compile(r"-\d{4,6}\.[\d.]+-default\b|\b[34]\.\d+\.\d+-[\d.]+-default\b"),
        "SUSE Linux Enterprise",
    ),
)
# since 5.7 ethtool prints the kernel's release as the version of drivers without one of their own
_PRINTED: Final = re.compile(
    r"^(?:version: |Ethernet Channel Bonding Driver: v)(\S{1,80})$", re.MULTILINE
)
_FLAVOUR: Final = re.compile(
    r"[3-9]\.\d+\.\d+-[\w.+~-]*?(?:generic|amd64|arm64|pve|default|lowlatency|\.el\d\w*\.\w+"
    r"|\.fc\d+\.\w+|\.amzn\d+\.\w+)"
)
_OS: Final = re.compile(
    r"^(ID|VERSION_ID|PRETTY_NAME|NAME|VERSION)=[\"']?([^\"'\n]*)", re.MULTILINE
)
_DISTRIB: Final = re.compile(r"^DISTRIB_(ID|RELEASE)=['\"]?([^'\"\n]{1,40})", re.MULTILINE)
_BOARD: Final = re.compile(r'"(kernel|hostname|distribution|version|target)": "([^"\n]{1,80})"')
_PROFILE: Final = re.compile(r"Current active profile: (\S{1,80})")
_DAEMON: Final = re.compile(r"(^|[\s/])irqbalance(\s|$)", re.MULTILINE)
# of systemctl is-active, systemctl status, and service
_STATUS: Final = re.compile(
    r"^(?:active|inactive|failed|unknown)$|\bActive: (?:active \(running\)|inactive|failed)"
    r"|irqbalance[^\n]{0,40} is (?:running|stopped)",
    re.MULTILINE,
)
_BONDS: Final = "proc/net/bonding"
_RUNNING: Final = ("active",)
_MOST_PROCESSES: Final = 100_000


def _facts(evidence: Evidence) -> Iterator[tuple[str, str, str]]:
    yield from _kernel(evidence)
    yield from _names(evidence)
    told = evidence.outputs.one("os-release")
    if told is not None:
        fields = dict(_OS.findall(told.text))
        pairs = (("ID", "VERSION_ID"), ("NAME", "VERSION"))
        named = next(
            ([fields[k] for k in two if k in fields] for two in pairs if two[0] in fields), []
        )
        yield "distribution", fields.get("PRETTY_NAME") or " ".join(named), told.name
    yield from _distributions(evidence)
    told = evidence.outputs.one("tuned-adm active")
    if told is not None and (matched := _PROFILE.search(told.text)):
        yield "tuned_profile", matched[1], told.name
    yield from _irqbalance(evidence)


def _names(evidence: Evidence) -> Iterator[tuple[str, str, str]]:
    """Yield what the host is called: by uname, hostnamectl, sysstat, its files, or a prompt."""
    for kind, pattern in _CALLED.items():
        told = banner(evidence.outputs) if kind == "banner" else evidence.outputs.one(kind)
        if told is not None and (matched := pattern.search(told.text)):
            yield "hostname", matched[1], told.name
    for file in _NAMED_IN:
        if matched := _NAME.fullmatch(evidence.files.text(file) or ""):
            yield "hostname", matched[1], file
    host, source = evidence.outputs.prompted
    if host and host != _NOBODY:
        yield "hostname", host, source


def _distributions(evidence: Evidence) -> Iterator[tuple[str, str, str]]:
    """Yield the distribution by files that older ones have, and by what built the kernel."""
    for kind, pattern in _DISTRIBUTIONS:
        told = evidence.outputs.one(kind)
        if told is not None and (matched := pattern.search(told.text)):
            name = matched.expand(r"Debian \1") if kind == "debian_version" else matched[1]
            yield "distribution", name.strip(), told.name
    told = evidence.outputs.one("ubus board")
    if told is not None:
        board = dict(_BOARD.findall(told.text))
        yield (
            "distribution",
            " ".join(filter(None, (board.get("distribution"), board.get("version")))),
            told.name,
        )
    told = evidence.outputs.one("openwrt_release")
    if told is not None:
        fields = dict(_DISTRIB.findall(told.text))
        yield "distribution", " ".join(filter(None, map(fields.get, ("ID", "RELEASE")))), told.name
    for _, release, source in _kernel(evidence):
        for pattern, name in _BUILT:
            if matched := pattern.search(release):
                yield "distribution", matched.expand(name), source


def _kernel(evidence: Evidence) -> Iterator[tuple[str, str, str]]:
    places = [
        (told.name, told.text)
        for kind in ("uname -a", "version")
        if (told := evidence.outputs.one(kind)) is not None
    ]
    told = evidence.outputs.one("uname -r")
    if told is not None:
        places.append((told.name, f"Linux version {told.text.removeprefix('Linux ')}"))
    told = evidence.outputs.one("hostnamectl")
    if told is not None and (matched := _BY_HOSTNAMECTL.search(told.text)):
        places.append((told.name, f"Linux version {matched[1]}"))
    board = evidence.outputs.one("ubus board")
    if board is not None and (release := dict(_BOARD.findall(board.text)).get("kernel")):
        places.append((board.name, f"Linux version {release}"))
    told = banner(evidence.outputs)
    if told is not None:
        places.append((told.name, f"Linux version {told.text.split()[1]}"))
    if release := evidence.files.text(_RELEASE):
        places.append((_RELEASE, f"Linux version {release}"))
    for name, text in places:
        if matched := _VERSION.search(text):
            yield "kernel", f"{matched[1]}{matched[2]}", name
    for name, text in _drivers(evidence):
        if (matched := _PRINTED.search(text)) and _FLAVOUR.fullmatch(matched[1]):
            yield "kernel", matched[1], name


def _drivers(evidence: Evidence) -> Iterator[tuple[str, str]]:
    """Yield the texts in which drivers print their version."""
    for _, told in evidence.of_ports("ethtool -i"):
        yield told.name, told.text
    for bond in evidence.files.names(_BONDS):
        yield f"{_BONDS}/{bond}", evidence.files.text(f"{_BONDS}/{bond}") or ""


def _irqbalance(evidence: Evidence) -> Iterator[tuple[str, str, str]]:
    """Yield `on` or `off`, as a list of processes says, that of `/proc` included."""
    told = evidence.outputs.one("ps")
    if told is not None:
        yield "irqbalance", "on" if _DAEMON.search(told.text) else "off", told.name
        return
    told = evidence.outputs.one("irqbalance status")
    if told is not None and (matched := _STATUS.search(told.text)):
        on = matched[0].strip() in _RUNNING or "running" in matched[0]
        yield "irqbalance", "on" if on else "off", told.name
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


_RED_HAT_RELEASE: Final = (
    r"(?:Red Hat Enterprise Linux|CentOS|Rocky Linux|AlmaLinux|Oracle Linux|Scientific Linux|Fedora"
    r")[^\n]{0,40} release \d"
)
PARSER: Final = Parser(
    kinds=(
        Kind(
            "uname -a",
            r"Linux \S+ \d+\.\d+\S* ",
            line=r"Linux \S+ \d+\.\d+\S* ",
            files=("uname",),
            command="uname -a",
            folder="kernel",
            also=("host/uname_-a",),
        ),
        Kind(
            "version",
            r"Linux version \d",
            line=r"(?:\[ *\d+\.\d+\] )?Linux version \d",
            files=("proc/version",),
        ),
        Kind(
            "uname -r",
            r"Linux \d+\.\d+\.\d+\S*(?: \S+)?\s*$",
            line=r"Linux \d+\.\d+\.\d+\S*(?: (?:x86_64|aarch64|i686|ppc64le|s390x))?$",
            command="uname -r",
        ),
        Kind(
            "hostnamectl", r" *Static hostname:", line=r" *Static hostname:", command="hostnamectl"
        ),
        Kind(
            "redhat-release",
            _RED_HAT_RELEASE,
            line=_RED_HAT_RELEASE,
            files=("etc/redhat-release", "etc/system-release", "etc/centos-release"),
        ),
        Kind(
            "openwrt_release",
            r"DISTRIB_ID=",
            line=r"DISTRIB_(?:ID|RELEASE)=",
            files=("etc/openwrt_release",),
        ),
        Kind(
            "ubus board",
            line=r"\s*\"(?:board_name|rootfs_type)\":",
            command="ubus call system board",
        ),
        Kind("debian_version", files=("etc/debian_version",)),
        Kind(
            "lsb_release -a", line=r"Distributor ID:", command="lsb_release -a", folder="lsbrelease"
        ),
        Kind("nproc", command="nproc", folder="processor"),
        Kind("banner", r"Linux \d\S* \(", line=r"Linux \d+\.\S* \([^)\n]{0,80}\)"),
        Kind(
            "os-release",
            r"(?:PRETTY_NAME|NAME|VERSION|VERSION_ID|ID|ID_LIKE)=",
            line=r"(?:PRETTY_NAME|VERSION_ID)=",
            files=("etc/os-release", "usr/lib/os-release"),
        ),
        Kind(
            "tuned-adm active",
            r"Current active profile:",
            line=r"Current active profile:",
            command="tuned-adm active",
            folder="tuned",
            live=True,
        ),
        Kind(
            "irqbalance status",
            line=r"(?:● )?irqbalance(?:\.service - | \(pid[ \d]+\) is running| is stopped)",
            command="systemctl is-active irqbalance",
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
