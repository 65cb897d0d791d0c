"""The picture of what a packet costs: CPU time by mechanism, systems side by side."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, cast

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simnet.study.run.result import Result
from simnet.study.whatif.mechanism import SIBLINGS, per_unit_us, unit_of

# work that is the same everywhere, and what it costs more because of where things are
_WORK_COLOURS: Final = ("YlGnBu", 0.15, 0.95)
_PLACEMENT_COLOURS: Final = ("YlOrRd", 0.3, 0.8)
_SIBLINGS_COLOUR: Final = "#999999"
_REST: Final = "all else"
_REST_COLOUR: Final = "#e8e8e8"
_MEANING: Final = (
    "system (yellow to blue: work needed anywhere; orange to red: because of where things are)"
)
# parts smaller than this share of the tallest bar can't be seen, or can't hold a number
_DRAWN: Final = 0.01
_NUMBERED: Final = 0.035
_DARK: Final = 0.5
_BAR: Final = 0.7
_LITTLE_US: Final = 2.0
_MANY_TIMES: Final = 2.0
_SIZE_INCHES: Final = (10.0, 6.5)


def packet_bars(results: Mapping[str, Result], axes: Axes | None = None) -> Figure:
    """Stacked bars of CPU microseconds per data packet, one bar a result, named by its key.

    Per message or transaction where those were delivered. Yellow to blue is work that is needed
    anywhere, orange to red what it costs because of where things are, grey what a busy SMT sibling
    adds. Small parts are drawn as one. Without `axes` a figure of its own is made, outside of
    pyplot, so no display is needed. Raises KeyError for a result whose configuration was left out.
    """
    placed = {one.mechanism for result in results.values() for one in result.work if one.placement}
    shares = {name: per_unit_us(one) for name, one in results.items()}
    return mechanism_bars(shares, placed, axes, unit=unit_of(next(iter(results.values()))))


def mechanism_bars(
    found: Mapping[str, Mapping[str, float]],
    placed: Collection[str],
    axes: Axes | None = None,
    *,
    unit: str,
) -> Figure:
    """The same bars from microseconds a unit by mechanism; `placed` are costs of placement."""
    if axes is None:
        axes = Figure(figsize=_SIZE_INCHES, layout="constrained").subplots()
    parts, colours = _parts(list(found.values()), placed)
    positions = range(len(found))
    bottom = np.zeros(len(found))
    tallest = max((sum(bar) for bar in zip(*parts.values(), strict=True)), default=0.0)
    time, scale, digits = _shown_in(tallest)
    width = _BAR if len(found) > 1 else _BAR / 2
    for name, heights in parts.items():
        bars = axes.bar(
            positions, heights, width, bottom, label=name, color=colours[name], edgecolor="white"
        )
        numbers = [
            f"{scale * us:,.{digits}f}" if us >= _NUMBERED * tallest else "" for us in heights
        ]
        ink = "white" if _luminance(colours[name]) < _DARK else "black"
        axes.bar_label(bars, numbers, label_type="center", fontsize="x-small", color=ink)
        bottom += heights
    for position, height in zip(positions, bottom, strict=True):
        axes.annotate(
            f"{scale * height:,.{digits}f}",
            (position, height),
            (0, 3),
            textcoords="offset points",
            ha="center",
        )
    axes.set_xticks(positions, list(found))
    axes.set_xlabel(_MEANING, fontsize="small")
    axes.set_xlim(-0.5, len(found) - 0.5)
    axes.yaxis.set_major_formatter(lambda us, _: f"{scale * us:,g}")
    axes.set_ylabel(f"CPU time per {unit} ({time})")
    axes.set_ylim(0, 1.08 * tallest if tallest else 1.0)
    axes.set_title(_sentence(found, unit), fontsize="medium", loc="left")
    if parts:
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="small", reverse=True)
    axes.spines[["top", "right"]].set_visible(False)
    return cast("Figure", axes.get_figure(root=True))


def _shown_in(us: float) -> tuple[str, float, int]:
    """Unit, how many of it a microsecond is, and decimals: tenths say nothing of little work."""
    return ("ns", 1e3, 0) if 0 < us < _LITTLE_US else ("us", 1.0, 1)


def _parts(
    found: Sequence[Mapping[str, float]], placed: Collection[str]
) -> tuple[dict[str, list[float]], dict[str, str]]:
    """Heights by mechanism, bottom to top, and colours: work, small ones, placement, siblings."""
    least = _DRAWN * max((sum(shares.values()) for shares in found), default=0.0)
    heights = {
        name: [shares.get(name, 0.0) for shares in found]
        for name in dict.fromkeys(name for shares in found for name in shares)
    }
    drawn = [name for name, values in heights.items() if max(values) > least]
    work = [name for name in drawn if name not in placed and name != SIBLINGS]
    placement = [name for name in drawn if name in placed]
    last = [name for name in drawn if name == SIBLINGS]
    small = [values for name, values in heights.items() if name not in drawn]
    rest = {_REST: [sum(values) for values in zip(*small, strict=True)]} if small else {}
    colours = {
        **_shades(work, _WORK_COLOURS),
        _REST: _REST_COLOUR,
        **_shades(placement, _PLACEMENT_COLOURS),
        SIBLINGS: _SIBLINGS_COLOUR,
    }
    ordered = {name: heights[name] for name in work} | rest
    return ordered | {name: heights[name] for name in (*placement, *last)}, colours


def _shades(names: list[str], colours: tuple[str, float, float]) -> dict[str, str]:
    scale, first, last = colours
    shades = mpl.colormaps[scale](np.linspace(first, last, len(names)))
    return {name: mpl.colors.to_hex(one) for name, one in zip(names, shades, strict=True)}


def _luminance(colour: str) -> float:
    """Brightness as the eye sees it, 0 to 1 (ITU-R BT.601)."""
    red, green, blue = mpl.colors.to_rgb(colour)
    return 0.299 * red + 0.587 * green + 0.114 * blue


def _sentence(found: Mapping[str, Mapping[str, float]], unit: str) -> str:
    totals = {name: sum(shares.values()) for name, shares in found.items()}
    first = next((name for name, us in totals.items() if us), None)
    if first is None:
        return f"CPU time per {unit}, by what it is spent on"
    if len(totals) == 1:
        time, scale, digits = _shown_in(totals[first])
        return f"A {unit} takes {scale * totals[first]:,.{digits}f} {time} of CPU time"
    most = max(totals, key=totals.__getitem__)
    other = min(totals, key=totals.__getitem__) if most == first else most
    times = totals[other] / totals[first]
    if f"{times:.2g}" == "1":
        return f"A {unit} takes the same CPU time in all cases"
    much, than = f"{times:.2g} times as much", "as"
    if times < _MANY_TIMES:
        much, than = f"{abs(times - 1):.0%} {'more' if times > 1 else 'less'}", "than"
    return f"A {unit} takes {much} CPU time in “{other}” {than} in “{first}”"
