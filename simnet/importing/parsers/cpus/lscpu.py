"""What `lscpu` prints: its list, `-J`, and the tables of `-e` and `-p`.

Source: lscpu(1) of util-linux.
"""

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from simnet.host.cpulist import MOST_CPUS, parse_cpulist
from simnet.importing.kind import Kind
from simnet.importing.parser import Parser
from simnet.importing.topology import Node, Topology, groups_of

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
    guessed = {
        key: f"the table has no column {column}"
        for key, column in (("nodes", "NODE"), ("packages", "SOCKET"), ("cores", "CORE"))
        if not by[column]
    }
    if "cores" in guessed:
        guessed["threads"] = guessed["cores"]
    if guessed.keys() & {"packages", "cores"}:
        guessed["cores_per_socket"] = "cores by packages"
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
        guessed=guessed,
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

    Which CPUs share a core it does not say. On x86 firmware lists first threads before second ones,
    which shows in the CPUs of nodes (0-7,16-23: 0 shares a core with 16); else neighbours do.
    """
    fields = lscpu_fields(text)
    cpus = parse_cpulist(fields.get("On-line CPU(s) list", ""))
    if not cpus:
        count = _number(fields, "CPU(s)")
        if not 0 < count <= MOST_CPUS:
            return None
        cpus = frozenset(range(count))
    guessed: dict[str, str] = {}
    sockets, each = _number(fields, "Socket(s)"), _number(fields, "Core(s) per socket")
    packages = max(sockets * max(_number(fields, "Book(s) per drawer"), 1), 1)
    if not sockets:
        guessed["packages"] = f"{source} has no line Socket(s): one package"
    threads = _number(fields, "Thread(s) per core")
    if not threads:
        threads = max(len(cpus) // (each * packages), 1) if each else 1
        guessed["threads"] = f"{source} has no line Thread(s) per core: CPUs by cores"
        guessed["cores"] = guessed["threads"]
    if each != -(-len(cpus) // threads) // packages:
        said = f"{source} says {each}, which its other lines contradict" if each else "not said"
        guessed["cores_per_socket"] = f"{said}: cores by packages"
    nodes = []
    for name, value in fields.items():
        matched = _NODE.fullmatch(name)
        own = parse_cpulist(value)
        if matched and own is not None:
            nodes.append(Node(int(matched[1]), own & cpus))
    size = -(-len(cpus) // min(packages, len(cpus)))
    by_halves = _by_halves(fields, text, len(nodes))
    if not nodes:
        guessed["nodes"] = f"{source} has no lines of NUMA nodes: a node for each package"
        nodes = _assumed_nodes(sorted(cpus), packages, threads, by_halves=by_halves)
    order = [cpu for node in nodes for cpu in sorted(node.cpus)]
    order += sorted(cpus - set(order))
    if threads > 1:
        rule = "first threads are numbered before second ones" if by_halves else "neighbours"
        guessed["cores"] = f"no line says which CPUs share a core: {rule}"
    cores: list[frozenset[int]] = []
    for part in (*(sorted(node.cpus) for node in nodes), sorted(cpus - set(order))):
        cores += _halved(part, threads) if by_halves else _split(part, threads)
    in_order = [cpu for core in cores for cpu in sorted(core)]
    if packages > 1:
        guessed["package_cpus"] = "no line says which CPUs a package has: by nodes, in their order"
    return Topology(
        cpus,
        groups_of(cores),
        _split(in_order, size),
        tuple(sorted(nodes, key=lambda node: node.number)) or (Node(0, cpus),),
        offline=parse_cpulist(fields.get("Off-line CPU(s) list", "")) or frozenset(),
        source=source,
        guessed=guessed,
    )


_X86: Final = ("x86_64", "i686", "i586")


def _by_halves(fields: Mapping[str, str], text: str, nodes: int) -> bool:
    """Whether first threads are numbered before second ones, as firmware of x86 does.

    Nodes of one range of CPUs each, several of them, and virtual machines number otherwise.
    """
    x86 = fields.get("Architecture", "") in _X86 or "Intel" in text or "AMD" in text
    if not x86 or fields.get("Hypervisor vendor"):
        return False
    return nodes < 2 or any("," in fields[name] for name in fields if _NODE.match(name))  # noqa: PLR2004


def _assumed_nodes(cpus: list[int], packages: int, threads: int, *, by_halves: bool) -> list[Node]:
    """Return a node for each package."""
    size = -(-len(cpus) // min(packages, len(cpus)))
    parts = _split(cpus, size)
    if by_halves:
        firsts = _split(cpus[: -(-len(cpus) // threads)], max(size // threads, 1))
        if len(firsts) == packages:
            parts = tuple(_with_siblings(part, cpus, threads) for part in firsts)
    return [Node(number, part) for number, part in enumerate(parts)]


def _halved(cpus: list[int], threads: int) -> list[frozenset[int]]:
    """Return cores whose first threads come before their second ones."""
    if len(cpus) % threads:
        return list(_split(cpus, threads))
    cores = len(cpus) // threads
    return [frozenset(cpus[core::cores]) for core in range(cores)]


def _with_siblings(first: frozenset[int], cpus: list[int], threads: int) -> frozenset[int]:
    """Return the CPUs of first threads with those of their other threads."""
    cores = len(cpus) // threads
    places = {cpu: place for place, cpu in enumerate(cpus)}
    found = {cpus[(places[cpu] + cores * n) % len(cpus)] for cpu in first for n in range(threads)}
    return frozenset(found)


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
            line=r"\s{0,4}(?:Architecture|CPU\(s\)|On-line CPU\(s\) list|Thread\(s\) per core"
            r"|Core\(s\) per socket|Socket\(s\)|NUMA node\d{1,3} CPU\(s\)):",
            files=("lscpu",),
            command="lscpu",
            folder="processor",
        ),
        Kind(
            "lscpu -e",
            r"CPU\s+(NODE|SOCKET|CORE)\s|# The following is the parsable format",
            line=r"CPU +(?:NODE|SOCKET|CORE) |# The following is the parsable format",
            command="lscpu -ae",
            folder="processor",
        ),
    )
)
