"""Files of hosts that a test makes up: /proc and /sys, as kernels export them."""

import io
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

CPUS = "sys/devices/system/cpu"
NODES = "sys/devices/system/node"


def mask(cpus: Sequence[int]) -> str:
    """A mask as sysfs prints it: words of 32 bits."""
    bits = sum(1 << cpu for cpu in cpus)
    words = [f"{bits >> 32 * place & 0xFFFFFFFF:08x}" for place in range(3)]
    return ",".join(reversed(words)) + "\n"


def sysfs(
    cores: Sequence[Sequence[int]],
    packages: Sequence[Sequence[int]],
    nodes: Sequence[Sequence[int]] = (),
    offline: Sequence[int] = (),
) -> dict[str, str]:
    """The files of a host with these CPUs; offline ones are in none of the sets."""
    files = {}
    for core_id, core in enumerate(cores):
        for cpu in core:
            place = f"{CPUS}/cpu{cpu}"
            package = next(number for number, cpus in enumerate(packages) if cpu in cpus)
            files[f"{place}/topology/core_id"] = f"{core_id}\n"
            files[f"{place}/topology/physical_package_id"] = f"{package}\n"
            files[f"{place}/topology/thread_siblings"] = mask(core)
            files[f"{place}/topology/core_siblings"] = mask(packages[package])
            files[f"{place}/online"] = "1\n"
            for level, shared in ((1, core), (2, core), (3, packages[package])):
                cache = f"{place}/cache/index{level}"
                files[f"{cache}/level"] = f"{level}\n"
                files[f"{cache}/type"] = "Unified\n"
                files[f"{cache}/size"] = f"{32 << 2 * level}K\n"
                files[f"{cache}/coherency_line_size"] = "64\n"
                files[f"{cache}/shared_cpu_map"] = mask(shared)
    for cpu in offline:
        files[f"{CPUS}/cpu{cpu}/online"] = "0\n"
    for number, cpus in enumerate(nodes):
        files[f"{NODES}/node{number}/cpumap"] = mask(cpus)
        files[f"{NODES}/node{number}/meminfo"] = f"Node {number} MemTotal:       {8 << 20} kB\n"
        distances = ["10" if other == number else "21" for other in range(len(nodes))]
        files[f"{NODES}/node{number}/distance"] = " ".join(distances) + "\n"
    return files


def port(name: str, queues: int, node: int = 0) -> dict[str, str]:
    """The files of a port of 25 Gbit/s."""
    place = f"sys/class/net/{name}"
    files = {
        f"{place}/mtu": "9000\n",
        f"{place}/speed": "25000\n",
        f"{place}/device/numa_node": f"{node}\n",
    }
    for queue in range(queues):
        files[f"{place}/queues/rx-{queue}/rps_cpus"] = "0\n"
        files[f"{place}/queues/tx-{queue}/xps_cpus"] = "0\n"
    return files


def folder(root: Path, files: Mapping[str, str]) -> Path:
    """Write files below a folder."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return root


def archive(path: Path, files: Mapping[str, str], mode: str = "gz", prefix: str = "host/") -> Path:
    """Write files into a tar archive, below a folder of it."""
    way: Any = f"w:{mode}"
    with tarfile.open(path, way) as made:
        for name, text in files.items():
            data = text.encode()
            member = tarfile.TarInfo(prefix + name)
            member.size = len(data)
            made.addfile(member, io.BytesIO(data))
    return path
