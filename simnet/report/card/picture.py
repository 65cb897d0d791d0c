"""A card as a picture: the machine before and after, the numbers, what to type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from matplotlib.figure import Figure

from simnet.report.card.card import short
from simnet.report.columns import aligned
from simnet.study.figures.style import wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure

    from simnet.report.card.card import Card
    from simnet.scenario.core.effective import Effective

_WIDTH: Final = 10.0
_LETTERS: Final = 80
_LINE_INCHES: Final = 0.155
_TITLE_INCHES: Final = 0.26
_MACHINE_INCHES: Final = 2.3
_MACHINES_INCHES: Final = 7.0
_DPI: Final = 160
_MOST_LETTERS: Final = 110
_GREY: Final = "#777777"
_INK: Final = "#000000"
# colours that the common kinds of colour blindness tell apart (Okabe and Ito, 2008)
_NODE: Final = "#a6d5f2"
_NEAR: Final = "#009e73"
_FAR: Final = "#d55e00"
_HALF: Final = 0.24
_AT_NODE: Final = 0.6
_LEGEND: Final = "an arrow: a port interrupts CPUs of a node; orange: of another node than its own"


class _Arrows(NamedTuple):
    """Ports, their nodes, and the nodes to whose CPUs their interrupts may go."""

    nodes: int
    drawn: tuple[tuple[str, int, int], ...]


def picture(card: Card) -> Figure:
    """Draw a card; without pyplot, so no display is needed."""
    title = wrapped(card.sentence, _LETTERS)
    blocks = [_text(card.of), _table(card), _text(card.why), _typed(card)]
    blocks = [one for one in blocks if one]
    drawn = _machines(card)
    lines = sum(one.count("\n") + 2 for one in blocks) + 1
    heights = [
        _TITLE_INCHES * (title.count("\n") + 2),
        *([_MACHINE_INCHES] if drawn else []),
        _LINE_INCHES * lines,
    ]
    figure = Figure(figsize=(_WIDTH, sum(heights)), dpi=_DPI, facecolor="white")
    grid = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)
    parts: list[SubFigure] = grid[:, 0].tolist()
    parts[0].text(0.03, 0.45, title, fontsize=13, fontweight="bold", va="center")
    if drawn:
        _both(parts[1], drawn)
    text = "\n\n".join([*blocks, card.foot])
    # a dollar would begin a formula
    text = text.replace("$", r"\$")
    parts[-1].text(0.03, 0.98, text, fontsize=8.5, va="top", family="monospace", color="#111111")
    return figure


def nodes(card: Card) -> Callable[[], Figure] | None:
    """What draws the nodes before and after alone; None where interrupts go to the same ones."""
    drawn = _machines(card)

    def draw() -> Figure:
        figure = Figure(figsize=(_MACHINES_INCHES, _MACHINE_INCHES))
        _both(figure, drawn or [])
        return figure

    return draw if drawn else None


def _both(figure: Figure | SubFigure, drawn: Sequence[_Arrows]) -> None:
    panels = figure.subplots(1, 2)
    for axes, arrows, said in zip(panels, drawn, ("before", "after"), strict=True):
        _draw(axes, arrows, said)
    figure.text(0.5, 0.02, _LEGEND, ha="center", fontsize=8, color=_GREY)


def _text(lines: tuple[str, ...]) -> str:
    return "\n".join(wrapped(line, _MOST_LETTERS) for line in lines)


def _table(card: Card) -> str:
    return aligned(card.numbers).rstrip("\n") if card.numbers else ""


def _typed(card: Card) -> str:
    """The first commands; a line that is too long ends with dots: a picture is not pasted."""
    return "\n".join(
        line if len(line) <= _MOST_LETTERS else f"{line[: _MOST_LETTERS - 4]} ..."
        for line in short(card.typed)
    )


def _machines(card: Card) -> list[_Arrows] | None:
    """The arrows before and after, where interrupts go to other nodes than before."""
    if card.before is None or card.after is None or card.before.host.machine.nodes == 1:
        return None
    drawn = [_arrows(one) for one in (card.before, card.after)]
    return drawn if drawn[0] != drawn[1] else None


def _arrows(effective: Effective) -> _Arrows:
    """From each port to each node that has a CPU to which an interrupt of its queues may go."""
    host = effective.host
    return _Arrows(
        host.machine.nodes,
        tuple(
            (port.name, port.node, host.node_of(cpu))
            for port in host.ports
            for mask in (port.queue_affinity or (port.smp_affinity,))
            for cpu in (mask or port.smp_affinity)
            if cpu in host.online
        ),
    )


def _draw(axes: Axes, arrows: _Arrows, title: str) -> None:
    """Draw nodes in a row, below each its ports, and where their interrupts go."""
    axes.set_title(title, loc="left", fontsize="medium", color=_GREY)
    for node in range(arrows.nodes):
        label: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 9, "color": _INK}
        axes.text(node, 1, f"node {node}\nCPUs", **label, bbox=_box(_NODE))
    names: dict[int, list[str]] = {}
    for name, node, _ in arrows.drawn:
        if name not in names.setdefault(node, []):
            names[node].append(name)
    for name, node, to in dict.fromkeys(arrows.drawn):
        place = node + _spread(names[node], name)
        axes.annotate(
            "",
            (to + (place - node) * _AT_NODE, 1 - _HALF),
            (place, _HALF),
            arrowprops={"arrowstyle": "->", "color": _NEAR if node == to else _FAR, "lw": 1.6},
        )
        axes.text(place, 0, name, ha="center", va="center", fontsize=7, rotation=90)
    axes.set_xlim(-0.6, arrows.nodes - 0.4)
    axes.set_ylim(-_HALF, 1 + _HALF)
    axes.set_axis_off()


def _spread(names: Sequence[str], name: str) -> float:
    """Where a port stands below its node, from the middle."""
    return 0.7 * ((names.index(name) + 0.5) / len(names) - 0.5)


def _box(colour: str) -> dict[str, Any]:
    return {"boxstyle": "round,pad=0.4", "facecolor": colour, "lw": 0}
