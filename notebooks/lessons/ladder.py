"""The picture of a conversation: two ends as vertical lines, every segment an arrow between them.

segments = record(run)  # a `simnet.study.conform.tcp_path.TcpPath`, before it runs
run.run_for(100 * MS)
ladder(segments, axes)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from matplotlib.figure import Figure

from lessons.drawing import BLUE, ORANGE
from simnet.net.link.skb import SkbQueue
from simnet.study.figures.style import ink
from simnet.time_units import PS_PER_MS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from simnet.net.link.lossy_path import LossyPath
    from simnet.net.link.skb import Skb
    from simnet.study.conform.tcp_path import TcpPath

_LEFT: Final = 0.0
_RIGHT: Final = 1.0
# a lost segment's arrow ends there
_LOST: Final = 0.7
_QUIET_COLOUR: Final = "#88888830"
# of the time shown: labels that are closer would lie on each other
_CLOSE: Final = 0.01
_DATA_WIDTH: Final = 1.6
_ACK_WIDTH: Final = 0.8
# for the labels, beside the lines
_MARGIN: Final = 0.75
# of the time shown: the first label is not in the title
_ABOVE: Final = 0.02
_SIZE_INCHES: Final = (6.0, 7.0)


@dataclass
class Segment:
    """A segment on its way.

    Attributes:
        from_left: whether the left end sent it.
        sent_ps: when it was sent.
        arrived_ps: when its last bit came; None while it is under way, and if it is lost.
        seq, end_seq: payload; equal for a pure ACK.
        ack: acknowledgement number.
    """

    from_left: bool
    sent_ps: int
    arrived_ps: int | None
    seq: int
    end_seq: int
    ack: int

    @property
    def payload_bytes(self) -> int:
        """Its length, 0 for a pure ACK."""
        return self.end_seq - self.seq


def record(run: TcpPath) -> list[Segment]:
    """Take note of all segments from now on; the list grows while `run` goes on.

    What a full queue drops is not in it. An element before the right end stays in its place.
    """
    segments: list[Segment] = []
    for path, from_left in ((run.forward, True), (run.backward, False)):
        tap = _Tap(path, segments, from_left=from_left)
        path.numbers = path.element = tap
    return segments


class _Tap:
    """Stands where a path's frames are numbered, and again where they arrive."""

    def __init__(self, path: LossyPath, segments: list[Segment], *, from_left: bool) -> None:
        self.sim = path.sim
        self.numbers: Any = path.numbers
        self.element: Any = path.element
        self.ready = SkbQueue() if path.element is None else path.element.ready
        self.segments = segments
        self.from_left = from_left
        self.flying: dict[Skb, Segment] = {}

    def number(self, skb: Skb) -> None:
        # the acknowledgement is filled in before the path gets a segment
        segment = Segment(self.from_left, self.sim.now, None, skb.seq, skb.end_seq, skb.ack)
        self.segments.append(segment)
        self.flying[skb] = segment
        if self.numbers is not None:
            self.numbers.number(skb)

    def arrive(self, skb: Skb) -> None:
        self.flying.pop(skb).arrived_ps = self.sim.now
        if self.element is None:
            self.ready.append(skb)
        else:
            self.element.arrive(skb)


