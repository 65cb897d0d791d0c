"""A screening for reading: what matters most first, then what changed nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simnet.printable import printable
from simnet.report.columns import columns, titled

if TYPE_CHECKING:
    from simnet.study.screen.document import Effect, Screen, Screened

__all__ = ["METRIC_LABELS", "screen", "screen_heading", "screen_rows"]

METRIC_LABELS: Final = {
    "throughput": "throughput",
    "cpu_per_byte": "CPU per byte",
    "latency_p99": "latency p99",
}


def screen(found: Screen) -> str:
    """The whole answer."""
    title = titled(found.scenario, found.tunings, found.settings.items())
    heading = f"{title}: {found.runs} runs of {found.simulated_s:g} s"
    chance = ", ".join(
        f"{label} {found.chance[name]:.1f}"
        for name, label in METRIC_LABELS.items()
        if name in found.chance
    )
    parts = [
        f"{heading}\n",
        "changes by a later value, 100 x logarithm of the ratio: mean size (least to most)\n",
        f"chance alone, standard deviation: {chance}\n\n",
        columns(screen_heading(found), screen_rows(found), left=1),
    ]
    idle = [(one.name, one.why) for one in found.factors if one.turns and one.idle]
    if idle:
        parts += ["\n", columns(("changed nothing", "why"), idle, left=2)]
    parts += _line(
        "goes with no values of the others", [o.name for o in found.factors if not o.turns]
    )
    return "".join(parts)


def screen_heading(found: Screen) -> tuple[str, ...]:
    """What stands above `screen_rows`."""
    return ("turned", *METRIC_LABELS.values(), f"matters for {METRIC_LABELS[found.metric]}")


def screen_rows(found: Screen) -> list[tuple[str, ...]]:
    """What changed something: its effects, and whether they are more than chance."""
    some = [one for one in found.factors if one.turns and not one.idle]
    return [(*_row(one), "yes" if found.matters(one) else "within chance") for one in some]


def _row(one: Screened) -> tuple[str, ...]:
    return (printable(one.name), *(_text(one.effect(name)) for name in METRIC_LABELS))


def _text(effect: Effect) -> str:
    return f"{effect.size:.1f} ({effect.low:+.1f} to {effect.high:+.1f})"


def _line(what: str, names: list[str]) -> list[str]:
    return [f"\n{what}: {printable(', '.join(names))}\n"] if names else []
