"""Packets of one queue: they come, wait in the ring, a poll takes them; a picture that plays.

What a CPU does is drawn below them. See `lessons.moving` for how a picture plays.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from typing import Any, Final

from lessons.drawing import BLUE, GREEN, ORANGE, VERMILION
from lessons.moving import PLAYED, Moving
from simnet.scenario.core.load import load
from simnet.scenario.system.build import build

_US: Final = 10**6
_MS: Final = 10**9
_START_PS: Final = 5 * _MS
_LOOKS: Final = {"hard interrupt": VERMILION, "softirq": ORANGE, "system": BLUE, "user": GREEN}
# in pixels
_WIDTH: Final = 800
_HEIGHT: Final = 232
_LEFT, _RIGHT = 60, 780
_WIRE, _RING, _CPU, _AXIS = 44, 146, 166, 212
_THICK: Final = 24
# of packets in the ring, and of all of them
_APART, _HIGH = 8.0, 90.0
# from the wire to the ring, and from there to the CPU
_STEP_US: Final = 3.0
_TICKS: Final = 5


@dataclass(frozen=True)
class Polls:
    """What happened at a queue, in us from the start.

    Attributes:
        packets: when each came, when a poll took it, and how many were there before it.
        spans: what the CPU of the polls did: what, from, to.
        until_us: length of the whole.
    """

    packets: Sequence[tuple[float, float, int]]
    spans: Sequence[tuple[str, float, float]]
    until_us: float


class _Seen:
    """Takes note of what a simulation reports: a tracer, and the capture of a queue."""

    def __init__(self, ring: str) -> None:
        self.ring = ring
        self.fills: list[tuple[int, int]] = []
        self.spans: dict[str, list[tuple[str, int, int]]] = {}
        self.arrived: list[int] = []

    def span(self, track: str, name: str, start_ps: int, end_ps: int) -> None:
        """Something that a CPU did."""
        self.spans.setdefault(track, []).append((name.partition(":")[0], start_ps, end_ps))

    def counter(self, track: str, _: str, time_ps: int, value: int) -> None:
        """The ring's fill."""
        if track == self.ring:
            self.fills.append((time_ps, value))

    def instant(self, *_: object) -> None:
        """Nothing that is drawn."""

    def frame(self, _: object, time_ps: int, out: bool) -> None:  # noqa: FBT001 (from compiled code)
        """A frame is in the queue."""
        if not out:
            self.arrived.append(time_ps)

    def packets(self) -> list[tuple[int, int, int]]:
        """When each came and was taken, and how many were there before it; first come, first."""
        took: list[int] = []
        arrived = sorted(self.arrived)
        for time_ps, fill in sorted(self.fills):
            taken = bisect_right(arrived, time_ps) - fill
            took += [time_ps] * (taken - len(took))
        return [
            (came, over, number - bisect_right(took, came))
            for number, (came, over) in enumerate(zip(arrived, took, strict=False))
        ]


def watched(
    scenario: str,
    tunings: Sequence[str] = (),
    *,
    settings: Mapping[str, str],
    queue: int = 0,
    until_us: float = 450,
) -> Polls:
    """Simulate, and watch a queue of the first port from 5 ms on."""
    probe: Any = build(load(scenario, tunings=tunings, settings=settings), seed=1)
    seen = _Seen(probe.nics[0].queues[queue].path)
    system: Any = build(load(scenario, tunings=tunings, settings=settings), seed=1, tracer=seen)
    system.nics[0].queues[queue].capture = seen
    # what is under way at the end is taken, too
    system.run(_START_PS + round(2 * until_us * _US))
    packets = [
        (_us(came), _us(took), place)
        for came, took, place in seen.packets()
        if took > _START_PS and _us(came) < until_us
    ]
    spans = [
        (what, _us(start), min(_us(end), until_us))
        for what, start, end in _worker(seen)
        if what in _LOOKS and _us(end) > 0 and _us(start) < until_us
    ]
    return Polls(packets, spans, until_us)


def _us(time_ps: int) -> float:
    return max((time_ps - _START_PS) / _US, 0.0)


def _worker(seen: _Seen) -> list[tuple[str, int, int]]:
    """What the CPU did on which packets were taken, or, if all work all the time, one."""
    took = sorted({took for _, took, _ in seen.packets()})

    def polls(spans: list[tuple[str, int, int]]) -> int:
        inside = [one for one in spans if one[0] != "user"]
        return sum(bisect_right(took, end) - bisect_left(took, start) for _, start, end in inside)

    return max(seen.spans.values(), key=polls)