def ladder(
    segments: Sequence[Segment],
    axes: Axes | None = None,
    *,
    until_ms: float | None = None,
    quiet_ms: float = 5.0,
) -> Figure:
    """Arrows from one end's line to the other's; time goes down, in ms of simulated time.

    Data is blue and has its length beside it, pure ACKs are yellow with what they acknowledge; what
    never arrives ends in a cross. A grey band is a time of at least `quiet_ms` in which neither end
    sends and nothing is under way. Without `axes` a figure of its own is made, outside of pyplot.
    """
    if axes is None:
        axes = Figure(figsize=_SIZE_INCHES, layout="constrained").subplots()
    end = max((one.arrived_ps or one.sent_ps for one in segments), default=0) / PS_PER_MS
    end = end if until_ms is None else until_ms
    shown = [one for one in segments if one.sent_ps / PS_PER_MS < end]
    for first, last in quiet_times(shown, quiet_ms):
        axes.axhspan(first, last, color=_QUIET_COLOUR, zorder=0)
        axes.text(
            0.5, (first + last) / 2, f"nothing for {last - first:.1f} ms", ha="center", va="center"
        )
    # data over ACKs where they leave together
    for one in sorted(shown, key=lambda one: one.payload_bytes > 0):
        _arrow(axes, one)
    for group in together(shown, _CLOSE * end):
        _label(axes, group)
    for place in (_LEFT, _RIGHT):
        axes.axvline(place, color=ink(), linewidth=1.2)
    axes.set_xticks([_LEFT, _RIGHT], ["sender", "receiver"])
    axes.set_xlim(_LEFT - _MARGIN, _RIGHT + _MARGIN)
    axes.set_ylim(end or 1.0, -_ABOVE * end)
    axes.set_xlabel("end of the connection (arrows: segments)")
    axes.set_ylabel("time since the start (ms)")
    axes.spines[["top", "right", "bottom"]].set_visible(False)
    axes.tick_params(axis="x", length=0)
    return cast("Figure", axes.get_figure(root=True))


def _arrow(axes: Axes, one: Segment) -> None:
    colour = BLUE if one.payload_bytes else ORANGE
    width = _DATA_WIDTH if one.payload_bytes else _ACK_WIDTH
    start, end = (_LEFT, _RIGHT) if one.from_left else (_RIGHT, _LEFT)
    sent = one.sent_ps / PS_PER_MS
    if one.arrived_ps is None:
        end = start + _LOST * (end - start)
        axes.plot([start, end], [sent, sent], color=colour)
        axes.plot([end], [sent], "x", color=colour)
    else:
        axes.annotate(
            "",
            (end, one.arrived_ps / PS_PER_MS),
            (start, sent),
            arrowprops={
                "arrowstyle": "-|>",
                "color": colour,
                "lw": width,
                "shrinkA": 0,
                "shrinkB": 0,
            },
        )


def _label(axes: Axes, together: list[Segment]) -> None:
    """What segments that leave together carry, beside where they leave."""
    (first, *_) = together
    data = any(one.payload_bytes for one in together)
    axes.annotate(
        ", ".join(
            f"{one.payload_bytes} B" if one.payload_bytes else f"ACK {one.ack}" for one in together
        ),
        (_LEFT if first.from_left else _RIGHT, first.sent_ps / PS_PER_MS),
        (-6 if first.from_left else 6, 0),
        textcoords="offset points",
        ha="right" if first.from_left else "left",
        va="center",
        fontsize="x-small",
        color=BLUE if data else ORANGE,
    )


def together(segments: Sequence[Segment], close_ms: float) -> list[list[Segment]]:
    """Segments of one end whose labels would lie on each other."""
    groups: list[list[Segment]] = []
    for from_left in (True, False):
        last_ms = float("-inf")
        for one in segments:
            if one.from_left != from_left:
                continue
            sent_ms = one.sent_ps / PS_PER_MS
            if sent_ms - last_ms > close_ms:
                groups.append([])
                last_ms = sent_ms
            groups[-1].append(one)
    return groups


def quiet_times(segments: Sequence[Segment], least_ms: float) -> list[tuple[float, float]]:
    """Times of at least so many ms between the last arrival and the next departure."""
    found = []
    busy_until = 0.0
    for one in sorted(segments, key=lambda one: one.sent_ps):
        sent = one.sent_ps / PS_PER_MS
        if sent - busy_until >= least_ms:
            found.append((busy_until, sent))
        busy_until = max(busy_until, (one.arrived_ps or one.sent_ps) / PS_PER_MS)
    return found
