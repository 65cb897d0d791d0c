"""Topology from `/proc/cpuinfo`, for hosts of which nothing better was collected.

Which keys there are depends on the architecture: x86 and IA-64 have `physical id` and `core id`,
POWER and ARM only number their CPUs, s390 puts a CPU on a line. What is not said is not invented:
each CPU is a core, and all are one package.

Source: `show_cpuinfo` of arch/*/kernel of Linux.
"""

import re
from collections import defaultdict
from typing import Final

from simnet.host.cpulist import MOST_CPUS
from simnet.importing.kind import Kind
from simnet.importing.parser import Parser
from simnet.importing.topology import Node, Topology, groups_of

_S390: Final = re.compile(r"processor (\d{1,5}):")
# of the first lines of a CPU, or of the machine; keys differ in case
_ARM: Final = ("CPU implementer", "CPU part")
_MODEL: Final = ("model name", "cpu model", "cpu", "family", "Processor", "isa")


def cpuinfo_topology(text: str, source: str) -> Topology | None:
    """Return what the text tells; None if it numbers no CPU."""
    entries = _entries(text)
    if not entries:
        return None
    cores: dict[tuple[str, str], set[int]] = defaultdict(set)
    packages: dict[str, set[int]] = defaultdict(set)
    for cpu, fields in entries.items():
        package = fields.get("physical id", "")
        core = fields.get("core id", f"cpu {cpu}")
        cores[package, core].add(cpu)
        packages[package].add(cpu)
    cpus = frozenset(entries)
    guessed = {"nodes": "/proc/cpuinfo does not say it: one node"}
    if not any("physical id" in fields for fields in entries.values()):
        guessed["packages"] = "not said: one package"
    if not any("core id" in fields for fields in entries.values()):
        guessed |= dict.fromkeys(("cores", "threads"), "not said: each CPU is a core")
    if len(guessed) > 1:
        guessed["cores_per_socket"] = "not said: cores by packages"
    return Topology(
        cpus,
        groups_of(map(frozenset, cores.values())),
        groups_of(map(frozenset, packages.values())),
        (Node(0, cpus),),
        source=source,
        guessed=guessed,
    )


def cpuinfo_fields(text: str) -> dict[str, str]:
    """Return the first value of each key, with `model name` whatever the architecture calls it."""
    found: dict[str, str] = {}
    for key, value in _lines(text):
        found.setdefault(key, value)
    name = next((found[key] for key in _MODEL if found.get(key)), "")
    if not name and all(key in found for key in _ARM):
        # the kernel for ARM has no names
        name = ", ".join(f"{key} {found[key]}" for key in _ARM)
    return {**found, "model name": name}


def _lines(text: str) -> list[tuple[str, str]]:
    parts = (line.partition(":") for line in text.splitlines())
    return [(key.strip(), value.strip()) for key, sign, value in parts if sign]


def _entries(text: str) -> dict[int, dict[str, str]]:
    found: dict[int, dict[str, str]] = {}
    fields: dict[str, str] = {}
    for key, value in _lines(text):
        s390 = _S390.match(f"{key}:")
        number = s390[1] if s390 else value
        if key in {"processor", "cpu number"} or s390:
            if not number.isdecimal() or int(number) >= MOST_CPUS:
                continue
            fields = found.setdefault(int(number), {})
        else:
            fields[key] = value
    return found


PARSER: Final = Parser(
    kinds=(Kind("cpuinfo", r"(processor|vendor_id|system type|cpu)\s*: ", files=("proc/cpuinfo",)),)
)
