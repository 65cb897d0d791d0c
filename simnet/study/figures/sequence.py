"""Sequence numbers over time, as tcptrace draws them."""

from bisect import bisect_left
from dataclasses import dataclass
from typing import Final

from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from simnet.study.figures.style import wrapped
from simnet.study.sequence.capture import Capture, summary
from simnet.study.sequence.connections import AGAIN, LATE, SENT, Acked, Direction, Pause, Segment

_MOST_SEGMENTS: Final = 2000
_FEW_SEGMENTS: Final = 40
_TITLE_COLUMNS: Final = 130
_KIB: Final = 1 << 10
_FEW_BYTES: Final = 8 << 10
_MS: Final = 1000
_LEAST_S: Final = 1e-4
_SIZE: Final = (11.0, 4.5)
# colours that the common kinds of colour blindness tell apart (Okabe and Ito, 2008)
_COLOURS: Final = {SENT: "#0072b2", AGAIN: "#d55e00", LATE: "#cc79a7"}
_PAUSE: Final = "#d55e00"
# of the time that is drawn: a pause that is worth a mark
_LONG: Final = 0.15
_ACK, _WINDOW, _SACK = "#009e73", "#999999", "#e69f00"


@dataclass(frozen=True)
class _Scale:
    """Where a byte at a time is in the picture: ms from the capture's first segment, and bytes."""

    start_s: float
    unit: int

    def x(self, time_s: float) -> float:
        return (time_s - self.start_s) * _MS

    def bar(self, time_s: float, low: int, high: int) -> list[tuple[float, float]]:
        time = self.x(time_s)
        return [(time, low / self.unit), (time, high / self.unit)]


def time_sequence(capture: Capture, number: int = 0) -> Figure:
    """One way of a connection: each segment a bar from its first byte to its last.

    Below are the acknowledged bytes, above is what the receiver has room for. Beside it stands a
    part in which segments can be told apart: around what was sent again, or the longest pause.
    """
    way = capture.directions[number]
    middle = _middle(way)
    few = max(one.end for one in way.segments) < _FEW_BYTES
    scale = _Scale(capture.start_s, 1 if few else _KIB)
    figure = Figure(figsize=_SIZE, layout="constrained")
    panels = figure.subplots(1, 2 if len(way.segments) > _FEW_SEGMENTS else 1, squeeze=False)[0]
    for axes, most in zip(panels, (_MOST_SEGMENTS, _FEW_SEGMENTS), strict=False):
        _draw(axes, way, _around(way, middle, most), scale)
    panels[0].set_ylabel(f"sequence number ({'bytes' if few else 'KiB'})")
    figure.suptitle(wrapped(summary(way), _TITLE_COLUMNS), fontsize="medium", x=0.01, ha="left")
    if len(panels) > 1:
        panels[1].set_title("a part of it", fontsize="small", loc="left")
    panels[-1].legend(loc="lower right", fontsize="small")
    return figure


def _draw(axes: Axes, way: Direction, segments: list[Segment], scale: _Scale) -> None:
    begin, end = segments[0].time_s, segments[-1].time_s
    spare = max(0.05 * (end - begin), _LEAST_S)
    acked = [one for one in way.acked if begin - spare <= one.time_s <= end + spare]
    low, high = segments[0].start, max(one.end for one in segments)
    margin = 0.05 * (high - low)
    _answers(axes, way, acked, scale, high + 4 * margin)
    for kind, colour in _COLOURS.items():
        bars = [scale.bar(one.time_s, one.start, one.end) for one in segments if one.kind == kind]
        if bars:
            lines = LineCollection(bars, colors=colour, linewidths=2, label=kind, zorder=3)
            axes.add_collection(lines)
    pause = way.pause()
    if (
        pause is not None
        and begin <= pause.start_s <= end
        and pause.seconds > _LONG * (end - begin)
    ):
        _mark(axes, pause, way, scale)
    axes.set_xlim(scale.x(begin - spare), scale.x(end + spare))
    axes.set_ylim((low - margin) / scale.unit, (high + 4 * margin) / scale.unit)
    axes.set_xlabel("time (ms)")
    axes.spines[["top", "right"]].set_visible(False)


def _mark(axes: Axes, pause: Pause, way: Direction, scale: _Scale) -> None:
    """Draw how long nothing was sent."""
    height = max(one.end for one in way.segments if one.time_s <= pause.start_s) / scale.unit
    first, last = scale.x(pause.start_s), scale.x(pause.start_s + pause.seconds)
    ends = {"arrowstyle": "<->", "color": _PAUSE, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", (last, height), (first, height), arrowprops=ends)
    axes.annotate(
        f"{pause.seconds * _MS:.3g} ms without data",
        ((first + last) / 2, height),
        xytext=(0, 4),
        textcoords="offset points",
        ha="center",
        fontsize="small",
        color=_PAUSE,
    )


def _answers(axes: Axes, way: Direction, acked: list[Acked], scale: _Scale, top: float) -> None:
    """Draw what the receiver said; `top` is the end of the picture, in bytes."""
    times = [scale.x(one.time_s) for one in acked]
    lines = [("acknowledged", _ACK, [one.ack for one in acked])]
    if way.scaled and min((one.edge for one in acked), default=top) < top:
        lines.append(("end of the window", _WINDOW, [one.edge for one in acked]))
    for label, colour, numbers in lines:
        places = [number / scale.unit for number in numbers]
        axes.step(times, places, where="post", color=colour, linewidth=1, label=label)
    blocks = [scale.bar(one.time_s, low, high) for one in acked for low, high in one.sack]
    if blocks:
        axes.add_collection(LineCollection(blocks, colors=_SACK, linewidths=1, label="SACK"))


def _middle(way: Direction) -> int:
    """The number of the most interesting segment."""
    again = next((n for n, one in enumerate(way.segments) if one.kind == AGAIN), None)
    pause = way.pause()
    if again is not None or pause is None:
        return again or 0
    return bisect_left([one.time_s for one in way.segments], pause.start_s)


def _around(way: Direction, middle: int, most: int) -> list[Segment]:
    first = max(min(middle - most // 2, len(way.segments) - most), 0)
    return way.segments[first : first + most]
