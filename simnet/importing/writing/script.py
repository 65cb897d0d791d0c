"""The script that an administrator runs on a host to collect what `simnet import` reads.

POSIX shell, no Python, no root. It only reads, and writes one tar, laid out as a sosreport is. What
it collects follows from what the parsers announce.
"""

from typing import Final

from simnet.importing.kind import Kind, kinds
from simnet.importing.parser import parsers

_WIDTH: Final = 100
_PORT: Final = "{port}"


def script() -> str:
    """Return the script."""
    files = [name for kind in kinds().values() if not kind.command for name in kind.files]
    trees = [tree for parser in parsers() for tree in parser.trees]
    single = [f"/{name}" for name in (*files, *trees) if _PORT not in name]
    per_port = [f"/{name}".replace(_PORT, "$name") for name in trees if _PORT in name]
    printed = [kind for kind in kinds().values() if kind.command]
    counts = [kind for kind in kinds().values() if kind.twice]
    counters = [f"/{name}" for kind in counts if not kind.command for name in kind.files]
    return _SCRIPT.format(
        copies="\n".join(_copies(single, "")),
        runs="\n".join(_run(kind, "") for kind in printed if not kind.of_port),
        port_copies="\n".join(_copies(per_port, "    ")),
        port_runs="\n".join(_run(kind, "    ") for kind in printed if kind.of_port),
        counters="\n".join(_copies(counters, "")),
        counter_runs="\n".join(_run(kind, "    ") for kind in counts if kind.of_port),
    )


def _copies(names: list[str], indent: str) -> list[str]:
    """Return lines that copy files, as many names on each as fit."""
    lines: list[str] = []
    for name in names:
        if lines and len(lines[-1]) + 1 + len(name) <= _WIDTH:
            lines[-1] += f" {name}"
        else:
            lines.append(f"{indent}copy {name}")
    return lines


def _run(kind: Kind, indent: str) -> str:
    """Return the line that keeps a command's output."""
    place = kind.place.removeprefix("sos_commands/").replace(_PORT, "$name")
    return f'{indent}run "{place}" {kind.command.replace(_PORT, chr(34) + "$name" + chr(34))}'


_SCRIPT: Final = r"""#!/bin/sh
# Collects what "simnet import" reads of this host, into one tar in the current folder.
# It only reads: files of /proc and /sys, and what the commands below print of this host.
# No root is needed. Look at it before you send it: it holds the host's name, names and
# addresses of devices and of connections, no user data.   Usage: sh collect.sh [FILE.tar.gz]
set -u
out=${{1:-simnet-$(uname -n).tar.gz}}
root=$(mktemp -d) || exit 1
trap 'rm -rf "$root"' EXIT
dir=$root
export LC_ALL=C

copy() {{ # files, as they are
    for file in "$@"; do
        [ -f "$file" ] && [ -r "$file" ] || continue
        to=$dir${{file%/*}}
        [ -d "$to" ] || mkdir -p "$to"
        cat "$file" > "$dir$file" 2> /dev/null
    done
}}
run() {{ # a command's output, if there is the command
    to=$dir/sos_commands/$1
    shift
    command -v "$1" > /dev/null || return 0
    mkdir -p "${{to%/*}}"
    "$@" > "$to" 2> /dev/null || rm -f "$to"
}}

copy /proc/meminfo
copy /sys/devices/system/cpu/online /sys/devices/system/cpu/cpu[0-9]*/online
copy /sys/devices/system/cpu/cpu[0-9]*/topology/* /sys/devices/system/cpu/cpu[0-9]*/cache/index*/*
copy /sys/devices/system/cpu/cpu[0-9]*/cpufreq/base_frequency
copy /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor
copy /sys/devices/system/cpu/cpu0/cpuidle/state*/latency
copy /sys/devices/system/clocksource/clocksource0/current_clocksource
copy /proc/net/netstat /proc/net/sockstat /proc/pressure/* /sys/fs/cgroup/cpu.stat
copy /sys/devices/system/node/node[0-9]*/cpumap /sys/devices/system/node/node[0-9]*/cpulist
copy /sys/devices/system/node/node[0-9]*/meminfo /sys/devices/system/node/node[0-9]*/distance
{copies}
{runs}

for net in /sys/class/net/*; do
    [ -e "$net/device" ] || continue
    name=${{net##*/}}
    copy "$net/mtu" "$net/speed"
{port_copies}
    real=$(readlink -f "$net/device") && mkdir -p "$dir$real" "$dir$net"
    copy "${{real%/*}}/numa_node"
    [ -d "$dir$net/device" ] && cp "$dir$net/device"/* "$dir$real" && rm -r "$dir$net/device"
    ln -s "$real" "$dir$net/device"
    ln -s "$(readlink "$net/device/driver")" "$dir$real/driver"
{port_runs}
done

# what counts a second time, for rates
sleep "${{SECONDS_BETWEEN:-10}}"
dir=$root/later
{counters}
for net in /sys/class/net/*; do
    [ -e "$net/device" ] || continue
    name=${{net##*/}}
{counter_runs}
done

tar -C "$root" -czf "$out" . && echo "$out"
"""
