"""Receive queues of ports in the picture of a machine, with the CPUs of their interrupts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from matplotlib.patches import Patch

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_ROWS: Final = 16
_NEAR: Final = "#7fd1b3"
_FAR: Final = "#f5b183"
_INK: Final = "#000000"  # the boxes are light, whatever the page is
_FIRST: Final = 0.85
_MOST_RANGES: Final = 3
ROW: Final = 0.42


class QueueRow(NamedTuple):
    """Queues of a port, one or several that follow each other."""

    label: str  # their numbers, and the CPUs that their interrupts may go to
    near: bool  # whether all these CPUs are of the port's node


def queue_rows(port: Mapping[str, Any], cpus_per_node: int) -> list[QueueRow]:
    """Every receive queue of a port of a `configuration`; of more than 16, several in a row.

    A queue without a mask of its own has the port's.
    """
    masks = [tuple(one) or tuple(port["smp_affinity"]) for one in port["queue_affinity"]]
    masks = masks or [tuple(port["smp_affinity"])]
    each = -(-len(masks) // _MOST_ROWS)
    rows = []
    for first in range(0, len(masks), each):
        bundle = masks[first : first + each]
        cpus = sorted({cpu for mask in bundle for cpu in mask})
        last = first + len(bundle) - 1
        number = f"q{first}" if last == first else f"q{first}-{last}"
        near = all(cpu // cpus_per_node == port["node"] for cpu in cpus)
        rows.append(QueueRow(f"{number}: CPU {_ranges(cpus)}", near))
    return rows


def draw_queues(
    axes: Axes, rows: Sequence[QueueRow], place: tuple[float, float], side: int
) -> None:
    """Write rows beyond a port, upwards (`side` 1) or downwards (-1)."""
    x, y = place
    for number, row in enumerate(rows):
        at = y + side * (_FIRST + number * ROW)
        box = {"boxstyle": "round,pad=0.15", "facecolor": _NEAR if row.near else _FAR, "lw": 0}
        axes.text(x, at, row.label, ha="center", va="center", fontsize=7, color=_INK, bbox=box)
        axes.update_datalim([(x, at + side * ROW)])
    axes.autoscale_view()


def queue_legend() -> list[Patch]:
    """What the colours of the boxes mean."""
    text = "receive queue, its interrupt on CPUs of"
    return [
        Patch(color=_NEAR, label=f"{text} the port's node"),
        Patch(color=_FAR, label=f"{text} other nodes, too"),
    ]


def _ranges(cpus: Sequence[int]) -> str:
    """As `smp_affinity_list` shows it, shortened after three ranges."""
    ranges: list[list[int]] = []
    for cpu in cpus:
        if ranges and cpu == ranges[-1][1] + 1:
            ranges[-1][1] = cpu
        else:
            ranges.append([cpu, cpu])
    named = [f"{one}" if one == last else f"{one}-{last}" for one, last in ranges]
    return ",".join(named[:_MOST_RANGES]) + (",..." if len(named) > _MOST_RANGES else "")
