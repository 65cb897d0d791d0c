"""The runs that predict 8 KiB netserver over eight bonded ports, in each mode.

Where the switch spreads the streams over a channel, the peers' Ethernet addresses decide which
ports they share, and they are not known. They are drawn from the seed; the prediction is the
mean over four seeds, which together leave 5.25 ports of eight in use: as many as eight random
addresses do in the mean, 8 (1 - (7/8)^8).
"""

from collections.abc import Mapping
from typing import Final

from simnet.study.run.result import Result
from simnet.study.work.cases import Case

_SCENARIO: Final = "x460-bonding"
_SEEDS: Final = ("1", "2", "3", "4")
_ANY_ADDRESSES: Final = _SEEDS[:1]
_MODES: Final = {
    "balance-rr": _SEEDS,
    "active-backup": _ANY_ADDRESSES,
    "balance-xor": _SEEDS,
    "broadcast": _SEEDS,
    "802.3ad": _SEEDS,
    "balance-tlb": _ANY_ADDRESSES,
    "balance-alb": _ANY_ADDRESSES,
}
_WITH_CPU: Final = ("balance-rr", "802.3ad", "balance-alb")

CASES: Final = {
    f"{mode} {seed}": Case(
        _SCENARIO, (("message", "8 KiB"), ("modprobe bonding mode", mode), ("seed", seed))
    )
    for mode, seeds in _MODES.items()
    for seed in seeds
}


def numbers(results: Mapping[str, Result]) -> dict[str, float]:
    """Mbit/s of each mode, and busy percent of all logical CPUs of three."""
    found = {}
    for mode, seeds in _MODES.items():
        runs = [results[f"{mode} {seed}"] for seed in seeds]
        key = mode.replace("-", "_").replace(".", "_")
        found[f"{key}_mbit_s"] = sum(run.throughput_bps for run in runs) / len(runs) / 1e6
        if mode in _WITH_CPU:
            found[f"{key}_cpu_percent"] = sum(run.cpu_busy_percent for run in runs) / len(runs)
    return found
