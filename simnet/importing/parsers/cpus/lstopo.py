"""Topology from the XML of `lstopo --of xml`, versions 1 and 2 of hwloc.

Source: hwloc's hwloc.dtd and hwloc2.dtd. Version 1 has nodes in the tree of CPUs, version 2 beside
it; both give each object its `cpuset`, and versions before 1.11 call a package `Socket`.
"""

from typing import Final
from xml.etree.ElementTree import Element, ParseError

from defusedxml import ElementTree
from defusedxml.common import DefusedXmlException

from simnet.host.cpulist import MOST_CPUS, parse_cpumask
from simnet.importing.kind import Kind
from simnet.importing.parser import Parser
from simnet.importing.topology import Cache, Node, Topology, groups_of

_PACKAGES: Final = frozenset({"Package", "Socket"})
_NODES: Final = frozenset({"NUMANode", "Node"})
_CACHES: Final = {f"L{level}Cache": level for level in range(1, 6)}


def _objects(text: str) -> list[Element]:
    try:
        root = ElementTree.fromstring(text, forbid_dtd=False)
    except (ParseError, DefusedXmlException, ValueError, RecursionError):
        return []
    return list(root.iter("object")) if root.tag == "topology" else []


def lstopo_topology(text: str, source: str) -> Topology | None:
    """Return the topology; None if the text is no such XML."""
    objects = _objects(text)
    cpus = frozenset(
        int(number)
        for one in objects
        if one.get("type") == "PU" and (number := one.get("os_index", "")).isdecimal()
        if int(number) < MOST_CPUS
    )
    if not cpus:
        return None
    cores = groups_of(_cpus(one) & cpus for one in objects if one.get("type") == "Core")
    known = frozenset().union(*cores)
    nodes = sorted(
        (
            Node(_integer(one, "os_index"), _cpus(one) & cpus, _integer(one, "local_memory"))
            for one in objects
            if one.get("type") in _NODES
        ),
        key=lambda node: node.number,
    )
    caches = {}
    for one in objects:
        level = _CACHES.get(one.get("type", ""), 0)
        if one.get("type") == "Cache":
            level = _integer(one, "depth")
        if level and one.get("cache_type") != "2":
            size, line = _integer(one, "cache_size"), _integer(one, "cache_linesize")
            ways = max(_integer(one, "cache_associativity"), 0)
            caches[level, _cpus(one) & cpus] = Cache(level, _cpus(one) & cpus, size, line, ways)
    return Topology(
        cpus,
        groups_of((*cores, *(frozenset((cpu,)) for cpu in cpus - known))),
        groups_of(_cpus(one) & cpus for one in objects if one.get("type") in _PACKAGES),
        tuple(nodes) or (Node(0, cpus),),
        tuple(
            caches[key] for key in sorted(caches, key=lambda key: (key[0], min(key[1], default=0)))
        ),
        source=source,
    )


def _cpus(one: Element) -> frozenset[int]:
    return parse_cpumask((one.get("cpuset") or "0").replace("0x", "")) or frozenset()


def _integer(one: Element, name: str) -> int:
    text = one.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 20 else 0  # noqa: PLR2004 - digits of a 64-bit number


PARSER: Final = Parser(
    kinds=(
        Kind(
            "lstopo",
            r"\s*(<\?xml[^>]*>\s*)?(<!DOCTYPE topology[^>]*>\s*)?<topology",
            command="lstopo --of xml",
            folder="hardware",
        ),
    )
)
