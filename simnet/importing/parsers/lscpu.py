"""What `lscpu` prints: its list, `-J`, and the tables of `-e` and `-p`.

Source: lscpu(1) of util-linux.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from simnet.host.cpulist import MOST_CPUS, parse_cpulist
from simnet.importing.parser import Kind, Parser
from simnet.importing.topology import Node, Topology, groups_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["PARSER", "lscpu_fields", "lscpu_table", "lscpu_topology"]

_NODE: Final = re.compile(r"NUMA node(\d{1,5}) CPU\(s\)")
_MOST: Final = 20_000


def lscpu_fields(text: str) -> dict[str, str]:
    """Return the list's values by their names without the colon; of `-J`, all levels together."""
    if text.lstrip().startswith("{"):
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            return {}
        found: dict[str, str] = {}
        stack = [document.get("lscpu") if isinstance(document, dict) else None]
        while stack and len(found) < _MOST:
            for one in _dicts(stack.pop()):
                name, value = one.get("field"), one.get("data")
                if isinstance(name, str) and isinstance(value, str):
                    found.setdefault(name.rstrip(":"), value)
                stack.append(one.get("children"))
        return found
    lines = (line.partition(":") for line in text.splitlines()[:_MOST])
    return {name.strip(): value.strip() for name, sign, value in lines if sign}


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def lscpu_table(text: str, source: str) -> Topology | None:
    """Return the topology of `lscpu -e`, `-ae` or `-p`; None if the text is no such table."""
    lines = [line for line in text.splitlines()[:_MOST] if line.strip()]
    comments = [line.lstrip("# ") for line in lines if line.startswith("#")]
    rows = [line for line in lines if not line.startswith("#")]
    parsable = next((line for line in comments if line.upper().startswith("CPU,")), None)
    if parsable is not None:
        heading = parsable.upper().split(",")
        cells = [row.split(",") for row in rows]
    elif rows and rows[0].split()[0] == "CPU":
        heading, cells = rows[0].upper().split(), [row.split() for row in rows[1:]]
    else:
        return None
    entries: dict[int, dict[str, str]] = {}
    for row in cells:
        named = dict(zip(heading, row, strict=False))
        number = named.get("CPU", "")
        if number.isdecimal() and int(number) < MOST_CPUS:
            entries[int(number)] = named
    offline = frozenset(
        cpu for cpu, named in entries.items() if named.get("ONLINE", "yes") in {"no", "N"}
    )
    cpus = frozenset(entries) - offline
    if not cpus:
        return None
    by: dict[str, dict[str, set[int]]] = {key: defaultdict(set) for key in _COLUMNS}
    for cpu in cpus:
        for key, groups in by.items():
            value = entries[cpu].get(key, "")
            if value.isdecimal():
                groups[value].add(cpu)
    core_sets = _cores(by["SOCKET"], by["CORE"], cpus)
    nodes = tuple(
        Node(int(number), frozenset(group))
        for number, group in sorted(by["NODE"].items(), key=lambda one: int(one[0]))
    )
    return Topology(
        cpus,
        core_sets,
        groups_of(map(frozenset, by["SOCKET"].values())) or (cpus,),
        nodes or (Node(0, cpus),),
        offline=offline,
        source=source,
    )


_COLUMNS: Final = ("NODE", "SOCKET", "CORE")


def _cores(
    sockets: Mapping[str, set[int]], cores: Mapping[str, set[int]], cpus: frozenset[int]
) -> tuple[frozenset[int], ...]:
    """Return the cores; their numbers may repeat in each socket."""
    if not cores:
        return groups_of(frozenset((cpu,)) for cpu in cpus)
    parts = [set(group) for group in sockets.values()] or [set(cpus)]
    return groups_of(frozenset(core & part) for core in cores.values() for part in parts)


def lscpu_topology(text: str, source: str) -> Topology | None:
    """Return what the list tells: how many of what, and the CPUs of each node.

    Which CPUs share a core it does not say. Neighbours are assumed to: the counts are right, and
    the order may be another.
    """
    fields = lscpu_fields(text)
    cpus = parse_cpulist(fields.get("On-line CPU(s) list", ""))
    if not cpus:
        count = _number(fields, "CPU(s)")
        if not 0 < count <= MOST_CPUS:
            return None
        cpus = frozenset(range(count))
    threads = max(_number(fields, "Thread(s) per core"), 1)
    packages = max(_number(fields, "Socket(s)") * max(_number(fields, "Book(s) per drawer"), 1), 1)
    nodes = []
    for name, value in fields.items():
        matched = _NODE.fullmatch(name)
        own = parse_cpulist(value)
        if matched and own is not None:
            nodes.append(Node(int(matched[1]), own & cpus))
    order = [cpu for node in nodes for cpu in sorted(node.cpus)]
    order += sorted(cpus - set(order))
    return Topology(
        cpus,
        _split(order, threads),
        _split(order, -(-len(order) // min(packages, len(order)))),
        tuple(sorted(nodes, key=lambda node: node.number)) or (Node(0, cpus),),
        offline=parse_cpulist(fields.get("Off-line CPU(s) list", "")) or frozenset(),
        source=source,
    )


def _number(fields: Mapping[str, str], name: str) -> int:
    text = fields.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 6 else 0  # noqa: PLR2004 - CPUs


def _split(order: list[int], size: int) -> tuple[frozenset[int], ...]:
    return tuple(frozenset(order[at : at + size]) for at in range(0, len(order), max(size, 1)))


PARSER: Final = Parser(
    kinds=(
        Kind(
            "lscpu",
            r'\s*(Architecture:|\{\s*"lscpu")',
            files=("lscpu",),
            command="lscpu",
            folder="processor",
        ),
        Kind(
            "lscpu -e",
            r"CPU\s+(NODE|SOCKET|CORE)\s|# The following is the parsable format",
            command="lscpu -ae",
            folder="processor",
        ),
    )
)
