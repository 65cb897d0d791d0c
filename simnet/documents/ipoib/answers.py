"""The runs that answer the IPoIB document's measurements, and what it leaves to be predicted.

The document's netperf figures are those of the best message size: so are these. CPU utilisation
is read as the mean over a node's four management cores, of the busier one of the two nodes: the
document does not say of which it is. `iperf`
writes and reads 8 KiB, the default of iperf 2.0.2. The 10 Gigabit Ethernet beside it is another
machine, whose costs no measurement fixes: see `scenarios/sw1621-t520.toml`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from simnet.study.run.result import Result
from simnet.study.validate.document import Anchored, Answer, Numbers
from simnet.study.work.cases import Case

_SCENARIO: Final = "ipoib-sunway"
_TENGBE: Final = "sw1621-t520"
_RR: Final = (("test", "tcp_rr"),)
_MESSAGES: Final = ("64 KiB", "128 KiB", "256 KiB")
TUNED: Final = ("checksum-offload", "kernel-parameters", "window-32")
_IPERF: Final = (("type", "iperf"), ("message", "8 KiB"), ("recv_size", "8 KiB"))
_RECEIVING: Final = (("test", "netserver"),)
_STATES: Final = {"before": (), "after": TUNED}
_NODES: Final = ("netperf", "netserver")
# the greatest bandwidth is that of several connections, and differs from run to run by more than
# most delays do: the mean over some
_DELAYS_MS: Final = (1, 2, 3, 4, 5, 6, 8, 10, 20, 40)
_FILLING: Final = range(5, 11)
_CONNECTIONS: Final = range(1, 11)
# "now and then": one packet of 10 000 is a few a second. Behind a hole, connections that have less
# on the way than a window holds all wait for timeouts. Which number the document's "several" is
# decides that, so it is the mean over some
_DROPS: Final = (("peer:ib_ipoib drop", "100"),)
_SEVERAL: Final = ("4", "6", "8", "10")
_LOADS: Final = {"high_load": "8", "light_load": "2"}
_WINDOWS: Final = (32, 80)


def _best(results: Mapping[str, Result]) -> Result:
    return max(results.values(), key=lambda result: result.throughput_bps)


def _mb_s(result: Result) -> float:
    return result.throughput_bps / 8e6


def _single(tunings: tuple[str, ...]) -> dict[str, Case]:
    return {size: Case(_SCENARIO, (("message", size),), tunings) for size in _MESSAGES}


def _bandwidth(results: Mapping[str, Result]) -> dict[str, float]:
    return {"value": _mb_s(_best(results))}


def _utilisation(results: Mapping[str, Result]) -> dict[str, float]:
    found = {}
    for state in _STATES:
        nodes = [
            _best({size: results[f"{state} {size} {test}"] for size in _MESSAGES})
            for test in _NODES
        ]
        found[state] = max(node.cpu_busy_percent for node in nodes)
    return found


def _on(test: str, case: Case) -> Case:
    """The same with the other node as the system under test."""
    return replace(case, settings=(*case.settings, ("test", test)))


def _iperf(connections: object, tunings: tuple[str, ...], *more: tuple[str, str]) -> Case:
    return Case(_SCENARIO, (*_IPERF, ("connections", str(connections)), *more), tunings)


def _connections(results: Mapping[str, Result]) -> dict[str, float]:
    by_count = {f"c{count}": _mb_s(results[f"{count}"]) for count in _CONNECTIONS}
    best = max(_CONNECTIONS, key=lambda count: by_count[f"c{count}"])
    return {"best_connections": best, "best_mb_s": by_count[f"c{best}"], **by_count}


def _delay(delay_ms: int, connections: int) -> Case:
    value = f"{delay_ms} ms"
    names = ("TCP_DELACK_MIN", "peer:TCP_DELACK_MIN")
    return _iperf(connections, TUNED, *((name, value) for name in names))


def _delays(results: Mapping[str, Result]) -> dict[str, float]:
    by_delay = {
        delay: sum(_mb_s(results[f"{delay} {count}"]) for count in _FILLING) / len(_FILLING)
        for delay in _DELAYS_MS
    }
    best = max(by_delay, key=lambda delay: by_delay[delay])
    return {
        "best_ms": best,
        "best_over_1ms": by_delay[best] / by_delay[1],
        "best_over_40ms": by_delay[best] / by_delay[40],
    }


def _window(window: int, connections: str, *more: tuple[str, str]) -> Case:
    name = "ib_ipoib reorder_window"
    windows = ((name, str(window)), (f"peer:{name}", str(window)))
    return _iperf(connections, TUNED[:2], *_RECEIVING, *windows, *more)


def _removed_percent(results: Sequence[Result]) -> float:
    """Share of the packets out of order that no longer are behind the window."""
    orders = [result.reordering[0] for result in results]
    before = sum(order.out_of_order_before for order in orders)
    after = sum(order.out_of_order_after for order in orders)
    return 100.0 * (before - after) / before if before else 0.0


def _windows(results: Mapping[str, Result]) -> dict[str, float]:
    found = {}
    for window in _WINDOWS:
        runs = [results[f"w{window} {connections}"] for connections in _SEVERAL]
        found[f"w{window}_mb_s"] = sum(map(_mb_s, runs)) / len(runs)
        found[f"w{window}_removed_percent"] = _removed_percent(runs)
    for load in _LOADS:
        found[f"{load}_removed_percent"] = _removed_percent([results[load]])
    return found


def _latency_us(result: Result) -> float:
    """One way, as netperf's TCP_RR reports it: half of the mean time of a transaction."""
    rate = result.flows[0].transactions_per_s
    return 0.5e6 / rate if rate else math.inf


