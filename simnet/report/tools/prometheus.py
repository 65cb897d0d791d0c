"""A run or a what-if as Prometheus reads it: its text exposition format, version 0.0.4.

Every number is a gauge in base units (seconds, bytes, ratios) that its name ends with. A measure's
text comes from its declaration and holds for all scenarios, so files of several lie side by side.

Sources: prometheus.io/docs, "Exposition formats" and "Metric and label naming".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, get_args

from simnet.printable import capital, printable
from simnet.study.run.measures import MEASURES, METRICS
from simnet.study.whatif.verdict import Answer

if TYPE_CHECKING:
    from simnet.scenario.core.subject import Measure
    from simnet.study.run.result import Result
    from simnet.study.whatif.verdict import Change
    from simnet.study.whatif.whatif import Judged, WhatIf

Labels = Mapping[str, str]
_PREFIX: Final = "simnet"
# of the unit that a measure is shown in: what a name ends with, and how many base units it is
_UNITS: Final = {
    "s": ("_seconds", 1.0),
    "us": ("_seconds", 1e-6),
    "ns": ("_seconds", 1e-9),
    "ms/s": ("_ratio", 1e-3),
    "1/s": ("_per_second", 1.0),
    "Mbit/s": ("_bytes_per_second", 1e6 / 8),
    "%": ("_ratio", 1e-2),
    "1": ("", 1.0),
    "number": ("", 1.0),
    "mean over time": ("", 1.0),
}
_UNIT_IN_NAME: Final = re.compile(r"_(?:per_s|bps|pps|us|ns|ms|s|percent)(?=_|$)")
_LATENCY: Final = "latency"


@dataclass
class _Family:
    """A metric's name, what it is, and its samples."""

    name: str
    text: str
    samples: list[tuple[Labels, float]] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        if self.samples:
            yield f"# HELP {self.name} {_escaped(self.text)}"
            yield f"# TYPE {self.name} gauge"
        for labels, value in self.samples:
            shown = ",".join(f'{name}="{_label(text)}"' for name, text in labels.items() if text)
            yield f"{self.name}{{{shown}}} {value:.9g}"


@dataclass(frozen=True)
class _Named:
    """A measure as Prometheus has it: its name without unit, its unit, its base units, its text."""

    name: str
    suffix: str
    base: float
    text: str

    def family(self, which: str = "", said: str = "") -> _Family:
        """The metric, or one that belongs to it: `which` is in its name, `said` in its text."""
        said = f", {said}" if said else ""
        text = capital(f"{self.text}{said}, predicted by simulation.")
        return _Family(f"{_PREFIX}_{self.name}{which}{self.suffix}", text)


def run(result: Result) -> str:
    """Every measure of one run."""
    info = _Family(f"{_PREFIX}_info", "What predicted it.")
    labels = _labels(result.scenario, result.settings) | {"tuning": "+".join(result.tunings)}
    said = {"version": result.version, "fingerprint": result.fingerprint}
    info.samples.append((labels | said, 1.0))
    families = []
    for key, measure in MEASURES.items():
        value = measure.of(result)
        if value is None:
            continue
        named = _named(key, measure)
        family = named.family()
        latency = {_LATENCY: result.latency_kind} if _is_latency(measure) else {}
        family.samples.append((labels | latency, value * measure.scale * named.base))
        families.append(family)
    return _text([info, *families])


def whatif(found: WhatIf) -> str:
    """Every change of each tuning with its range, and the verdict."""
    info = _Family(f"{_PREFIX}_info", "What predicted it.")
    common = _labels(found.scenario, found.settings) | {"base": "+".join(found.base_tunings)}
    info.samples.append(
        (common | {"version": found.version, "fingerprint": found.fingerprint}, 1.0)
    )
    verdict = _Family(f"{_PREFIX}_verdict", "Whether a tuning is worth it: 1 for what is said.")
    changes = [
        _Family(f"{_PREFIX}_change{which}_ratio", f"{text}: -0.1 is 10 % less.")
        for which, text in (
            ("", "Change of a measure that a tuning makes, as a part of what it is without"),
            ("_low", "Lower end of the 95 % range of a change"),
            ("_high", "Upper end of the 95 % range of a change"),
        )
    ]
    values: dict[str, list[_Family]] = {}
    for judged in found.tunings:
        labels = common | {"tuning": judged.tuning}
        for answer in get_args(Answer):
            verdict.samples.append((labels | {"verdict": answer}, float(answer == judged.verdict)))
        _changed(judged, labels, changes, values)
    return _text(
        [info, verdict, *changes, *(one for several in values.values() for one in several)]
    )


def _changed(
    judged: Judged, labels: Labels, changes: list[_Family], values: dict[str, list[_Family]]
) -> None:
    """Add what a tuning does to families of changes, and of values by metric."""
    for change in judged.changes:
        key, measure = _BY_METRIC[change.metric]
        named = _named(key, measure)
        several = values.setdefault(
            change.metric,
            [
                named.family(),
                named.family("_low", "lower end of its 95 % range"),
                named.family("_high", "upper end of its 95 % range"),
                named.family("_before", "without the tuning"),
            ],
        )
        own = {**labels, **({_LATENCY: change.latency_kind} if _is_latency(measure) else {})}
        base = measure.scale * named.base
        for family, value in zip(several, _values(change, measure.offset), strict=True):
            if value is not None:
                family.samples.append((own, value * base))
        for family, value in zip(changes, _percents(change), strict=True):
            if value is not None:
                family.samples.append(({**labels, "measure": named.name}, value / 100))


def _values(change: Change, offset: float) -> tuple[float | None, ...]:
    """After, its ends, before; a change is of values with the offset, and none is below 0."""
    ends = [
        None
        if percent is None or change.before is None
        else max((change.before + offset) * (1 + percent / 100) - offset, 0.0)
        for percent in _percents(change)[1:]
    ]
    return (change.after, *ends, change.before)


def _percents(change: Change) -> tuple[float | None, float | None, float | None]:
    hull = change.hull
    low, high = (None, None) if hull is None else (hull.low, hull.high)
    return (change.percent, low, high)


_BY_METRIC: Final = {
    one.metric: (key, one) for key, one in MEASURES.items() if one.metric in METRICS
}


def _named(key: str, measure: Measure) -> _Named:
    said, _, unit = measure.label.partition(" (")
    unit, _, of = unit.removesuffix(")").partition(" ")
    whole = f"{unit} {of}".rstrip()
    suffix, base = _UNITS[unit if unit == "%" else whole]
    text = said.format(latency=_LATENCY)
    if of:
        text += f", ratio {of}" if unit == "%" else f", {whole}"
    return _Named(_UNIT_IN_NAME.sub("", key), suffix, base, text)


def _is_latency(measure: Measure) -> bool:
    return "{latency}" in measure.label


def _labels(scenario: str, settings: Mapping[str, str]) -> dict[str, str]:
    chosen = ",".join(f"{name}={value}" for name, value in settings.items())
    return {"scenario": scenario, "settings": chosen}


def _text(families: Iterable[_Family]) -> str:
    return "".join(f"{line}\n" for family in families for line in family.lines())


def _escaped(text: str) -> str:
    return printable(text).replace("\\", "\\\\")


def _label(text: str) -> str:
    return _escaped(text).replace('"', '\\"')
