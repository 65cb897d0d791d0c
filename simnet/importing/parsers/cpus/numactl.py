"""Nodes as `numactl --hardware` prints them.

Source: numactl(8).
"""

import re
from typing import Final

from simnet.host.cpulist import MOST_CPUS
from simnet.importing.kind import Kind
from simnet.importing.parser import Parser
from simnet.importing.topology import Node

_CPUS: Final = re.compile(r"^node (\d{1,5}) cpus:([ \d]*)$", re.MULTILINE)
_SIZE: Final = re.compile(r"^node (\d{1,5}) size: (\d{1,12}) MB$", re.MULTILINE)
_ROW: Final = re.compile(r"^ *(\d{1,5}):((?: +\d{1,5})+) *$", re.MULTILINE)


def numactl_nodes(text: str) -> tuple[Node, ...]:
    """Return the nodes, without those that have no memory; empty if the text names none."""
    sizes = {int(number): int(size) << 20 for number, size in _SIZE.findall(text)}
    return tuple(
        Node(
            int(number),
            frozenset(int(cpu) for cpu in cpus.split() if int(cpu) < MOST_CPUS),
            sizes.get(int(number), 0),
        )
        for number, cpus in _CPUS.findall(text)
        if sizes.get(int(number)) != 0
    )


def numactl_distances(text: str, nodes: tuple[Node, ...]) -> tuple[tuple[int, ...], ...]:
    """Return the distances between the nodes; empty if a row is missing or of another length."""
    rows = {int(number): [int(one) for one in row.split()] for number, row in _ROW.findall(text)}
    numbers = sorted(rows)
    if any(len(row) != len(numbers) for row in rows.values()):
        return ()
    if any(node.number not in rows for node in nodes):
        return ()
    places = [numbers.index(node.number) for node in nodes]
    return tuple(tuple(rows[node.number][place] for place in places) for node in nodes)


PARSER: Final = Parser(
    kinds=(
        Kind(
            "numactl -H",
            r"available: \d+ nodes? \(",
            files=("numactl",),
            command="numactl --hardware",
            folder="numa",
            also=("hardware/numactl_--hardware",),
        ),
    )
)
