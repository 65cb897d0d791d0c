"""Topology from `/sys/devices/system/cpu` and `/sys/devices/system/node`.

Which files there are depends on the kernel: lists since 2.6.29, `core_cpus` and `package_cpus`
since 5.3 beside the older names, `online` only where CPUs can be switched off.
"""

import re
from typing import Final

from simnet.host.cpulist import MOST_CPUS, parse_cpulist, parse_cpumask
from simnet.importing.files.files import Files
from simnet.importing.topology import Cache, Node, Topology, groups_of

_CPUS: Final = "sys/devices/system/cpu"
_NODES: Final = "sys/devices/system/node"
_CPU: Final = re.compile(r"cpu(\d{1,5})")
_NODE: Final = re.compile(r"node(\d{1,5})")
_INDEX: Final = re.compile(r"index\d{1,2}")
_SIZE: Final = re.compile(r"(\d{1,12})\s*([KMG]?)B?", re.IGNORECASE)
_UNITS: Final = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
# no machine has as many
_MOST_LEVELS: Final = 10
_MEMTOTAL: Final = re.compile(r"MemTotal:\s*(\d{1,15})\s*kB")


def sysfs_topology(files: Files) -> Topology | None:
    """Return the CPUs that the kernel exports; None if it exports none."""
    there = _numbered(files, _CPUS, _CPU)
    if not there:
        return None
    online = _listed(files, f"{_CPUS}/online")
    cpus, offline = set(), set()
    for cpu in there:
        folder = f"{_CPUS}/cpu{cpu}"
        if files.number(f"{folder}/online") == 0 or (online is not None and cpu not in online):
            offline.add(cpu)
        elif files.names(f"{folder}/topology"):
            cpus.add(cpu)
    if not cpus:
        # the kernel exports no topology: each CPU is a core
        cpus = there - offline
    on = frozenset(cpus)
    cores = _cores(files, on)
    return Topology(
        cpus=on,
        cores=cores,
        packages=_siblings(files, on, ("package_cpus", "core_siblings"), single=False),
        nodes=sysfs_nodes(files, on),
        caches=_caches(files, on, cores),
        offline=frozenset(offline),
        source=_CPUS,
    )


def _numbered(files: Files, folder: str, pattern: re.Pattern[str]) -> set[int]:
    found = (pattern.fullmatch(name) for name in files.names(folder))
    return {int(one[1]) for one in found if one is not None and int(one[1]) < MOST_CPUS}


def _listed(files: Files, name: str) -> frozenset[int] | None:
    text = files.text(name)
    return None if text is None else parse_cpulist(text)


def _cpus_in(files: Files, name: str) -> frozenset[int] | None:
    """Return the CPUs of the mask `NAME` or of `NAME_list`; None if there is neither."""
    text = files.text(name)
    mask = None if text is None else parse_cpumask(text)
    return _listed(files, f"{name}_list") if mask is None else mask


def _siblings(
    files: Files, cpus: frozenset[int], names: tuple[str, str], *, single: bool
) -> tuple[frozenset[int], ...]:
    """Return the sets of CPUs that share a core, or a package."""
    sets = []
    for cpu in sorted(cpus):
        folder = f"{_CPUS}/cpu{cpu}/topology"
        found = next(
            (one for name in names if (one := _cpus_in(files, f"{folder}/{name}")) is not None),
            None,
        )
        if found is None or cpu not in found:
            found = frozenset((cpu,)) if single else frozenset()
        sets.append(found & cpus)
    return groups_of(sets)


def _cores(files: Files, cpus: frozenset[int]) -> tuple[frozenset[int], ...]:
    """Return the cores: CPUs that the kernel calls siblings, and that have the same `core_id`.

    The two halves of an AMD module (families 15h and 16h) are siblings and have a core's id each.
    """
    ids = {cpu: files.number(f"{_CPUS}/cpu{cpu}/topology/core_id") for cpu in cpus}
    siblings = _siblings(files, cpus, ("core_cpus", "thread_siblings"), single=True)
    return groups_of(
        frozenset(cpu for cpu in core if ids[cpu] == number)
        for core in siblings
        for number in {ids[cpu] for cpu in core}
    )


