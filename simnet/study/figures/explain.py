"""The picture of an explanation: how full each resource is, the fullest on top."""

import re
from collections.abc import Sequence
from textwrap import shorten
from typing import Final, cast

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simnet.scenario.system.resource import FULL
from simnet.study.explain.bottleneck import Limit, ResourceUse
from simnet.study.explain.explain import Explanation
from simnet.study.figures.style import CONTEXTS, about
from simnet.study.run.measures import rate_text

# what interrupts all else is drawn first
_PARTS: Final = (
    *reversed(CONTEXTS),
    ("busy polling", "polling a device that has nothing", "#56b4e9"),
    ("steal", "stolen", "#cc79a7"),
)
_WHOLE: Final = ("busy", "#56b4e9")
_NOT_SIMULATED: Final = ("by the data sheet, nothing waits for it", "#bbbbbb")
_MOST_BARS: Final = 16
_LEAST: Final = 0.01
# so many that differ by so little are one bar
_MANY: Final = 3
_AS_FULL: Final = 0.1
# of the axis, in percent
_NUMBER_WIDE: Final = 12
_NUMBER: Final = re.compile(r"\d+")
_BAR_INCHES: Final = 0.28
_WIDTH_INCHES: Final = 10.5
_TITLE_WIDTH: Final = 90
_GROUPS: Final = ("this system", "its peers")


def utilisations(found: Explanation, axes: Axes | None = None) -> Figure:
    """Horizontal bars of utilisation in percent, the bar of a CPU split by context.

    The 16 fullest resources are drawn, those of the peers below the system's own; those below 1 %
    are left out, and ports that are as full as each other have one bar. Without `axes` a figure of
    its own is made, outside of pyplot, so no display is needed.
    """
    used = _alike([one for one in found.resources if one.utilisation >= _LEAST])[:_MOST_BARS]
    shown = [one for one, _ in used]
    least = {one.name: low for one, low in used}
    groups = [[one for one in shown if _is_peer(one) == far] for far in (False, True)]
    places: dict[str, float] = {}
    top = 0.0
    for heading, group in zip(_GROUPS, groups, strict=True):
        if group and len(group) < len(shown):
            places[heading] = top
            top += 1
        places |= {one.name: top + number for number, one in enumerate(group)}
        top += len(group)
    if axes is None:
        size = (_WIDTH_INCHES, 1.3 + _BAR_INCHES * max(top, 1))
        axes = Figure(figsize=size, layout="constrained").subplots()
    axes.axvline(100 * FULL, color="0.5", linestyle=":", linewidth=1, zorder=0)
    labelled: set[str] = set()
    for one in shown:
        place = places[one.name]
        _bar(axes, place, one, labelled)
        low, high = f"{100 * least[one.name]:.0f}", f"{100 * one.utilisation:.0f}"
        note = f"{high} %" if low == high else f"{low} to {high} %"
        if one.drops:
            note += f", {one.drops:,} drops"
        axes.annotate(
            note,
            (_beside(100 * one.utilisation), place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize="small",
        )
    axes.set_yticks(list(places.values()), list(places))
    for label in axes.get_yticklabels():
        if label.get_text() in _GROUPS:
            label.set_fontweight("bold")
    axes.set_ylim(max(top, 1) - 0.4, -0.6)
    axes.set_xlim(0, max(112.0, 100 * max((one.utilisation for one in shown), default=0) + 12))
    axes.set_xlabel(f"used, % of what it can; the dotted line at {100 * FULL:g} %: full")
    axes.set_title(_title(found), fontsize="medium", loc="left")
    if labelled:
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="small")
    axes.spines[["top", "right"]].set_visible(False)
    return cast("Figure", axes.get_figure(root=True))


def _beside(percent: float) -> float:
    """Where a number beside a bar begins: not across the line that says what is full."""
    return 100 * FULL if 100 * FULL - _NUMBER_WIDE < percent < 100 * FULL else percent


def _alike(resources: Sequence[ResourceUse]) -> list[tuple[ResourceUse, float]]:
    """Resources with the least that is used of them: many of one kind, about as full, as one."""
    groups: dict[tuple[str, ...], list[ResourceUse]] = {}
    for one in resources:
        # CPUs differ in what they do
        own = one.name if one.split else _NUMBER.sub("", one.name)
        groups.setdefault((own, one.kind), []).append(one)
    found: list[tuple[ResourceUse, float]] = []
    for group in groups.values():
        full = [one.utilisation for one in group]
        if len(group) < _MANY or max(full) - min(full) > _AS_FULL:
            found += [(one, one.utilisation) for one in group]
            continue
        fullest = max(group, key=lambda one: one.utilisation)
        name = f"{fullest.name} and {len(group) - 1} more"
        drops = sum(one.drops for one in group)
        found.append((fullest.model_copy(update={"name": name, "drops": drops}), min(full)))
    return sorted(found, key=lambda pair: -pair[0].utilisation)


def _bar(axes: Axes, place: float, one: ResourceUse, labelled: set[str]) -> None:
    parts = [(label, colour, one.split.get(name, 0.0)) for name, label, colour in _PARTS]
    if not any(share for _, _, share in parts):
        parts = [(*(_WHOLE if one.simulated else _NOT_SIMULATED), one.utilisation)]
    left = 0.0
    for label, colour, share in parts:
        if share:
            bar = axes.barh(place, 100 * share, left=left, height=0.75, color=colour)
            if label not in labelled:
                labelled.add(label)
                bar.set_label(label)
            left += 100 * share


def _is_peer(one: ResourceUse) -> bool:
    return one.kind.startswith("peer") or one.name.startswith("peer")


def _title(found: Explanation) -> str:
    """The throughput, and what holds back the first flow."""
    title = rate_text(found.throughput_bps)
    if found.limits:
        first = found.limits[0]
        whose = f"{first.flows[0]}: " if first.flows and len(found.limits) > 1 else ""
        title += f"; {whose}{_limit(first)}"
    shown = shorten(title, _TITLE_WIDTH, placeholder=" ...")
    return about(found.scenario, found.tunings, found.settings, shown)


def _limit(found: Limit) -> str:
    """What holds a flow back, in a few words."""
    if found.verdict == "window" and found.waits:
        wait = found.waits[0]
        return f"the {wait.reason} is full {100 * wait.share:.0f} % of the time, nothing else is"
    return found.sentence.partition(";")[0].partition(" (")[0]
