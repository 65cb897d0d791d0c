"""A conversation that plays in a browser: time runs from left to right, segments between two lines.

moving(segments, until_ms=60)  # segments of `lessons.ladder.record`

It is an SVG with CSS animations and nothing else: no script, nothing from a network. Where
motion is not wanted (`prefers-reduced-motion`) all is shown at once, and the pointer stops it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from typing import Final

from lessons.drawing import BLUE, VERMILION
from lessons.ladder import Segment, quiet_times, together
from simnet.time_units import PS_PER_MS

# in pixels
_WIDTH: Final = 800
_HEIGHT: Final = 210
_LEFT, _RIGHT = 80, 780
_ABOVE, _BELOW = 60, 150
_AXIS: Final = 180
# of the time that it takes, the rest stands still at the end
PLAYED: Final = 0.92
# a dot appears and vanishes within so many percent of it
_AT_ONCE: Final = 0.01
# a lost segment's way ends there
_LOST: Final = 0.7
_TICKS: Final = 6
# width of a letter in a label, about
_LETTER: Final = 5.6
_GAP: Final = 4.0
# of the time shown: labels that are closer would lie on each other
_CLOSE: Final = 0.03
_COLOURS: Final = {True: BLUE, False: "#b37400"}


@dataclass(frozen=True)
class Moving:
    """A picture that plays."""

    svg: str  # its text, an element that stands in a page or in a file

    def _repr_html_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        """Say what a terminal cannot show."""
        return "a picture that plays; `svg` has its text"


def moving(
    segments: Sequence[Segment],
    *,
    until_ms: float,
    title: str = "",
    seconds: float = 12.0,
    quiet_ms: float = 5.0,
) -> Moving:
    """Draw segments as dots that travel from one end's line to the other's.

    Args:
        segments: data is blue, pure ACKs are brown.
        until_ms: how much of the simulated time is shown.
        title: stands above it.
        seconds: that it takes to play.
        quiet_ms: a grey band is a time of at least that in which nothing is under way.
    """
    shown = [one for one in segments if one.sent_ps < until_ms * PS_PER_MS]
    ways = [_Way(one, until_ms) for one in sorted(shown, key=lambda one: one.sent_ps)]
    key = sha256(f"{title}{until_ms}{seconds}{ways}".encode()).hexdigest()[:8]
    name = f"moving-{key}"
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="{name}" role="img"'
            f' viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}"'
            ' font-family="sans-serif" font-size="11">'
        ),
        f"<title>{escape(title or 'a conversation')}</title>",
        f"<style>{_style(name, ways, seconds)}</style>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        f'<text x="{_LEFT}" y="16" font-size="13">{escape(title)}</text>',
    ]
    for first, last in quiet_times(shown, quiet_ms):
        parts += _band(
            _x(first, until_ms), _x(last, until_ms), f"nothing for {last - first:.1f} ms"
        )
    parts += _axis(until_ms)
    parts += _labels(together(shown, _CLOSE * until_ms), until_ms)
    for number, way in enumerate(ways):
        parts += way.drawn(number)
    parts += [
        f'<line class="now" x1="{_LEFT}" x2="{_LEFT}" y1="28" y2="{_AXIS}" stroke="{VERMILION}"/>',
        "</svg>",
    ]
    return Moving("\n".join(parts))


@dataclass(frozen=True)
class _Way:
    """A segment's way through the picture."""

    segment: Segment  # whose
    until_ms: float  # what is shown

    @property
    def ends(self) -> tuple[float, float, float, float]:
        """Where it begins and ends, x and y each."""
        one = self.segment
        start, end = (_ABOVE, _BELOW) if one.from_left else (_BELOW, _ABOVE)
        sent = _x(one.sent_ps / PS_PER_MS, self.until_ms)
        if one.arrived_ps is None:
            return sent, start, sent, start + _LOST * (end - start)
        arrived_ms = one.arrived_ps / PS_PER_MS
        # what arrives later leaves the picture on its way
        share = min(
            (self.until_ms - one.sent_ps / PS_PER_MS) * PS_PER_MS, one.arrived_ps - one.sent_ps
        )
        share /= one.arrived_ps - one.sent_ps
        return (
            sent,
            start,
            _x(min(arrived_ms, self.until_ms), self.until_ms),
            start + share * (end - start),
        )

    @property
    def percents(self) -> tuple[float, float]:
        """When it leaves and arrives, in percent of the time that the picture plays."""
        one = self.segment
        last_ps = min(one.arrived_ps or one.sent_ps, self.until_ms * PS_PER_MS)
        sent, arrived = (
            100 * PLAYED * at / (self.until_ms * PS_PER_MS) for at in (one.sent_ps, last_ps)
        )
        return sent, max(arrived, sent + _AT_ONCE)

    def drawn(self, number: int) -> list[str]:
        """Its line, which grows, and its dot, which travels."""
        x1, y1, x2, y2 = self.ends
        colour = _COLOURS[self.segment.payload_bytes > 0]
        cross = '<text x="{:.1f}" y="{:.1f}" text-anchor="middle">&#215;</text>'
        lost = [cross.format(x2, y2)] if self.segment.arrived_ps is None else []
        return [
            (
                f'<line class="way w{number}" pathLength="1" stroke="{colour}"'
                f' x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'
            ),
            f'<circle class="dot d{number}" r="5" fill="{colour}"/>',
            *lost,
        ]


