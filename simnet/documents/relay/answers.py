"""The runs that answer the relay document's measurement, and what it leaves to be predicted.

A server carries a load while its busiest CPU has idle time left, as the document says of one at its
peak; while it loses less than 0.1 % of the packets that come, wherever it drops them; and while
messages do not pile up before it: senders wait when it is slow, and a load that it cannot carry
need not cost a packet. A capacity is read off a grid of loads, 10 % apart, where the first of the
three crosses its limit: loss and waiting are interpolated on the logarithm of how far they are, and
as a CPU that is full gets no busier, where it becomes full is extrapolated from two loads below.
The steps follow the document's story: workers are balanced when it balances them, and irqbalance
runs until it is stopped.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from simnet.study.run.result import Result
from simnet.study.validate.document import Anchored, Answer
from simnet.study.work.cases import Case

_TUNED: Final = "relay-tuned"
_UNTUNED: Final = "relay-untuned"
_STEPS_UP: Final = ("rhel6", "irqbalance-on")
_BY_HAND: Final = ("rps-ff", "rfs-4096", "workers-pinned", "affinity", "interrupts-moved")
CONFIGURATIONS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "rhel5_one_cpu": (_UNTUNED, ()),
    "single_queue": (_UNTUNED, ("single-queue", "workers-pinned")),
    "multi_queue": (_UNTUNED, _STEPS_UP),
    "rps": (_UNTUNED, (*_STEPS_UP, "rps-ff")),
    "rps_rfs": (_UNTUNED, (*_STEPS_UP, "rps-ff", "rfs-4096", "workers-pinned")),
    "manual_affinity": (_UNTUNED, _BY_HAND),
    "xps": (_UNTUNED, (*_BY_HAND, "xps-ff")),
    "two_way": (_TUNED, ()),
}
"""Scenario and tunings by the step of the ladder that they are."""

_LOST: Final = 0.001
_WAITING: Final = 0.01
# percent of a CPU's time; sar prints less than one as idle now and then
_BUSY: Final = 99
_STEP: Final = 1.1
_LOADS: Final = tuple(round(50_000 * _STEP**number) for number in range(18))
# of a limit: what a run of finite length cannot distinguish from 0
_LEAST: Final = 1e-3
_OF_CAPACITY: Final = 0.9
# steps from a load that is too much, or that a search that is like another begins with
_NEAR: Final = 2


def _received_mb(result: Result, port: int) -> float:
    return result.ports[port].rx_bps / 1e6


def _tuned(results: Mapping[str, Result]) -> dict[str, float]:
    result = results["run"]
    first, other = result.ports
    return {
        "received_mbit_per_s": first.rx_bps / 1e6,
        "received_packets_per_s": first.rx_packets_per_s,
        "other_nic_mbit_per_s": other.rx_bps / 1e6,
        "other_nic_packets_per_s": other.rx_packets_per_s,
        "idle_percent_every_cpu": sum(cpu.idle for cpu in result.cpus) / len(result.cpus),
    }


def _grid(name: str) -> dict[str, Case]:
    scenario, tunings = CONFIGURATIONS[name]
    return {
        f"{name} {load}": Case(scenario, (("relay.rate", str(load)),), tunings) for load in _LOADS
    }


def _runs(name: str, results: Mapping[str, Result]) -> dict[int, Result]:
    """What has been simulated of a grid, by its step, in order."""
    labels = {step: f"{name} {load}" for step, load in enumerate(_LOADS)}
    return {step: results[label] for step, label in labels.items() if label in results}


def _search(
    names: Iterable[str], results: Mapping[str, Result], like: Mapping[str, Result]
) -> Iterator[str]:
    """The loads to simulate next.

    In the end these are the first that is too much, if any is, and the two below, from which the
    limit is interpolated. It begins where a search that is like this one has ended.
    """
    for name in names:
        runs, begun = _runs(name, results), _runs(name, like)
        if begun and not runs:
            # how busy it is there tells where to go on
            yield f"{name} {_LOADS[max(_around(begun)[0], 0)]}"
            continue
        below, above = _around(runs)
        found = above - below <= 1
        most = _NEAR if begun else len(_LOADS)
        step = _between(below, above, runs.get(below), most)
        steps = range(above - 2, above + 1) if found else [step]
        yield from (f"{name} {_LOADS[step]}" for step in steps if 0 <= step < len(_LOADS))


def _around(runs: Mapping[int, Result]) -> tuple[int, int]:
    """The last step that is carried, -1 if none is known, and the first that is too much."""
    above = min((step for step, run in runs.items() if _too_much(run)), default=len(_LOADS))
    return max((step for step in runs if step < above), default=-1), above


def _between(below: int, above: int, carried: Result | None, most: int) -> int:
    """A step between two: where a CPU is full if it is busy in proportion to the load.

    It is `most` steps up at most: something else may be the limit.
    """
    if carried is None:
        half = (below + above) // 2
        return half if above == len(_LOADS) else max(half, above - _NEAR)
    more = math.log(_BUSY / _busiest(carried)) / math.log(_STEP)
    return min(below + min(max(math.ceil(more), 1), most), above - 1)


def _too_much(run: Result) -> bool:
    limits = ((run.loss or 0.0) / _LOST, _waiting(run) / _WAITING, _busiest(run) / _BUSY)
    return max(limits) >= 1


def _busiest(run: Result) -> float:
    return max(cpu.busy for cpu in run.cpus)


def _at_the_limit(
    name: str, results: Mapping[str, Result], number: Callable[[Result], float]
) -> float:
    """A number of the load that is just carried; of the highest if all are."""
    runs = list(_runs(name, results).values())
    lost = [(run.loss or 0.0) / _LOST for run in runs]
    waiting = [_waiting(run) / _WAITING for run in runs]
    busiest = [_busiest(run) / _BUSY for run in runs]
    reached = min(_crossing(lost), _crossing(waiting), _filled(busiest))
    below, above = math.floor(reached), math.ceil(reached)
    share = reached - below
    first, last = math.log(number(runs[below])), math.log(number(runs[above]))
    return math.exp((1 - share) * first + share * last)


def _first_beyond(excesses: Sequence[float]) -> int:
    """The first step of the grid that is at a limit, which is 1, or beyond; the last if none is."""
    return next((step for step, one in enumerate(excesses) if one >= 1), len(excesses) - 1)


def _crossing(excesses: Sequence[float]) -> float:
    """Where a limit is reached, counted in steps of the grid, on a logarithmic scale."""
    step = _first_beyond(excesses)
    if step == 0 or excesses[step] < 1:
        return step
    first, last = math.log(max(excesses[step - 1], _LEAST)), math.log(excesses[step])
    return step - 1 + first / (first - last)


def _filled(busy: Sequence[float]) -> float:
    """Where a CPU is full, counted in steps of the grid, if it goes on as over the step before."""
    step = _first_beyond(busy)
    if step < 2 or busy[step] < 1:  # noqa: PLR2004 - two loads make a line
        return step
    before, last = map(math.log, busy[step - 2 : step])
    return min(step, step - 1 + last / (before - last)) if last > before else step


def _waiting(result: Result) -> float:
    messages = result.messages
    return 1 - messages.delivered / messages.offered if messages and messages.offered else 0.0


def _one_port(result: Result) -> float:
    return max(_received_mb(result, 0), _received_mb(result, 1))


def _both_ports(result: Result) -> float:
    return _received_mb(result, 0) + _received_mb(result, 1)


def _capacities(results: Mapping[str, Result]) -> dict[str, float]:
    return {
        f"{name}_mbit_s": _at_the_limit(
            name, results, _both_ports if name == "two_way" else _one_port
        )
        for name in CONFIGURATIONS
    }


def _imbalance(results: Mapping[str, Result]) -> dict[str, float]:
    """Busiest CPU over the mean, at the load nearest to nine tenths of the capacity."""
    name = "rps_rfs"
    wanted = _OF_CAPACITY * _at_the_limit(name, results, _one_port)
    runs = list(_runs(name, results).values())
    result = min(runs, key=lambda run: abs(_one_port(run) - wanted))
    busy = [cpu.busy for cpu in result.cpus]
    return {"busiest_over_mean": max(busy) * len(busy) / sum(busy)}


# of each run behind a capacity, and of a member with its warm-up
_TIMES: Final = ("500 ms", "100 ms", "100 ms")
# what the application's cost was fitted to; "about 10 %" is 8 to 12
_ANCHORS: Final = (Anchored("relay.tuned", ("idle_percent_every_cpu",), 0.2),)

ANSWERS: Final = {
    "relay.tuned": Answer({"run": Case(_TUNED)}, _tuned, anchors=_ANCHORS),
    "relay.capacity": Answer(
        {label: case for name in CONFIGURATIONS for label, case in _grid(name).items()},
        _capacities,
        times=_TIMES,
        anchors=_ANCHORS,
        search=partial(_search, tuple(CONFIGURATIONS)),
    ),
    "relay.imbalance": Answer(
        _grid("rps_rfs"),
        _imbalance,
        times=_TIMES,
        anchors=_ANCHORS,
        search=partial(_search, ("rps_rfs",)),
    ),
}