def playing(found: Polls, *, title: str = "", seconds: float = 15.0) -> Moving:
    """Draw packets as dots on their way from the wire to the ring and to the CPU."""
    key = sha256(f"{title}{seconds}{found}".encode()).hexdigest()[:8]
    name = f"polls-{key}"
    time = f"{seconds:g}s linear infinite"
    way = _RIGHT - _LEFT
    rules = [
        f".{name} .dot{{opacity:0}}",
        f".{name} .now{{animation:{name}-now {time}}}",
        (
            f"@keyframes {name}-now{{0%{{transform:translateX(0)}}"
            f"{100 * PLAYED:g}%,100%{{transform:translateX({way}px)}}}}"
        ),
    ]
    dots, trails = [], []
    apart = min(_APART, _HIGH / max(1, *(place for _, _, place in found.packets), 1))
    for number, (came, took, place) in enumerate(found.packets):
        stops = _stops(came, took, apart * place, found.until_us)
        points = " ".join(f"{x:.1f},{y:.1f}" for _, x, y in stops)
        trails.append(f'<polyline points="{points}" fill="none" stroke="#bbbbbb"/>')
        dots.append(f'<circle class="dot d{number}" r="3.5" fill="#333333"/>')
        rules += _travels(name, number, stops, time)
    rules += [
        f".{name}:hover *{{animation-play-state:paused!important}}",
        (
            f"@media (prefers-reduced-motion:reduce){{.{name} *{{animation:none!important}}"
            f".{name} .later{{display:none}}}}"
        ),
    ]
    cover = f'<rect class="now later" x="{_LEFT}" y="{_CPU - 1}" width="{way + 30}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{name}" role="img"',
        f' viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}"',
        ' font-family="sans-serif" font-size="11">',
        f"<title>{escape(title or 'a queue and its polls')}</title>",
        "<style>" + "\n".join(rules) + "</style>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        f'<text x="{_LEFT}" y="16" font-size="13">{escape(title)}</text>',
        *_legend(),
        *_axes(found.until_us),
        *trails,
        *(_bar(span, found.until_us) for span in found.spans),
        f'{cover} height="{_THICK + 2}" fill="white" fill-opacity="0.85"/>',
        *dots,
        (
            f'<line class="now" x1="{_LEFT}" x2="{_LEFT}" y1="28" y2="{_AXIS - 12}"'
            f' stroke="{VERMILION}"/>'
        ),
        "</svg>",
    ]
    return Moving("\n".join(parts))


_Stop = tuple[float, float, float]


def _stops(came: float, took: float, above: float, until_us: float) -> list[_Stop]:
    """When a packet is where, in us and pixels; what is later than the end is left out."""
    ring = _RING - above
    lands = min(came + _STEP_US, took)
    places = [(came, _WIRE), (lands, ring), (took, ring), (took + _STEP_US, _CPU)]
    return [(at, _x(min(at, until_us), until_us), y) for at, y in places if at <= until_us]


def _travels(name: str, number: int, stops: Sequence[_Stop], time: str) -> list[str]:
    """The rules of a dot that is seen from its first stop to its last."""
    # the axis shows the whole
    whole = (_RIGHT - _LEFT) / (100 * PLAYED)
    frames = [
        f"{(x - _LEFT) / whole:.3f}%{{transform:translate({x:.1f}px,{y:.1f}px);opacity:1}}"
        for _, x, y in stops
    ]
    first, last = ((x - _LEFT) / whole for _, x, _ in (stops[0], stops[-1]))
    start = f"transform:translate({stops[0][1]:.1f}px,{stops[0][2]:.1f}px)"
    before = f"0%,{max(first - 0.01, 0):.3f}%{{{start};opacity:0}}"
    return [
        f".{name} .d{number}{{animation:{name}-d{number} {time}}}",
        (
            f"@keyframes {name}-d{number}{{{before}{''.join(frames)}"
            f"{last + 0.01:.3f}%,100%{{opacity:0}}}}"
        ),
    ]


def _x(us: float, until_us: float) -> float:
    return _LEFT + (_RIGHT - _LEFT) * us / until_us


def _bar(span: tuple[str, float, float], until_us: float) -> str:
    what, start, end = span
    x, width = _x(start, until_us), _x(end, until_us) - _x(start, until_us)
    return (
        f'<rect class="bar" x="{x:.1f}" y="{_CPU}" width="{width:.1f}" height="{_THICK}"'
        f' fill="{_LOOKS[what]}"/>'
    )


def _legend() -> list[str]:
    found = []
    for number, (what, colour) in enumerate(_LOOKS.items()):
        x = _RIGHT - 100 * (len(_LOOKS) - number)
        found.append(
            f'<rect x="{x}" y="7" width="10" height="10" fill="{colour}"/>'
            f'<text x="{x + 14}" y="16">{what}</text>'
        )
    return found


def _axes(until_us: float) -> list[str]:
    found = [
        f'<text x="{_LEFT - 8}" y="{y + 4}" text-anchor="end">{text}</text>'
        for y, text in ((_WIRE, "wire"), (_RING, "ring"), (_CPU + _THICK / 2, "CPU"))
    ]
    found += [
        f'<line x1="{_LEFT}" x2="{_RIGHT}" y1="{y}" y2="{y}" stroke="#dddddd"/>'
        for y in (_WIRE, _RING)
    ]
    for tick in range(_TICKS + 1):
        at = until_us * tick / _TICKS
        unit = " us" if tick == _TICKS else ""
        found.append(
            f'<text x="{_x(at, until_us):.1f}" y="{_AXIS}" text-anchor="middle" fill="#555555">'
            f"{at:g}{unit}</text>"
        )
    return found
