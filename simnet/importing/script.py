"""The script that an administrator runs on a host to collect what `simnet import` reads.

POSIX shell, no Python, no root. It only reads, and writes one tar, laid out as a sosreport is.
"""

from __future__ import annotations

from typing import Final

__all__ = ["SCRIPT"]

SCRIPT: Final = r"""#!/bin/sh
# Collects what "simnet import" reads of this host, into one tar in the current folder.
# It only reads: files of /proc and /sys, and what lscpu, numactl, ethtool and sysctl print.
# No root is needed. Look at it before you send it: it holds the host's name and addresses of
# devices, no user data.   Usage: sh collect.sh [FILE.tar.gz]
set -u
out=${1:-simnet-$(uname -n).tar.gz}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

copy() { # files, as they are
    for file in "$@"; do
        [ -f "$file" ] && [ -r "$file" ] || continue
        mkdir -p "$dir${file%/*}" && cat "$file" > "$dir$file" 2> /dev/null
    done
}
run() { # a command's output, if there is the command
    to=$1
    shift
    command -v "$1" > /dev/null || return 0
    mkdir -p "$dir/sos_commands/${to%/*}"
    "$@" > "$dir/sos_commands/$to" 2> /dev/null || rm -f "$dir/sos_commands/$to"
}

copy /proc/cpuinfo /proc/meminfo /proc/version /proc/interrupts /proc/softirqs
copy /proc/net/softnet_stat /etc/os-release /proc/irq/*/smp_affinity_list
copy /sys/devices/system/cpu/online /sys/devices/system/cpu/cpu[0-9]*/online
copy /sys/devices/system/cpu/cpu[0-9]*/topology/* /sys/devices/system/cpu/cpu[0-9]*/cache/index*/*
copy /sys/devices/system/cpu/cpu[0-9]*/cpufreq/base_frequency
copy /sys/devices/system/node/node[0-9]*/cpumap /sys/devices/system/node/node[0-9]*/cpulist
copy /sys/devices/system/node/node[0-9]*/meminfo /sys/devices/system/node/node[0-9]*/distance
run processor/lscpu lscpu
run numa/numactl_--hardware numactl --hardware
run kernel/uname_-a uname -a
run kernel/sysctl_-a sysctl -a

for net in /sys/class/net/*; do
    [ -e "$net/device" ] || continue
    name=${net##*/}
    copy "$net/mtu" "$net/speed" "$net/device/numa_node" "$net/device/local_cpus"
    copy "$net"/queues/*/rps_cpus "$net"/queues/*/xps_cpus "$net"/queues/*/rps_flow_cnt
    copy "$net/napi_defer_hard_irqs" "$net/gro_flush_timeout"
    mkdir -p "$dir$net/device" && ln -s "$(readlink "$net/device/driver")" "$dir$net/device/driver"
    for option in -i -l -g -c -k -x -S; do
        run "networking/ethtool_${option}_$name" ethtool "$option" "$name"
    done
    run "networking/ethtool_$name" ethtool "$name"
done

tar -C "$dir" -czf "$out" . && echo "$out"
"""
