"""Where the interrupts of ports go: the machine as a graph, an arrow from each port to a CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import networkx as nx
from matplotlib.patches import Rectangle

from lessons.drawing import GREEN, ORANGE, heading

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from simnet.study.run.result import Result

_Place: TypeAlias = tuple[float, float]

# a ring of four nodes, seen from above
_NODES: Final[tuple[_Place, ...]] = ((0, 0), (11, 0), (11, -7), (0, -7))
# where in node 0 a CPU is drawn: on the side from which its interrupts come
_CPUS: Final[tuple[tuple[_Place, _Place], ...]] = (
    ((-0.9, 1.3), (-0.9, -0.7)),
    ((1.7, 1.9), (1.7, 0.6)),
    ((1.7, -0.7), (1.7, -2.0)),
    ((-1.3, -2.0), (0.2, -2.0)),
)
_CPU_COLOUR: Final = "#56b4e9"


def interrupt_map(result: Result, axes: Axes) -> None:
    """Draw which CPU serves each port of a machine of four nodes, two ports on each.

    All interrupts are on CPUs of node 0; ports of that node are green, the others orange.
    """
    host = result.configuration["host"]
    interrupts: nx.DiGraph[str] = nx.DiGraph()
    places: dict[str, _Place] = {}
    colours: dict[str, str] = {}
    for number, (port, column) in enumerate(zip(host["ports"], result.interrupts, strict=True)):
        name, node = port["name"], port["node"]
        x, y = _NODES[node]
        places[name] = (x + (2.5 if x else -2.5), y + 1.3 - 2.6 * (number % 2))
        colours[name] = ORANGE if node else GREEN
        for cpu in (f"CPU {cpu}" for cpu, rate in column.by_cpu.items() if rate):
            interrupts.add_edge(name, cpu)
            places[cpu], colours[cpu] = _CPUS[node][number % 2], _CPU_COLOUR
    _draw_nodes(host["machine"], axes)
    nx.draw_networkx(
        interrupts,
        places,
        ax=axes,
        node_color=[colours[name] for name in interrupts],
        node_size=900,
        font_size=8,
        edge_color="#444444",
        arrowsize=12,
    )
    away = sum(port["node"] != 0 for port in host["ports"])
    heading(
        axes,
        f"{away} of {len(host['ports'])} ports (orange) are served across a link (grey);"
        " only the green ones are at home.",
    )
    axes.set_aspect("equal")
    axes.set_axis_off()


def _draw_nodes(machine: dict[str, Any], axes: Axes) -> None:
    links: nx.Graph[int] = nx.Graph(machine["links"])
    nx.draw_networkx_edges(
        links, dict(enumerate(_NODES)), ax=axes, width=6, edge_color="#dddddd", node_size=9000
    )
    for node, (x, y) in enumerate(_NODES):
        axes.add_patch(
            Rectangle((x - 2.5, y - 2.7), 5, 5.4, facecolor="#f7f7f7", edgecolor="#666666")
        )
        axes.text(x + 2.5, y + 2.8, f"node {node}", fontsize="large", ha="right")
