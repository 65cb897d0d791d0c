"""A key-value store on 100 GbE: by which way its CPUs hear of packets, and what that costs."""

from collections.abc import Mapping, Sequence
from typing import Final

import pandas as pd

from lessons.drawing import BLUE, GREEN, VERMILION
from simnet.study.run.result import Result
from simnet.study.work.cases import Case, Member, simulate_all

# by how packets are heard of
COLOURS: Final = {
    "interrupts": BLUE,
    "deferred": VERMILION,
    "busy": GREEN,
    "suspended": "#cc79a7",
}


def heard(scenario: str, ways: Mapping[str, Sequence[str]], thousands: int) -> dict[str, Result]:
    """Simulate 10 ms of so many thousand requests a second with each way's tunings."""
    load = (("memcached.qps", str(1000 * thousands)),)
    cases = [Case(scenario, load, tuple(tunings)) for tunings in ways.values()]
    members = [Member(case, duration="10 ms", warm_up="10 ms") for case in cases]
    return dict(zip(ways, simulate_all(members), strict=True))


def numbers(found: dict[str, Result]) -> pd.DataFrame:
    """Return latency, CPU use, interrupts and packets of a poll, a row for each run.

    Raises:
        ValueError: a run had neither a key-value store nor messages.
    """
    rows = {}
    for name, result in found.items():
        use, messages = result.key_value, result.messages
        # the scenario has both
        if use is None or messages is None:
            raise ValueError(f"{name}: not a run of a key-value store")
        latency = messages.latency_us
        rows[name] = {
            "p50 (us)": latency.p50,
            "p99 (us)": latency.p99,
            "CPUs busy (%)": 100 - use.idle,
            "interrupts (1000/s)": use.interrupts_per_s / 1000,
            "packets a poll": use.packets_per_poll,
        }
    return pd.DataFrame(rows).T
