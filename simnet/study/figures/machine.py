"""The picture of a machine: nodes, links, buses, sockets, memory, ports and queues as a graph."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeAlias, cast

import networkx as nx
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from simnet.study.figures.queues import draw_queues, queue_legend, queue_rows

_Graph: TypeAlias = "nx.Graph[str]"


class _Look(NamedTuple):
    """How parts of one kind are drawn; sizes in square points."""

    label: str
    colour: str
    shape: str
    size: int


# colours that the common kinds of colour blindness tell apart (Okabe and Ito, 2008)
_PARTS: Final = {
    "node": _Look("node: north bridge, joins all parts", "#cccccc", "s", 1500),
    "bus": _Look("front-side bus", "#999999", "o", 60),
    "socket": _Look("socket, with its logical CPUs", "#56b4e9", "s", 1100),
    "memory": _Look("memory of the node", "#009e73", "s", 1100),
    "port": _Look("NIC port", "#e69f00", "o", 900),
}
_LINK: Final = "link between nodes"
_LINK_COLOUR: Final = "#d55e00"
_WIRE_COLOUR: Final = "#666666"
_LINK_WIDTH: Final = 4.0
_WIRE_WIDTH: Final = 1.2
_BITS_PER_GB: Final = 8e9
_SIZE_INCHES: Final = (10.0, 7.0)
_ROW_INCHES: Final = 0.3
# distances in a drawing: between the middles of nodes, and from there to buses, sockets, ports
_APART: Final = (5.2, 6.2)
_BUS: Final = 2.6
_SOCKET: Final = 4.4
_SOCKETS_APART: Final = 1.35
_ABOVE: Final = 2.3
_PORTS_APART: Final = 1.5


def machine_graph(configuration: Mapping[str, Any]) -> _Graph:
    """The parts of the system under test and what joins them, from a result's `configuration`.

    Every part has a `kind`: node, bus, socket, memory or port; `node`, the number of the node to
    which it belongs; and `label`. A port has `queues`, see `queue_rows`. Edges have a `kind` (link,
    bus, memory or io) and `bandwidth_bps`.
    """
    host = configuration["host"]
    machine, cpu = host["machine"], host["cpu"]
    cpus = cpu["cores_per_socket"] * cpu["threads_per_core"]
    sockets = machine["sockets_per_node"]
    size_gib = machine["memory_per_node_bytes"] / 2**30
    per_bus = sockets // machine["buses_per_node"] or 1
    graph: _Graph = nx.Graph()

    def join(part: str, to: str, kind: str) -> None:
        graph.add_edge(part, to, kind=kind, bandwidth_bps=machine[f"{kind}_bandwidth_bps"])

    for node in range(machine["nodes"]):
        middle = f"node {node}"
        graph.add_node(middle, kind="node", node=node, label=middle)
        memory = f"{middle} memory"
        graph.add_node(memory, kind="memory", node=node, label=f"memory\n{size_gib:.0f} GiB")
        join(memory, middle, "memory")
        for number in range(sockets):
            bus, socket = f"{middle} bus {number // per_bus}", f"{middle} socket {number}"
            first = (node * sockets + number) * cpus
            label = f"CPU\n{first}-{first + cpus - 1}" if cpus > 1 else f"CPU\n{first}"
            graph.add_node(bus, kind="bus", node=node, label="")
            graph.add_node(socket, kind="socket", node=node, label=label)
            join(bus, middle, "bus")
            join(socket, bus, "bus")
    for port in host["ports"]:
        rows = queue_rows(port, sockets * cpus)
        name = port["name"]
        graph.add_node(name, kind="port", node=port["node"], label=name, queues=rows)
        join(port["name"], f"node {port['node']}", "io")
    for one, other in machine["links"]:
        join(f"node {one}", f"node {other}", "link")
    return graph


def topology(configuration: Mapping[str, Any], axes: Axes | None = None) -> Figure:
    """Draw the `machine_graph` of a result's `configuration`.

    Without `axes` a figure of its own is made, outside of pyplot, so no display is needed.
    """
    graph = machine_graph(configuration)
    places = _places(graph)
    if axes is None:
        width, height = _SIZE_INCHES
        rows = max((len(graph.nodes[port]["queues"]) for port in _of(graph, "port")), default=0)
        figure = Figure(figsize=(width, height + _ROW_INCHES * rows), layout="constrained")
        axes = figure.subplots()
    for link in (True, False):
        nx.draw_networkx_edges(
            graph,
            places,
            ax=axes,
            edgelist=[
                pair for pair in graph.edges if (graph.edges[pair]["kind"] == "link") == link
            ],
            width=_LINK_WIDTH if link else _WIRE_WIDTH,
            edge_color=_LINK_COLOUR if link else _WIRE_COLOUR,
        )
    for kind, look in _PARTS.items():
        nx.draw_networkx_nodes(
            graph,
            places,
            ax=axes,
            nodelist=_of(graph, kind),
            node_color=look.colour,
            node_shape=look.shape,
            node_size=look.size,
        )
    labels = {part: str(graph.nodes[part]["label"]) for part in graph}
    nx.draw_networkx_labels(graph, places, labels, ax=axes, font_size=7)
    for port in _of(graph, "port"):
        middle = places[f"node {graph.nodes[port]['node']}"]
        side = 1 if places[port][1] > middle[1] else -1
        draw_queues(axes, graph.nodes[port]["queues"], places[port], side)
    axes.set_title(_sentence(configuration, graph), fontsize="medium", loc="left")
    axes.legend(
        handles=[*_legend(graph), *queue_legend()],
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        ncols=3,
        fontsize="small",
        frameon=False,
    )
    axes.set_aspect("equal")
    axes.margins(0.05)
    axes.set_axis_off()
    return cast("Figure", axes.get_figure(root=True))


def _of(graph: _Graph, kind: str, node: int | None = None) -> list[str]:
    parts = graph.nodes
    return [
        part
        for part in graph
        if parts[part]["kind"] == kind and (node is None or parts[part]["node"] == node)
    ]


def _places(graph: _Graph) -> dict[str, tuple[float, float]]:
    """Nodes around a rectangle, first at the top left; the parts of each on its outer side."""
    middles = _of(graph, "node")
    rows = (len(middles) + 1) // 2
    places: dict[str, tuple[float, float]] = {}
    for node, middle in enumerate(middles):
        right = 0 < node <= rows
        row = node - 1 if right else -node % len(middles)
        side, up = (1 if right else -1), (1 if row < rows / 2 else -1)
        x, y = side * _APART[0] / 2, -row * _APART[1]
        places[middle] = (x, y)
        buses, sockets = _of(graph, "bus", node), _of(graph, "socket", node)
        for height, socket in zip(_spread(len(sockets), _SOCKETS_APART), sockets, strict=True):
            places[socket] = (x + side * _SOCKET, y + height)
        for bus in buses:
            heights = [places[one][1] for one in graph.neighbors(bus) if one in sockets]
            places[bus] = (x + side * _BUS, sum(heights) / len(heights))
        ports, memory = _of(graph, "port", node), _of(graph, "memory", node)
        above = [*ports, *memory] if right else [*memory, *ports]
        for along, part in zip(_spread(len(above), _PORTS_APART), above, strict=True):
            places[part] = (x - along, y + up * _ABOVE)
    return places


def _spread(count: int, apart: float) -> list[float]:
    """Evenly around 0, largest first."""
    return [((count - 1) / 2 - number) * apart for number in range(count)]


def _legend(graph: _Graph) -> list[Line2D]:
    rates = {data["kind"]: data["bandwidth_bps"] for _, _, data in graph.edges(data=True)}
    handles = [
        Line2D([], [], color=look.colour, marker=look.shape, linestyle="", label=look.label)
        for kind, look in _PARTS.items()
        if kind != "bus"
    ]
    for kind, label, colour, width in (
        ("bus", _PARTS["bus"].label, _WIRE_COLOUR, _WIRE_WIDTH),
        ("link", _LINK, _LINK_COLOUR, _LINK_WIDTH),
    ):
        if kind in rates:
            named = f"{label}, {rates[kind] / _BITS_PER_GB:.1f} GB/s"
            handles.append(Line2D([], [], color=colour, linewidth=width, label=named))
    return handles


def _sentence(configuration: Mapping[str, Any], graph: _Graph) -> str:
    host = configuration["host"]
    cpu = host["cpu"]
    sockets = len(_of(graph, "socket"))
    cpus = sockets * cpu["cores_per_socket"] * cpu["threads_per_core"]
    counts = {"node": len(_of(graph, "node")), "socket": sockets, "logical CPU": cpus}
    counts["port"] = len(_of(graph, "port"))
    named = (f"{count} {name}{'s' if count != 1 else ''}" for name, count in counts.items())
    return f"{host['name']}: {', '.join(named)}"