def _style(name: str, ways: Sequence[_Way], seconds: float) -> str:
    """The rules of what moves, each for elements of this picture alone."""
    time = f"{seconds:g}s linear infinite"
    rules = [
        f".{name} .way{{stroke-dasharray:1;stroke-width:1.5}}",
        f".{name} .dot{{opacity:0}}",
        f".{name} .now{{animation:{name}-now {time}}}",
        (
            f"@keyframes {name}-now{{0%{{transform:translateX(0)}}"
            f"{100 * PLAYED:g}%,100%{{transform:translateX({_RIGHT - _LEFT}px)}}}}"
        ),
    ]
    for number, way in enumerate(ways):
        x1, y1, x2, y2 = way.ends
        leaves, arrives = way.percents
        first, last = (f"transform:translate({x:.1f}px,{y:.1f}px)" for x, y in ((x1, y1), (x2, y2)))
        rules += [
            f".{name} .w{number}{{animation:{name}-w{number} {time}}}",
            (
                f"@keyframes {name}-w{number}{{0%,{leaves:.3f}%{{stroke-dashoffset:1}}"
                f"{arrives:.3f}%,100%{{stroke-dashoffset:0}}}}"
            ),
            f".{name} .d{number}{{animation:{name}-d{number} {time}}}",
            (
                f"@keyframes {name}-d{number}{{0%,{leaves:.3f}%{{{first};opacity:0}}"
                f"{leaves + _AT_ONCE / 2:.3f}%{{{first};opacity:1}}"
                f"{arrives:.3f}%{{{last};opacity:1}}"
                f"{arrives + _AT_ONCE:.3f}%,100%{{{last};opacity:0}}}}"
            ),
        ]
    rules += [
        f".{name}:hover *{{animation-play-state:paused!important}}",
        f"@media (prefers-reduced-motion:reduce){{.{name} *{{animation:none!important}}}}",
    ]
    return "\n".join(rules)


def _x(ms: float, until_ms: float) -> float:
    return _LEFT + (_RIGHT - _LEFT) * ms / until_ms


def _band(first: float, last: float, text: str) -> list[str]:
    middle = (_ABOVE + _BELOW) / 2
    return [
        (
            f'<rect x="{first:.1f}" y="{_ABOVE}" width="{last - first:.1f}"'
            f' height="{_BELOW - _ABOVE}" fill="#eeeeee"/>'
        ),
        f'<text x="{(first + last) / 2:.1f}" y="{middle + 4}" text-anchor="middle">{text}</text>',
    ]


def _axis(until_ms: float) -> list[str]:
    found = [
        f'<line x1="{_LEFT}" x2="{_RIGHT}" y1="{y}" y2="{y}" stroke="black"/>'
        f'<text x="{_LEFT - 8}" y="{y + 4}" text-anchor="end">{end}</text>'
        for y, end in ((_ABOVE, "sender"), (_BELOW, "receiver"))
    ]
    for tick in range(_TICKS + 1):
        at = until_ms * tick / _TICKS
        x = _x(at, until_ms)
        unit = " ms" if tick == _TICKS else ""
        found.append(
            f'<text x="{x:.1f}" y="{_AXIS + 14}" text-anchor="middle" fill="#555555">'
            f"{at:g}{unit}</text>"
        )
    return found


def _labels(groups: Sequence[Sequence[Segment]], until_ms: float) -> list[str]:
    """What segments that leave together carry, at the line that they leave, where there is room."""
    found = []
    # of each line
    taken = {True: 0.0, False: 0.0}
    for group in groups:
        first = group[0]
        text = ", ".join(
            f"{one.payload_bytes} B" if one.payload_bytes else f"ACK {one.ack}" for one in group
        )
        width = _LETTER * len(text)
        x = min(_x(first.sent_ps / PS_PER_MS, until_ms), _WIDTH - width)
        if x < taken[first.from_left]:
            continue
        taken[first.from_left] = x + width + _GAP
        y = _ABOVE - 6 if first.from_left else _BELOW + 14
        colour = _COLOURS[any(one.payload_bytes for one in group)]
        found.append(f'<text x="{x:.1f}" y="{y}" fill="{colour}">{text}</text>')
    return found
