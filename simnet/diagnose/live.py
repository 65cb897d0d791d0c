"""What this machine says of itself: files of /proc and /sys, and outputs of commands.

Everything is bounded: a command that does not answer within a second has said nothing, and after
four seconds nothing more is asked.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from simnet.diagnose.page import Page
from simnet.importing.files.folder import FolderFiles

_MOST_S: Final = 4.0
_MOST_COMMAND_S: Final = 1.0
_MOST_PORTS: Final = 64
_MOST_QUEUES: Final = 64
_PATH: Final = f"{os.defpath}:/usr/local/sbin:/usr/sbin:/sbin"
_FILES: Final = (
    *("proc/net/dev", "proc/net/softnet_stat", "proc/net/snmp", "proc/net/netstat"),
    *("proc/net/sockstat", "proc/sys/net/ipv4/tcp_mem"),
    *("proc/interrupts", "proc/cmdline", "proc/version", "sys/fs/cgroup/cpu.stat"),
    *(
        f"proc/sys/net/{name}"
        for name in (
            *("core/netdev_budget", "core/netdev_budget_usecs", "core/netdev_max_backlog"),
            *("core/rmem_max", "core/rmem_default", "core/somaxconn", "core/rps_sock_flow_entries"),
            *("ipv4/tcp_rmem", "ipv4/tcp_wmem", "ipv4/tcp_sack", "ipv4/tcp_window_scaling"),
            *("ipv4/tcp_timestamps", "ipv4/ip_forward", "netfilter/nf_conntrack_count"),
            *("netfilter/nf_conntrack_max", "ipv4/conf/all/rp_filter"),
        )
    ),
)
_COMMANDS: Final = (
    *(("ip", "-s", "addr"), ("tc", "-s", "qdisc"), ("ss", "-tuanm"), ("conntrack", "-S")),
    *(("lscpu",), ("dmesg",), ("lspci", "-vv")),
)
_OF_PORTS: Final = ("-S", "", "-i", "-g", "-l", "-c", "-k", "-x")


def live_pages() -> list[Page]:
    """Return what this machine says, within the bounds."""
    end = time.monotonic() + _MOST_S
    pages = []
    for name, text in _texts(end):
        if text:
            pages.append(Page(name, text))
        if time.monotonic() > end:
            break
    return pages


def _texts(end: float) -> Iterator[tuple[str, str]]:
    files = FolderFiles(Path("/"), "this machine")
    for name in _FILES:
        yield f"/{name}", files.text(name) or ""
    ports = [
        line.partition(":")[0].strip()
        for line in (files.text("proc/net/dev") or "").splitlines()
        if ":" in line
    ][:_MOST_PORTS]
    for port in ports:
        for queue in files.names(f"sys/class/net/{port}/queues")[:_MOST_QUEUES]:
            for setting in ("rps_cpus", "rps_flow_cnt") if queue.startswith("rx-") else ():
                name = f"sys/class/net/{port}/queues/{queue}/{setting}"
                yield f"/{name}", files.text(name) or ""
        name = f"sys/class/net/{port}/device/numa_node"
        yield f"/{name}", files.text(name) or ""
    for words in _COMMANDS:
        yield " ".join(words), _printed(words, end)
    for port in ports:
        filters = ("tc", "-s", "filter", "show", "dev", port, "ingress")
        yield " ".join(filters), _printed(filters, end)
    for flag in _OF_PORTS:
        for port in ports:
            if port != "lo":
                words = ("ethtool", *((flag,) if flag else ()), port)
                yield " ".join(words), _printed(words, end)


def _printed(words: tuple[str, ...], end: float) -> str:
    program = shutil.which(words[0], path=_PATH)
    left = min(_MOST_COMMAND_S, end - time.monotonic())
    if program is None or left <= 0:
        return ""
    try:
        done = subprocess.run(  # noqa: S603 - commands of our own, on this machine
            [program, *words[1:]],
            capture_output=True,
            check=True,
            timeout=left,
            env={"LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "replace").replace("\0", "")