def _beside_10gbe(results: Mapping[str, Result]) -> dict[str, float]:
    return {
        "tengbe_mb_s": _mb_s(_best({size: results[size] for size in _MESSAGES})),
        "ipoib_latency_us": _latency_us(results["ipoib"]),
        "tengbe_latency_us": _latency_us(results["tengbe"]),
    }


# what the parameters were fitted to, and how far either may be from the truth
_ANCHORS: Final = (
    Anchored("ipoib.single_before", ("value",), 0.02),
    Anchored("ipoib.single_after", ("value",), 0.02),
)


def _answer(cases: Mapping[str, Case], numbers: Numbers, most: float = math.inf) -> Answer:
    return Answer(cases, numbers, most, anchors=_ANCHORS)


ANSWERS: Final = {
    "ipoib.single_before": _answer(_single(()), _bandwidth),
    "ipoib.single_after": _answer(_single(TUNED), _bandwidth),
    "ipoib.cpu_utilisation": _answer(
        {
            f"{state} {size} {test}": _on(test, case)
            for state, tunings in _STATES.items()
            for size, case in _single(tunings).items()
            for test in _NODES
        },
        _utilisation,
        100.0,
    ),
    "ipoib.multi_before_best": _answer(
        {f"{count}": _iperf(count, ()) for count in _CONNECTIONS if count > 1}, _bandwidth
    ),
    "ipoib.connections": _answer(
        {f"{count}": _iperf(count, TUNED) for count in _CONNECTIONS}, _connections
    ),
    "ipoib.delack": _answer(
        {f"{delay} {count}": _delay(delay, count) for delay in _DELAYS_MS for count in _FILLING},
        _delays,
    ),
    "ipoib.window": _answer(
        {
            f"w{window} {connections}": _window(window, connections, *_DROPS)
            for window in _WINDOWS
            for connections in _SEVERAL
        }
        | {load: _window(_WINDOWS[0], connections) for load, connections in _LOADS.items()},
        _windows,
    ),
    "ipoib.vs_10gbe": _answer(
        {
            "ipoib": Case(_SCENARIO, _RR, TUNED),
            "tengbe": Case(_TENGBE, _RR),
            **{size: Case(_TENGBE, (("message", size),)) for size in _MESSAGES},
        },
        _beside_10gbe,
    ),
}
