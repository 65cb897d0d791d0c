"""One text with the outputs of several commands, split where a prompt or a heading names the next.

People paste what their terminal shows (`$ uname -a`, `root@host:~# ethtool -i eth0`), or put
headings before each output (`## ethtool -i eth0`, `==> /proc/interrupts <==`, `--- uname -a ---`),
or only the command itself in a line of its own.
Nothing is executed; a text without such lines is one part.

Source: proc(5), PROMPTING of bash(1); head(1) for `==> file <==`.
"""

import re
import shlex
from dataclasses import dataclass
from typing import Final

MOST_LINES: Final = 200_000
"""Lines that are looked at; what stands behind belongs to the last part."""
MOST_PARTS: Final = 1000
_LONGEST: Final = 400
# a prompt with a name ends with one of these; a bare one is only `$`, `#` or `%` and a space
_NAMED: Final = re.compile(
    r"(?:\([\w.-]{1,40}\) ?)?\[?[\w.-]{1,64}@[\w.-]{1,64}[^\n$#%>]{0,120}[$#%>] ?(\S.*)"
)
# of a host, a folder or a shell without a user; what follows is a command that describes hosts
_UNNAMED: Final = re.compile(
    r"(?:[\w.-]{1,64}:)?[~/][^\s$#%>]{0,80} ?[$#%] (\S.*)"
    r"|(?:ba|da|k|z)?sh(?:-[\d.]{1,8})?[$#] (\S.*)"
)
_WATCHED: Final = re.compile(r"Every \d[\d.,]{0,6}s: (\S.*?)()(?: {2,}\S.*)?")
# a command that only prints may stand without any prompt, in a line of its own
_BARE: Final = re.compile(
    r"\s{0,4}((?:sudo |/s?bin/|/usr/s?bin/)*(?:"
    r"ethtool(?: -{1,2}[a-zS][a-z-]*)* (?!-)[\w.@-]{1,15}"
    r"|uname -[a-z]{1,5}|lscpu(?: -[eJp])?|nproc|numactl (?:-H|--hardware)"
    r"|(?:netstat|nstat|ss) -\w{1,8}|sysctl -a|conntrack -S|nft list ruleset|lspci -\w{1,5}"
    r"|hostnamectl|lsb_release -a|cat /(?:proc|sys|etc)/[\w./:@+-]{1,200}"
    r"|ip(?: -[a-z]{1,3})* (?:link|addr|a|l)(?: show)?"
    r"|sar -[A-Za-z][\w ,-]{0,40}|mpstat(?: [\w -]{1,40})?))"
    r"\s*(?:\| ?(?:[ef]?grep|head|tail|sort|less|more)\b.*)?"
)
_USER: Final = re.compile(r"(?:\[?[\w.-]{1,64}@)?([A-Za-z0-9][\w.-]{0,63})(?:[:\] ]|$)")
_DOLLAR: Final = re.compile(r"\s{0,4}\$ (?=[a-z/])(\S.*)")
_MARK: Final = re.compile(r"\s{0,4}(?:#{1,6}|%|>) {1,2}`?(?=[a-z/])([^`]*[^`\s])`?\s*")
_RULED: Final = re.compile(
    r"(?:={2,}>?|-{2,}>?|\*{2,}|~{2,}) ?(\S[^\n]{0,200}?) ?(?:<?={2,}|<?-{2,}|\*{2,}|~{2,}|:)?"
)
_BOLD: Final = re.compile(r"(?:\d{1,2}[.)] )?(?:\*\*|`)([a-z/][^`*]{1,200})(?:\*\*|`):?")
_FENCE: Final = re.compile(r"\s{0,3}(?:```|~~~)[\w-]{0,20}\s*")
# what begins a comment or a sentence in prose is no command; these are what hosts are described by
_COMMANDS: Final = frozenset(
    {"cat", "head", "tail", "grep", "sysctl", "uname", "lscpu", "lspci", "lsblk", "lstopo", "nproc"}
    | {"numactl", "ethtool", "ip", "ifconfig", "netstat", "nstat", "ss", "sar", "sadf", "mpstat"}
    | {"iostat", "vmstat", "top", "ps", "dmesg", "journalctl", "perf", "turbostat", "cpupower"}
    | {"tc", "bridge", "nft", "iptables", "conntrack", "iperf", "iperf3", "netperf", "ping", "fio"}
    | {"sockperf", "neper", "qperf", "tuned-adm", "systemctl", "service", "dstat", "pidstat"}
    | {"hostname", "hostnamectl", "mount", "free", "uptime", "taskset", "docker", "kubectl"}
    | {"virsh", "bpftool", "devlink", "rdma", "ibstat", "lsmod", "modinfo", "for", "echo", "find"}
    | {"ls", "nfsstat", "teamdctl", "ovs-vsctl", "dmidecode"}
)
# what is printed by these is read with the line that names the device
_WITH_PROMPT: Final = frozenset({"lsattr", "no", "mmlsconfig"})
# what is printed by these before the command that counts is a line or nothing
_FIRST: Final = re.compile(r"(?:(?:date|clear|hostname|sleep \d{1,4}) ?(?:;|&&) ?)+")
_BEFORE: Final = frozenset({"sudo", "doas", "time", "watch", "nice", "env", "LC_ALL=C", "LANG=C"})
# what these print are values alone, in the order of the names
_SYSCTL: Final = re.compile(r"(?:/\S*/)?sysctl -n ((?:[\w./-]{1,80} ?){1,16})")
_CONNECTIONS: Final = re.compile(r"(?:/\S*/)?conntrack -C\b.*")
# signs of a shell that no sentence has
_SHELL: Final = re.compile(r"\$[({\w]|; do\b|\|\s*(?:grep|awk|cut|sed|head|tail|sort|wc)\b")
_FILE: Final = re.compile(r"/?(?:proc|sys|etc|var|usr|boot)/[\w./*:@+-]{1,200}")