def _caches(
    files: Files, cpus: frozenset[int], cores: tuple[frozenset[int], ...]
) -> tuple[Cache, ...]:
    found: dict[tuple[int, frozenset[int]], Cache] = {}
    for cpu in sorted(cpus):
        folder = f"{_CPUS}/cpu{cpu}/cache"
        for index in files.names(folder):
            if not _INDEX.fullmatch(index):
                continue
            place = f"{folder}/{index}"
            level = files.number(f"{place}/level")
            kind = (files.text(f"{place}/type") or "Unified").strip()
            if level is None or kind == "Instruction" or not 0 < level < _MOST_LEVELS:
                continue
            text = files.text(f"{place}/shared_cpu_map")
            shared = parse_cpumask(text) if text else _listed(files, f"{place}/shared_cpu_list")
            # some kernels for IA-64 print a map without any CPU: then it is the core's
            shared = shared or next((core for core in cores if cpu in core), frozenset((cpu,)))
            key = (level, shared & cpus)
            found.setdefault(
                key,
                Cache(
                    *key,
                    size_bytes=size_of(files.text(f"{place}/size") or ""),
                    line_bytes=max(files.number(f"{place}/coherency_line_size") or 0, 0),
                    ways=max(files.number(f"{place}/ways_of_associativity") or 0, 0),
                ),
            )
    return tuple(
        found[key] for key in sorted(found, key=lambda key: (key[0], min(key[1], default=0)))
    )


def size_of(text: str) -> int:
    """Return the bytes of a size as in `32K`; 0 if it is none."""
    matched = _SIZE.fullmatch(text.strip())
    return int(matched[1]) * _UNITS[matched[2].upper()] if matched else 0


def sysfs_nodes(files: Files, cpus: frozenset[int]) -> tuple[Node, ...]:
    """Return the NUMA nodes that have memory; one if there are none, or if all have all CPUs."""
    nodes = []
    ignored = _of_gpus(files)
    for number in sorted(_numbered(files, _NODES, _NODE) - ignored):
        place = f"{_NODES}/node{number}"
        text = files.text(f"{place}/cpumap")
        own = parse_cpumask(text) if text else _listed(files, f"{place}/cpulist")
        matched = _MEMTOTAL.search(files.text(f"{place}/meminfo") or "")
        if own is None or (matched and int(matched[1]) == 0):
            continue
        nodes.append(Node(number, own & cpus, int(matched[1]) << 10 if matched else 0))
    if not nodes or (len(nodes) > 1 and all(node.cpus == cpus for node in nodes)):
        return (Node(0, cpus, _memory(files)),)
    return tuple(nodes)


def _of_gpus(files: Files) -> set[int]:
    """Return the nodes that are the memory of graphics processors, as their driver says."""
    folder = "proc/driver/nvidia/gpus"
    found = set()
    for name in files.names(folder):
        text = files.text(f"{folder}/{name}/numa_status") or ""
        matched = re.search(r"Node:\s*(\d{1,5})", text)
        if matched:
            found.add(int(matched[1]))
    return found


def _memory(files: Files) -> int:
    matched = _MEMTOTAL.search(files.text("proc/meminfo") or "")
    return int(matched[1]) << 10 if matched else 0


def sysfs_distances(files: Files, nodes: tuple[Node, ...]) -> tuple[tuple[int, ...], ...]:
    """Return the table of distances; empty if a node has none or a row is too short."""
    numbers = sorted(_numbered(files, _NODES, _NODE))
    if any(node.number not in numbers for node in nodes):
        return ()
    rows = []
    for node in nodes:
        words = (files.text(f"{_NODES}/node{node.number}/distance") or "").split()
        if len(words) != len(numbers) or not all(word.isdecimal() for word in words):
            return ()
        by_number = dict(zip(numbers, map(int, words), strict=True))
        rows.append(tuple(by_number[other.number] for other in nodes))
    return tuple(rows)
