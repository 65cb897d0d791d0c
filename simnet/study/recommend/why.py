"""Why a change helps, as its runs show it beside those without it."""

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Final

from simnet.study.run.duration_text import in_unit
from simnet.study.run.loss import kind_of
from simnet.study.run.measures import METRICS
from simnet.study.run.result import Result
from simnet.study.whatif.mechanism import moved

_BUSY: Final = 10.0
_POINTS: Final = 5.0
_LOST: Final = 0.001
_CHANGED: Final = 1.1
_WORTH_US: Final = 0.01
_WHOLE: Final = 1000.0
_TOLD: Final = ("latency_p50", "latency_p99", "interrupts")


def why(before: Sequence[Result], after: Sequence[Result]) -> str:
    """What changes with it: how work is spread, what is lost, what waits, what costs less."""
    found = [*_spread(before, after), *_lost(before, after), *_metrics(before, after)]
    less = [one for one in moved(before, after) if one.change_us <= -_WORTH_US]
    if less:
        unit = less[0].unit.removeprefix("data ")
        found.append(f"{less[0].mechanism} takes {-less[0].change_us:.2f} us less of a {unit}")
    return "; ".join(found) or "what it changes is spread over many small costs"


def _spread(before: Sequence[Result], after: Sequence[Result]) -> Iterator[str]:
    was, now = _busiest(before), _busiest(after)
    if abs(now - was) >= _POINTS:
        yield f"the busiest CPU works {now:.0f} % of the time instead of {was:.0f} %"
    had, has = _working(before), _working(after)
    if had != has:
        yield f"{has} CPUs work instead of {had}"


def _lost(before: Sequence[Result], after: Sequence[Result]) -> Iterator[str]:
    was, now = (fmean(one.loss or 0.0 for one in results) for results in (before, after))
    if abs(now - was) >= _LOST:
        yield f"{100 * now:.1f} % of the packets are lost instead of {100 * was:.1f} %"


def _metrics(before: Sequence[Result], after: Sequence[Result]) -> Iterator[str]:
    for name in _TOLD:
        metric = METRICS[name]
        was, now = ([metric.of(one) for one in results] for results in (before, after))
        if None in was or None in now:
            continue
        first, last = (fmean(value or 0.0 for value in values) for values in (was, now))
        if first and last and max(first / last, last / first) >= _CHANGED:
            unit, scale = in_unit((first, last)) if metric.unit == "us" else ("", 1.0)
            other = first * scale
            shown = f"{other:.{0 if other >= _WHOLE else 1}f}"
            kind = kind_of(one.latency_kind for one in before) or "latency"
            said = metric.said.format(latency=kind)
            value = f"{said} {last * scale:.1f} {unit}" if unit else f"{last:.0f} {said}/s"
            yield f"{value} instead of {shown}"


def _busiest(results: Sequence[Result]) -> float:
    return fmean(max(cpu.busy for cpu in one.cpus) for one in results)


def _working(results: Sequence[Result]) -> int:
    return round(fmean(sum(cpu.busy >= _BUSY for cpu in one.cpus) for one in results))
