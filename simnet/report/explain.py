"""An explanation for reading: what holds each flow back, then the resources, then the knobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simnet.printable import printable, titled
from simnet.report.columns import columns
from simnet.rows import or_dash
from simnet.study.run.duration_text import late
from simnet.study.run.loss import kind_of
from simnet.study.run.measures import rate_text

if TYPE_CHECKING:
    from simnet.study.explain.bottleneck import Limit, ResourceUse
    from simnet.study.explain.explain import Explanation

_LEAST: Final = 0.05
_MOST_ROWS: Final = 24
_MOST_NAMES: Final = 4
_MECHANISMS_SHOWN: Final = 4
_CONTEXT_LEAST: Final = 0.005
_UNITS: Final = {"bit": ("bit/s", 1.0), "B": ("B/s", 1.0), "request": ("1/s", 1.0)}
_PREFIXES: Final = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_MANY: Final = 100


def explain(found: Explanation) -> str:
    """The whole answer."""
    parts = [_heading(found), _limits(found), _lifted(found), _resources(found), _work(found)]
    parts += [_drops(found)]
    parts += [_knobs(found), "".join(f"warning: {printable(line)}\n" for line in found.warnings)]
    return "\n".join(part for part in parts if part)


def _heading(found: Explanation) -> str:
    title = titled(found.scenario, found.tunings, sorted(found.settings.items()))
    lines = (
        f"What holds back {title}: {rate_text(found.throughput_bps, 1)}\n"
        f"{found.simulated_s:g} simulated seconds after {found.warmup_s:g} s of warm-up, "
        f"seed {found.seed}, fingerprint {found.fingerprint}\n"
    )
    if len(found.limits) == 1:
        lines += f"{printable(found.limits[0].sentence)}\n"
    return lines


def _limits(found: Explanation) -> str:
    if len(found.limits) == 1:
        return ""
    heading = ("flows", "Mbit/s", "held by", "%", "next", "%", "at most")
    rows = [
        (
            _names(one),
            f"{one.goodput_bps / 1e6:.1f}",
            one.held_by,
            _held_percent(one),
            one.next or "-",
            _percent(one.next_utilisation),
            "-" if one.at_most is None else f"{one.at_most:.2f} x",
        )
        for one in found.limits
    ]
    table = columns(heading, rows)
    if any(one.first is None for one in found.limits):
        table += "# where nothing is full, % is the share of the time that a flow waits for it\n"
    return table


def _lifted(found: Explanation) -> str:
    """What each lift gains; of transactions and messages their 99th percentile, too."""
    timed = any(one.p99_us is not None for one in found.lifted)
    if not found.lifted:
        return ""
    kind = kind_of(one.latency_kind for one in found.lifted)
    table = columns(
        (
            "lifted alone",
            "by",
            "Mbit/s",
            "gain",
            *((f"{late(kind, 'p99')} us", "change") if timed else ()),
        ),
        [
            (
                one.part,
                one.by,
                f"{one.throughput_bps / 1e6:.1f}",
                _signed(one.gain),
                *((or_dash(one.p99_us, ".1f"), _signed(one.p99_gain)) if timed else ()),
            )
            for one in found.lifted
        ],
        left=2,
    )
    if found.not_lifted:
        table += f"# not lifted: {', '.join(found.not_lifted)}\n"
    return table


def _signed(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:+.1f} %"


def _names(one: Limit) -> str:
    more = len(one.flows) - _MOST_NAMES
    shown = ", ".join(one.flows[:_MOST_NAMES])
    return f"{shown} and {more} more" if more > 0 else shown


def _held_percent(one: Limit) -> str:
    if one.first is not None:
        return _percent(one.first_utilisation)
    return _percent(one.waits[0].share) if one.waits else "-"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"


def _resources(found: Explanation) -> str:
    used = [one for one in found.resources if one.utilisation >= _LEAST or one.drops]
    shown = used[:_MOST_ROWS]
    heading = ("resource", "kind", "used %", "of", "more load", "drops", "% of the time")
    rows = [
        (
            one.name if one.simulated else f"{one.name} *",
            one.kind,
            _percent(one.utilisation),
            _capacity(one),
            "-"
            if one.headroom is None
            else f"+{100 * one.headroom:.0f} %"
            if one.headroom < _MANY
            else "-",
            str(one.drops),
            _split(one),
        )
        for one in shown
    ]
    table = columns(heading, rows, left=2, text_last=True)
    if hidden := len(found.resources) - len(shown):
        table += f"# {hidden} more are less used\n"
    if any(not one.simulated for one in shown):
        table += "# * by the data sheet: nothing here waits for it\n"
    return table


def _capacity(one: ResourceUse) -> str:
    if one.unit == "s":
        return "1" if one.capacity_per_s == 1 else f"{one.capacity_per_s:g} servers"
    unit, _ = _UNITS[one.unit]
    for scale, prefix in _PREFIXES:
        if one.capacity_per_s >= scale:
            return f"{one.capacity_per_s / scale:g} {prefix}{unit}"
    return f"{one.capacity_per_s:g} {unit}"


def _split(one: ResourceUse) -> str:
    parts = sorted(one.split.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{name} {100 * s:.0f}" for name, s in parts if s >= _CONTEXT_LEAST)


def _work(found: Explanation) -> str:
    total = sum(one.percent for one in found.work)
    if not total:
        return ""
    shown = ", ".join(
        f"{one.mechanism} {100 * one.percent / total:.0f} %"
        for one in found.work[:_MECHANISMS_SHOWN]
    )
    return f"CPU time of the system goes to: {shown}\n"


def _drops(found: Explanation) -> str:
    dropped = [one for one in found.drops if one.packets]
    if not dropped:
        return ""
    return columns(
        ("dropped in", "of", "packets"),
        [(one.place, one.at, str(one.packets)) for one in dropped],
        left=2,
    )


def _knobs(found: Explanation) -> str:
    ignored = [knob for knob in found.knobs if not knob.modelled]
    lines = f"knobs: {len(found.knobs)} set, {len(found.knobs) - len(ignored)} of them modelled"
    if ignored:
        lines += f"; without an effect here: {printable(', '.join(knob.name for knob in ignored))}"
    lines += (
        f"\nof those that this system has {len(found.modelled_knobs)} are modelled and"
        f" {len(found.ignored_knobs)} are not: simnet list knobs\n"
    )
    return lines
