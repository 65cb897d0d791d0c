"""What TCP does beside what a real kernel did, as rows of `simnet validate`.

Nothing here was fitted to the measurements; where the model has no random numbers, the interval is
a point. Traces and scripts count what agrees (see `conform`): `measured` is how many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Final

from simnet._share import folder
from simnet.study.calibrate.listing import Gate
from simnet.study.conform.conform import conform
from simnet.study.validate import nagle_comparison, reorder_comparison

_SEEDS: Final = (1, 2, 3, 4, 5)
# the 97.5 % quantile of Student's distribution with four degrees of freedom
_STUDENT: Final = 2.776
# the link is full or it is not
_FULL: Final = 0.01


@dataclass(frozen=True)
class Number:
    """A prediction with its 95 % interval for one more run, beside what was measured."""

    predicted: float
    low: float
    high: float
    measured: float


@dataclass(frozen=True)
class Conforming:
    """Numbers by key, and the conditions that they meet or miss."""

    numbers: Mapping[str, Number]
    gates: tuple[Gate, ...]


def _point(predicted: float, measured: float) -> Number:
    return Number(predicted, predicted, predicted, measured)


def _traces(name: str) -> Conforming:
    verdicts = conform([folder("validation") / "external" / name]).verdicts
    segments = sum(len(verdict.expected) for verdict in verdicts)
    agree = sum(verdict.agrees for verdict in verdicts)
    worst = max(verdict.worst_ms for verdict in verdicts)
    return Conforming(
        {
            "scenarios": _point(agree, len(verdicts)),
            "window_fields": _point(sum(verdict.windows for verdict in verdicts), segments),
            "sack_blocks": _point(sum(verdict.blocks for verdict in verdicts), segments),
        },
        (
            Gate(
                agree == len(verdicts),
                f"{agree} of {len(verdicts)} traces of a kernel's receiver agree,"
                f" times within {worst:.2f} ms",
            ),
        ),
    )


def _scripts() -> Conforming:
    verdicts = conform(sorted((folder("validation") / "packetdrill").glob("*.pkt"))).verdicts
    agree = sum(verdict.agrees for verdict in verdicts)
    sentence = f"{agree} of {len(verdicts)} packetdrill scripts agree"
    return Conforming(
        {"scripts": _point(agree, len(verdicts))}, (Gate(agree == len(verdicts), sentence),)
    )


def _nagle() -> Conforming:
    numbers = {f"{stall.name}.median_ms": _stall(stall) for stall in nagle_comparison.measured()}
    worst = max(abs(number.predicted - number.measured) for number in numbers.values())
    jiffy = nagle_comparison.JIFFY_MS
    sentence = f"stalls of Nagle and delayed ACK: worst {worst:.3f} ms off, a jiffy is {jiffy:.0f}"
    return Conforming(numbers, (Gate(worst <= jiffy, sentence),))


def _stall(stall: nagle_comparison.Stall) -> Number:
    """The interval is that of what the way between the hosts may take."""
    tcp = nagle_comparison.options(stall)
    low, high = (nagle_comparison.stall_ms(tcp, way_us) for way_us in nagle_comparison.WAYS_US)
    found = nagle_comparison.stall_ms(tcp)
    return Number(found, min(low, found), max(high, found), stall.median_ms)


def _reorder(loss: float) -> Conforming:
    numbers = {}
    for (lost, width), linux in reorder_comparison.measured().items():
        if lost == loss:
            runs = [reorder_comparison.simulate(width, loss=loss, seed=seed) for seed in _SEEDS]
            numbers[f"w{width}.mbit_per_s"] = _one_more(
                [run.mbit_per_s for run in runs], linux.mbit_per_s
            )
            numbers[f"w{width}.out_of_order"] = _one_more(
                [run.out_of_order for run in runs], linux.out_of_order
            )
    return Conforming(numbers, () if loss else _step(numbers))


def _one_more(values: list[float] | list[int], measured: float) -> Number:
    """The mean, and where one more run lies in 95 % of cases."""
    middle = mean(values)
    half = _STUDENT * stdev(values) * (1 + 1 / len(values)) ** 0.5
    return Number(middle, max(middle - half, 0.0), middle + half, measured)


def _step(numbers: Mapping[str, Number]) -> tuple[Gate, ...]:
    """Which windows leave nothing out of order, and fill the link."""
    wide = [key for key, number in numbers.items() if key.endswith("r") and not number.measured]
    none = {key for key, number in numbers.items() if key.endswith("r") and not number.predicted}
    rates = [numbers[key.replace("out_of_order", "mbit_per_s")] for key in wide]
    worst = max(abs(rate.predicted / rate.measured - 1) for rate in rates)
    sentence = (
        f"the reorder windows that leave nothing out of order are the same, {worst:.1%} off the"
        " rate at most"
    )
    return (Gate(none == set(wide) and worst <= _FULL, sentence),)


CONFORMANCE: Final[Mapping[str, Callable[[], Conforming]]] = {
    "conformance.traces": lambda: _traces("linux-tcp-receiver-traces.jsonl"),
    "conformance.random-traces": lambda: _traces("linux-tcp-receiver-random.jsonl"),
    "conformance.packetdrill": _scripts,
    "conformance.nagle-delack": _nagle,
    "conformance.reorder-window": lambda: _reorder(0.0),
    "conformance.reorder-window-loss": lambda: _reorder(0.001),
}