@dataclass(frozen=True)
class Part:
    """What stands between two prompts or headings."""

    # the command, or the file that a heading names; empty for what stands before the first
    name: str
    command: str | None  # as it was typed; None where a heading named a file, or nothing did
    first: int  # number of the first line of its output, from 1 on
    lines: tuple[str, ...]  # of the output, without prompt and heading
    host: str = ""  # that the prompt names; empty if it names none

    @property
    def text(self) -> str:
        """The output."""
        return "\n".join(self.lines)


def sysctls_of(command: str | None) -> list[str]:
    """Return the sysctls of which a command prints the values alone; empty for another command."""
    if command is None:
        return []
    if _CONNECTIONS.fullmatch(command):
        return ["net.netfilter.nf_conntrack_count"]
    typed = _SYSCTL.fullmatch(command)
    return typed[1].split() if typed is not None else []


def split(text: str) -> list[Part]:
    """Return the parts of a text, in their order; those without any output are left out."""
    found: list[Part] = []
    name, command, first = "", None, 1
    host = ""
    lines: list[str] = []
    listed = text.splitlines()
    for number, line in enumerate(listed[:MOST_LINES], 1):
        head = _head(line) if len(line) <= _LONGEST and len(found) < MOST_PARTS else None
        if head is None:
            if _FENCE.fullmatch(line) is None:
                lines.append(line)
            elif not lines:
                first = number + 1
            continue
        if any(one.strip() for one in lines):
            found.append(Part(name, command, first, tuple(lines), host))
        name, command = head
        prompted = _USER.match(line) if line.find("@") > 0 or _UNNAMED.fullmatch(line) else None
        host = prompted[1] if prompted is not None else ""
        first, lines = number + 1, []
        if name.split()[0] in _WITH_PROMPT:
            first, lines = number, [line]
    lines += listed[MOST_LINES:]
    if any(one.strip() for one in lines):
        found.append(Part(name, command, first, tuple(lines), host))
    return found


def _head(line: str) -> tuple[str, str | None] | None:
    """Return what a line names: a command twice, or a file and None; None if it is no heading."""
    matched = _NAMED.fullmatch(line) or _DOLLAR.fullmatch(line) or _BARE.fullmatch(line)
    if matched is not None:
        typed = _typed(matched[1])
        return (typed, typed) if typed else None
    matched = _UNNAMED.fullmatch(line) or _WATCHED.fullmatch(line)
    if matched is not None:
        typed = _typed(matched[1] or matched[2])
        if typed and typed.split()[0].rpartition("/")[2] in _COMMANDS:
            return typed, typed
    for pattern in (_MARK, _RULED, _BOLD):
        matched = pattern.fullmatch(line)
        if matched is None:
            continue
        named = matched[1].strip().rstrip(":")
        if _FILE.fullmatch(named):
            return named, None
        typed = _typed(named)
        if typed and typed.split()[0].rpartition("/")[2] in _COMMANDS and _is_command(typed):
            return typed, typed
    return None


def _typed(text: str) -> str:
    """Return a command without what only says how it is run; empty if nothing is left."""
    words = _FIRST.sub("", text.strip().lstrip("#$>% ")).split()
    while words and words[0] in _BEFORE:
        words = words[1:]
    return " ".join(words)


def _is_command(text: str) -> bool:
    """Whether a heading is a command, and no sentence that begins with such a word."""
    if re.search(r"[.!?]$|, ", text):
        return False
    if _SHELL.search(text):
        return True
    try:
        words = shlex.split(text)
    except ValueError:
        return False
    plain = sum(word.isalpha() for word in words[1:])
    return plain <= 2  # noqa: PLR2004 - `ip link show`, `tuned-adm active`
